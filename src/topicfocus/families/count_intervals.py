"""The distribution of a predicted count: its interval, and variance beyond that of a Poisson.

Given f, a count is Poisson(e^f). f itself is uncertain: we take e^f as gamma distributed with mean
μ and variance μ²s, s being the variance of f. The count is then negative binomial,

    Var y = μ + μ²s,   P(y = k) = Γ(k + 1/s)/(Γ(1/s) k!) (μs)^k (1 + μs)^{-k - 1/s},

a Poisson as s goes to 0. Plain NumPy; `report/static/engine.js` has the same interval.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, ndtri
from scipy.stats import nbinom, poisson

#: Below it a negative binomial equals the Poisson distribution to rounding.
_SMALLEST_SPREAD = 1e-9
#: Largest standard deviation for exact quantiles, which the page finds by counting one by one.
MOST_COUNTED = 1000.0
#: The extra variance of log rates is searched between these.
_LEAST_EXTRA, _MOST_EXTRA = 1e-4, 1e2


def count_interval(
    mean: np.ndarray, variance: np.ndarray, coverage: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of an interval that contains a count with probability `coverage`, ends included.

    The smallest k with P(y <= k) >= (1 - coverage)/2, and the smallest with P(y <= k) >=
    (1 + coverage)/2. y is negative binomial of this mean and variance (at least the mean: a Poisson
    count). Both ends are whole numbers, so that the coverage may be larger. For a standard
    deviation of more than 1,000 the ends are quantiles of the gamma distribution of the same mean
    and variance by its cube root (Wilson and Hilferty, 1931), rounded to whole numbers.

    Parameters
    ----------
    mean, variance : arrays (documents,)
    coverage : float
        Between 0 and 1.

    Returns
    -------
    low, high : arrays (documents,)

    Examples
    --------
    >>> from topicfocus.families import count_interval
    >>> low, high = count_interval([0.4, 3.0], [0.4, 6.0], 0.8)
    >>> low.tolist(), high.tolist()
    ([0.0, 0.0], [1.0, 6.0])
    """
    mean = np.asarray(mean, dtype=float)
    variance = np.maximum(np.asarray(variance, dtype=float), mean)
    low, high = (_quantile(mean, variance, 0.5 + side * coverage / 2) for side in (-1.0, 1.0))
    return low, high


def _quantile(mean: np.ndarray, variance: np.ndarray, level: float) -> np.ndarray:
    out = np.zeros_like(mean)
    counted = (mean > 0) & (variance <= MOST_COUNTED**2)
    m, v = mean[counted], variance[counted]
    spread = (v - m) / m**2
    varies = spread > _SMALLEST_SPREAD
    found = poisson.ppf(level, m)
    s = spread[varies]
    found[varies] = nbinom.ppf(level, 1 / s, 1 / (1 + m[varies] * s))
    out[counted] = found
    large = (mean > 0) & ~counted
    m, v = mean[large], variance[large]
    ninth = v / m**2 / 9
    root = np.maximum(1 - ninth + ndtri(level) * np.sqrt(ninth), 0.0)
    out[large] = np.round(m * root**3)
    return out


def extra_variance_of_counts(
    target: np.ndarray, mean: np.ndarray, spread: np.ndarray, weight: np.ndarray
) -> tuple[float, float]:
    """ρ and τ: log rates of these documents vary by ρ·spread + τ, by maximum likelihood.

    Either the Laplace approximation overestimates the variance (ρ < 1, τ = 0), or counts vary more
    than it and a Poisson distribution allow (ρ = 1, τ > 0). We choose the one with the larger
    Σ w log p(y), p being the negative binomial above.
    """

    def loss(share: float, extra: float) -> float:
        s = np.maximum(share * spread + extra, 1e-8)
        size, scaled = 1 / s, mean * s
        ways = gammaln(target + size) - gammaln(size)
        value = ways + target * np.log(np.maximum(scaled, 1e-300))
        return -float(weight @ (value - (target + size) * np.log1p(scaled)))

    less = minimize_scalar(lambda share: loss(share, 0.0), bounds=(0.0, 1.0), method="bounded")
    ends = np.log(_LEAST_EXTRA), np.log(_MOST_EXTRA)
    more = minimize_scalar(lambda e: loss(1.0, np.exp(e)), bounds=ends, method="bounded")
    choices = ((1.0, 0.0), (float(less.x), 0.0), (1.0, float(np.exp(more.x))))
    return min(choices, key=lambda choice: loss(*choice))
