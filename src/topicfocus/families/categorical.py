"""Classes: y in {0, ..., C-1} with P(y = c) ∝ e^{f_c}, one linear predictor per class."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from topicfocus.families.base import Family, row_log_likelihood


class _Parameters(NamedTuple):
    n_classes: int


class Categorical(_Parameters, Family):
    """log p(y|f) = f_y - log Σ_c e^{f_c}.

    All C predictors are free; a penalty on the coefficients selects the one solution in which they
    sum to zero over the classes. With two classes f_1 - f_0 is the predictor of a Bernoulli target.

    Attributes
    ----------
    n_classes : int
        C.
    """

    __slots__ = ()

    kind = "classes"
    scale_name = "score of a class"
    label_kind = "classes"
    is_ranking = True

    @property
    def n_predictors(self):
        """One per class."""
        return self.n_classes

    def row_log_likelihood(self, target, weight, predictor, gradient):
        if not weight[0] > 0.0:
            for c in range(self.n_classes):
                gradient[c] = 0.0
            return 0.0
        largest = predictor[0]
        for c in range(1, self.n_classes):
            largest = max(largest, predictor[c])
        total = 0.0
        for c in range(self.n_classes):
            gradient[c] = math.exp(predictor[c] - largest)
            total += gradient[c]
        for c in range(self.n_classes):
            gradient[c] = -weight[0] * gradient[c] / total
        own = int(target[0])
        gradient[own] += weight[0]
        return weight[0] * (predictor[own] - largest - math.log(total))

    def row_expectation(self, target, weight, mean, variance, by_mean, by_variance):
        """log softmax_y(μ) - ¼ Σ_c ν_c <= E[log p(y | f)].

        The Hessian of log Σ e^f is at most ½(I - 11ᵀ/C) (Böhning 1992), so its expectation exceeds
        its value at the mean by at most ¼ Σ_c ν_c.
        """
        value = row_log_likelihood(self, target, weight, mean, by_mean)
        for c in range(self.n_classes):
            by_variance[c] = -0.25 * max(weight[0], 0.0)
            value += by_variance[c] * variance[c]
        return value

    def initialize(self, target, weight, n_labels):
        return Categorical(n_labels)

    def initial_coef(self, target, weight, n_topics):
        # Topics take the classes in turn, around the log of each class's frequency.
        classes = self.n_classes
        share = np.bincount(target.astype(int), weights=weight, minlength=classes) + 0.5
        level = np.log(share / share.sum())
        coef = np.tile(level - level.mean(), (n_topics, 1))
        if n_topics > 1:
            chosen = np.arange(n_topics) % classes
            coef[np.arange(n_topics), chosen] += 2.0
            coef -= 2.0 / classes
        return coef

    def check_parameters(self):
        if type(self.n_classes) is not int or self.n_classes < 2:
            raise ValueError("a target of classes must have two of them or more.")

    def mean(self, predictor):
        """Rows of class probabilities from rows of predictors."""
        return softmax(predictor, axis=-1)

    def information(self, predictor):
        p = self.mean(predictor)
        return p * (1 - p)

    probabilities = mean
