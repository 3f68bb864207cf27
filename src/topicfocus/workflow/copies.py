"""Documents that stand on both sides of a split: figures on them say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.inference.marks import marks
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
    first, second = marks(counts)
    mine, held = train[long_enough[train]], test[long_enough[test]]
    if not len(mine) or not len(held):
        return []
    mine = mine[np.argsort(first[mine], kind="stable")]  # of copies the first comes first
    place = np.minimum(np.searchsorted(first[mine], first[held]), len(mine) - 1)
    other = mine[place]
    same = (first[other] == first[held]) & (second[other] == second[held])
    return list(zip(held[same].tolist(), other[same].tolist(), strict=True))
