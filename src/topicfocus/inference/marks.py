"""Row hashes of a count matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.counts import Counts, Rows
from topicfocus.inference.passes import Arrays, Task, run_pass, zeros


def marks(counts: Counts) -> list[np.ndarray]:
    """Two numbers a document; those of another differ, all but certainly."""
    rng = np.random.default_rng(0)
    out = [np.empty((counts.shape[0], 1), dtype=np.uint64) for _ in range(2)]
    keys = [rng.integers(2**64, size=counts.shape[1], dtype=np.uint64) for _ in range(2)]
    task = Task(kernel=_marks, make=zeros(0), shared=tuple(keys), changed=tuple(out))
    run_pass(counts, task, 1)
    return [mark[:, 0] for mark in out]


def _marks(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    data, indptr = rows.data.astype(np.float64).view(np.uint64), rows.indptr
    for mark, of_word in zip(changed, shared, strict=True):
        # An odd factor loses nothing of the other; sums wrap around.
        mixed = (of_word[rows.indices] | np.uint64(1)) * (data ^ of_word[rows.indices])
        mixed ^= mixed >> np.uint64(29)
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        mark[:, 0] = ends[indptr[1:]] - ends[indptr[:-1]]
