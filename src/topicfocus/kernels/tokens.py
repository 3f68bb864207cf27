"""Counting words in UTF-8 text: scan, split, look up, count, merge. No strings, only bytes.

A word is a run of word characters, as ``\\w`` of Python's `re` means them. Which characters these are
and what their lower case is comes in as a table over all code points (`text.characters`), so the
kernels agree with Python by construction. An n-gram is a pair: the id of all but its last word, and
the id of that word; its characters are put together only for the few that are kept.

Hashes find a candidate, bytes (or the pair of ids) decide: no result depends on a collision. All
arithmetic stays below 2^63, so that the same code runs without numba, where NumPy would warn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels.compile import kernel

#: What `scan` says about a document.
PLAIN, SPECIAL, MALFORMED = 0, 1, 2

_HASH_SEED = 0x51ED270B
_HASH_FACTOR = 0x3D4D51  # odd and below 2^22: times a 40-bit hash it stays below 2^62
_HASH_MASK = (1 << 40) - 1
_LOW_32 = (1 << 32) - 1
_LOW_31 = (1 << 31) - 1


class Words(NamedTuple):
    """Words and n-grams with their ids, in order of arrival, and two open-addressing hash tables.

    ``left`` and ``right`` of a word are its first byte and one past its last in ``letters``; of an
    n-gram, -1 minus the id of all but its last word, and the id of that word.
    """

    slots: NDArray[np.int64]  # of words: hash << 31 | id + 1; 0 is empty
    gram_slots: NDArray[np.int64]  # of n-grams: id + 1
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    letters: NDArray[np.uint8]
    sizes: NDArray[np.int64]  # entries, letters, words, n-grams in use


class Counted(NamedTuple):
    """What a chunk of documents holds; (id, count) pairs of document after document."""

    words: Words
    document_frequency: NDArray[np.int64]
    frequency: NDArray[np.int64]
    ids: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int64]  # pairs of each document


def empty_words(n_slots: int = 1024) -> Words:
    """A table with no words; ``n_slots`` is a power of two."""
    return Words(
        slots=np.zeros(n_slots, dtype=np.int64),
        gram_slots=np.zeros(n_slots, dtype=np.int64),
        left=np.zeros(n_slots // 2, dtype=np.int64),
        right=np.zeros(n_slots // 2, dtype=np.int64),
        letters=np.zeros(4 * n_slots, dtype=np.uint8),
        sizes=np.zeros(4, dtype=np.int64),
    )


def copy_words(words: Words) -> Words:
    """A table that can grow without changing this one."""
    return Words(*(array.copy() for array in words))


@kernel
def scan(data, offsets, first, last, fold, flags):
    """Say of each document whether the other kernels may read it as it is.

    ``flags[d - first]`` is SPECIAL if a character's lower case is more than a look into ``fold``
    (-1 there), MALFORMED if the bytes are not UTF-8. Surrogates pass: Python strings may hold them.
    """
    for d in range(first, last):
        begin, end = offsets[d], offsets[d + 1]
        bits = np.uint8(0)
        for i in range(begin, end):  # no early exit: this loop runs 16 or more bytes at a time
            bits |= data[i]
        flag = PLAIN
        if bits >= 128:
            i = begin
            while i < end:
                byte = np.int64(data[i])
                i += 1
                if byte < 128:
                    continue
                if 0xC2 <= byte < 0xE0:
                    more, point, low, high = 1, byte & 0x1F, 0x80, 0xBF
                elif 0xE0 <= byte < 0xF0:
                    more, point, low, high = 2, byte & 0x0F, 0x80, 0xBF
                    if byte == 0xE0:
                        low = 0xA0
                elif 0xF0 <= byte <= 0xF4:
                    more, point, low, high = 3, byte & 0x07, 0x80, 0xBF
                    if byte == 0xF0:
                        low = 0x90
                    elif byte == 0xF4:
                        high = 0x8F
                else:
                    flag = MALFORMED
                    break
                if i + more > end:
                    flag = MALFORMED
                    break
                for _ in range(more):
                    byte = np.int64(data[i])
                    if byte < low or byte > high:
                        flag = MALFORMED
                    low, high = 0x80, 0xBF
                    point = (point << 6) | (byte & 0x3F)
                    i += 1
                if flag == MALFORMED:
                    break
                if fold[point] < 0:
                    flag = SPECIAL
        flags[d - first] = flag


@kernel
def _longer(array, size):
    """The array with room for at least ``size`` entries, twice what it was or more; zeros behind."""
    grown = np.zeros(max(size, 2 * len(array)), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


@kernel
def _mix(state):
    """The 32 bits of a word's hash that are used: the lowest ones alone see too little."""
    return (state ^ (state >> 21)) & _LOW_32


