"""Families of targets: log p(y | f) and its derivatives in the linear predictors f = ηᵀθ."""

import numpy as np

from topicfocus.families.bernoulli import Bernoulli
from topicfocus.families.categorical import Categorical
from topicfocus.families.gaussian import Gaussian
from topicfocus.families.operations import (
    carries_intercept,
    coef_shape,
    derivatives,
    expectation,
    free_gradient,
    free_parameters,
    initial_coef,
    is_quadratic,
    is_ranking,
    log_likelihood,
    mean_response,
    n_predictors,
    noise_variance,
    predictor_spread,
    rejoined,
    row_expectation,
    row_gradient,
    row_log_likelihood,
    rows_free_gradient,
    rows_update_dispersion,
    split,
    update_dispersion,
    with_free_parameters,
    with_noise_variance,
)
from topicfocus.families.ordinal import Ordinal, initial_thresholds, level_probabilities
from topicfocus.families.poisson import Poisson
from topicfocus.families.several import Several, common, several

#: Every family of one predictor, with an example of each; the contract test runs over it.
FAMILIES = {
    "gaussian": Gaussian(1.0),
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
    "ordinal": Ordinal(np.array([-1.5, -0.2, 0.9, 2.5])),
}

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Categorical",
    "Gaussian",
    "Ordinal",
    "Poisson",
    "Several",
    "carries_intercept",
    "coef_shape",
    "common",
    "derivatives",
    "expectation",
    "free_gradient",
    "free_parameters",
    "initial_coef",
    "initial_thresholds",
    "is_quadratic",
    "is_ranking",
    "level_probabilities",
    "log_likelihood",
    "mean_response",
    "n_predictors",
    "noise_variance",
    "predictor_spread",
    "rejoined",
    "row_expectation",
    "row_gradient",
    "row_log_likelihood",
    "rows_free_gradient",
    "rows_update_dispersion",
    "several",
    "split",
    "update_dispersion",
    "with_free_parameters",
    "with_noise_variance",
]
