"""Yes/no targets: y ~ Bernoulli(σ(f)), y in {0, 1}."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from topicfocus.families.intervals import target_interval
from topicfocus.families.moments import (
    information,
    label_probabilities,
    target_limits,
    target_variance,
)
from topicfocus.families.operations import derivatives, expectation, log_likelihood
from topicfocus.families.parameters import initial_coef, mean_response
from topicfocus.families.response import (
    admissible,
    family_name,
    label_kind,
    scale_name,
    target_kind,
)
from topicfocus.families.traits import is_ranking


class Bernoulli(NamedTuple):
    """log p(y|f) = y·f - log(1 + e^f), with the logistic link."""


@log_likelihood.register(Bernoulli)
def _log_likelihood(family, target, predictor):
    # log(1 + e^f) without overflow for large f and without cancellation for very negative f.
    softplus = max(predictor, 0.0) + math.log1p(math.exp(-abs(predictor)))
    return target * predictor - softplus


@derivatives.register(Bernoulli)
def _derivatives(family, target, predictor):
    # e^{-|f|} never overflows; p and 1-p are both computed without cancellation.
    small = math.exp(-abs(predictor))
    if predictor >= 0.0:
        p = 1.0 / (1.0 + small)
        q = small / (1.0 + small)
    else:
        p = small / (1.0 + small)
        q = 1.0 / (1.0 + small)
    return target - p, -p * q, -p * q * (q - p)


@expectation.register(Bernoulli)
def _expectation(family, target, mean, variance):
    """The bound of Jaakkola and Jordan, (y - ½)μ - log 2cosh(½√(μ² + ν)) <= E[log p(y | f)].

    The second-order expansion loses its variance term where |μ| is large, and coordinate ascent
    goes there: it ends with enormous coefficients and a "bound" far above the likelihood.
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


@mean_response.register(Bernoulli)
def _mean_response(family, predictor):
    return expit(predictor)


@initial_coef.register(Bernoulli)
def _initial_coef(family, target, weight, n_topics):
    # Log odds of the share of positives, with topics spread two units to either side.
    share = (np.sum(weight * target) + 0.5) / (weight.sum() + 1.0)
    offsets = np.linspace(-2.0, 2.0, n_topics) if n_topics > 1 else np.zeros(1)
    return np.log(share / (1.0 - share)) + offsets


@is_ranking.register(Bernoulli)
def _is_ranking(family):
    return True


# ---- what the target is to a user ---------------------------------------------------------------


@family_name.register(Bernoulli)
def _family_name(family):
    return "bernoulli"


@target_kind.register(Bernoulli)
def _target_kind(family):
    return "binary"


@scale_name.register(Bernoulli)
def _scale_name(family):
    return "log odds"


@label_kind.register(Bernoulli)
def _label_kind(family):
    return "classes"


@admissible.register(Bernoulli)
def _admissible(family, target):
    return (target == 0) | (target == 1), "0 or 1"


@label_probabilities.register(Bernoulli)
def _label_probabilities(family, predictor):
    second = expit(predictor[:, 0])
    return np.column_stack([1 - second, second])


@target_variance.register(Bernoulli)
def _target_variance(family, predictor, spread, labels):
    # At most that of a fair coin, which the approximation does not know.
    mean = expit(predictor)
    return np.minimum(mean * (1 - mean) + (mean * (1 - mean)) ** 2 * spread, 0.25)


@target_interval.register(Bernoulli)
def _target_interval(family, predictor, spread, coverage, labels):
    """0 and 1, as far as each is needed: P(y <= 0) = 1 - E σ(f), σ flattened as for levels."""
    zero = expit(-predictor / np.sqrt(1 + np.pi * spread / 8))
    return (zero < 0.5 - coverage / 2).astype(float), (zero < 0.5 + coverage / 2).astype(float)


@information.register(Bernoulli)
def _information(family, predictor):
    p = expit(predictor)
    return p * (1 - p)


@target_limits.register(Bernoulli)
def _target_limits(family, labels):
    return 0.0, 1.0
