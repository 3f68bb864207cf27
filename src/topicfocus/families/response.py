"""What the target of a family is to a user: its name, labels, values, expectation and variance.

Like `families.operations` these are `functools.singledispatch` functions that a family registers
itself with; everything that depends on the kind of target is here or there, and nothing outside
`families/` asks which family it has. All are plain NumPy. `predictor` is documents x the family's
own predictors, `labels` the values behind the codes 0, 1, ... (classes, levels) or None.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import ndtri

from topicfocus.families.counted import count_interval
from topicfocus.families.operations import (
    derivatives,
    log_likelihood,
    mean_response,
    row_log_likelihood,
)

Kind = Literal["real", "count", "ordinal", "binary", "classes"]

#: A step of the linear predictor for derivatives of an inverse link that is not known better.
_STEP = 1e-5


def is_family(value: Any) -> bool:
    """Whether a value is a family: a NamedTuple that log-likelihoods are registered for."""
    cls = type(value)
    if not (isinstance(value, tuple) and hasattr(cls, "_fields")):
        return False
    scalar = log_likelihood.dispatch(cls) is not log_likelihood.dispatch(object)
    return scalar or row_log_likelihood.dispatch(cls) is not row_log_likelihood.dispatch(object)


def is_complete(value: Any) -> bool:
    """Whether a family of one predictor has all that fitting a model to it needs."""
    cls = type(value)
    needed = (log_likelihood, derivatives, mean_response)
    return all(operation.dispatch(cls) is not operation.dispatch(object) for operation in needed)


# ---- what it is called ------------------------------------------------------------------------


@singledispatch
def family_name(family: NamedTuple) -> str:
    """How `family=` and model files call it; the class in lower case by default."""
    return type(family).__name__.lower()


@singledispatch
def target_kind(family: NamedTuple) -> Kind:
    """What kind of target a person would say it is; a real number by default."""
    return "real"


@singledispatch
def scale_name(family: NamedTuple) -> str:
    """What the linear predictor measures."""
    return "linear predictor"


# ---- values and labels ------------------------------------------------------------------------


@singledispatch
def label_kind(family: NamedTuple) -> Literal["classes", "levels"] | None:
    """Whether targets are codes of labels: of classes, of ordered levels, or (default) numbers."""
    return None


@singledispatch
def admissible(family: NamedTuple, target: np.ndarray) -> tuple[np.ndarray, str]:
    """Which values a target may have, and what they are called; every number by default."""
    return np.ones(len(target), dtype=bool), "numbers"


@singledispatch
def takes_exposure(family: NamedTuple) -> bool:
    """Whether the expected target is proportional to an exposure E, an offset log E of f."""
    return False


@singledispatch
def initial_family(
    family: NamedTuple, target: np.ndarray, weight: np.ndarray, n_labels: int
) -> NamedTuple:
    """The family to start from, given the known targets; itself by default."""
    return family


@singledispatch
def check_parameters(family: NamedTuple) -> None:
    """Raise ValueError for parameters that compiled code must not be given; none by default."""


# ---- predictions ------------------------------------------------------------------------------


@singledispatch
def expected_target(
    family: NamedTuple, predictor: np.ndarray, labels: np.ndarray | None
) -> np.ndarray:
    """E[y | f] in the units of the target."""
    return mean_response(family, predictor[:, 0])


@singledispatch
def label_probabilities(family: NamedTuple, predictor: np.ndarray) -> np.ndarray:
    """P(y = label), documents x labels."""
    raise TypeError(f"{type(family).__name__} has no labels to give probabilities to.")


@singledispatch
def conditional_variance(family: NamedTuple, predictor: np.ndarray) -> np.ndarray:
    """Var(y | f), f an array (documents,).

    The default is dE[y|f]/df, which is right for a canonical link.
    """
    return mean_slope(family, predictor)


def mean_slope(family: NamedTuple, predictor: np.ndarray) -> np.ndarray:
    """dE[y | f]/df by central differences."""
    step = _STEP * np.maximum(1.0, np.abs(predictor))
    above, below = mean_response(family, predictor + step), mean_response(family, predictor - step)
    return (above - below) / (2 * step)


@singledispatch
def target_variance(
    family: NamedTuple, predictor: np.ndarray, spread: np.ndarray, labels: np.ndarray | None
) -> np.ndarray:
    """Var y ≈ Var(y | f) + (dE[y|f]/df)² Var f, f and Var f = `spread` arrays (documents,)."""
    return conditional_variance(family, predictor) + mean_slope(family, predictor) ** 2 * spread


@singledispatch
def target_limits(family: NamedTuple, labels: np.ndarray | None) -> tuple[float, float]:
    """The smallest and the largest value that a target can have; none by default."""
    return -np.inf, np.inf


@singledispatch
def target_interval(
    family: NamedTuple,
    predictor: np.ndarray,
    spread: np.ndarray,
    coverage: float,
    labels: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of an interval that has y with the probability `coverage`, in the units of the target.

    f and Var f = `spread` are arrays (documents,). By default E[y | f] ± z √Var y, z the quantile
    of a normal distribution; of counts the quantiles of a negative binomial distribution with this
    mean and variance (`count_interval`), which are whole numbers.
    """
    mean = expected_target(family, predictor[:, None], labels)
    variance = target_variance(family, predictor, spread, labels)
    if target_kind(family) == "count":
        return count_interval(mean, variance, coverage)
    reach = float(ndtri(0.5 + coverage / 2)) * np.sqrt(variance)
    return mean - reach, mean + reach


# ---- what documents say about the predictor -----------------------------------------------------


@singledispatch
def information(family: NamedTuple, predictor: np.ndarray) -> np.ndarray:
    """-E[ℓ''(f)], documents x predictors.

    The default is (dE[y|f]/df)² / Var(y | f), Fisher's for an exponential family.
    """
    f = predictor[:, 0]
    slope = mean_slope(family, f)
    return (slope**2 / np.maximum(conditional_variance(family, f), 1e-300))[:, None]


@singledispatch
def overdispersion(family: NamedTuple, predictor: np.ndarray, target: np.ndarray) -> float:
    """φ: the mean squared residual over the variance expected, Σ (y-μ)²/V(μ) / n.

    1 by default: a class or a level has no free scale.
    """
    return 1.0


@singledispatch
def excess_spread(
    family: NamedTuple,
    target: np.ndarray,
    predictor: np.ndarray,
    spread: np.ndarray,
    weight: np.ndarray,
) -> tuple[float, float]:
    """ρ and τ: that held-out targets vary as if Var f were ρ·spread + τ, f arrays (documents,).

    (1, 0) by default: a class or a level cannot vary more than its probabilities say, and a family
    with a noise variance has it there.
    """
    return 1.0, 0.0
