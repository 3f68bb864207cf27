"""A rung's result: what was chosen for it, and the model that is made of its shaped topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.families import noise_variance, rejoined, with_noise_variance
from topicfocus.inference.channels import update_background
from topicfocus.inference.state import ModelState
from topicfocus.solvers.linear import Linear


@dataclass(frozen=True)
class Choices:
    """What the held-out documents decided, to be used again when all documents are fitted."""

    penalties: tuple[float, ...]
    mean_squares: tuple[float, ...]
    shrinkage: tuple[tuple[np.ndarray, float], ...]
    noise: tuple[float, ...]
    steps: int


@dataclass(frozen=True)
class Candidate:
    """A rung's result on its kept words."""

    explained: float
    kept: np.ndarray
    state: ModelState
    supervision_weight: float
    choices: Choices
    interrupted: bool


def honest_noise(deviances: np.ndarray, spread: np.ndarray, column: Any) -> float:
    """δ: the held-out error less what the words leave open of θ, which `predict` adds itself.

    At least a tenth of the error: the Laplace approximation may claim more than there is.
    """
    if noise_variance(column.family) is None:
        return 1.0
    error = float(np.average(deviances, weights=column.weight))
    return max(error - float(np.average(spread, weights=column.weight)), 0.1 * error)


def with_families(family: Any, fitted: list[Any], noise: tuple[float, ...]) -> Any:
    """The family of all targets: each as it was fitted, Gaussian ones with the given δ."""
    parts = [
        with_noise_variance(own, max(float(delta), 1e-300))
        for own, delta in zip(fitted, noise, strict=True)
    ]
    return rejoined(family, parts)


def final_state(
    state: ModelState, n_kept: int, family: Any, fits: list[Linear], choices: Choices
) -> ModelState:
    """The shaped topics with coefficients as they were refitted and shrunken."""
    factors = [factor for _, factor in choices.shrinkage]
    k = state.n_topics
    coef = np.column_stack([t * f.coef[:k] for t, f in zip(factors, fits, strict=True)])
    zeta = np.column_stack([t * f.coef[k:] for t, f in zip(factors, fits, strict=True)])
    intercept = np.concatenate(
        [s + t * f.intercept for (s, t), f in zip(choices.shrinkage, fits, strict=True)]
    )
    return ModelState(
        state.topic_word[:n_kept],
        np.ones(n_kept),
        np.zeros(n_kept),
        coef.reshape(state.coef.shape),
        with_families(family, [fit.family for fit in fits], choices.noise),
        state.doc_topic_prior,
        intercept,
        zeta if len(zeta) else None,
    )


def carry_over(first: Candidate, kept: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """The first pass's topics where it kept the same words, `logits` elsewhere."""
    begin = logits.copy()
    _, there, here = np.intersect1d(first.kept, kept, return_indices=True)
    begin[here] = np.log(np.maximum(first.state.topic_word[there], 1e-300))
    return begin


def expand(small: ModelState, kept: np.ndarray, word_count: np.ndarray) -> ModelState:
    """The state over all words: φ exactly 0 or 1, β and π on disjoint words."""
    n_words = len(word_count)
    topics = np.zeros((n_words, small.n_topics))
    topics[kept] = small.topic_word
    inclusion = np.zeros(n_words)
    inclusion[kept] = 1.0
    background = np.zeros(n_words)
    if np.any((inclusion == 0) & (word_count > 0)):
        background = update_background(word_count, inclusion)
    return ModelState(
        topics,
        inclusion,
        background,
        small.coef,
        small.family,
        small.doc_topic_prior,
        small.intercept,
        small.covariate_coef,
    )