@kernel
def _mix_pair(before, word):
    state = (before * 2654435761) ^ (word * 2246822519)
    return state ^ (state >> 29)


@kernel
def _rehash_words(slots, n_slots):
    grown = np.zeros(n_slots, dtype=np.int64)
    for slot in slots:
        if slot != 0:
            at = (slot >> 31) & (n_slots - 1)
            while grown[at] != 0:
                at = (at + 1) & (n_slots - 1)
            grown[at] = slot
    return grown


@kernel
def _rehash_grams(slots, n_slots, left, right):
    grown = np.zeros(n_slots, dtype=np.int64)
    for slot in slots:
        if slot != 0:
            at = _mix_pair(-1 - left[slot - 1], right[slot - 1]) & (n_slots - 1)
            while grown[at] != 0:
                at = (at + 1) & (n_slots - 1)
            grown[at] = slot
    return grown


@kernel
def reserve(words, n_words, n_letters, n_grams):
    """The table with room for this many more; hash tables at most half full."""
    slots, gram_slots, left, right, letters, sizes = words
    if sizes[0] + n_words + n_grams > len(left):
        left = _longer(left, sizes[0] + n_words + n_grams)
        right = _longer(right, len(left))
    if sizes[1] + n_letters > len(letters):
        letters = _longer(letters, sizes[1] + n_letters)
    n_slots = len(slots)
    while 2 * (sizes[2] + n_words) > n_slots:
        n_slots *= 2
    if n_slots > len(slots):
        slots = _rehash_words(slots, n_slots)
    n_slots = len(gram_slots)
    while 2 * (sizes[3] + n_grams) > n_slots:
        n_slots *= 2
    if n_slots > len(gram_slots):
        gram_slots = _rehash_grams(gram_slots, n_slots, left, right)
    return Words(slots, gram_slots, left, right, letters, sizes)


# Below, loops see plain arrays, never the tuple, and no array is replaced inside them: counting the
# references of the tuple's arrays at every word made the same loops ten times slower.


@kernel
def _find_word(slots, left, right, known, letters, begin, size, code):
    """The id of the word ``letters[begin : begin + size]``, or -1 minus its empty slot."""
    mask = len(slots) - 1
    at = code & mask
    while True:
        slot = slots[at]
        if slot == 0:
            return -1 - at
        if slot >> 31 == code:
            i = (slot & _LOW_31) - 1
            start = left[i]
            if right[i] - start == size:
                j = 0
                while j < size and known[start + j] == letters[begin + j]:
                    j += 1
                if j == size:
                    return i
        at = (at + 1) & mask


@kernel
def _add_word(slots, left, right, known, sizes, letters, begin, size, code, at):
    """Put a new word into slot ``at``, where room was reserved; its id."""
    entry = sizes[0]
    start = sizes[1]
    for j in range(size):
        known[start + j] = letters[begin + j]
    left[entry] = start
    right[entry] = start + size
    slots[at] = (code << 31) | (entry + 1)
    sizes[0] = entry + 1
    sizes[1] = start + size
    sizes[2] += 1
    return entry


