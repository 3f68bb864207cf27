"""Real targets: y ~ Normal(f, noise_variance)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topicfocus.families.base import Family

#: The noise variance is at least this fraction of the target's variance. Without a floor the
#: likelihood of a training set that is fitted perfectly is unbounded.
SMALLEST_NOISE_SHARE = 1e-6


class _Parameters(NamedTuple):
    noise_variance: float = 1.0


class Gaussian(_Parameters, Family):
    """log p(y|f) = -½ log(2πδ) - (y - f)²/(2δ), δ = noise_variance.

    The log-likelihood is quadratic in f, so ℓ(m) + ½ℓ''(m)·v is its exact expectation.

    Attributes
    ----------
    noise_variance : float
        δ.
    """

    __slots__ = ()

    scale_name = "target"
    is_quadratic = True

    def log_likelihood(self, target, predictor):
        residual = target - predictor
        return (
            -0.5 * math.log(2.0 * math.pi * self.noise_variance)
            - 0.5 * residual * residual / self.noise_variance
        )

    def derivatives(self, target, predictor):
        precision = 1.0 / self.noise_variance
        return (target - predictor) * precision, -precision, 0.0

    def initialize(self, target, weight, n_labels):
        return Gaussian(self.predictor_spread(target, weight) ** 2)

    def initial_coef(self, target, weight, n_topics):
        # Quantiles of the targets depend on their weighted distribution alone, without jumps: a
        # weight of 2 gives the same start as two copies, whatever the rounding.
        seen = weight > 0
        values, place = np.unique(target[seen], return_inverse=True)
        weights = np.bincount(place, weight[seen])
        middle = (np.cumsum(weights) - 0.5 * weights) / weights.sum()
        return np.interp((np.arange(n_topics) + 0.5) / n_topics, middle, values)

    def predictor_spread(self, target, weight):
        """The standard deviation of the targets."""
        mean = np.average(target, weights=weight)
        return math.sqrt(float(np.average((target - mean) ** 2, weights=weight)))

    def with_noise_variance(self, value):
        return Gaussian(value)

    def free_parameters(self):
        return np.array([math.log(self.noise_variance)])

    def with_free_parameters(self, free):
        return Gaussian(float(np.exp(free[0])))

    def update_dispersion(self, target, mean, variance, weight):
        total = weight.sum()
        expected_square = np.sum(weight * ((target - mean) ** 2 + variance)) / total
        centre = np.sum(weight * target) / total
        spread = np.sum(weight * (target - centre) ** 2) / total
        return Gaussian(float(max(expected_square, SMALLEST_NOISE_SHARE * spread, 1e-300)))

    def free_gradient(self, target, mean, variance, weight):
        # d/d log δ of E[-½ log δ - (y-f)²/(2δ)].
        square = (target - mean) ** 2 + variance
        return np.array([weight @ (-0.5 + 0.5 * square / self.noise_variance)])

    def check_parameters(self):
        noise = self.noise_variance
        if not (isinstance(noise, float) and 0 < noise < np.inf):
            raise ValueError("noise_variance_ must be greater than 0 and finite.")

    def mean(self, predictor):
        return np.asarray(predictor, dtype=float)

    def variance(self, predictor):
        return np.full(len(predictor), self.noise_variance)

    def information(self, predictor):
        return np.full(predictor.shape, 1.0 / max(self.noise_variance, 1e-300))

    def target_variance(self, predictor, spread, labels):
        return self.noise_variance + spread
