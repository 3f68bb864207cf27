"""Confidence intervals of topic effects, which account for selecting words and optimising topics.

The estimand is τ(S): the predicted difference that belongs to the very topics S that were found, η
being the regression of the target on their proportions in all documents of the population. The
estimate e of the model is too optimistic, because the same documents selected words, optimised
topics and gave η. Half samples show by how much. Let a be an effect in the model of a half, and a′
the effect of the *same* topics with η estimated from the other half, which had no part in finding
them. Given these topics, a′ is unbiased for τ and independent of a, so

    E[a - a′] = E[a - τ] = optimism of n/2 documents,
    Var(a - a′) = Var(a - τ) + Var(a′ - τ).

We need the first term, which with n/2 documents is twice σ² = Var(e - τ) with n, as the optimism is
twice that of n. The second term is estimated from the halves of the other half: each of these has
twice its variance, so it is V = E[(a′₁ - a′₂)²]/4. Since finding the topics adds to the variance of
a, V is at most half of D = Var(a - a′):

    centre = e - ½ mean(a - a′),   σ² = ½ (D - V) = ½ D (1 - V/D),   ¼ D ≤ σ² ≤ ½ D.

D is estimated for each effect, V/D by the median over effects, because single ratios are noisy. The
two differences of a pair are negatively dependent, so B pairs give D the precision of B numbers,
and the limits are those of Student's t with B - 1 degrees of freedom.

Coverage on simulated documents: experiments/COVERAGE.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import t as student

from topicfocus.estimators.documents import read_weight
from topicfocus.glm import fit_linear, target_columns
from topicfocus.selection.documents import Data
from topicfocus.selection.validation import halves

#: Ridge penalty of the regression on documents that had no part in a model. It should be unbiased,
#: also for topics whose proportions hardly vary, and finite if classes are separable.
SMALL_PENALTY = 1e-4
#: Ridge penalty on the documents of the model itself, a weak prior. Without it, coefficients of
#: classes vary far more in half of the documents than twice as much, and intervals are too wide
#: (two classes: coverage of 90% intervals is 100% with 0.01, and 61 to 75% with 1).
OWN_PENALTY = 0.1


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """Effects with confidence intervals, arrays of one shape.

    Attributes
    ----------
    estimate : array
        Effects of the model itself.
    centre : array
        Centre of the interval: the estimate minus its optimism.
    error : array
        Standard error.
    low, high : arrays
        Limits of the interval.
    level : float
        Confidence level.
    """

    estimate: np.ndarray
    centre: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float


def half_sample_intervals(
    estimate: np.ndarray, own: np.ndarray, crossed: np.ndarray, noise: np.ndarray, level: float
) -> Intervals:
    """Intervals of effects; the three arrays after `estimate` are pairs x 2 x its shape.

    `own` are the effects a of halves, `crossed` the effects a′ estimated from the other half, and
    `noise` the variances of a′ (`crossed_variance`).
    """
    centre = error = reach = np.zeros(estimate.shape)
    if estimate.size:
        optimism = (own - crossed).reshape(-1, *estimate.shape)
        centre = estimate - optimism.mean(axis=0) / 2
        spread = optimism.var(axis=0, ddof=1)
        ratio = noise.reshape(-1, *estimate.shape).mean(axis=0) / np.maximum(spread, 1e-300)
        error = np.sqrt(spread * (1 - np.clip(np.median(ratio, axis=0), 0.0, 0.5)) / 2)
        reach = float(student.ppf(0.5 + level / 2, len(own) - 1)) * error
    return Intervals(
        estimate=estimate,
        centre=centre,
        error=error,
        low=centre - reach,
        high=centre + reach,
        level=level,
    )


def effects_of(proportions: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Predicted differences over the interdecile range of each topic, topics x predictors.

    Δ_k = (q90_k - q10_k) (η_k - Σ_{j≠k} m_j η_j / Σ_{j≠k} m_j): the proportion of topic k increases
    from its 10th to its 90th percentile over documents, and the proportions of the other topics
    decrease relative to their means m. A coefficient alone is the difference between documents that
    consist of one topic, which do not occur.
    """
    low, high = np.quantile(proportions, [0.1, 0.9], axis=0)
    mean = proportions.mean(axis=0)[:, None]
    weighted = mean * coef
    others = (weighted.sum(axis=0) - weighted) / np.maximum(1 - mean, 1e-300)
    return (high - low)[:, None] * (coef - others)


def regressed_effects(
    model: Any, data: Data, penalty: float = SMALL_PENALTY
) -> tuple[np.ndarray, np.ndarray]:
    """Effects of a model's topics, and coefficients of covariates, estimated from `data`.

    The targets are regressed on the topic proportions that the model infers for these documents. If
    the documents had no part in selecting words and optimising topics, the effects of these topics
    and their interdecile ranges are unbiased. The coefficients of the model itself are shrunk,
    which predicts better and is a bias here.
    """
    fitted = model.fitted_
    n_topics = fitted.state.n_topics
    if fitted.targets is None:
        return np.zeros((n_topics, 0)), np.zeros((0, 0))
    documents = fitted.documents(data.X, data.y, **data.for_prediction())
    weight = read_weight(data.arrays.get("sample_weight"), documents.corpus.n_docs)
    problem = replace(documents, weight=weight).problem(1.0, model.n_jobs)
    proportions = fitted.mixes(documents.corpus, model.n_jobs)
    design = problem.beside(proportions)
    columns = target_columns(problem, fitted.state.family)
    coef = np.hstack([fit_linear(column, column.of(design), penalty).coef for column in columns])
    zeta = np.zeros((0, 0)) if problem.covariates is None else coef[n_topics:]
    present = slice(None) if weight is None else np.asarray(weight) > 0
    return effects_of(proportions[present], coef[:n_topics]), zeta


def crossed_variance(
    model: Any, others: Data, classes: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Var(a′) of `regressed_effects` given the topics: (a′₁ - a′₂)²/4 of the halves of `others`.

    Zero, which widens the intervals, if `others` cannot be halved.
    """
    parts = halves(others, classes, rng)
    try:
        first, second = (regressed_effects(model, others.rows(part)) for part in parts)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):  # a half lacks a class
        first = second = regressed_effects(model, others)
    topics, covariates = ((a - b) ** 2 / 4 for a, b in zip(first, second, strict=True))
    return topics, covariates
