"""Ratings: y in {0, ..., C-1} with P(y <= c) = σ(τ_c - f), the cumulative logit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from topicfocus.families.intervals import target_interval
from topicfocus.families.moments import (
    expected_target,
    information,
    label_probabilities,
    target_limits,
    target_variance,
)
from topicfocus.families.operations import derivatives, expectation, log_likelihood
from topicfocus.families.parameters import (
    free_gradient,
    free_parameters,
    initial_coef,
    mean_response,
    update_dispersion,
    with_free_parameters,
)
from topicfocus.families.response import (
    check_parameters,
    family_name,
    initial_family,
    label_kind,
    scale_name,
    target_kind,
)
from topicfocus.families.traits import carries_intercept

#: Neighbouring thresholds are at least this far apart: a level that nobody uses stays possible.
SMALLEST_GAP = 1e-3
#: And at most this far: beyond it a level is certain, and the smallest gap drowns in rounding.
LARGEST_GAP = 300.0


class Ordinal(NamedTuple):
    """log p(y|f) = log(σ(τ_y - f) - σ(τ_{y-1} - f)), τ_{-1} = -∞, τ_{C-1} = ∞.

    The log-likelihood is concave in f with ℓ'' = -(p_a q_a + p_b q_b) >= -½,
    p_a = σ(τ_y - f), p_b = σ(τ_{y-1} - f).

    Attributes
    ----------
    thresholds : array (C - 1,)
        τ_0 < ... < τ_{C-2}.
    """

    thresholds: np.ndarray


@log_likelihood.register(Ordinal)
def _log_likelihood(family, target, predictor):
    level = int(target)
    last = family.thresholds.shape[0]
    if level == 0:
        x = family.thresholds[0] - predictor
        return min(x, 0.0) - math.log1p(math.exp(-abs(x)))
    if level == last:
        x = predictor - family.thresholds[last - 1]
        return min(x, 0.0) - math.log1p(math.exp(-abs(x)))
    # σ(a) - σ(b) = σ(a) σ(-b) (1 - e^{b-a}): no cancellation in either tail.
    a = family.thresholds[level] - predictor
    b = family.thresholds[level - 1] - predictor
    log_a = min(a, 0.0) - math.log1p(math.exp(-abs(a)))
    log_b = min(-b, 0.0) - math.log1p(math.exp(-abs(b)))
    return log_a + log_b + math.log(-math.expm1(b - a))


@derivatives.register(Ordinal)
def _derivatives(family, target, predictor):
    # By the factorisation above, ℓ' = -(1 - p_a) + p_b: logistic at each finite end.
    level = int(target)
    last = family.thresholds.shape[0]
    first = 0.0
    second = 0.0
    third = 0.0
    if level < last:
        x = family.thresholds[level] - predictor
        small = math.exp(-abs(x))
        p = 1.0 / (1.0 + small) if x >= 0.0 else small / (1.0 + small)
        q = small / (1.0 + small) if x >= 0.0 else 1.0 / (1.0 + small)
        first -= q
        second -= p * q
        third += p * q * (q - p)
    if level > 0:
        x = family.thresholds[level - 1] - predictor
        small = math.exp(-abs(x))
        p = 1.0 / (1.0 + small) if x >= 0.0 else small / (1.0 + small)
        q = small / (1.0 + small) if x >= 0.0 else 1.0 / (1.0 + small)
        first += p
        second -= p * q
        third += p * q * (q - p)
    return first, second, third


@expectation.register(Ordinal)
def _expectation(family, target, mean, variance):
    """ℓ(μ) - ¼ν <= E[log p(y | f)], because ℓ'' >= -½."""
    value = log_likelihood(family, target, mean) - 0.25 * variance
    return value, derivatives(family, target, mean)[0], -0.25


def level_probabilities(family: Ordinal, predictor: np.ndarray) -> np.ndarray:
    """P(y = c | f).

    Parameters
    ----------
    family : Ordinal
        Thresholds of C levels.
    predictor : array
        f, of any shape.

    Returns
    -------
    array
        Probabilities, with one more axis of C entries.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Ordinal, level_probabilities
    >>> level_probabilities(Ordinal(np.array([-1.0, 1.0])), np.zeros(1)).round(3)
    array([[0.269, 0.462, 0.269]])
    """
    below = expit(family.thresholds - np.asarray(predictor)[..., None])
    return np.diff(below, axis=-1, prepend=0.0, append=1.0)


@mean_response.register(Ordinal)
def _mean_response(family, predictor):
    levels = np.arange(len(family.thresholds) + 1)
    return level_probabilities(family, predictor) @ levels


@initial_coef.register(Ordinal)
def _initial_coef(family, target, weight, n_topics):
    return np.linspace(-2.0, 2.0, n_topics) if n_topics > 1 else np.zeros(1)


def initial_thresholds(target: np.ndarray, weight: np.ndarray, n_levels: int) -> np.ndarray:
    """τ_c = logit of the share of targets up to level c, half a document added to every level.

    Parameters
    ----------
    target, weight : array (documents,)
        Levels 0, 1, ..., and how much each counts.
    n_levels : int
        C, how many levels there are.

    Returns
    -------
    array (C - 1,)
        Thresholds that rise.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import initial_thresholds
    >>> initial_thresholds(np.array([0, 1, 1, 2]), np.ones(4), 3).round(2)
    array([-0.98,  0.98])
    """
    counts = np.bincount(target.astype(int), weights=weight, minlength=n_levels) + 0.5
    return _spread(logit(np.cumsum(counts)[:-1] / counts.sum()))


def _spread(thresholds: np.ndarray) -> np.ndarray:
    gaps = np.maximum(np.diff(thresholds), SMALLEST_GAP)
    return np.concatenate([thresholds[:1], thresholds[0] + np.cumsum(gaps)])


@free_parameters.register(Ordinal)
def _free_parameters(family):
    gaps = np.maximum(np.diff(family.thresholds), SMALLEST_GAP)
    return np.concatenate([family.thresholds[:1], np.log(gaps)])


@with_free_parameters.register(Ordinal)
def _with_free_parameters(family, free):
    gaps = np.exp(np.clip(free[1:], np.log(SMALLEST_GAP), np.log(LARGEST_GAP)))
    return Ordinal(np.concatenate([free[:1], free[0] + np.cumsum(gaps)]))


@free_gradient.register(Ordinal)
def _free_gradient(family, target, mean, variance, weight):
    # The variance term -¼ν does not depend on the thresholds: ℓ(μ) decides.
    tau, level = family.thresholds, target.astype(int)
    by_threshold = np.zeros(len(tau))
    upper = level < len(tau)
    a = tau[np.minimum(level, len(tau) - 1)] - mean
    lower = level > 0
    b = tau[np.maximum(level, 1) - 1] - mean
    # log σ(a) + log σ(-b) + log(1 - e^{b-a})
    both = upper & lower
    ratio = np.zeros(len(level))
    with np.errstate(over="ignore"):  # a line search tries wide levels: 1/∞ = 0
        ratio[both] = 1.0 / np.expm1(a[both] - b[both])
    np.add.at(by_threshold, level[upper], (weight * (expit(-a) + ratio))[upper])
    np.add.at(by_threshold, level[lower] - 1, -(weight * (expit(b) + ratio))[lower])
    # τ_c = free_0 + Σ_{i<=c} gap_i
    tail = np.cumsum(by_threshold[::-1])[::-1]
    return np.concatenate([tail[:1], tail[1:] * np.diff(tau)])


@update_dispersion.register(Ordinal)
def _update_dispersion(family, target, mean, variance, weight):
    def negative(free):
        trial = with_free_parameters(family, free)
        value = weight @ _log_likelihoods(trial, target, mean)
        return -value, -free_gradient(trial, target, mean, variance, weight)

    start = free_parameters(family)
    found = minimize(negative, start, jac=True, method="L-BFGS-B", options={"maxiter": 50})
    better = found.fun < negative(start)[0]
    return with_free_parameters(family, found.x) if better else family


def _log_likelihoods(family: Ordinal, target: np.ndarray, predictor: np.ndarray) -> np.ndarray:
    """`log_likelihood` of every document, factored like it: a difference of σ's would cancel."""
    tau = np.concatenate([[-np.inf], family.thresholds, [np.inf]])
    level = target.astype(int)
    lower, upper = tau[level], tau[level + 1]
    return (
        log_expit(upper - predictor)
        + log_expit(predictor - lower)
        + np.log(-np.expm1(lower - upper))
    )


