"""N-grams in sequences of word ids: find frequent ones, and count them in each document.

An n-gram is an entry of a table: the entry of all but its last word (its parent) and that word.
Entries below the number of words are the words themselves. N-grams are found level by level: of
those with n + 1 words only continuations of frequent ones with n words are counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topicfocus.kernels.compile import borrowed, helper, kernel
from topicfocus.kernels.tokens import Sequences
from topicfocus.kernels.words import U

_LOW_32 = (1 << 32) - 1


class Grams(NamedTuple):
    """N-grams by an open-addressing hash table; entry ``n_words + i`` is ``keys[i]``."""

    slots: NDArray[np.int64]  # entry - n_words + 1; 0 is empty
    keys: NDArray[np.int64]  # parent << 32 | last word
    begins: NDArray[np.bool_]  # words that an n-gram begins with


class Frequencies(NamedTuple):
    """N-grams by their keys, in how many documents each is, and how often."""

    keys: NDArray[np.int64]
    document_frequency: NDArray[np.int64]
    frequency: NDArray[np.int64]


@helper
def _slot(key):
    state = (key >> 32) * 2654435761 ^ (key & _LOW_32) * 2246822519
    return (state ^ (state >> 29)) & ((1 << 62) - 1)


@helper
def _find(slots, keys, key):
    """The place of a key, or -1 minus its empty slot."""
    mask = len(slots) - 1
    at = _slot(key) & mask
    while True:
        i = slots[U(at)] - 1
        if i < 0:
            return -1 - at
        if keys[U(i)] == key:
            return i
        at = (at + 1) & mask


@helper
def _parent(slots, keys, begins, ids, i, order):
    """The entry of the ``order`` words at i, or -1."""
    entry = np.int64(ids[i])
    if order > 1 and entry >= 0 and not begins[entry]:
        return np.int64(-1)
    for k in range(1, order):
        if entry < 0 or ids[i + k] < 0:
            return np.int64(-1)
        found = _find(slots, keys, entry << 32 | np.int64(ids[i + k]))
        entry = found + len(begins) if found >= 0 else np.int64(-1)
    return entry


@kernel
def _fill_slots(keys, slots):
    for i in range(len(keys)):
        slots[-1 - _find(slots, keys, keys[i])] = i + 1


def make_grams(n_words: int, keys: NDArray[np.int64]) -> Grams:
    """A table of n-grams, parents before their continuations."""
    slots = np.zeros(1 << (4 * len(keys) + 15).bit_length(), dtype=np.int64)
    _fill_slots(keys, slots)
    begins = np.zeros(n_words, dtype=bool)
    parents = keys >> 32
    begins[parents[parents < n_words]] = True
    return Grams(slots, keys, begins)


@kernel
def _next_keys(ids, lengths, order, slots, keys, begins, first, found, documents):
    ids, slots, keys, begins = borrowed(ids), borrowed(slots), borrowed(keys), borrowed(begins)
    start = 0
    n = 0
    for d in range(len(lengths)):
        for i in range(start, start + lengths[d] - order):
            last = ids[i + order]
            if ids[i] < 0 or last < 0 or not first[ids[i]]:
                continue
            parent = _parent(slots, keys, begins, ids, i, order)
            if parent >= 0:
                found[n] = parent << 32 | np.int64(last)
                documents[n] = d
                n += 1
        start += lengths[d]
    return n


def next_keys(
    part: Sequences, order: int, grams: Grams, first: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Keys of the n-grams of ``order + 1`` words at all places, and the document of each."""
    keys, documents = np.empty(len(part.ids), np.int64), np.empty(len(part.ids), np.int32)
    n = _next_keys(*part, order, *grams, first, keys, documents)
    return keys[:n], documents[:n]


def key_buckets(keys: NDArray[np.int64], n_buckets: int) -> NDArray[np.int64]:
    """One of 2^k buckets for each key."""
    mixed = (keys >> 32) * 0x9E3779B1 ^ (keys & _LOW_32) * 0x85EBCA6B
    return (mixed ^ mixed >> 29) & (n_buckets - 1)


