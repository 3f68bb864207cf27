"""Where solvers start from."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.families import Gaussian, initial_coef, update_dispersion
from topicfocus.inference.state import Hyperparameters, ModelState, Problem
from topicfocus.inference.updates import update_background


def _switches(problem: Problem, hyper: Hyperparameters) -> tuple[np.ndarray, np.ndarray]:
    """φ ≡ p and its background, or φ ≡ 1 without one."""
    n_words = problem.corpus.n_words
    if not hyper.selects:
        return np.ones(n_words), np.zeros(n_words)
    inclusion = np.full(n_words, hyper.inclusion_prior)
    return inclusion, update_background(problem.corpus.word_counts, inclusion)


def _target_start(problem: Problem, family: Any, n_topics: int) -> tuple[np.ndarray, Any]:
    if not problem.supervised:
        return np.zeros(n_topics), family
    known = problem.target_weight > 0
    y, w = problem.target[known], problem.target_weight[known]
    coef = initial_coef(family, y, w, n_topics)
    # The dispersion of "every document is average": as much noise as there is spread.
    mean = np.full(len(y), np.sum(w * y) / w.sum())
    return coef, update_dispersion(family, y, mean, np.zeros(len(y)), w)


def perturbed_start(
    problem: Problem,
    hyper: Hyperparameters,
    family: Any,
    prior: np.ndarray,
    rng: np.random.Generator,
) -> ModelState:
    """Topics near the words' frequencies: n_v·(½ + Exponential(1)), coefficients spread over y.

    The noise is large enough to tell topics apart, and small enough that no topic starts on a
    handful of words.
    """
    n_words, n_topics = problem.corpus.n_words, hyper.n_topics
    counts = problem.corpus.word_counts
    topics = (0.5 + rng.exponential(size=(n_words, n_topics))) * counts[:, None]
    inclusion, background = _switches(problem, hyper)
    coef, family = _target_start(problem, family, n_topics)
    return ModelState(topics / topics.sum(axis=0), inclusion, background, coef, family, prior)


def near_symmetric_start(
    problem: Problem,
    hyper: Hyperparameters,
    family: Any,
    prior: np.ndarray,
    rng: np.random.Generator,
) -> ModelState:
    """The paper's start: softmax of normalised exponential noise, so all topics are nearly flat.

    Coefficients are Normal(0, 1) and the noise's standard deviation is |Normal(0, 1)|, as in the
    original, in the units of the target. The target, not the start, breaks the symmetry.
    """
    n_words, n_topics = problem.corpus.n_words, hyper.n_topics
    noise = rng.exponential(size=(n_words, n_topics))
    topics = np.exp(noise / noise.sum(axis=0))
    noise = rng.exponential(size=n_words)
    background = np.exp(noise / noise.sum())
    inclusion, _ = _switches(problem, hyper)
    coef = rng.standard_normal(n_topics) if problem.supervised else np.zeros(n_topics)
    if isinstance(family, Gaussian):
        family = Gaussian(float(max(rng.standard_normal() ** 2, 0.05)))
    return ModelState(
        topics / topics.sum(axis=0),
        inclusion,
        background / background.sum() if hyper.selects else np.zeros(n_words),
        coef,
        family,
        prior,
    )
