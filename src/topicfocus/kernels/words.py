"""A table of words and n-grams in plain arrays: ids, bytes, and hashes to find them by.

An n-gram is a pair: the id of all but its last word, and the id of that word; its characters are
put together only for the few that are kept.

Hashes find a candidate, bytes (or the pair of ids) decide: no result depends on a collision. All
arithmetic stays below 2^63, so that the same code runs without numba, where NumPy would warn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels.compile import helper, kernel

HASH_SEED = 0x51ED270B
HASH_FACTOR = 0x3D4D51  # odd and below 2^22: times a 40-bit hash it stays below 2^62
HASH_MASK = (1 << 40) - 1
_LOW_32 = (1 << 32) - 1
_LOW_31 = (1 << 31) - 1
_END = 0xFF  # behind the letters of a word; no UTF-8 has it
# An index that cannot be negative, so that numba leaves out what a[-1] needs: a fifth faster.
U = np.uint64


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


def longer(array: NDArray, size: int, rest: int = 0) -> NDArray:
    """The array if it has ``size`` entries, else one of twice its length or more."""
    if size <= len(array):
        return array
    grown = np.full(max(size, 2 * len(array)), rest, dtype=array.dtype)
    grown[: len(array)] = array
    return grown


@helper
def mix(state):
    """The 32 bits of a word's hash that are used: the lowest ones alone see too little."""
    return (state ^ (state >> 21)) & _LOW_32


@helper
def mix_pair(before, word):
    state = (before * 2654435761) ^ (word * 2246822519)
    return state ^ (state >> 29)


@helper
def read_point(data, i):
    """The code point that begins at byte i, which is not ASCII: (point, where the next begins)."""
    byte = np.int64(data[U(i)])
    point = np.int64(data[U(i + 1)]) & 0x3F
    if byte < 0xE0:
        return ((byte & 0x1F) << 6) | point, i + 2
    point = (point << 6) | (np.int64(data[U(i + 2)]) & 0x3F)
    if byte < 0xF0:
        return ((byte & 0x0F) << 12) | point, i + 3
    point = (point << 6) | (np.int64(data[U(i + 3)]) & 0x3F)
    return ((byte & 0x07) << 18) | point, i + 4


@helper
def word_hash(letters, begin, size):
    """The hash that `_split` finds on its way: over code points, not bytes."""
    state = HASH_SEED
    i = begin
    while i < begin + size:
        point = np.int64(letters[i])
        if point < 128:
            i += 1
        else:
            point, i = read_point(letters, i)
        state = ((state ^ point) * HASH_FACTOR) & HASH_MASK
    return mix(state)


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
            at = mix_pair(-1 - left[slot - 1], right[slot - 1]) & mask
            while grown[at] != 0:
                at = (at + 1) & mask
            grown[at] = slot


def reserve(words: Words, n_words: int, n_letters: int, n_grams: int) -> Words:
    """The table with room for this many more; hash tables at most half full."""
    entries, letters_used, words_used, grams_used = (int(size) for size in words.sizes)
    left = longer(words.left, entries + n_words + n_grams)
    right = longer(words.right, len(left))
    letters = longer(words.letters, letters_used + n_letters)
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


@helper
def find_word(slots, left, right, known, letters, begin, size, code):
    """The id of the word ``letters[begin : begin + size]``, or -1 minus its empty slot."""
    mask = len(slots) - 1
    at = code & mask
    while True:
        slot = slots[U(at)]
        if slot == 0:
            return -1 - at
        if slot >> 31 == code:
            i = (slot & _LOW_31) - 1
            start = left[U(i)]
            j = 0
            while j < size and known[U(start + j)] == letters[U(begin + j)]:
                j += 1
            if j == size and known[U(start + j)] == _END:  # as long: `right` need not be fetched
                return i
        at = (at + 1) & mask


@helper
def add_word(slots, left, right, known, sizes, letters, begin, size, code, at):
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


@helper
def find_gram(slots, left, right, before, word):
    """The id of an n-gram, or -1 minus its empty slot."""
    mask = len(slots) - 1
    at = mix_pair(before, word) & mask
    while True:
        i = slots[U(at)] - 1
        if i < 0:
            return -1 - at
        if left[U(i)] == -1 - before and right[U(i)] == word:
            return i
        at = (at + 1) & mask


@helper
def add_gram(slots, left, right, sizes, before, word, at):
    """Put a new n-gram into slot ``at``, where room was reserved; its id."""
    entry = sizes[0]
    left[entry] = -1 - before
    right[entry] = word
    slots[at] = entry + 1
    sizes[0] = entry + 1
    sizes[3] += 1
    return entry


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
            code = word_hash(data, begin, size)
            word = find_word(slots, left, right, known, data, begin, size, code)
            if word < 0:
                at = -1 - word
                word = add_word(slots, left, right, known, sizes, data, begin, size, code, at)
            if order == 0:
                entry = word
            else:
                gram = find_gram(gram_slots, left, right, entry, word)
                if gram < 0:
                    gram = add_gram(gram_slots, left, right, sizes, entry, word, -1 - gram)
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