@kernel
def _find_gram(slots, left, right, before, word):
    """The id of an n-gram, or -1 minus its empty slot."""
    mask = len(slots) - 1
    at = _mix_pair(before, word) & mask
    while True:
        i = slots[at] - 1
        if i < 0:
            return -1 - at
        if left[i] == -1 - before and right[i] == word:
            return i
        at = (at + 1) & mask


@kernel
def _add_gram(slots, left, right, sizes, before, word, at):
    """Put a new n-gram into slot ``at``, where room was reserved; its id."""
    entry = sizes[0]
    left[entry] = -1 - before
    right[entry] = word
    slots[at] = entry + 1
    sizes[0] = entry + 1
    sizes[3] += 1
    return entry


@kernel
def _word_hash(letters, begin, size):
    state = _HASH_SEED
    for j in range(begin, begin + size):
        state = ((state ^ np.int64(letters[j])) * _HASH_FACTOR) & _HASH_MASK
    return _mix(state)


@kernel
def _split(
    data, i, end, fold, min_length, n_stop, learn,
    slots, left, right, known, sizes, letters, sequence, n,
):  # fmt: skip
    """Append the ids of the words in ``data[i:end]`` to ``sequence``: (where it stopped, new n).

    It stops before the end, in front of a word, if that is new and there is no room for it.
    """
    while i < end:
        start = i
        size = 0
        n_chars = 0
        state = _HASH_SEED
        while i < end:
            point = np.int64(data[i])
            i += 1
            if point >= 128:
                if point < 0xE0:
                    more, point = 1, point & 0x1F
                elif point < 0xF0:
                    more, point = 2, point & 0x0F
                else:
                    more, point = 3, point & 0x07
                for _ in range(more):
                    point = (point << 6) | (np.int64(data[i]) & 0x3F)
                    i += 1
            point = np.int64(fold[point])
            if point == 0:
                break
            n_chars += 1
            if point < 128:
                letters[size] = point
                state = ((state ^ point) * _HASH_FACTOR) & _HASH_MASK
                size += 1
                continue
            if point < 0x800:
                more, lead = 1, 0xC0
            elif point < 0x10000:
                more, lead = 2, 0xE0
            else:
                more, lead = 3, 0xF0
            byte = lead | (point >> (6 * more))
            letters[size] = byte
            state = ((state ^ byte) * _HASH_FACTOR) & _HASH_MASK
            size += 1
            while more > 0:
                more -= 1
                byte = 0x80 | ((point >> (6 * more)) & 0x3F)
                letters[size] = byte
                state = ((state ^ byte) * _HASH_FACTOR) & _HASH_MASK
                size += 1
        if n_chars < min_length:
            continue
        code = _mix(state)
        word = _find_word(slots, left, right, known, letters, 0, size, code)
        if word < 0:
            if learn:
                full = sizes[0] == len(left) or 2 * (sizes[2] + 1) > len(slots)
                if full or sizes[1] + size > len(known):
                    return start, n
                at = -1 - word
                word = _add_word(slots, left, right, known, sizes, letters, 0, size, code, at)
            else:
                word = -1
        elif word < n_stop:
            continue
        sequence[n] = word
        n += 1
    return end, n


@kernel
def _tally(
    sequence, t, n_tokens, low, high, learn,
    slots, left, right, sizes, where, ids, counts, document, n,
):  # fmt: skip
    """Count ids and n-grams from token ``t`` on: (where it stopped, new n).

    The document's pairs begin at ``document`` and end before ``n``. It stops before the end if
    there may be no room for the n-grams of the next token.
    """
    while t < n_tokens:
        if learn and high > 1:
            more = min(high, n_tokens - t)
            if sizes[0] + more > len(left) or 2 * (sizes[3] + more) > len(slots):
                return t, n
        entry = sequence[t]
        order = 1
        while entry >= 0:
            if order >= low:
                at = where[entry]
                if at >= document:
                    counts[at] += 1
                else:
                    where[entry] = n
                    ids[n] = entry
                    counts[n] = 1
                    n += 1
            if order == high or t + order == n_tokens or sequence[t + order] < 0:
                break
            word = sequence[t + order]
            gram = _find_gram(slots, left, right, entry, word)
            if gram < 0 and learn:
                gram = _add_gram(slots, left, right, sizes, entry, word, -1 - gram)
            entry = gram
            order += 1
        t += 1
    return n_tokens, n


