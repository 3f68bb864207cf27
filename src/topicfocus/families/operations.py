"""What inference asks of a family of targets: one function per question.

Every operation is a `functools.singledispatch` function. A family is a `typing.NamedTuple` of its
parameters (a noise variance, thresholds) and registers an implementation of each operation for
itself; nothing else is needed, in particular no change to a kernel.

Most families have one target and one linear predictor and register `log_likelihood`,
`derivatives` and perhaps `expectation`, on scalars. Kernels call the operations on rows: a row of
targets with their weights and a row of linear predictors, one row a document. By default these
use the scalar ones; a family with several predictors (classes) or several targets registers them.

These six are also called from compiled kernels. One `numba.extending.overload` per operation looks
the implementation up in the same registry when a kernel is compiled for a family's type. This form
was chosen because numba's on-disk cache works with it: functions passed as arguments, closures and
jitclasses would be compiled anew in every process. Under ``NUMBA_DISABLE_JIT=1`` the very same
functions run as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload


def _unknown(operation: str, family: Any) -> TypeError:
    return _unregistered(operation, type(family).__name__)


def _unregistered(operation: str, name: str) -> TypeError:
    return TypeError(
        f"{name} does not implement the family operation {operation!r}. Register "
        f"one with topicfocus.families.{operation}.register({name})."
    )


# ---- called from kernels: scalars in, scalars out, must compile with numba --------------------


@singledispatch
def log_likelihood(family: NamedTuple, target: float, predictor: float) -> float:
    """ℓ = log p(y | f), y the target and f the linear predictor η·θ."""
    raise _unknown("log_likelihood", family)


@singledispatch
def derivatives(family: NamedTuple, target: float, predictor: float) -> tuple[float, float, float]:
    """(ℓ', ℓ'', ℓ'''): the derivatives of log p(y | f) in the linear predictor f."""
    raise _unknown("derivatives", family)


@singledispatch
def expectation(
    family: NamedTuple, target: float, mean: float, variance: float
) -> tuple[float, float, float]:
    """E[log p(y | f)] for f of the given mean μ and variance ν, and its derivatives in μ and ν.

    The default is the second-order expansion ℓ(μ) + ½ ℓ''(μ) ν: exact when ℓ is quadratic, an
    approximation otherwise. A family that has a lower bound should register it instead: an
    optimiser finds the places where an approximation is too high.
    """
    first, second, third = derivatives(family, target, mean)
    value = log_likelihood(family, target, mean) + 0.5 * second * variance
    return value, first + 0.5 * third * variance, 0.5 * second


@singledispatch
def row_log_likelihood(
    family: NamedTuple, target: np.ndarray, weight: np.ndarray, predictor: np.ndarray
) -> float:
    """Σ_t w_t log p(y_t | f), f the row of linear predictors."""
    if weight[0] > 0.0:
        return weight[0] * log_likelihood(family, target[0], predictor[0])
    return 0.0


@singledispatch
def row_gradient(
    family: NamedTuple,
    target: np.ndarray,
    weight: np.ndarray,
    predictor: np.ndarray,
    out: np.ndarray,
) -> None:
    """out_l = ∂/∂f_l Σ_t w_t log p(y_t | f)."""
    out[0] = 0.0
    if weight[0] > 0.0:
        out[0] = weight[0] * derivatives(family, target[0], predictor[0])[0]


@singledispatch
def row_expectation(
    family: NamedTuple,
    target: np.ndarray,
    weight: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    by_mean: np.ndarray,
    by_variance: np.ndarray,
) -> float:
    """Σ_t w_t E[log p(y_t | f)] for f of mean μ and variances ν; writes ∂/∂μ_l and ∂/∂ν_l."""
    by_mean[0] = 0.0
    by_variance[0] = 0.0
    if weight[0] > 0.0:
        value, first, second = expectation(family, target[0], mean[0], variance[0])
        by_mean[0] = weight[0] * first
        by_variance[0] = weight[0] * second
        return weight[0] * value
    return 0.0


def _implementation(operation: Any, family: Any, *, default: bool) -> Callable | None:
    """What a kernel compiles for an operation: its implementation for the family's numba type."""
    if not isinstance(family, types.BaseNamedTuple):
        return None
    cls: Any = vars(family)["instance_class"]  # which numba's types do not declare
    found = operation.dispatch(cls)
    if found is operation.dispatch(object) and not default:
        raise _unregistered(operation.__name__, cls.__name__)
    return found


#: No entry for C, which nobody calls and which takes as long to compile as the function.
_BARE: Any = {"no_cfunc_wrapper": True}


# Not strict: a family may name its arguments as it likes.
@overload(log_likelihood, strict=False, jit_options=_BARE)
def _compiled_log_likelihood(family, target, predictor):
    return _implementation(log_likelihood, family, default=False)


@overload(derivatives, strict=False, jit_options=_BARE)
def _compiled_derivatives(family, target, predictor):
    return _implementation(derivatives, family, default=False)


@overload(expectation, strict=False, jit_options=_BARE)
def _compiled_expectation(family, target, mean, variance):
    return _implementation(expectation, family, default=True)


