"""A family that is not part of the package: overdispersed counts.

Arguments have names of its own, to show that only their order counts.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import digamma, expit, gammaln

from topicfocus.families import Family


class _Size(NamedTuple):
    size: float = 2.0


class NegativeBinomial(_Size, Family):
    """y of mean e^f and variance e^f + e^{2f}/r, r = size; a Poisson as r goes to infinity.

    log p(y|f) = log Γ(y+r)/(Γ(r) y!) + y log s + r log(1-s),  s = σ(f - log r).
    """

    __slots__ = ()

    def log_likelihood(own, y, f):
        x = f - math.log(own.size)
        softplus = max(x, 0.0) + math.log1p(math.exp(-abs(x)))
        count = math.lgamma(y + own.size) - math.lgamma(own.size) - math.lgamma(y + 1.0)
        return count + y * x - (y + own.size) * softplus

    def derivatives(own, y, f):
        x = f - math.log(own.size)
        small = math.exp(-abs(x))
        s = 1.0 / (1.0 + small) if x >= 0.0 else small / (1.0 + small)
        q = small / (1.0 + small) if x >= 0.0 else 1.0 / (1.0 + small)
        n = y + own.size
        return y * q - own.size * s, -n * s * q, -n * s * q * (q - s)

    def mean(self, predictor):
        return np.exp(predictor)

    def initial_coef(self, target, weight, n_topics):
        share = (np.arange(n_topics) + 0.5) / n_topics
        return np.log(np.quantile(target[weight > 0], share) + 0.5)

    def _expected(self, y, mean, variance):
        """The second-order expansion, which is the default of `expectation`, over arrays."""
        x = mean - np.log(self.size)
        s = expit(x)
        value = gammaln(y + self.size) - gammaln(self.size) - gammaln(y + 1)
        value = value + y * x - (y + self.size) * np.logaddexp(0.0, x)
        return value - 0.5 * (y + self.size) * s * (1 - s) * variance

    def update_dispersion(self, target, mean, variance, weight):
        # The result must not depend on the present size.
        def loss(log_size):
            return -weight @ NegativeBinomial(math.exp(log_size))._expected(target, mean, variance)

        grid = np.linspace(-8.0, 8.0, 65)
        best = grid[np.argmin([loss(x) for x in grid])]
        found = minimize_scalar(
            loss, bounds=(best - 0.25, best + 0.25), method="bounded", options={"xatol": 1e-10}
        )
        return NegativeBinomial(math.exp(found.x))

    def free_parameters(self):
        return np.array([math.log(self.size)])

    def with_free_parameters(self, free):
        return NegativeBinomial(float(np.exp(free[0])))

    def free_gradient(self, target, mean, variance, weight):
        r, x = self.size, mean - np.log(self.size)
        s = expit(x)
        n, bend = target + r, s * (1 - s)
        by_size = digamma(n) - digamma(r) - np.logaddexp(0.0, x) + (n * s - target) / r
        by_size = by_size - 0.5 * variance * (bend - n * bend * (1 - 2 * s) / r)
        return np.array([weight @ (r * by_size)])
