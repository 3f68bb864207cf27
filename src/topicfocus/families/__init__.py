"""Families of targets: log p(y | f) and its derivatives in the linear predictor f = η·θ."""

from topicfocus.families.bernoulli import Bernoulli
from topicfocus.families.gaussian import Gaussian
from topicfocus.families.operations import (
    derivatives,
    dispersion_gradient,
    expectation,
    initial_coef,
    log_likelihood,
    mean_response,
    scale_dispersion,
    update_dispersion,
)

#: Every family shipped with the package, with an example of each; the contract test runs over it.
FAMILIES = {"gaussian": Gaussian(1.0), "bernoulli": Bernoulli()}

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Gaussian",
    "derivatives",
    "dispersion_gradient",
    "expectation",
    "initial_coef",
    "log_likelihood",
    "mean_response",
    "scale_dispersion",
    "update_dispersion",
]