@overload(row_log_likelihood, strict=False, jit_options=_BARE)
def _compiled_row_log_likelihood(family, target, weight, predictor):
    return _implementation(row_log_likelihood, family, default=True)


@overload(row_gradient, strict=False, jit_options=_BARE)
def _compiled_row_gradient(family, target, weight, predictor, out):
    return _implementation(row_gradient, family, default=True)


@overload(row_expectation, strict=False, jit_options=_BARE)
def _compiled_row_expectation(family, target, weight, mean, variance, by_mean, by_variance):
    return _implementation(row_expectation, family, default=True)


# ---- called between kernels: arrays, plain NumPy ----------------------------------------------


@singledispatch
def n_predictors(family: NamedTuple) -> int:
    """L, the number of linear predictors."""
    return 1


@singledispatch
def split(family: NamedTuple) -> list[tuple[NamedTuple, slice]]:
    """The family of each target with its linear predictors; one target by default."""
    return [(family, slice(0, n_predictors(family)))]


@singledispatch
def mean_response(family: NamedTuple, predictor: np.ndarray) -> np.ndarray:
    """E[y | f], the inverse link, elementwise; with several predictors, from rows of them."""
    raise _unknown("mean_response", family)


@singledispatch
def initial_coef(
    family: NamedTuple, target: np.ndarray, weight: np.ndarray, n_topics: int
) -> np.ndarray:
    """Coefficients to start from: topics spread evenly over the targets seen.

    An array (topics,), or (topics, predictors) where there are several.
    """
    raise _unknown("initial_coef", family)


@singledispatch
def update_dispersion(
    family: NamedTuple,
    target: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    weight: np.ndarray,
) -> NamedTuple:
    """The family whose own parameters maximise Σ_d w_d E_q[log p(y_d | f_d)].

    `mean` and `variance` are those of f_d under q.

    A family without parameters returns itself, which is the default.
    """
    return family


@singledispatch
def free_parameters(family: NamedTuple) -> np.ndarray:
    """The family's own parameters as unconstrained numbers (log δ; none by default)."""
    return np.zeros(0)


@singledispatch
def with_free_parameters(family: NamedTuple, free: np.ndarray) -> NamedTuple:
    """The family with the parameters that these numbers stand for."""
    return family


@singledispatch
def free_gradient(
    family: NamedTuple,
    target: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    weight: np.ndarray,
) -> np.ndarray:
    """∂/∂free of Σ_d w_d E[log p(y_d | f_d)], f_d of the given mean and variance."""
    return np.zeros(0)


@singledispatch
def rows_free_gradient(
    family: NamedTuple,
    target: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    weight: np.ndarray,
) -> np.ndarray:
    """`free_gradient` from matrices: documents x targets, and documents x predictors for f."""
    if n_predictors(family) == 1:
        return free_gradient(family, target[:, 0], mean[:, 0], variance[:, 0], weight[:, 0])
    return free_gradient(family, target, mean, variance, weight)


@singledispatch
def rows_update_dispersion(
    family: NamedTuple,
    target: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    weight: np.ndarray,
) -> NamedTuple:
    """`update_dispersion` from matrices: documents x targets, documents x predictors for f."""
    if n_predictors(family) == 1:
        return update_dispersion(family, target[:, 0], mean[:, 0], variance[:, 0], weight[:, 0])
    return update_dispersion(family, target, mean, variance, weight)


# ---- what kind of target it is: solvers ask this instead of the family's name --------------------


@singledispatch
def coef_shape(family: NamedTuple, n_topics: int) -> tuple[int, ...]:
    """The shape of η: (topics,) for one predictor, else (topics, predictors)."""
    width = n_predictors(family)
    return (n_topics,) if width == 1 else (n_topics, width)


@singledispatch
def rejoined(family: NamedTuple, parts: Sequence[NamedTuple]) -> NamedTuple:
    """The inverse of `split`: the family of all targets from the families of each."""
    return parts[0]


@singledispatch
def noise_variance(family: NamedTuple) -> float | None:
    """δ = Var(y | f) of a family whose only parameter it is, log δ being its free one; or None."""
    return None


@singledispatch
def with_noise_variance(family: NamedTuple, value: float) -> NamedTuple:
    """The family with δ = `value`; itself where it has no δ."""
    return family


@singledispatch
def is_quadratic(family: NamedTuple) -> bool:
    """Whether log p(y | f) = c - (y - f)²/(2δ): (y - f)² is its deviance, Newton's step exact."""
    return False


@singledispatch
def is_ranking(family: NamedTuple) -> bool:
    """Whether y is one of several classes, so that the order of predictions is what counts."""
    return False


@singledispatch
def carries_intercept(family: NamedTuple) -> bool:
    """Whether the free parameters shift f, as thresholds τ - f do: b would be redundant."""
    return False


@singledispatch
def predictor_spread(family: NamedTuple, target: np.ndarray, weight: np.ndarray) -> float:
    """How far the linear predictors of such targets may be expected to spread.

    2 on the scale of logits and log rates, the default; the targets' standard deviation
    √(Σ w (y - ȳ)² / Σ w) where f is on the scale of y.
    """
    return 2.0
