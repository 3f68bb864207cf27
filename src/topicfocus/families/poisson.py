"""Counts: y ~ Poisson(e^f). An exposure E enters as the offset log E of f."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topicfocus.families.base import Family
from topicfocus.families.count_intervals import extra_variance_of_counts

#: Floats cannot represent all whole numbers above it.
LARGEST_COUNT = 1e15
#: Larger predictors are cut here: the square of a rate of 10^300 would be infinite.
LARGEST_PREDICTOR = 300.0


class Poisson(NamedTuple("Poisson", []), Family):
    """log p(y|f) = y·f - e^f - log y!, with the logarithmic link."""

    __slots__ = ()

    kind = "count"
    scale_name = "log of the count"
    takes_exposure = True

    def log_likelihood(self, target, predictor):
        # Beyond the cut the tangent continues, so that a line search sees the right slope.
        inside = min(predictor, LARGEST_PREDICTOR)
        rate = math.exp(inside) * (1.0 + predictor - inside)
        return target * predictor - rate - math.lgamma(target + 1.0)

    def derivatives(self, target, predictor):
        rate = math.exp(min(predictor, LARGEST_PREDICTOR))
        return target - rate, -rate, -rate

    def expectation(self, target, mean, variance):
        """yμ - e^{μ + ν/2} - log y!: exact for a normal f, and below the expansion."""
        rate = math.exp(min(mean + 0.5 * variance, LARGEST_PREDICTOR))
        value = target * mean - rate - math.lgamma(target + 1.0)
        return value, target - rate, -0.5 * rate

    def initial_coef(self, target, weight, n_topics):
        # The log of the average rate, with topics spread one unit to either side.
        level = np.log(max(np.sum(weight * target) / weight.sum(), 1e-3))
        offsets = np.linspace(-1.0, 1.0, n_topics) if n_topics > 1 else np.zeros(1)
        return level + offsets

    def admissible(self, target):
        name = f"counts, 0 or more and at most {LARGEST_COUNT:g}"
        return (target >= 0) & (target <= LARGEST_COUNT), name

    def limits(self, labels):
        return 0.0, np.inf

    def mean(self, predictor):
        return np.exp(np.minimum(predictor, LARGEST_PREDICTOR))

    def variance(self, predictor):
        return self.mean(predictor)

    def information(self, predictor):
        return self.mean(predictor)

    def target_variance(self, predictor, spread, labels):
        mean = self.mean(predictor)
        return mean + mean**2 * spread

    def extra_variance(self, target, predictor, spread, weight):
        return extra_variance_of_counts(target, self.mean(predictor), spread, weight)
