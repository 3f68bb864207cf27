"""Families of targets: log p(y | f) and its derivatives in the linear predictors f = ηᵀθ."""

import numpy as np

from topicfocus.families.bernoulli import Bernoulli
from topicfocus.families.categorical import Categorical
from topicfocus.families.counted import count_interval
from topicfocus.families.gaussian import Gaussian
from topicfocus.families.intervals import excess_spread, target_interval
from topicfocus.families.moments import (
    conditional_variance,
    expected_target,
    information,
    label_probabilities,
    mean_slope,
    overdispersion,
    target_limits,
    target_variance,
)
from topicfocus.families.operations import (
    derivatives,
    expectation,
    log_likelihood,
    row_expectation,
    row_gradient,
    row_log_likelihood,
)
from topicfocus.families.ordinal import Ordinal, initial_thresholds, level_probabilities
from topicfocus.families.parameters import (
    coef_shape,
    free_gradient,
    free_parameters,
    initial_coef,
    mean_response,
    n_predictors,
    rejoined,
    rows_free_gradient,
    rows_update_dispersion,
    split,
    update_dispersion,
    with_free_parameters,
)
from topicfocus.families.poisson import Poisson
from topicfocus.families.response import (
    Kind,
    admissible,
    check_parameters,
    family_name,
    initial_family,
    is_complete,
    is_family,
    label_kind,
    scale_name,
    takes_exposure,
    target_kind,
)
from topicfocus.families.several import Several, common, several
from topicfocus.families.traits import (
    carries_intercept,
    is_quadratic,
    is_ranking,
    noise_variance,
    predictor_spread,
    with_noise_variance,
)

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
    "Kind",
    "Ordinal",
    "Poisson",
    "Several",
    "admissible",
    "carries_intercept",
    "check_parameters",
    "coef_shape",
    "common",
    "conditional_variance",
    "count_interval",
    "derivatives",
    "excess_spread",
    "expectation",
    "expected_target",
    "family_name",
    "free_gradient",
    "free_parameters",
    "information",
    "initial_coef",
    "initial_family",
    "initial_thresholds",
    "is_complete",
    "is_family",
    "is_quadratic",
    "is_ranking",
    "label_kind",
    "label_probabilities",
    "level_probabilities",
    "log_likelihood",
    "mean_response",
    "mean_slope",
    "n_predictors",
    "noise_variance",
    "overdispersion",
    "predictor_spread",
    "rejoined",
    "row_expectation",
    "row_gradient",
    "row_log_likelihood",
    "rows_free_gradient",
    "rows_update_dispersion",
    "scale_name",
    "several",
    "split",
    "takes_exposure",
    "target_interval",
    "target_kind",
    "target_limits",
    "target_variance",
    "update_dispersion",
    "with_free_parameters",
    "with_noise_variance",
]