def key_frequencies(keys: NDArray[np.int64], documents: NDArray[np.int32]) -> Frequencies:
    """How often keys occur, in ascending order of the keys; documents are in ascending order."""
    by_key = np.argsort(keys, kind="stable")
    keys, documents = keys[by_key], documents[by_key]
    is_new = np.diff(keys, prepend=-1) != 0
    starts = np.flatnonzero(is_new)
    if not len(starts):
        return Frequencies(keys, keys, keys)
    in_new_document = is_new | (np.diff(documents, prepend=-1) != 0)
    in_docs = np.add.reduceat(in_new_document.astype(np.int64), starts)
    return Frequencies(keys[starts], in_docs, np.diff(starts, append=len(keys)))


@kernel
def _match(
    ids, lengths, order, slots, keys, begins, column, low, everything, where, out, counts, n_out
):
    """Columns of the terms, with their counts, document after document; how many."""
    ids, slots, keys, begins = borrowed(ids), borrowed(slots), borrowed(keys), borrowed(begins)
    n_words = len(begins)
    start = 0
    n = 0
    for d in range(len(lengths)):
        document = n
        i = start
        stop = start + lengths[d]
        while i < stop:
            entry = np.int64(ids[i])
            step = 1
            if entry >= 0:
                best = np.int64(column[entry]) if low == 1 else np.int64(-1)
                longest = min(order, stop - i) if begins[entry] else 1
                for k in range(1, longest):
                    if ids[i + k] < 0:
                        break
                    at = _find(slots, keys, entry << 32 | np.int64(ids[i + k]))
                    if at < 0:
                        break
                    entry = at + n_words
                    if k + 1 >= low and column[entry] >= 0:
                        if everything and best >= 0:
                            n = _add_one(best, document, where, out, counts, n)
                        best = np.int64(column[entry])
                        step = 1 if everything else k + 1
                if best >= 0:
                    n = _add_one(best, document, where, out, counts, n)
            i += step
        n_out[d] = n - document
        start = stop
    return n


@helper
def _add_one(column, document, where, out, counts, n):
    at = where[U(column)]
    if at >= document:
        counts[U(at)] += 1
        return n
    where[U(column)] = n
    out[U(n)] = column
    counts[U(n)] = 1
    return n + 1


def match(
    part: Sequences,
    orders: tuple[int, int],
    grams: Grams,
    column: NDArray[np.int32],
    every: bool,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Terms of each document with their counts: (columns, counts, terms of each document).

    `column` is that of each entry, -1 for an entry that is no term. Of the terms that begin with a
    word the longest is counted and its words are not counted again; with `every` all of them are.
    """
    low, high = orders
    most = len(part.ids) * (high - low + 1 if every else 1)
    columns, counts = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    lengths = np.empty(len(part.lengths), dtype=np.int64)
    where = np.full(int(column.max(initial=-1)) + 1, -1, dtype=np.int64)
    n = _match(*part, high, *grams, column, low, every, where, columns, counts, lengths)
    return columns[:n].copy(), counts[:n].copy(), lengths


def frequencies(
    part: Sequences, orders: tuple[int, int], grams: Grams, term: NDArray[np.bool_], every: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Document frequency and frequency of the entries that are terms, as `match` counts them."""
    n = len(term)
    column = np.where(term, np.arange(n), -1).astype(np.int32)
    entries, counts, _ = match(part, orders, grams, column, every)
    often = np.bincount(entries, counts, minlength=n).astype(np.int64)
    return np.bincount(entries, minlength=n), often


def value_sums(
    part: Sequences, order: int, grams: Grams, values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of some values of documents, over the documents that have each word and n-gram."""
    n_words, n_grams = len(grams.begins), len(grams.keys)
    entry = np.arange(n_words + n_grams, dtype=np.int32)
    entries, _, lengths = match(part, (1, order), grams, entry, True)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    shape = (len(lengths), len(entry))
    has = sparse.csr_array((np.ones(len(entries)), entries, indptr), shape=shape)
    sums = has.T @ values
    return sums[:n_words], sums[n_words:]
