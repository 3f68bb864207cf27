"""Arrays that are borrowed: the same numbers, whoever owns them, and in whatever tuple."""

from typing import NamedTuple

import numpy as np
from numba import njit

from topicfocus.kernels.scratch import ROOM, apart, borrowed, keep


class Both(NamedTuple):
    table: np.ndarray
    counts: np.ndarray


def sums(n, given):
    """Many arrays are made and let go while one is borrowed: freed memory would be used again."""
    owned = np.full(n + ROOM, 2.0)
    mine, both = borrowed(apart(owned)), borrowed(given)
    total = 0.0
    for i in range(200):
        other = np.full(n + ROOM, float(i))
        total += mine[i % n] + both.table[i % 2, 0] + both.counts[i % 3] + 0.0 * other[0]
    keep(owned)
    return total


def test_borrowed_arrays():
    function = njit(sums)
    given = Both(np.array([[1.0, 9.0], [3.0, 9.0]]), np.array([1, 2, 3]))
    expected = 200 * 2.0 + 100 * (1.0 + 3.0) + sum(given.counts[i % 3] for i in range(200))
    for n in (1, 7, 400):
        assert function(n, given) == expected
    # What was lent is still its owner's.
    assert given.table.sum() == 22.0 and given.counts.tolist() == [1, 2, 3]
