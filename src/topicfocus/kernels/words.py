"""A table of words in plain arrays: ids, bytes, and hashes to find them by.

Hashes find a candidate, bytes decide: no result depends on a collision. All arithmetic stays below
2^63, so that the same code runs without numba, where NumPy would warn.
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
    """Words with their ids, in order of arrival, and an open-addressing hash table.

    Word i is ``letters[left[i] : right[i]]``.
    """

    slots: NDArray[np.int64]  # hash << 31 | id + 1; 0 is empty
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    letters: NDArray[np.uint8]  # an _END behind each word
    sizes: NDArray[np.int64]  # words, letters in use

    def texts(self, ids: NDArray[np.intp]) -> list[str]:
        """The words with these ids."""
        letters = self.letters[: self.sizes[1]].tobytes()
        places = zip(self.left[ids].tolist(), self.right[ids].tolist(), strict=True)
        return [letters[a:b].decode("utf-8", "surrogatepass") for a, b in places]


def empty_words(n_slots: int = 1024) -> Words:
    """A table with no words; ``n_slots`` is a power of two."""
    return Words(
        slots=np.zeros(n_slots, dtype=np.int64),
        left=np.zeros(n_slots // 2, dtype=np.int64),
        right=np.zeros(n_slots // 2, dtype=np.int64),
        letters=np.zeros(4 * n_slots, dtype=np.uint8),
        sizes=np.zeros(2, dtype=np.int64),
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
    """The hash that the tokeniser computes on its way: over code points, not bytes."""
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


def reserve(words: Words, n_words: int, n_letters: int) -> Words:
    """The table with room for this many more; the hash table at most half full."""
    n, letters_used = (int(size) for size in words.sizes)
    left = longer(words.left, n + n_words)
    right = longer(words.right, len(left))
    letters = longer(words.letters, letters_used + n_letters)
    slots = words.slots
    if 2 * (n + n_words) > len(slots):
        slots = np.zeros(_slots_for(n + n_words), dtype=np.int64)
        _rehash_words(words.slots, slots)
    return Words(slots, left, right, letters, words.sizes)


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
    return entry


@kernel
def _add_all(data, begins, ends, slots, left, right, known, sizes, ids):
    for d in range(len(begins)):
        begin, size = begins[d], ends[d] - begins[d]
        code = word_hash(data, begin, size)
        word = find_word(slots, left, right, known, data, begin, size, code)
        if word < 0:
            at = -1 - word
            word = add_word(slots, left, right, known, sizes, data, begin, size, code, at)
        ids[d] = word


def add_words(
    words: Words, data: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[Words, NDArray[np.int64]]:
    """Add words, word d ``data[begins[d] : ends[d]]``, to a table: (table, ids)."""
    ids = np.empty(len(begins), dtype=np.int64)
    words = reserve(words, len(ids), len(data) + len(ids))
    _add_all(data, begins, ends, *words, ids)
    return words, ids
