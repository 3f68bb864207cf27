"""A small data set in three parts, of simulated reviews, for tests of experiments/."""

from __future__ import annotations

import numpy as np
from data import Dataset, Part

from topicfocus.datasets import make_reviews


def small_dataset(split: int = 0, task: str = "regression", name: str = "pang_lee") -> Dataset:
    """Synthetic reviews under a known name; a split is another draw of the parts."""
    corpus = make_reviews(
        320, 40, "rating" if task == "regression" else "sentiment", random_state=7
    )
    order = np.random.default_rng(split).permutation(320)
    parts = []
    for rows in np.split(order, [200, 260]):
        texts = [f"document {i}" for i in rows]
        parts.append(Part(corpus.counts[rows], np.asarray(corpus.target)[rows], texts))
    return Dataset(
        name,
        *parts,
        vocabulary=tuple(corpus.vocabulary),
        task=task,
        target_names=("rating",) if task == "regression" else ("no", "yes"),
    )
