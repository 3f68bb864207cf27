"""Pairs of ids and counts as the rows of a CSR matrix, columns in order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels.compile import helper, kernel

_LOW_32 = (1 << 32) - 1


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


@helper
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
    counts: NDArray[Any],
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
