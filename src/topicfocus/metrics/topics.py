"""Reading topics x words matrices: validation and top words, for every measure of topics."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def read_topics(components: ArrayLike) -> NDArray[np.float64]:
    """Topics x words, finite, >= 0, no topic without words."""
    topics = np.asarray(components, dtype=np.float64)
    if topics.ndim != 2 or 0 in topics.shape:
        raise ValueError(f"components must be topics x words, got shape {topics.shape}")
    valid = np.isfinite(topics) & (topics >= 0)
    if not valid.all():
        k, v = (int(i) for i in np.unravel_index(int(np.argmin(valid)), topics.shape))
        raise ValueError(
            f"components must be finite and >= 0, but topic {k}, word {v} is {topics[k, v]}"
        )
    empty = topics.sum(axis=1) == 0
    if empty.any():
        raise ValueError(
            f"topic {int(np.argmax(empty))} of components has no words: its row is zero"
        )
    return topics


def top_words(topics: NDArray[np.float64], top_n: Any) -> list[NDArray[np.intp]]:
    """Columns of the ``top_n`` most probable words of each topic, best first.

    Words of probability zero are not words of a topic, so a topic may have fewer; of equally
    probable words those with lower column numbers are taken.
    """
    try:
        n = operator.index(top_n)
    except TypeError:
        raise TypeError(f"top_n must be an integer, got {top_n!r}") from None
    if n < 1:
        raise ValueError(f"top_n must be at least 1, got {n}")
    order = np.argsort(-topics, axis=1, kind="stable")[:, :n]
    return [words[topics[k, words] > 0] for k, words in enumerate(order)]
