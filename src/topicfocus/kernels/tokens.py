"""Counting words in UTF-8 text: split, look up, count, merge. No strings, only bytes.

A word is a run of word characters, as ``\\w`` of Python's `re` means them. Which characters these
are and what their lower case is comes in as a table over all code points (`text.characters`), so
the kernels agree with Python by construction. An n-gram is a pair: the id of all but its last word,
and the id of that word; its characters are put together only for the few that are kept.

Hashes find a candidate, bytes (or the pair of ids) decide: no result depends on a collision. All
arithmetic stays below 2^63, so that the same code runs without numba, where NumPy would warn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels.compile import kernel

#: What `_count_documents` has no more room for.
DONE, WORDS, GRAMS = 0, 1, 2

_HASH_SEED = 0x51ED270B
_HASH_FACTOR = 0x3D4D51  # odd and below 2^22: times a 40-bit hash it stays below 2^62
_HASH_MASK = (1 << 40) - 1
_LOW_32 = (1 << 32) - 1
_LOW_31 = (1 << 31) - 1
_END = 0xFF  # behind the letters of a word; no UTF-8 has it
# An index that cannot be negative, so that numba leaves out what a[-1] needs: a fifth faster.
_U = np.uint64


class Words(NamedTuple):
    """Words and n-grams with their ids, in order of arrival, and two open-addressing hash tables.

    ``left`` and ``right`` of a word are its first byte and one past its last in ``letters``; of an
    n-gram, -1 minus the id of all but its last word, and the id of that word.
    """

    slots: NDArray[np.int64]  # of words: hash << 31 | id + 1; 0 is empty
    gram_slots: NDArray[np.int64]  # of n-grams: id + 1
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    letters: NDArray[np.uint8]  # an _END behind each word
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
    return words._replace(**{name: array.copy() for name, array in words._asdict().items()})


@kernel
def find_pairs(data, offsets, first, second, found):
    """Set ``found[d]`` if one of the pairs of bytes ``first[k], second[k]`` is in document d."""
    for d in range(len(offsets) - 1):
        if offsets[d] == offsets[d + 1]:
            continue
        # Neither an early exit nor an index that might be negative: many bytes at a time.
        ones = data[offsets[d] : offsets[d + 1] - 1]
        nexts = data[offsets[d] + 1 : offsets[d + 1]]
        for k in range(len(first)):
            a, b = first[k], second[k]
            hit = np.uint8(0)
            for i in range(len(ones)):
                hit |= np.uint8(ones[i] == a) & np.uint8(nexts[i] == b)
            found[d] |= hit


def _longer(array: NDArray, size: int, rest: int = 0) -> NDArray:
    """The array if it has ``size`` entries, else one of twice its length or more."""
    if size <= len(array):
        return array
    grown = np.full(max(size, 2 * len(array)), rest, dtype=array.dtype)
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
def _rehash_words(slots, grown):
    mask = len(grown) - 1
    for slot in slots:
        if slot != 0:
            at = (slot >> 31) & mask
            while grown[at] != 0:
                at = (at + 1) & mask
            grown[at] = slot


@kernel
def _rehash_grams(slots, grown, left, right):
    mask = len(grown) - 1
    for slot in slots:
        if slot != 0:
            at = _mix_pair(-1 - left[slot - 1], right[slot - 1]) & mask
            while grown[at] != 0:
                at = (at + 1) & mask
            grown[at] = slot


def reserve(words: Words, n_words: int, n_letters: int, n_grams: int) -> Words:
    """The table with room for this many more; hash tables at most half full."""
    entries, letters_used, words_used, grams_used = (int(size) for size in words.sizes)
    left = _longer(words.left, entries + n_words + n_grams)
    right = _longer(words.right, len(left))
    letters = _longer(words.letters, letters_used + n_letters)
    slots, gram_slots = words.slots, words.gram_slots
    if 2 * (words_used + n_words) > len(slots):
        slots = np.zeros(_slots_for(words_used + n_words), dtype=np.int64)
        _rehash_words(words.slots, slots)
    if 2 * (grams_used + n_grams) > len(gram_slots):
        gram_slots = np.zeros(_slots_for(grams_used + n_grams), dtype=np.int64)
        _rehash_grams(words.gram_slots, gram_slots, left, right)
    return Words(slots, gram_slots, left, right, letters, words.sizes)


def _slots_for(n: int) -> int:
    """A power of two that n entries fill to half at most."""
    return 1 << (2 * n - 1).bit_length()


# Kernels see plain arrays, never the tuple, and replace none of them: counting references of the
# tuple's arrays at every word made the same loops three times slower, and twice as long to compile.
# Where there is no more room they stop, and are called again after it has been made.


@kernel
def _find_word(slots, left, right, known, letters, begin, size, code):
    """The id of the word ``letters[begin : begin + size]``, or -1 minus its empty slot."""
    mask = len(slots) - 1
    at = code & mask
    while True:
        slot = slots[_U(at)]
        if slot == 0:
            return -1 - at
        if slot >> 31 == code:
            i = (slot & _LOW_31) - 1
            start = left[_U(i)]
            j = 0
            while j < size and known[_U(start + j)] == letters[_U(begin + j)]:
                j += 1
            if j == size and known[_U(start + j)] == _END:  # as long: `right` need not be fetched
                return i
        at = (at + 1) & mask


@kernel
def _add_word(slots, left, right, known, sizes, letters, begin, size, code, at):
    """Put a new word into slot ``at``, where room was reserved; its id."""
    entry = sizes[0]
    start = sizes[1]
    for j in range(size):
        known[start + j] = letters[begin + j]
    known[start + size] = _END
    left[entry] = start
    right[entry] = start + size
    slots[at] = (code << 31) | (entry + 1)
    sizes[0] = entry + 1
    sizes[1] = start + size + 1
    sizes[2] += 1
    return entry


@kernel
def _find_gram(slots, left, right, before, word):
    """The id of an n-gram, or -1 minus its empty slot."""
    mask = len(slots) - 1
    at = _mix_pair(before, word) & mask
    while True:
        i = slots[_U(at)] - 1
        if i < 0:
            return -1 - at
        if left[_U(i)] == -1 - before and right[_U(i)] == word:
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
def _read_point(data, i):
    """The code point that begins at byte i, which is not ASCII: (point, where the next begins)."""
    byte = np.int64(data[_U(i)])
    point = np.int64(data[_U(i + 1)]) & 0x3F
    if byte < 0xE0:
        return ((byte & 0x1F) << 6) | point, i + 2
    point = (point << 6) | (np.int64(data[_U(i + 2)]) & 0x3F)
    if byte < 0xF0:
        return ((byte & 0x0F) << 12) | point, i + 3
    point = (point << 6) | (np.int64(data[_U(i + 3)]) & 0x3F)
    return ((byte & 0x07) << 18) | point, i + 4


@kernel
def _write_point(letters, i, point):
    """Write a code point that is not ASCII from byte i on; where the next goes."""
    if point < 0x800:
        letters[_U(i)] = 0xC0 | (point >> 6)
        letters[_U(i + 1)] = 0x80 | (point & 0x3F)
        return i + 2
    if point < 0x10000:
        letters[_U(i)] = 0xE0 | (point >> 12)
        letters[_U(i + 1)] = 0x80 | ((point >> 6) & 0x3F)
        letters[_U(i + 2)] = 0x80 | (point & 0x3F)
        return i + 3
    letters[_U(i)] = 0xF0 | (point >> 18)
    letters[_U(i + 1)] = 0x80 | ((point >> 12) & 0x3F)
    letters[_U(i + 2)] = 0x80 | ((point >> 6) & 0x3F)
    letters[_U(i + 3)] = 0x80 | (point & 0x3F)
    return i + 4


@kernel
def _word_hash(letters, begin, size):
    """The hash that `_split` finds on its way: over code points, not bytes."""
    state = _HASH_SEED
    i = begin
    while i < begin + size:
        point = np.int64(letters[i])
        if point < 128:
            i += 1
        else:
            point, i = _read_point(letters, i)
        state = ((state ^ point) * _HASH_FACTOR) & _HASH_MASK
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
            point = np.int64(data[_U(i)])
            if point < 128:
                i += 1
            else:
                point, i = _read_point(data, i)
            point = np.int64(fold[_U(point)])
            if point == 0:
                break
            if point < 128:
                letters[_U(size)] = point
                size += 1
            else:
                size = _write_point(letters, size, point)
            state = ((state ^ point) * _HASH_FACTOR) & _HASH_MASK
            n_chars += 1
        if n_chars < min_length:
            continue
        code = _mix(state)
        word = _find_word(slots, left, right, known, letters, 0, size, code)
        if word < 0:
            if learn:
                full = sizes[0] == len(left) or 2 * (sizes[2] + 1) > len(slots)
                if full or sizes[1] + size + 1 > len(known):
                    return start, n
                at = -1 - word
                word = _add_word(slots, left, right, known, sizes, letters, 0, size, code, at)
            else:
                word = -1
        elif word < n_stop:
            continue
        sequence[_U(n)] = word
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
                at = where[_U(entry)]
                if at >= document:
                    counts[_U(at)] += 1
                else:
                    where[_U(entry)] = n
                    ids[_U(n)] = entry
                    counts[_U(n)] = 1
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
def _count_documents(
    data, offsets, fold, min_length, low, high, n_stop, learn,
    slots, gram_slots, left, right, known, sizes,
    letters, sequence, where, ids, counts, lengths, progress,
):  # fmt: skip
    """Go on counting where ``progress`` says; what there is no more room for, or DONE."""
    d, i, n_tokens, t, document, n = progress
    missing = DONE
    while d < len(lengths):
        if i < 0:
            i, n_tokens, t, document = offsets[d], 0, 0, n
        end = offsets[d + 1]
        i, n_tokens = _split(
            data, i, end, fold, min_length, n_stop, learn,
            slots, left, right, known, sizes, letters, sequence, n_tokens,
        )  # fmt: skip
        if i < end:
            missing = WORDS
            break
        t, n = _tally(
            sequence, t, n_tokens, low, high, learn,
            gram_slots, left, right, sizes, where, ids, counts, document, n,
        )  # fmt: skip
        if t < n_tokens:
            missing = GRAMS
            break
        lengths[d] = n - document
        d += 1
        i = -1
    progress[0] = d
    progress[1] = i
    progress[2] = n_tokens
    progress[3] = t
    progress[4] = document
    progress[5] = n
    return missing


@kernel
def _add_frequencies(ids, counts, document_frequency, frequency):
    for j in range(len(ids)):
        document_frequency[ids[j]] += 1
        frequency[ids[j]] += counts[j]


def count(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    fold: NDArray[np.int32],
    min_length: int,
    orders: tuple[int, int],
    n_stop: int,
    words: Words,
    learn: bool,
) -> Counted:
    """Count words and n-grams of documents.

    Parameters
    ----------
    data, offsets : uint8 array, int64 array
        Document d is ``data[offsets[d] : offsets[d + 1]]``, valid UTF-8 (surrogates may occur).
    fold : int32 array over all code points
        The lower case of a word character; 0 for characters that are not part of words.
    min_length : int
        Shortest word, in characters.
    orders : (int, int)
        Orders of n-grams to count; (1, 1) is words.
    n_stop : int
        Ids below this are stop words: left out before n-grams are made.
    words : Words
        Known words. With ``learn`` new ones are added, to this very table or one that replaces it;
        else other words, and n-grams with them, are left out, and the table is only read.
    learn : bool
    """
    longest = int(np.max(np.diff(offsets), initial=0))
    letters = np.empty(3 * longest + 4, dtype=np.uint8)  # lower case may need more bytes
    sequence = np.empty(longest + 1, dtype=np.int64)
    where = np.full(len(words.left), -1, dtype=np.int64)  # of an id, its last place in `ids`
    lengths = np.empty(len(offsets) - 1, dtype=np.int64)
    # Room for any text of this size, of which little is used: memory that is never touched is free.
    most_tokens = int(offsets[-1] - offsets[0]) // (min_length + 1) + len(lengths)
    most = (orders[1] - orders[0] + 1) * most_tokens
    ids = np.empty(most, dtype=np.int32)
    counts = np.empty(most, dtype=np.int32)
    progress = np.array([0, -1, 0, 0, 0, 0])
    while True:
        missing = _count_documents(
            data, offsets, fold, min_length, *orders, n_stop, learn,
            *words, letters, sequence, where, ids, counts, lengths, progress,
        )  # fmt: skip
        n = int(progress[5])
        if missing == DONE:
            break
        if missing == WORDS:
            words = reserve(words, int(words.sizes[2]) + 64, len(letters) + 1, 0)
        else:
            words = reserve(words, 0, 0, int(words.sizes[3]) + 64 + orders[1])
        where = _longer(where, len(words.left), -1)
    document_frequency = np.zeros(int(words.sizes[0]), dtype=np.int64)
    frequency = np.zeros(int(words.sizes[0]), dtype=np.int64)
    # Copies: the arrays have room for more, and would keep it as long as the pairs live.
    ids, counts = ids[:n].copy(), counts[:n].copy()
    _add_frequencies(ids, counts, document_frequency, frequency)
    return Counted(words, document_frequency, frequency, ids, counts, lengths)


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
def _rename(ids, renamed):
    for j in range(len(ids)):
        ids[j] = renamed[ids[j]]


def merge(
    total: Words,
    document_frequency: NDArray[np.int64],
    frequency: NDArray[np.int64],
    part: Counted,
) -> tuple[Words, NDArray[np.int64], NDArray[np.int64]]:
    """Add a chunk's words to the table of all: (table, frequencies). Its ids become those of all.

    Frequencies may be longer than there are words; zeros behind.
    """
    words = part.words
    n, n_letters, n_words, n_grams = (int(size) for size in words.sizes)
    total = reserve(total, n_words, n_letters, n_grams)
    renamed = np.empty(n, dtype=np.int64)
    _merge_entries(words.left, words.right, words.letters, n, *total, renamed)
    document_frequency = _longer(document_frequency, int(total.sizes[0]))
    frequency = _longer(frequency, int(total.sizes[0]))
    document_frequency[renamed] += part.document_frequency  # different entries stay different
    frequency[renamed] += part.frequency
    _rename(part.ids, renamed)
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


def add_terms(
    words: Words, data: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[Words, NDArray[np.int64], NDArray[np.int64]]:
    """Add terms, words with single spaces between them, to a table: (table, ids, orders)."""
    terms = np.empty(len(offsets) - 1, dtype=np.int64)
    orders = np.empty(len(offsets) - 1, dtype=np.int64)
    n_grams = int(np.count_nonzero(data == 32))
    words = reserve(words, len(terms) + n_grams, len(data) + len(terms), n_grams)
    _add_terms(data, offsets, *words, terms, orders)
    return words, terms, orders


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
def _sort(values, n):
    """Sort the first n values in place, by Shell's method with Ciura's gaps: quickly compiled."""
    for gap in (57503, 25549, 11353, 5045, 2242, 996, 442, 196, 86, 38, 17, 7, 3, 1):
        for i in range(gap, n):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value


@kernel
def _fill_by_sorting(ids, counts, lengths, column, pairs, at, indices, values):
    j = 0
    for length in lengths:
        n = 0
        for _ in range(length):
            if column[ids[j]] >= 0:
                # A column and its count in one number, so that they are sorted as one.
                pairs[n] = (np.int64(column[ids[j]]) << 32) | np.int64(counts[j])
                n += 1
            j += 1
        _sort(pairs, n)
        for i in range(n):
            indices[at] = pairs[i] >> 32
            values[at] = pairs[i] & _LOW_32
            at += 1


@kernel
def _fill_by_columns(ids, counts, lengths, column, by_column, ends, places, indices, values):
    """Transpose twice: a pass over the columns in order meets every row's columns in order."""
    for j in range(len(ids)):
        if column[ids[j]] >= 0:
            ends[column[ids[j]]] += 1
    total = 0
    for c in range(len(ends)):
        total += ends[c]
        ends[c] = total - ends[c]
    j = 0
    for d in range(len(lengths)):
        for _ in range(lengths[d]):
            c = column[ids[j]]
            if c >= 0:
                by_column[ends[c]] = (np.int64(d) << 32) | np.int64(counts[j])
                ends[c] += 1
            j += 1
    i = 0
    for c in range(len(ends)):
        while i < ends[c]:
            d = by_column[i] >> 32
            indices[places[d]] = c
            values[places[d]] = by_column[i] & _LOW_32
            places[d] += 1
            i += 1


def fill_rows(
    ids: NDArray[np.int32],
    counts: NDArray[np.int32],
    lengths: NDArray[np.int64],
    column: NDArray[np.int64],
    n_columns: int,
    places: NDArray[np.int64],
    indices: NDArray[Any],
    values: NDArray[Any],
) -> None:
    """Write the pairs that have a column as rows of a CSR matrix, columns sorted.

    ``places`` is where each row begins, with the end of the last one behind.
    """
    if n_columns <= 2 * len(ids):
        by_column = np.empty(int(places[-1] - places[0]), dtype=np.int64)
        ends = np.zeros(n_columns, dtype=np.int64)
        _fill_by_columns(
            ids, counts, lengths, column, by_column, ends, places[:-1].copy(), indices, values
        )
    else:  # so many columns that passing over them costs more
        pairs = np.empty(int(np.max(lengths, initial=0)), dtype=np.int64)
        at = int(places[0])
        _fill_by_sorting(ids, counts, lengths, column, pairs, at, indices, values)
