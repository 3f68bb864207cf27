"""Initial parameters of the joint models."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from topicfocus.joint.settings import Hyperparameters
from topicfocus.model import ModelState, Problem

#: Smallest initial δ of the algorithm of Ren et al. (2020). From 6e-5, η does not recover.
SMALLEST_NOISE_START = 0.05


def _start(
    problem: Problem,
    hyper: Hyperparameters,
    topics: np.ndarray,
    background: np.ndarray,
    coef: np.ndarray,
    family: Any,
    prior: np.ndarray,
) -> ModelState:
    """φ ≡ p, or φ ≡ 1 without background; ζ = 0. Topics and background are normalised."""
    n_words, zeta = problem.corpus.n_words, None
    if problem.covariates is not None:
        zeta = np.zeros((problem.covariates.shape[1], family.n_predictors))
    return ModelState(
        topics / topics.sum(axis=0),
        np.full(n_words, hyper.inclusion_prior if hyper.selects else 1.0),
        background / background.sum() if hyper.selects else np.zeros(n_words),
        coef,
        family,
        prior,
        covariate_coef=zeta,
    )


def _target_start(problem: Problem, family: Any, n_topics: int) -> tuple[np.ndarray, Any]:
    """Initial η, and families with the dispersion around the mean target."""
    if not problem.supervised:
        return np.zeros(family.coef_shape(n_topics)), family
    columns, families = [], []
    weights = problem.full_weights
    for t, (own, where) in enumerate(family.split()):
        weight = weights[:, t]
        known = weight > 0
        width = where.stop - where.start
        if not known.any():
            columns.append(np.zeros((n_topics, width)))
            families.append(own)
            continue
        y, w = problem.targets[known, t], weight[known]
        columns.append(np.reshape(own.initial_coef(y, w, n_topics), (n_topics, width)))
        if own.noise_variance is not None:
            mean = np.full(len(y), np.sum(w * y) / w.sum())
            own = own.update_dispersion(y, mean, np.zeros(len(y)), w)
        families.append(own)
    coef = np.column_stack(columns).reshape(family.coef_shape(n_topics))
    return coef, family.join(families)


def _spread_coef(
    problem: Problem, family: Any, n_topics: int, rng: np.random.Generator
) -> tuple[np.ndarray, Any]:
    """η = location + scale · quantiles of Normal(0, 1) of each predictor, in random order."""
    coef, family = _target_start(problem, family, n_topics)
    scale = 1.0 if family.noise_variance is None else np.sqrt(family.noise_variance)
    quantiles = norm.ppf((np.arange(n_topics) + 0.5) / n_topics)
    columns = np.tile(quantiles[:, None], (1, coef.size // n_topics))
    spread = rng.permuted(columns, axis=0).reshape(coef.shape)
    return coef.mean(axis=0) + scale * spread, family


def perturbed_start(
    problem: Problem,
    hyper: Hyperparameters,
    family: Any,
    prior: np.ndarray,
    rng: np.random.Generator,
) -> ModelState:
    """Topics n_v·(½ + Exponential(1)), near the word frequencies, and coefficients spread over y.

    The noise is large enough to distinguish topics, and too small for topics of a few words.
    """
    n_words, n_topics = problem.corpus.n_words, hyper.n_topics
    counts = problem.word_counts
    topics = (0.5 + rng.exponential(size=(n_words, n_topics))) * counts[:, None]
    coef, family = _target_start(problem, family, n_topics)
    return _start(problem, hyper, topics, counts, coef, family, prior)


def near_symmetric_start(
    problem: Problem,
    hyper: Hyperparameters,
    family: Any,
    prior: np.ndarray,
    rng: np.random.Generator,
    noise_start: float | str | None = None,
    *,
    spread: bool = False,
) -> ModelState:
    """The start of Ren et al. (2020): softmax of normalised exponential noise, nearly flat topics.

    Coefficients are Normal(0, 1), for standardised targets. The target, not the start, breaks the
    symmetry. δ is the square of a Normal(0, 1): without a bound ("random", as in the authors'
    code), at least 0.05 (None), or the given number. With `spread`, coefficients are evenly spaced
    quantiles of that Normal, scaled to the target, and δ is the variance of the target.
    """
    n_words, n_topics = problem.corpus.n_words, hyper.n_topics
    seen = problem.word_counts > 0
    noise = rng.exponential(size=(n_words, n_topics))
    topics = np.exp(noise / noise.sum(axis=0)) * seen[:, None]
    noise = rng.exponential(size=n_words)
    background = np.exp(noise / noise.sum()) * seen
    shape = family.coef_shape(n_topics)
    coef = rng.standard_normal(shape) if problem.supervised else np.zeros(shape)
    if spread and problem.supervised:
        coef, family = _spread_coef(problem, family, n_topics, rng)
    elif family.noise_variance is not None:
        noise_variance_start = float(rng.standard_normal() ** 2)
        if noise_start is None:
            noise_variance_start = max(noise_variance_start, SMALLEST_NOISE_START)
        elif not isinstance(noise_start, str):
            noise_variance_start = float(noise_start)
        family = family.with_noise_variance(noise_variance_start)
    return _start(problem, hyper, topics, background, coef, family, prior)


def initial_concentration(n_docs: int, prior: np.ndarray, mean_length: float) -> np.ndarray:
    """Initial γ: the prior plus the tokens of an average document, divided evenly among topics."""
    return np.tile(prior + mean_length / len(prior), (n_docs, 1))
