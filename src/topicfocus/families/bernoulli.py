"""Yes/no targets: y ~ Bernoulli(σ(f)), y in {0, 1}."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from topicfocus.families.base import Family


class Bernoulli(NamedTuple("Bernoulli", []), Family):
    """log p(y|f) = y·f - log(1 + e^f), with the logistic link."""

    __slots__ = ()

    kind = "binary"
    scale_name = "log odds"
    label_kind = "classes"
    is_ranking = True

    def log_likelihood(self, target, predictor):
        # log(1 + e^f) without overflow for large f and without cancellation for very negative f.
        softplus = max(predictor, 0.0) + math.log1p(math.exp(-abs(predictor)))
        return target * predictor - softplus

    def derivatives(self, target, predictor):
        # e^{-|f|} never overflows; p and 1-p are both computed without cancellation.
        small = math.exp(-abs(predictor))
        if predictor >= 0.0:
            p = 1.0 / (1.0 + small)
            q = small / (1.0 + small)
        else:
            p = small / (1.0 + small)
            q = 1.0 / (1.0 + small)
        return target - p, -p * q, -p * q * (q - p)

    def expectation(self, target, mean, variance):
        """The bound of Jaakkola and Jordan, (y - ½)μ - log 2cosh(½√(μ² + ν)) <= E[log p(y | f)].

        In the second-order expansion the variance term vanishes where |μ| is large. Coordinate
        ascent would end there, with huge coefficients and a value far above the likelihood.
        """
        size = math.sqrt(mean * mean + variance)
        small = math.exp(-size)
        value = (target - 0.5) * mean - 0.5 * size - math.log1p(small)
        # tanh(s/2)/(4s), which goes to 1/8 as s goes to 0.
        if size > 1e-4:
            half = (1.0 - small) / (1.0 + small) / (4.0 * size)
        else:
            half = 0.125
        return value, target - 0.5 - 2.0 * half * mean, -half

    def initial_coef(self, target, weight, n_topics):
        # Log odds of the fraction of positives, with topics spread two units to either side.
        share = (np.sum(weight * target) + 0.5) / (weight.sum() + 1.0)
        offsets = np.linspace(-2.0, 2.0, n_topics) if n_topics > 1 else np.zeros(1)
        return np.log(share / (1.0 - share)) + offsets

    def admissible(self, target):
        return (target == 0) | (target == 1), "0 or 1"

    def limits(self, labels):
        return 0.0, 1.0

    def mean(self, predictor):
        return expit(predictor)

    def information(self, predictor):
        p = expit(predictor)
        return p * (1 - p)

    def probabilities(self, predictor):
        second = expit(predictor[:, 0])
        return np.column_stack([1 - second, second])

    def target_variance(self, predictor, spread, labels):
        # The approximation may exceed ¼, the largest possible variance.
        mean = expit(predictor)
        return np.minimum(mean * (1 - mean) + (mean * (1 - mean)) ** 2 * spread, 0.25)

    def interval(self, predictor, spread, coverage, labels):
        """0, 1 or both: P(y <= 0) = 1 - E σ(f), with the approximation that `Ordinal` uses."""
        zero = expit(-predictor / np.sqrt(1 + np.pi * spread / 8))
        return (zero < 0.5 - coverage / 2).astype(float), (zero < 0.5 + coverage / 2).astype(float)
