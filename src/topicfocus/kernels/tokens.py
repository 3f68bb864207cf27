"""Counting words in UTF-8 text: split, look up, count, merge. No strings, only bytes.

A word is a run of word characters, as ``\\w`` of Python's `re` means them. Which characters these
are and what their lower case is comes in as a table over all code points (`text.characters`), so
the kernels agree with Python by construction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels.compile import helper, kernel
from topicfocus.kernels.words import (
    HASH_FACTOR,
    HASH_MASK,
    HASH_SEED,
    U,
    Words,
    add_gram,
    add_word,
    find_gram,
    find_word,
    longer,
    mix,
    read_point,
    reserve,
    word_hash,
)

#: What `_count_documents` has no more room for.
DONE, WORDS, GRAMS = 0, 1, 2


class Counted(NamedTuple):
    """What a chunk of documents holds; (id, count) pairs of document after document."""

    words: Words
    document_frequency: NDArray[np.int64]
    frequency: NDArray[np.int64]
    ids: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int64]  # pairs of each document


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


@helper
def _write_point(letters, i, point):
    """Write a code point that is not ASCII from byte i on; where the next goes."""
    if point < 0x800:
        letters[U(i)] = 0xC0 | (point >> 6)
        letters[U(i + 1)] = 0x80 | (point & 0x3F)
        return i + 2
    if point < 0x10000:
        letters[U(i)] = 0xE0 | (point >> 12)
        letters[U(i + 1)] = 0x80 | ((point >> 6) & 0x3F)
        letters[U(i + 2)] = 0x80 | (point & 0x3F)
        return i + 3
    letters[U(i)] = 0xF0 | (point >> 18)
    letters[U(i + 1)] = 0x80 | ((point >> 12) & 0x3F)
    letters[U(i + 2)] = 0x80 | ((point >> 6) & 0x3F)
    letters[U(i + 3)] = 0x80 | (point & 0x3F)
    return i + 4


@helper
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
        state = HASH_SEED
        while i < end:
            point = np.int64(data[U(i)])
            if point < 128:
                i += 1
            else:
                point, i = read_point(data, i)
            point = np.int64(fold[U(point)])
            if point == 0:
                break
            if point < 128:
                letters[U(size)] = point
                size += 1
            else:
                size = _write_point(letters, size, point)
            state = ((state ^ point) * HASH_FACTOR) & HASH_MASK
            n_chars += 1
        if n_chars < min_length:
            continue
        code = mix(state)
        word = find_word(slots, left, right, known, letters, 0, size, code)
        if word < 0:
            if learn:
                full = sizes[0] == len(left) or 2 * (sizes[2] + 1) > len(slots)
                if full or sizes[1] + size + 1 > len(known):
                    return start, n
                at = -1 - word
                word = add_word(slots, left, right, known, sizes, letters, 0, size, code, at)
            else:
                word = -1
        elif word < n_stop:
            continue
        sequence[U(n)] = word
        n += 1
    return end, n


@helper
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
                at = where[U(entry)]
                if at >= document:
                    counts[U(at)] += 1
                else:
                    where[U(entry)] = n
                    ids[U(n)] = entry
                    counts[U(n)] = 1
                    n += 1
            if order == high or t + order == n_tokens or sequence[t + order] < 0:
                break
            word = sequence[t + order]
            gram = find_gram(slots, left, right, entry, word)
            if gram < 0 and learn:
                gram = add_gram(slots, left, right, sizes, entry, word, -1 - gram)
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
        where = longer(where, len(words.left), -1)
    # Copies: the arrays have room for more, and would keep it as long as the pairs live.
    ids, counts = ids[:n].copy(), counts[:n].copy()
    entries = int(words.sizes[0])
    document_frequency = np.bincount(ids, minlength=entries)
    frequency = np.bincount(ids, weights=counts, minlength=entries).astype(np.int64)
    return Counted(words, document_frequency, frequency, ids, counts, lengths)


@kernel
def _merge_entries(
    part_left, part_right, part_letters, n, slots, gram_slots, left, right, known, sizes, renamed
):
    """New ids of a chunk's entries. An n-gram is younger than its parts: theirs are known."""
    for i in range(n):
        if part_left[i] >= 0:
            begin, size = part_left[i], part_right[i] - part_left[i]
            code = word_hash(part_letters, begin, size)
            entry = find_word(slots, left, right, known, part_letters, begin, size, code)
            if entry < 0:
                at = -1 - entry
                entry = add_word(
                    slots, left, right, known, sizes, part_letters, begin, size, code, at
                )
        else:
            before, word = renamed[-1 - part_left[i]], renamed[part_right[i]]
            entry = find_gram(gram_slots, left, right, before, word)
            if entry < 0:
                entry = add_gram(gram_slots, left, right, sizes, before, word, -1 - entry)
        renamed[i] = entry


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
    document_frequency = longer(document_frequency, int(total.sizes[0]))
    frequency = longer(frequency, int(total.sizes[0]))
    document_frequency[renamed] += part.document_frequency  # different entries stay different
    frequency[renamed] += part.frequency
    part.ids[:] = renamed[part.ids]
    return total, document_frequency, frequency