@carries_intercept.register(Ordinal)
def _carries_intercept(family):
    return True


# ---- what the target is to a user ---------------------------------------------------------------


@family_name.register(Ordinal)
def _family_name(family):
    return "ordinal"


@target_kind.register(Ordinal)
def _target_kind(family):
    return "ordinal"


@scale_name.register(Ordinal)
def _scale_name(family):
    return "position of the level"


@label_kind.register(Ordinal)
def _label_kind(family):
    return "levels"


@initial_family.register(Ordinal)
def _initial_family(family, target, weight, n_labels):
    return Ordinal(initial_thresholds(target, weight, n_labels))


@expected_target.register(Ordinal)
def _expected_target(family, predictor, labels):
    return level_probabilities(family, predictor[:, 0]) @ labels.astype(float)


@label_probabilities.register(Ordinal)
def _label_probabilities(family, predictor):
    return level_probabilities(family, predictor[:, 0])


@target_variance.register(Ordinal)
def _target_variance(family, predictor, spread, labels):
    p = level_probabilities(family, predictor)
    levels = labels.astype(float)
    mean = p @ levels
    below = np.cumsum(p, axis=1)[:, :-1]
    slope = (below * (1 - below)) @ np.diff(levels)
    # At most the variance of a coin thrown between the ends.
    most = 0.25 * (levels[-1] - levels[0]) ** 2
    return np.minimum(p @ levels**2 - mean**2 + slope**2 * spread, most)