@kernel
def count(data, offsets, first, last, fold, min_length, low, high, n_stop, words, learn):
    """Count words and n-grams of documents ``first`` to ``last``, whose bytes `scan` found plain.

    Parameters
    ----------
    data, offsets : uint8 array, int64 array
        Document d is ``data[offsets[d] : offsets[d + 1]]``.
    fold : int32 array over all code points
        The lower case of a word character; 0 for characters that are not part of words.
    min_length : int
        Shortest word, in characters.
    low, high : int
        Orders of n-grams to count; 1, 1 is words.
    n_stop : int
        Ids below this are stop words: left out before n-grams are made.
    words : Words
        Known words. With ``learn`` new ones are added, else others than these are left out, an
        n-gram with one of them too, and the table is only read.

    Returns
    -------
    Counted
    """
    longest = 0
    for d in range(first, last):
        longest = max(longest, offsets[d + 1] - offsets[d])
    letters = np.empty(3 * longest + 4, dtype=np.uint8)  # lower case may need more bytes
    sequence = np.empty(longest + 1, dtype=np.int64)
    where = np.full(len(words.left), -1, dtype=np.int64)  # of an id, its last place in `ids`
    ids = np.empty(1024, dtype=np.int32)
    counts = np.empty(1024, dtype=np.int32)
    lengths = np.empty(last - first, dtype=np.int64)
    n = 0
    for d in range(first, last):
        i, end = offsets[d], offsets[d + 1]
        n_tokens = 0
        while i < end:
            i, n_tokens = _split(
                data, i, end, fold, min_length, n_stop, learn, words.slots, words.left,
                words.right, words.letters, words.sizes, letters, sequence, n_tokens,
            )  # fmt: skip
            if i < end:
                words = reserve(words, words.sizes[2] + 64, end - i + 256, 0)
        room = n + (high - low + 1) * n_tokens
        if room > len(ids):
            ids = _longer(ids, room)
            counts = _longer(counts, room)
        document = n
        t = 0
        while t < n_tokens:
            if len(where) < len(words.left):
                known = len(where)
                where = _longer(where, len(words.left))
                where[known:] = -1
            t, n = _tally(
                sequence, t, n_tokens, low, high, learn, words.gram_slots, words.left,
                words.right, words.sizes, where, ids, counts, document, n,
            )  # fmt: skip
            if t < n_tokens:
                words = reserve(words, 0, 0, words.sizes[3] + 64 + high)
        lengths[d - first] = n - document
    return _counted(words, ids[:n], counts[:n], lengths)


@kernel
def _counted(words, ids, counts, lengths):
    document_frequency = np.zeros(words.sizes[0], dtype=np.int64)
    frequency = np.zeros(words.sizes[0], dtype=np.int64)
    for j in range(len(ids)):
        document_frequency[ids[j]] += 1
        frequency[ids[j]] += counts[j]
    return Counted(words, document_frequency, frequency, ids.copy(), counts.copy(), lengths)


@kernel
def _merge_entries(
    part_left, part_right, part_letters, n, slots, gram_slots, left, right, known, sizes, renamed
):
    """New ids of a chunk's entries. An n-gram is younger than its parts: theirs are known."""
    for i in range(n):
        if part_left[i] >= 0:
            begin, size = part_left[i], part_right[i] - part_left[i]
            code = _word_hash(part_letters, begin, size)
            entry = _find_word(slots, left, right, known, part_letters, begin, size, code)
            if entry < 0:
                at = -1 - entry
                entry = _add_word(
                    slots, left, right, known, sizes, part_letters, begin, size, code, at
                )
        else:
            before, word = renamed[-1 - part_left[i]], renamed[part_right[i]]
            entry = _find_gram(gram_slots, left, right, before, word)
            if entry < 0:
                entry = _add_gram(gram_slots, left, right, sizes, before, word, -1 - entry)
        renamed[i] = entry


