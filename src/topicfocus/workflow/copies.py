"""Documents that stand on both sides of a split: figures on them say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.corpus.parts import pieces
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.wording import setting

#: Shorter documents are the same by chance.
LEAST_WORDS = 5
#: Of the held-out documents; fewer copies are mentioned, more are warned of.
NOTABLE = 0.01


def say_copies(source: Any, train: np.ndarray, test: np.ndarray, remarks: Remarks) -> None:
    """Say how many held-out documents have the same counts as a training document."""
    pairs = copies(source.counts, train, test)
    if not pairs:
        return
    i, j = pairs[0]
    stand = "stand" if len(pairs) > 1 else "stands"
    said = (
        f"{len(pairs):,} of {len(test):,} held-out documents {stand} in the training part, too, "
        f"such as {source.where(j)} and {source.where(i)}"
    )
    if len(pairs) < NOTABLE * len(test):
        remarks.say(f"{said}.")
        return
    remarks.warn(
        f"{said}: figures are too good. Remove copies, or name a column that keeps them together, "
        f"{setting('group')}."
    )


def copies(counts: Any, train: np.ndarray, test: np.ndarray) -> list[tuple[int, int]]:
    """Held-out documents with the same counts as a training one, and the first of these."""
    long_enough = np.diff(counts.indptr) >= LEAST_WORDS
    first, second = _marks(counts)
    mine, held = train[long_enough[train]], test[long_enough[test]]
    if not len(mine) or not len(held):
        return []
    mine = mine[np.argsort(first[mine], kind="stable")]  # of copies the first comes first
    place = np.minimum(np.searchsorted(first[mine], first[held]), len(mine) - 1)
    other = mine[place]
    same = (first[other] == first[held]) & (second[other] == second[held])
    return list(zip(held[same].tolist(), other[same].tolist(), strict=True))


def _marks(counts: Any) -> list[np.ndarray]:
    """Two numbers a document; those of another differ, all but certainly."""
    rng = np.random.default_rng(0)
    marks = [np.empty(counts.shape[0], dtype=np.uint64) for _ in range(2)]
    keys = [rng.integers(2**64, size=counts.shape[1], dtype=np.uint64) for _ in range(2)]
    for begin, end, part in pieces(counts):
        data = part.data.astype(np.float64).view(np.uint64)
        for mark, of_word in zip(marks, keys, strict=True):
            # An odd factor loses nothing of the other; sums wrap around.
            mixed = (of_word[part.indices] | np.uint64(1)) * (data ^ of_word[part.indices])
            mixed ^= mixed >> np.uint64(29)
            ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
            mark[begin:end] = ends[part.indptr[1:]] - ends[part.indptr[:-1]]
    return marks