@target_interval.register(Ordinal)
def _target_interval(family, predictor, spread, coverage, labels):
    """Levels: the first c with P(y <= c) >= (1 - coverage)/2, and that with P(y <= c) >= the rest.

    P(y <= c) = E σ(τ_c - f) ≈ σ((τ_c - f)/√(1 + π Var f/8)) (MacKay, 1992).
    """
    flat = np.sqrt(1 + np.pi * spread / 8)[:, None]
    below = expit((family.thresholds - predictor[:, None]) / flat)
    ends = (np.sum(below < 0.5 + side * coverage / 2, axis=1) for side in (-1.0, 1.0))
    low, high = (labels.astype(float)[end] for end in ends)
    return low, high


@information.register(Ordinal)
def _information(family, predictor):
    """Σ_c P'_c² / P_c."""
    below = expit(family.thresholds - predictor)
    slope = np.diff(below * (1 - below), axis=1, prepend=0.0, append=0.0)
    p = np.maximum(level_probabilities(family, predictor[:, 0]), 1e-300)
    return np.sum(slope**2 / p, axis=1, keepdims=True)


@check_parameters.register(Ordinal)
def _check_parameters(family):
    tau = family.thresholds
    floats = isinstance(tau, np.ndarray) and tau.dtype == np.float64 and tau.ndim == 1
    if not (floats and np.all(np.isfinite(tau)) and np.all(np.diff(tau) > 0)):
        raise ValueError("thresholds_ must be finite numbers that rise.")


@target_limits.register(Ordinal)
def _target_limits(family, labels):
    return float(labels[0]), float(labels[-1])
