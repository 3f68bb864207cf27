"""A family that is not part of the package: counts that vary more than a Poisson's.

Arguments are named as they please the author, to show that only their order counts.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import digamma, expit, gammaln

from topicfocus.families import (
    derivatives,
    free_gradient,
    free_parameters,
    initial_coef,
    log_likelihood,
    mean_response,
    update_dispersion,
    with_free_parameters,
)


class NegativeBinomial(NamedTuple):
    """y of mean e^f and variance e^f + e^{2f}/r, r = size; a Poisson as r goes to infinity.

    log p(y|f) = log Γ(y+r)/(Γ(r) y!) + y log s + r log(1-s),  s = σ(f - log r).
    """

    size: float = 2.0


@log_likelihood.register(NegativeBinomial)
def _log_likelihood(own, y, f):
    x = f - math.log(own.size)
    softplus = max(x, 0.0) + math.log1p(math.exp(-abs(x)))
    count = math.lgamma(y + own.size) - math.lgamma(own.size) - math.lgamma(y + 1.0)
    return count + y * x - (y + own.size) * softplus


@derivatives.register(NegativeBinomial)
def _derivatives(own, y, f):
    x = f - math.log(own.size)
    small = math.exp(-abs(x))
    s = 1.0 / (1.0 + small) if x >= 0.0 else small / (1.0 + small)
    q = small / (1.0 + small) if x >= 0.0 else 1.0 / (1.0 + small)
    n = y + own.size
    return y * q - own.size * s, -n * s * q, -n * s * q * (q - s)


@mean_response.register(NegativeBinomial)
def _mean_response(own, f):
    return np.exp(f)


@initial_coef.register(NegativeBinomial)
def _initial_coef(own, y, weight, n_topics):
    share = (np.arange(n_topics) + 0.5) / n_topics
    return np.log(np.quantile(y[weight > 0], share) + 0.5)


def _expected(own, y, mean, variance):
    """The second-order expansion that `expectation` is by default, over arrays."""
    x = mean - np.log(own.size)
    s = expit(x)
    value = gammaln(y + own.size) - gammaln(own.size) - gammaln(y + 1)
    value = value + y * x - (y + own.size) * np.logaddexp(0.0, x)
    return value - 0.5 * (y + own.size) * s * (1 - s) * variance


@update_dispersion.register(NegativeBinomial)
def _update_dispersion(own, y, mean, variance, weight):
    # From wherever it is: the answer may not depend on the size it had.
    def loss(log_size):
        return -weight @ _expected(NegativeBinomial(math.exp(log_size)), y, mean, variance)

    grid = np.linspace(-8.0, 8.0, 65)
    best = grid[np.argmin([loss(x) for x in grid])]
    found = minimize_scalar(
        loss, bounds=(best - 0.25, best + 0.25), method="bounded", options={"xatol": 1e-10}
    )
    return NegativeBinomial(math.exp(found.x))


@free_parameters.register(NegativeBinomial)
def _free_parameters(own):
    return np.array([math.log(own.size)])


@with_free_parameters.register(NegativeBinomial)
def _with_free_parameters(own, free):
    return NegativeBinomial(float(np.exp(free[0])))


@free_gradient.register(NegativeBinomial)
def _free_gradient(own, y, mean, variance, weight):
    r, x = own.size, mean - np.log(own.size)
    s = expit(x)
    n, bend = y + r, s * (1 - s)
    by_size = digamma(n) - digamma(r) - np.logaddexp(0.0, x) + (n * s - y) / r
    by_size = by_size - 0.5 * variance * (bend - n * bend * (1 - 2 * s) / r)
    return np.array([weight @ (r * by_size)])
