"""Real targets: y ~ Normal(f, noise_variance)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topicfocus.families.moments import (
    conditional_variance,
    information,
    overdispersion,
    target_variance,
)
from topicfocus.families.operations import derivatives, log_likelihood
from topicfocus.families.parameters import (
    free_gradient,
    free_parameters,
    initial_coef,
    mean_response,
    update_dispersion,
    with_free_parameters,
)
from topicfocus.families.response import check_parameters, family_name, initial_family, scale_name
from topicfocus.families.traits import (
    is_quadratic,
    noise_variance,
    predictor_spread,
    with_noise_variance,
)

#: A noise variance never falls below this share of the target's variance. Without a floor the
#: likelihood of a training set that is fitted perfectly is unbounded.
SMALLEST_NOISE_SHARE = 1e-6


class Gaussian(NamedTuple):
    """log p(y|f) = -½ log(2πδ) - (y - f)²/(2δ), δ = noise_variance.

    The log-likelihood is quadratic in f, so ℓ(m) + ½ℓ''(m)·v is its exact expectation.

    Attributes
    ----------
    noise_variance : float
        δ.
    """

    noise_variance: float = 1.0


@log_likelihood.register(Gaussian)
def _log_likelihood(family, target, predictor):
    residual = target - predictor
    return (
        -0.5 * math.log(2.0 * math.pi * family.noise_variance)
        - 0.5 * residual * residual / family.noise_variance
    )


@derivatives.register(Gaussian)
def _derivatives(family, target, predictor):
    precision = 1.0 / family.noise_variance
    return (target - predictor) * precision, -precision, 0.0


@mean_response.register(Gaussian)
def _mean_response(family, predictor):
    return np.asarray(predictor, dtype=float)


@initial_coef.register(Gaussian)
def _initial_coef(family, target, weight, n_topics):
    # Quantiles of the targets, which depend on their weighted distribution alone and without jumps:
    # a weight of 2 gives the same start as two copies, whatever the rounding.
    seen = weight > 0
    values, place = np.unique(target[seen], return_inverse=True)
    weights = np.bincount(place, weight[seen])
    middle = (np.cumsum(weights) - 0.5 * weights) / weights.sum()
    return np.interp((np.arange(n_topics) + 0.5) / n_topics, middle, values)


@update_dispersion.register(Gaussian)
def _update_dispersion(family, target, mean, variance, weight):
    total = weight.sum()
    expected_square = np.sum(weight * ((target - mean) ** 2 + variance)) / total
    centre = np.sum(weight * target) / total
    spread = np.sum(weight * (target - centre) ** 2) / total
    return Gaussian(float(max(expected_square, SMALLEST_NOISE_SHARE * spread, 1e-300)))


@free_parameters.register(Gaussian)
def _free_parameters(family):
    return np.array([math.log(family.noise_variance)])


@with_free_parameters.register(Gaussian)
def _with_free_parameters(family, free):
    return Gaussian(float(np.exp(free[0])))


@free_gradient.register(Gaussian)
def _free_gradient(family, target, mean, variance, weight):
    # d/d log δ of E[-½ log δ - (y-f)²/(2δ)].
    square = (target - mean) ** 2 + variance
    return np.array([weight @ (-0.5 + 0.5 * square / family.noise_variance)])


@noise_variance.register(Gaussian)
def _noise_variance(family):
    return family.noise_variance


@with_noise_variance.register(Gaussian)
def _with_noise_variance(family, value):
    return Gaussian(value)


@is_quadratic.register(Gaussian)
def _is_quadratic(family):
    return True


@predictor_spread.register(Gaussian)
def _predictor_spread(family, target, weight):
    mean = np.average(target, weights=weight)
    return math.sqrt(float(np.average((target - mean) ** 2, weights=weight)))


# ---- what the target is to a user ---------------------------------------------------------------


@family_name.register(Gaussian)
def _family_name(family):
    return "gaussian"


@scale_name.register(Gaussian)
def _scale_name(family):
    return "target"


@initial_family.register(Gaussian)
def _initial_family(family, target, weight, n_labels):
    centre = np.average(target, weights=weight)
    return Gaussian(float(np.average((target - centre) ** 2, weights=weight)))


@conditional_variance.register(Gaussian)
def _conditional_variance(family, predictor):
    return np.full(len(predictor), family.noise_variance)


@target_variance.register(Gaussian)
def _target_variance(family, predictor, spread, labels):
    # Exact: δ + Var f.
    return family.noise_variance + spread


@information.register(Gaussian)
def _information(family, predictor):
    return np.full(predictor.shape, 1.0 / max(family.noise_variance, 1e-300))


@overdispersion.register(Gaussian)
def _overdispersion(family, predictor, target):
    return float(np.mean((target - predictor) ** 2)) / max(family.noise_variance, 1e-300)


@check_parameters.register(Gaussian)
def _check_parameters(family):
    noise = family.noise_variance
    if not (isinstance(noise, float) and 0 < noise < np.inf):
        raise ValueError("noise_variance_ must be greater than 0 and finite.")
