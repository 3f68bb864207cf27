"""Where topics start: each at a place in the space of linear predictors, with words to match.

One predictor: topics are graded from -1 to 1. Several: a topic leans towards one of the directions
that matter (up or down for a number, each class for classes), in turn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topicfocus.solvers.linear import Column


def unit(values: np.ndarray, word_count: np.ndarray) -> np.ndarray:
    """Columns scaled to a root mean square of one over tokens."""
    size = np.sqrt(word_count @ values**2 / word_count.sum())
    return values / np.maximum(size, 1e-300)


def anchors(
    columns: Sequence[Column], lean: np.ndarray, word_count: np.ndarray, n_topics: int
) -> np.ndarray:
    """Places of the topics, topics x predictors, entries from -1 to 1."""
    n_predictors = lean.shape[1]
    if n_topics == 1:
        return np.zeros((1, n_predictors))
    if n_predictors == 1:
        return np.linspace(-1.0, 1.0, n_topics)[:, None]
    directions = _directions(columns, n_predictors)
    if n_topics < len(directions):
        directions = _main_directions(lean, word_count, n_topics)
    rounds = -(-n_topics // len(directions))
    out = np.empty((n_topics, n_predictors))
    for k in range(n_topics):
        # A second topic in the same direction starts less far out, or both would stay the same.
        size = 1.0 - (k // len(directions)) / rounds
        out[k] = size * directions[k % len(directions)]
    return out


def _directions(columns: Sequence[Column], n_predictors: int) -> list[np.ndarray]:
    first, second = [], []
    for column in columns:
        place = range(column.where.start, column.where.stop)
        for l in place:
            direction = np.zeros(n_predictors)
            if column.width > 1:
                direction[column.where] = -1.0 / (column.width - 1)
            direction[l] = 1.0
            first.append(direction)
            if column.width == 1:
                second.append(-direction)
    return first + second


def _main_directions(lean: np.ndarray, word_count: np.ndarray, n: int) -> list[np.ndarray]:
    """Both ends of the leading directions in which words lean."""
    root = np.sqrt(word_count / word_count.sum())[:, None]
    axes = np.linalg.svd(root * lean, full_matrices=False)[2]
    out = []
    for axis in axes:
        axis = axis / np.abs(axis).max()
        # The sign of an SVD means nothing. The first of the largest entries is made positive: two
        # targets have equal ones, and rounding must not choose between them.
        axis = axis * np.sign(axis[np.argmax(np.abs(axis) > 1 - 1e-6)])
        out += [axis, -axis]
    return out[:n]


def starting_logits(
    word_count: np.ndarray, lean: np.ndarray, place: np.ndarray, spread: float, silent: bool
) -> np.ndarray:
    """W⁰ = log n_v + clip(spread·u_v)·a_k, normalised over words; with a silent row last."""
    push = np.clip(spread * lean, -3 * spread, 3 * spread) @ place.T
    weights = word_count[:, None] * np.exp(push)
    if silent:
        weights = weights / (1.001 * weights.sum(axis=0).max())
        weights = np.vstack([weights, 1.0 - weights.sum(axis=0)])
    return np.log(weights / weights.sum(axis=0))
