"""Counts: y ~ Poisson(e^f). An exposure E enters as the offset log E of f."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topicfocus.families.counted import excess_of_counts
from topicfocus.families.intervals import excess_spread
from topicfocus.families.moments import (
    conditional_variance,
    information,
    overdispersion,
    target_limits,
    target_variance,
)
from topicfocus.families.operations import derivatives, expectation, log_likelihood
from topicfocus.families.parameters import initial_coef, mean_response
from topicfocus.families.response import (
    admissible,
    family_name,
    scale_name,
    takes_exposure,
    target_kind,
)

#: Beyond it floats leave out whole numbers, and nobody has counted so far.
LARGEST_COUNT = 1e15
#: e^f is cut here: a rate of 10^300 is no rate, and its square would be infinite.
LARGEST_PREDICTOR = 300.0


class Poisson(NamedTuple):
    """log p(y|f) = y·f - e^f - log y!, with the logarithmic link."""


@log_likelihood.register(Poisson)
def _log_likelihood(family, target, predictor):
    # Beyond the cut the tangent goes on, so that a line search still sees which way is down.
    inside = min(predictor, 300.0)
    rate = math.exp(inside) * (1.0 + predictor - inside)
    return target * predictor - rate - math.lgamma(target + 1.0)


@derivatives.register(Poisson)
def _derivatives(family, target, predictor):
    rate = math.exp(min(predictor, 300.0))
    return target - rate, -rate, -rate


@expectation.register(Poisson)
def _expectation(family, target, mean, variance):
    """yμ - e^{μ + ν/2} - log y!: exact for a normal f, and less trusting than the expansion."""
    rate = math.exp(min(mean + 0.5 * variance, 300.0))
    value = target * mean - rate - math.lgamma(target + 1.0)
    return value, target - rate, -0.5 * rate


@mean_response.register(Poisson)
def _mean_response(family, predictor):
    return np.exp(np.minimum(predictor, LARGEST_PREDICTOR))


@initial_coef.register(Poisson)
def _initial_coef(family, target, weight, n_topics):
    # The log of the average rate, with topics one unit to either side.
    level = np.log(max(np.sum(weight * target) / weight.sum(), 1e-3))
    offsets = np.linspace(-1.0, 1.0, n_topics) if n_topics > 1 else np.zeros(1)
    return level + offsets


# ---- what the target is to a user ---------------------------------------------------------------


@family_name.register(Poisson)
def _family_name(family):
    return "poisson"


@target_kind.register(Poisson)
def _target_kind(family):
    return "count"


@scale_name.register(Poisson)
def _scale_name(family):
    return "log of the count"


@admissible.register(Poisson)
def _admissible(family, target):
    return (target >= 0) & (
        target <= LARGEST_COUNT
    ), f"counts, 0 or more and at most {LARGEST_COUNT:g}"


@takes_exposure.register(Poisson)
def _takes_exposure(family):
    return True


@conditional_variance.register(Poisson)
def _conditional_variance(family, predictor):
    return _mean_response(family, predictor)


@target_variance.register(Poisson)
def _target_variance(family, predictor, spread, labels):
    mean = _mean_response(family, predictor)
    return mean + mean**2 * spread


@information.register(Poisson)
def _information(family, predictor):
    return _mean_response(family, predictor)


@overdispersion.register(Poisson)
def _overdispersion(family, predictor, target):
    # Never below 1: fewer surprises than a Poisson count has are luck.
    mean = _mean_response(family, predictor)
    return max(1.0, float(np.mean((target - mean) ** 2 / np.maximum(mean, 1e-300))))


@excess_spread.register(Poisson)
def _excess_spread(family, target, predictor, spread, weight):
    return excess_of_counts(target, _mean_response(family, predictor), spread, weight)


@target_limits.register(Poisson)
def _target_limits(family, labels):
    return 0.0, np.inf
