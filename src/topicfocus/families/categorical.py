"""Classes: y in {0, ..., C-1} with P(y = c) ∝ e^{f_c}, one linear predictor a class."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from topicfocus.families.moments import information, label_probabilities
from topicfocus.families.operations import row_expectation, row_gradient, row_log_likelihood
from topicfocus.families.parameters import initial_coef, mean_response, n_predictors
from topicfocus.families.response import (
    check_parameters,
    family_name,
    initial_family,
    label_kind,
    scale_name,
    target_kind,
)
from topicfocus.families.traits import is_ranking


class Categorical(NamedTuple):
    """log p(y|f) = f_y - log Σ_c e^{f_c}.

    All C predictors are free; a penalty on the coefficients picks the one solution in which they
    sum to zero over the classes. With two classes f_1 - f_0 is the predictor of a Bernoulli target.

    Attributes
    ----------
    n_classes : int
        C.
    """

    n_classes: int


@row_log_likelihood.register(Categorical)
def _row_log_likelihood(family, target, weight, predictor):
    if weight[0] <= 0.0:
        return 0.0
    largest = predictor[0]
    for c in range(1, family.n_classes):
        largest = max(largest, predictor[c])
    total = 0.0
    for c in range(family.n_classes):
        total += math.exp(predictor[c] - largest)
    return weight[0] * (predictor[int(target[0])] - largest - math.log(total))


@row_gradient.register(Categorical)
def _row_gradient(family, target, weight, predictor, out):
    if weight[0] <= 0.0:
        for c in range(family.n_classes):
            out[c] = 0.0
        return
    largest = predictor[0]
    for c in range(1, family.n_classes):
        largest = max(largest, predictor[c])
    total = 0.0
    for c in range(family.n_classes):
        out[c] = math.exp(predictor[c] - largest)
        total += out[c]
    for c in range(family.n_classes):
        out[c] = -weight[0] * out[c] / total
    out[int(target[0])] += weight[0]


@row_expectation.register(Categorical)
def _row_expectation(family, target, weight, mean, variance, by_mean, by_variance):
    """log softmax_y(μ) - ¼ Σ_c ν_c <= E[log p(y | f)].

    The Hessian of log Σ e^f is at most ½(I - 11ᵀ/C) (Böhning 1992), so its expectation exceeds its
    value at the mean by at most ¼ Σ_c ν_c.
    """
    row_gradient(family, target, weight, mean, by_mean)
    value = row_log_likelihood(family, target, weight, mean)
    for c in range(family.n_classes):
        by_variance[c] = -0.25 * max(weight[0], 0.0)
        value += by_variance[c] * variance[c]
    return value


@n_predictors.register(Categorical)
def _n_predictors(family):
    return family.n_classes


@mean_response.register(Categorical)
def _mean_response(family, predictor):
    """Rows of class probabilities from rows of predictors."""
    return softmax(predictor, axis=-1)


@initial_coef.register(Categorical)
def _initial_coef(family, target, weight, n_topics):
    # Topics take the classes in turn, around the log of each class's share.
    classes = family.n_classes
    share = np.bincount(target.astype(int), weights=weight, minlength=classes) + 0.5
    level = np.log(share / share.sum())
    coef = np.tile(level - level.mean(), (n_topics, 1))
    if n_topics > 1:
        chosen = np.arange(n_topics) % classes
        coef[np.arange(n_topics), chosen] += 2.0
        coef -= 2.0 / classes
    return coef


@is_ranking.register(Categorical)
def _is_ranking(family):
    return True


# ---- what the target is to a user ---------------------------------------------------------------


@family_name.register(Categorical)
def _family_name(family):
    return "categorical"


@target_kind.register(Categorical)
def _target_kind(family):
    return "classes"


@scale_name.register(Categorical)
def _scale_name(family):
    return "score of a class"


@label_kind.register(Categorical)
def _label_kind(family):
    return "classes"


@initial_family.register(Categorical)
def _initial_family(family, target, weight, n_labels):
    return Categorical(n_labels)


@label_probabilities.register(Categorical)
def _label_probabilities(family, predictor):
    return softmax(predictor, axis=-1)


@information.register(Categorical)
def _information(family, predictor):
    p = softmax(predictor, axis=-1)
    return p * (1 - p)


@check_parameters.register(Categorical)
def _check_parameters(family):
    if type(family.n_classes) is not int or family.n_classes < 2:
        raise ValueError("a target of classes must have two of them or more.")
