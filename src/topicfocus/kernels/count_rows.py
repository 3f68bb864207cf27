"""Sort the entries of the rows of a CSR matrix by column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels.compile import helper, kernel

_LOW_32 = (1 << 32) - 1


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
def _sort_rows(columns, counts, lengths, pairs):
    start = 0
    for length in lengths:
        for i in range(length):
            # A column and its count in one number, so that they are sorted as one.
            pairs[i] = (np.int64(columns[start + i]) << 32) | np.int64(counts[start + i])
        _sort(pairs, length)
        for i in range(length):
            columns[start + i] = pairs[i] >> 32
            counts[start + i] = pairs[i] & _LOW_32
        start += length


def sort_rows(
    columns: NDArray[np.int32], counts: NDArray[np.int32], lengths: NDArray[np.int64]
) -> None:
    """Sort the columns of each row, with their counts, in place."""
    pairs = np.empty(int(np.max(lengths, initial=0)), dtype=np.int64)
    _sort_rows(columns, counts, lengths, pairs)
