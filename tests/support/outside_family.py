"""A family that is not part of the package: counts with an exposure.

Arguments are named as they please the author, to show that only their order counts.
"""

import math
from typing import NamedTuple

import numpy as np

from topicfocus.families import (
    derivatives,
    dispersion_gradient,
    initial_coef,
    log_likelihood,
    mean_response,
    scale_dispersion,
    update_dispersion,
)


class Poisson(NamedTuple):
    """y ~ Poisson(E e^f), the exposure E in the place of a dispersion."""

    exposure: float = 1.0


@log_likelihood.register(Poisson)
def _log_likelihood(family, y, f):
    return (
        y * (f + math.log(family.exposure)) - family.exposure * math.exp(f) - math.lgamma(y + 1.0)
    )


@derivatives.register(Poisson)
def _derivatives(family, y, f):
    rate = family.exposure * math.exp(f)
    return y - rate, -rate, -rate


@mean_response.register(Poisson)
def _mean_response(family, f):
    return family.exposure * np.exp(f)


@initial_coef.register(Poisson)
def _initial_coef(family, y, weight, n_topics):
    share = (np.arange(n_topics) + 0.5) / n_topics
    return np.log(np.quantile(y[weight > 0], share) + 0.5)


@update_dispersion.register(Poisson)
def _update_dispersion(family, y, mean, variance, weight):
    return Poisson(float(np.sum(weight * y) / np.sum(weight * np.exp(mean) * (1 + variance / 2))))


@dispersion_gradient.register(Poisson)
def _dispersion_gradient(family, y, f):
    rate = family.exposure * np.exp(f)
    return y - rate, -rate


@scale_dispersion.register(Poisson)
def _scale_dispersion(family, factor):
    return Poisson(float(family.exposure * factor))