@kernel
def merge(total, document_frequency, frequency, part):
    """Add a chunk's words to the table of all: (table, frequencies). Its ids become those of all."""
    words = part.words
    n = words.sizes[0]
    total = reserve(total, words.sizes[2], words.sizes[1], words.sizes[3])
    renamed = np.empty(n, dtype=np.int64)
    _merge_entries(
        words.left, words.right, words.letters, n, total.slots, total.gram_slots, total.left,
        total.right, total.letters, total.sizes, renamed,
    )  # fmt: skip
    if total.sizes[0] > len(document_frequency):
        document_frequency = _longer(document_frequency, total.sizes[0])
        frequency = _longer(frequency, total.sizes[0])
    for i in range(n):
        document_frequency[renamed[i]] += part.document_frequency[i]
        frequency[renamed[i]] += part.frequency[i]
    ids = part.ids
    for j in range(len(ids)):
        ids[j] = renamed[ids[j]]
    return total, document_frequency, frequency


@kernel
def _add_terms(data, offsets, slots, gram_slots, left, right, known, sizes, terms, orders):
    for d in range(len(offsets) - 1):
        i = offsets[d]
        end = offsets[d + 1]
        entry = np.int64(-1)
        order = 0
        while i <= end:
            begin = i
            while i < end and data[i] != 32:
                i += 1
            size = i - begin
            code = _word_hash(data, begin, size)
            word = _find_word(slots, left, right, known, data, begin, size, code)
            if word < 0:
                at = -1 - word
                word = _add_word(slots, left, right, known, sizes, data, begin, size, code, at)
            if order == 0:
                entry = word
            else:
                gram = _find_gram(gram_slots, left, right, entry, word)
                if gram < 0:
                    gram = _add_gram(gram_slots, left, right, sizes, entry, word, -1 - gram)
                entry = gram
            order += 1
            i += 1
        terms[d] = entry
        orders[d] = order


@kernel
def add_terms(words, data, offsets, terms, orders):
    """Add terms, words with single spaces between them, to a table; their ids and orders go out."""
    n_terms = len(offsets) - 1
    n_grams = 0
    for i in range(offsets[0], offsets[n_terms]):
        if data[i] == 32:
            n_grams += 1
    words = reserve(words, n_terms + n_grams, offsets[n_terms] - offsets[0], n_grams)
    _add_terms(
        data, offsets, words.slots, words.gram_slots, words.left, words.right, words.letters,
        words.sizes, terms, orders,
    )  # fmt: skip
    return words


@kernel
def kept_lengths(ids, lengths, column):
    """How many pairs of each document have a column (not -1)."""
    kept = np.zeros(len(lengths), dtype=np.int64)
    j = 0
    for d in range(len(lengths)):
        for _ in range(lengths[d]):
            if column[ids[j]] >= 0:
                kept[d] += 1
            j += 1
    return kept


@kernel
def fill_rows(ids, counts, lengths, column, at, indices, values):
    """Write the pairs that have a column as rows of a CSR matrix from place ``at``, columns sorted."""
    longest = 0
    for length in lengths:
        longest = max(longest, length)
    pairs = np.empty(longest, dtype=np.int64)
    j = 0
    for length in lengths:
        n = 0
        for _ in range(length):
            if column[ids[j]] >= 0:
                # A column and its count in one number, so that they are sorted as one.
                pairs[n] = (np.int64(column[ids[j]]) << 32) | np.int64(counts[j])
                n += 1
            j += 1
        row = pairs[:n]
        row.sort()
        for pair in row:
            indices[at] = pair >> 32
            values[at] = pair & _LOW_32
            at += 1
