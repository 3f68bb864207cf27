"""Families of targets: log p(y | f) and its derivatives in the linear predictors f = ηᵀθ."""

import numpy as np

from topicfocus.families.base import Family, Kind
from topicfocus.families.bernoulli import Bernoulli
from topicfocus.families.categorical import Categorical
from topicfocus.families.count_intervals import count_interval
from topicfocus.families.gaussian import Gaussian
from topicfocus.families.multiple import Multiple, for_kernels
from topicfocus.families.ordinal import Ordinal
from topicfocus.families.poisson import Poisson

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
    "Family",
    "Gaussian",
    "Kind",
    "Multiple",
    "Ordinal",
    "Poisson",
    "count_interval",
    "for_kernels",
]
