"""Ratings: y in {0, ..., C-1} with P(y <= c) = σ(τ_c - f), the cumulative logit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from topicfocus.families.base import Family, derivatives, log_likelihood

#: Smallest distance of neighbouring thresholds, so that a level without targets stays possible.
SMALLEST_GAP = 1e-3
#: Largest distance; beyond it the probability of a level is one to rounding.
LARGEST_GAP = 300.0


class _Parameters(NamedTuple):
    thresholds: np.ndarray


class Ordinal(_Parameters, Family):
    """log p(y|f) = log(σ(τ_y - f) - σ(τ_{y-1} - f)), τ_{-1} = -∞, τ_{C-1} = ∞.

    The log-likelihood is concave in f with ℓ'' = -(p_a q_a + p_b q_b) >= -½,
    p_a = σ(τ_y - f), p_b = σ(τ_{y-1} - f).

    Attributes
    ----------
    thresholds : array (C - 1,)
        τ_0 < ... < τ_{C-2}.
    """

    __slots__ = ()

    kind = "ordinal"
    scale_name = "position of the level"
    label_kind = "levels"
    carries_intercept = True

    def log_likelihood(self, target, predictor):
        level = int(target)
        last = self.thresholds.shape[0]
        if level == 0:
            x = self.thresholds[0] - predictor
            return min(x, 0.0) - math.log1p(math.exp(-abs(x)))
        if level == last:
            x = predictor - self.thresholds[last - 1]
            return min(x, 0.0) - math.log1p(math.exp(-abs(x)))
        # σ(a) - σ(b) = σ(a) σ(-b) (1 - e^{b-a}): no cancellation in either tail.
        a = self.thresholds[level] - predictor
        b = self.thresholds[level - 1] - predictor
        log_a = min(a, 0.0) - math.log1p(math.exp(-abs(a)))
        log_b = min(-b, 0.0) - math.log1p(math.exp(-abs(b)))
        return log_a + log_b + math.log(-math.expm1(b - a))

    def derivatives(self, target, predictor):
        # By the factorisation above, ℓ' = -(1 - p_a) + p_b: logistic at each finite end.
        level = int(target)
        first, second, third = 0.0, 0.0, 0.0
        for end in range(max(level - 1, 0), min(level + 1, self.thresholds.shape[0])):
            x = self.thresholds[end] - predictor
            small = math.exp(-abs(x))
            p = 1.0 / (1.0 + small) if x >= 0.0 else small / (1.0 + small)
            q = small / (1.0 + small) if x >= 0.0 else 1.0 / (1.0 + small)
            first += p if end < level else -q
            second -= p * q
            third += p * q * (q - p)
        return first, second, third

    def expectation(self, target, mean, variance):
        """ℓ(μ) - ¼ν <= E[log p(y | f)], because ℓ'' >= -½."""
        value = log_likelihood(self, target, mean) - 0.25 * variance
        return value, derivatives(self, target, mean)[0], -0.25

    def initialize(self, target, weight, n_labels):
        """τ_c = logit of the fraction of targets up to level c, half a document added per level."""
        counts = np.bincount(target.astype(int), weights=weight, minlength=n_labels) + 0.5
        thresholds = logit(np.cumsum(counts)[:-1] / counts.sum())
        gaps = np.maximum(np.diff(thresholds), SMALLEST_GAP)
        return Ordinal(np.concatenate([thresholds[:1], thresholds[0] + np.cumsum(gaps)]))

    def initial_coef(self, target, weight, n_topics):
        return np.linspace(-2.0, 2.0, n_topics) if n_topics > 1 else np.zeros(1)

    def free_parameters(self):
        """τ_0 and the logs of the gaps."""
        gaps = np.maximum(np.diff(self.thresholds), SMALLEST_GAP)
        return np.concatenate([self.thresholds[:1], np.log(gaps)])

    def with_free_parameters(self, free):
        gaps = np.exp(np.clip(free[1:], np.log(SMALLEST_GAP), np.log(LARGEST_GAP)))
        return Ordinal(np.concatenate([free[:1], free[0] + np.cumsum(gaps)]))

    def update_dispersion(self, target, mean, variance, weight):
        def negative(free):
            trial = self.with_free_parameters(free)
            value = weight @ trial._log_likelihoods(target, mean)
            return -value, -trial.free_gradient(target, mean, variance, weight)

        start = self.free_parameters()
        found = minimize(negative, start, jac=True, method="L-BFGS-B", options={"maxiter": 50})
        better = found.fun < negative(start)[0]
        return self.with_free_parameters(found.x) if better else self

    def _log_likelihoods(self, target, predictor):
        """`log_likelihood` of every document, in the same form without cancellation."""
        tau = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        level = target.astype(int)
        lower, upper = tau[level], tau[level + 1]
        return (
            log_expit(upper - predictor)
            + log_expit(predictor - lower)
            + np.log(-np.expm1(lower - upper))
        )

    def free_gradient(self, target, mean, variance, weight):
        # The variance term -¼ν does not depend on the thresholds, so only ℓ(μ) matters.
        tau, level = self.thresholds, target.astype(int)
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

    def check_parameters(self):
        tau = self.thresholds
        floats = isinstance(tau, np.ndarray) and tau.dtype == np.float64 and tau.ndim == 1
        if not (floats and np.all(np.isfinite(tau)) and np.all(np.diff(tau) > 0)):
            raise ValueError("thresholds_ must be finite numbers that rise.")

    def limits(self, labels):
        return float(labels[0]), float(labels[-1])

    def level_probabilities(self, predictor: np.ndarray) -> np.ndarray:
        """P(y = c | f) for f of any shape, in one more axis of C entries."""
        below = expit(self.thresholds - np.asarray(predictor)[..., None])
        return np.diff(below, axis=-1, prepend=0.0, append=1.0)

    def mean(self, predictor):
        """The expected code of the level."""
        return self.level_probabilities(predictor) @ np.arange(len(self.thresholds) + 1)

    def expected_target(self, predictor, labels):
        return self.level_probabilities(predictor[:, 0]) @ labels.astype(float)

    def information(self, predictor):
        """Σ_c P'_c² / P_c."""
        below = expit(self.thresholds - predictor)
        slope = np.diff(below * (1 - below), axis=1, prepend=0.0, append=0.0)
        p = np.maximum(self.level_probabilities(predictor[:, 0]), 1e-300)
        return np.sum(slope**2 / p, axis=1, keepdims=True)

    def probabilities(self, predictor):
        return self.level_probabilities(predictor[:, 0])

    def target_variance(self, predictor, spread, labels):
        p = self.level_probabilities(predictor)
        levels = labels.astype(float)
        mean = p @ levels
        below = np.cumsum(p, axis=1)[:, :-1]
        slope = (below * (1 - below)) @ np.diff(levels)
        # The largest possible variance has both ends with probability ½.
        most = 0.25 * (levels[-1] - levels[0]) ** 2
        return np.minimum(p @ levels**2 - mean**2 + slope**2 * spread, most)

    def interval(self, predictor, spread, coverage, labels):
        """The first level c with P(y <= c) >= (1 - coverage)/2, and with >= (1 + coverage)/2.

        P(y <= c) = E σ(τ_c - f) ≈ σ((τ_c - f)/√(1 + π Var f/8)) (MacKay, 1992).
        """
        flat = np.sqrt(1 + np.pi * spread / 8)[:, None]
        below = expit((self.thresholds - predictor[:, None]) / flat)
        ends = (np.sum(below < 0.5 + side * coverage / 2, axis=1) for side in (-1.0, 1.0))
        low, high = (labels.astype(float)[end] for end in ends)
        return low, high
