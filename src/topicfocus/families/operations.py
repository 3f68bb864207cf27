"""What kernels ask of a family of targets: one function per question.

Every operation is a `functools.singledispatch` function. A family is a `typing.NamedTuple` of its
parameters (a noise variance, thresholds) and registers an implementation of each operation for
itself; nothing else is needed, in particular no change to a kernel.

Most families have one target and one linear predictor and register `log_likelihood`,
`derivatives` and perhaps `expectation`, on scalars. Kernels call the operations on rows: a row of
targets with their weights and a row of linear predictors, one row a document. By default these
use the scalar ones; a family with several predictors (classes) or several targets registers them.

Operations that kernels do not call are in `parameters`, `traits`, `response` and `moments`.

The six here are called from compiled code. One `numba.extending.overload` per operation looks
the implementation up in the same registry when a kernel is compiled for a family's type. This form
was chosen because numba's on-disk cache works with it: functions passed as arguments, closures and
jitclasses would be compiled anew in every process. Under ``NUMBA_DISABLE_JIT=1`` the very same
functions run as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numba.extending import overload


def unknown(operation: str, family: Any) -> TypeError:
    """What an operation without a default raises for a family that registers none."""
    return _unregistered(operation, type(family).__name__)


def _unregistered(operation: str, name: str) -> TypeError:
    return TypeError(
        f"{name} does not implement the family operation {operation!r}. Register "
        f"one with topicfocus.families.{operation}.register({name})."
    )


@singledispatch
def log_likelihood(family: NamedTuple, target: float, predictor: float) -> float:
    """ℓ = log p(y | f), y the target and f the linear predictor η·θ.

    Parameters
    ----------
    family : NamedTuple
        A family of one linear predictor.
    target, predictor : float
        y and f.

    Returns
    -------
    float
        ℓ.

    Raises
    ------
    TypeError
        If the family has none registered.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, log_likelihood
    >>> round(log_likelihood(Bernoulli(), 1.0, 0.0), 3)  # log ½
    -0.693
    """
    raise unknown("log_likelihood", family)


@singledispatch
def derivatives(family: NamedTuple, target: float, predictor: float) -> tuple[float, float, float]:
    """(ℓ', ℓ'', ℓ'''): the derivatives of log p(y | f) in the linear predictor f.

    Parameters
    ----------
    family, target, predictor : as for `log_likelihood`

    Returns
    -------
    tuple of three floats
        ℓ', ℓ'' and ℓ'''.

    Raises
    ------
    TypeError
        If the family has none registered.

    Examples
    --------
    >>> from topicfocus.families import Gaussian, derivatives
    >>> derivatives(Gaussian(0.5), 3.0, 2.0)  # (y - f)/δ, -1/δ, 0
    (2.0, -2.0, 0.0)
    """
    raise unknown("derivatives", family)


@singledispatch
def expectation(
    family: NamedTuple, target: float, mean: float, variance: float
) -> tuple[float, float, float]:
    """E[log p(y | f)] for f of the given mean μ and variance ν, and its derivatives in μ and ν.

    The default is the second-order expansion ℓ(μ) + ½ ℓ''(μ) ν: exact when ℓ is quadratic, an
    approximation otherwise. A family that has a lower bound should register it instead: an
    optimiser finds the places where an approximation is too high.

    Parameters
    ----------
    family, target : as for `log_likelihood`
    mean, variance : float
        μ and ν.

    Returns
    -------
    tuple of three floats
        The expectation, ∂/∂μ and ∂/∂ν.

    Examples
    --------
    >>> from topicfocus.families import Poisson, expectation
    >>> expectation(Poisson(), 0.0, 0.0, 0.0)  # -e^{μ + ν/2}, here exact
    (-1.0, -1.0, -0.5)
    """
    first, second, third = derivatives(family, target, mean)
    value = log_likelihood(family, target, mean) + 0.5 * second * variance
    return value, first + 0.5 * third * variance, 0.5 * second


@singledispatch
def row_log_likelihood(
    family: NamedTuple, target: np.ndarray, weight: np.ndarray, predictor: np.ndarray
) -> float:
    """Σ_t w_t log p(y_t | f), f the row of linear predictors.

    Parameters
    ----------
    family : NamedTuple
    target, weight : array (targets,)
        Values, and how much each counts; 0 where it is not known.
    predictor : array (predictors,)
        f.

    Returns
    -------
    float
        The sum.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Categorical, row_log_likelihood
    >>> one = np.ones(1)
    >>> round(float(row_log_likelihood(Categorical(4), one, one, np.zeros(4))), 3)  # log ¼
    -1.386
    """
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
    """out_l = ∂/∂f_l Σ_t w_t log p(y_t | f).

    Parameters
    ----------
    family, target, weight, predictor : as for `row_log_likelihood`
    out : array (predictors,)
        The gradient is written here.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Categorical, row_gradient
    >>> out = np.empty(4)
    >>> row_gradient(Categorical(4), np.ones(1), np.ones(1), np.zeros(4), out)
    >>> out
    array([-0.25,  0.75, -0.25, -0.25])
    """
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
    """Σ_t w_t E[log p(y_t | f)] for f of mean μ and variances ν; writes ∂/∂μ_l and ∂/∂ν_l.

    Parameters
    ----------
    family, target, weight : as for `row_log_likelihood`
    mean, variance : array (predictors,)
        μ and ν.
    by_mean, by_variance : array (predictors,)
        The derivatives are written here.

    Returns
    -------
    float
        The sum, or a lower bound of it where the family has one (see `expectation`).

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Poisson, row_expectation
    >>> zero, by_mean, by_variance = np.zeros(1), np.empty(1), np.empty(1)
    >>> float(row_expectation(Poisson(), zero, np.ones(1), zero, zero, by_mean, by_variance))
    -1.0
    >>> by_mean, by_variance
    (array([-1.]), array([-0.5]))
    """
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


#: No entries from Python and C: nothing but kernels calls the compiled form.
_BARE: Any = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}


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
