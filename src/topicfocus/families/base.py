"""The interface of families of targets: the class `Family` and its methods.

A family is a `typing.NamedTuple` of its own parameters (a noise variance, thresholds) that inherits
from `Family`. It defines at least `log_likelihood`, `derivatives` and `mean`.

Kernels are compiled by numba, which cannot call methods of a NamedTuple. They call the functions of
the same names in this module. When a kernel is compiled for a family, `numba.extending.overload`
finds the method in the family's class, so that these methods must be code that numba compiles. We
chose this form because numba's cache on disk works with it: functions passed as arguments,
closures and jitclasses would be compiled again in every process. Called from Python, the functions
call the methods.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numba.core import types
from numba.extending import overload
from scipy.special import ndtri

from topicfocus.families.count_intervals import count_interval

Kind = Literal["real", "count", "ordinal", "binary", "classes"]
_Function = TypeVar("_Function", bound=Callable)

#: Relative step of the linear predictor for the numerical derivative of the inverse link.
_STEP = 1e-5


class Family:
    """Base class of families: the distribution of a target y given its linear predictors f.

    Most families have one predictor, f = b + o + ζᵀz + ηᵀθ. The methods have these parameters:

    - `target`, `weight`: y, and how much each target counts (0 where it is not known);
    - `predictor`: f;
    - `mean`, `variance`: of f, where f is uncertain;
    - `spread`: the variance of f in predictions;
    - `labels`: the values behind the codes 0, 1, ... of levels, None if targets are numbers.

    Attributes
    ----------
    name : str
        The name in `family=` and in model files; the class in lower case by default.
    kind : str
        The kind of target: "real", "count", "ordinal", "binary" or "classes".
    scale_name : str
        What the linear predictor measures.
    label_kind : str or None
        "classes" or "levels" if targets are codes of labels, None for numbers.
    noise_variance : float or None
        δ = Var(y | f), if this is the only parameter and log δ its unconstrained form.
    n_predictors : int
        L, the number of linear predictors.
    is_quadratic : bool
        Whether log p(y | f) = c - (y - f)²/(2δ), so that Newton's step is exact.
    is_ranking : bool
        Whether y is a class, so that the order of predictions matters, not their size.
    carries_intercept : bool
        Whether the parameters shift f, as thresholds do, so that an intercept would be redundant.
    takes_exposure : bool
        Whether the expected target is proportional to an exposure E, an offset log E of f.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Bernoulli, Gaussian
    >>> round(Bernoulli().log_likelihood(1.0, 0.0), 3)  # log ½
    -0.693
    >>> Gaussian(0.5).derivatives(3.0, 2.0)  # (y - f)/δ, -1/δ, 0
    (2.0, -2.0, 0.0)
    >>> Bernoulli().mean(np.array([0.0, 2.0])).round(2)
    array([0.5 , 0.88])
    """

    __slots__ = ()

    name: ClassVar[str]
    kind: ClassVar[Kind] = "real"
    scale_name: ClassVar[str] = "linear predictor"
    label_kind: ClassVar[Literal["classes", "levels"] | None] = None
    noise_variance: Any = None
    n_predictors: Any = 1
    is_quadratic: ClassVar[bool] = False
    is_ranking: ClassVar[bool] = False
    carries_intercept: ClassVar[bool] = False
    takes_exposure: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "name" not in vars(cls):
            cls.name = cls.__name__.lower()

    @classmethod
    def missing_methods(cls) -> list[str]:
        """Methods that fitting a model needs and that the class does not define."""
        return [name for name in _REQUIRED if getattr(cls, name) is getattr(Family, name)]

    # ---- compiled by numba ----------------------------------------------------------------------

    def log_likelihood(self, target: float, predictor: float) -> float:
        """ℓ = log p(y | f)."""
        raise NotImplementedError(_advice(type(self), "log_likelihood"))

    def derivatives(self, target: float, predictor: float) -> tuple[float, float, float]:
        """ℓ', ℓ'' and ℓ''', the derivatives of log p(y | f) in f."""
        raise NotImplementedError(_advice(type(self), "derivatives"))

    def expectation(
        self, target: float, mean: float, variance: float
    ) -> tuple[float, float, float]:
        """E[log p(y | f)] for f of mean μ and variance ν, and its derivatives in μ and ν.

        The default is the second-order expansion ℓ(μ) + ½ ℓ''(μ) ν: exact if ℓ is quadratic, an
        approximation otherwise. If a family has a lower bound, it should return the bound, because
        an optimiser finds the places where an approximation is too high.
        """
        first, second, third = derivatives(self, target, mean)
        value = log_likelihood(self, target, mean) + 0.5 * second * variance
        return value, first + 0.5 * third * variance, 0.5 * second

    def row_log_likelihood(
        self, target: np.ndarray, weight: np.ndarray, predictor: np.ndarray, gradient: np.ndarray
    ) -> float:
        """Σ_t w_t log p(y_t | f) of a document; its derivatives in f are written to `gradient`."""
        gradient[0] = 0.0
        if not weight[0] > 0.0:
            return 0.0
        gradient[0] = weight[0] * derivatives(self, target[0], predictor[0])[0]
        return weight[0] * log_likelihood(self, target[0], predictor[0])

    def row_expectation(
        self,
        target: np.ndarray,
        weight: np.ndarray,
        mean: np.ndarray,
        variance: np.ndarray,
        by_mean: np.ndarray,
        by_variance: np.ndarray,
    ) -> float:
        """Σ_t w_t E[log p(y_t | f)] of a document; writes the derivatives in μ and ν."""
        by_mean[0] = 0.0
        by_variance[0] = 0.0
        if not weight[0] > 0.0:
            return 0.0
        value, first, second = expectation(self, target[0], mean[0], variance[0])
        by_mean[0] = weight[0] * first
        by_variance[0] = weight[0] * second
        return weight[0] * value

    # ---- for fitting: coefficients and parameters, in NumPy -------------------------------------

    def initialize(self, target: np.ndarray, weight: np.ndarray, n_labels: int) -> Any:
        """The family with starting parameters, from the known targets."""
        return self

    def initial_coef(self, target: np.ndarray, weight: np.ndarray, n_topics: int) -> np.ndarray:
        """Starting coefficients that spread the topics evenly over the targets.

        (topics,), or (topics, predictors) if there are several predictors.
        """
        raise NotImplementedError(_advice(type(self), "initial_coef"))

    def coef_shape(self, n_topics: int) -> tuple[int, ...]:
        """The shape of η: (topics,) for one predictor, else (topics, predictors)."""
        width = self.n_predictors
        return (n_topics,) if width == 1 else (n_topics, width)

    def predictor_spread(self, target: np.ndarray, weight: np.ndarray) -> float:
        """The scale of linear predictors: 2 by default, for logits and log rates."""
        return 2.0

    def with_noise_variance(self, value: float) -> Any:
        """The family with δ = `value`; the family itself if it has no δ."""
        return self

    def free_parameters(self) -> np.ndarray:
        """The parameters as unconstrained numbers, such as log δ; none by default."""
        return np.zeros(0)

    def with_free_parameters(self, free: np.ndarray) -> Any:
        """The family with the parameters that correspond to these unconstrained numbers."""
        return self

    def update_dispersion(
        self, target: np.ndarray, mean: np.ndarray, variance: np.ndarray, weight: np.ndarray
    ) -> Any:
        """The family with the parameters that maximise Σ_d w_d E[log p(y_d | f_d)]."""
        return self

    def free_gradient(
        self, target: np.ndarray, mean: np.ndarray, variance: np.ndarray, weight: np.ndarray
    ) -> np.ndarray:
        """Derivatives of Σ_d w_d E[log p(y_d | f_d)] in the unconstrained parameters."""
        return np.zeros(0)

    def rows_update_dispersion(
        self, target: np.ndarray, mean: np.ndarray, variance: np.ndarray, weight: np.ndarray
    ) -> Any:
        """`update_dispersion` of every target; targets and predictors are columns."""
        parts = []
        for t, (own, where) in enumerate(self.split()):
            known, l = weight[:, t] > 0, where.start
            if own.n_predictors == 1 and known.any():
                own = own.update_dispersion(
                    target[known, t], mean[known, l], variance[known, l], weight[known, t]
                )
            parts.append(own)
        return self.join(parts)

    def rows_free_gradient(
        self, target: np.ndarray, mean: np.ndarray, variance: np.ndarray, weight: np.ndarray
    ) -> np.ndarray:
        """`free_gradient` of every target; targets and predictors are columns."""
        parts = [
            own.free_gradient(
                target[:, t], mean[:, where.start], variance[:, where.start], weight[:, t]
            )
            for t, (own, where) in enumerate(self.split())
        ]
        return np.concatenate([*parts, np.zeros(0)])

    def split(self) -> list[tuple[Any, slice]]:
        """The family of each target, and its linear predictors."""
        return [(self, slice(0, self.n_predictors))]

    def join(self, parts: Sequence[Any]) -> Any:
        """The inverse of `split`: the family of all targets from those of each."""
        return parts[0]

    # ---- for users: values and predictions, in NumPy --------------------------------------------

    def check_parameters(self) -> None:
        """Raise a ValueError for parameters that are not valid."""

    def admissible(self, target: np.ndarray) -> tuple[np.ndarray, str]:
        """Which values are valid targets, and a description of valid values for error messages."""
        return np.ones(len(target), dtype=bool), "numbers"

    def limits(self, labels: np.ndarray | None) -> tuple[float, float]:
        """Smallest and largest possible target."""
        return -np.inf, np.inf

    def mean(self, predictor: np.ndarray) -> np.ndarray:
        """E[y | f], the inverse link, elementwise; for several predictors, from rows of them."""
        raise NotImplementedError(_advice(type(self), "mean"))

    def mean_slope(self, predictor: np.ndarray) -> np.ndarray:
        """dE[y | f]/df by central differences."""
        step = _STEP * np.maximum(1.0, np.abs(predictor))
        return (self.mean(predictor + step) - self.mean(predictor - step)) / (2 * step)

    def variance(self, predictor: np.ndarray) -> np.ndarray:
        """Var(y | f); by default dE[y | f]/df, which is right for a canonical link."""
        return self.mean_slope(predictor)

    def information(self, predictor: np.ndarray) -> np.ndarray:
        """Fisher information -E[ℓ''(f)] of each predictor, documents x predictors."""
        f = predictor[:, 0]
        return (self.mean_slope(f) ** 2 / np.maximum(self.variance(f), 1e-300))[:, None]

    def expected_target(self, predictor: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
        """E[y | f] in the units of the target, from documents x predictors."""
        return self.mean(predictor[:, 0])

    def probabilities(self, predictor: np.ndarray) -> np.ndarray:
        """P(y = label), documents x labels, from documents x predictors."""
        raise TypeError(f"Targets of {type(self).__name__} have no labels, so no probabilities.")

    def target_variance(
        self, predictor: np.ndarray, spread: np.ndarray, labels: np.ndarray | None
    ) -> np.ndarray:
        """Var y ≈ Var(y | f) + (dE[y | f]/df)² Var f, in the units of the target."""
        return self.variance(predictor) + self.mean_slope(predictor) ** 2 * spread

    def interval(
        self,
        predictor: np.ndarray,
        spread: np.ndarray,
        coverage: float,
        labels: np.ndarray | None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ends of an interval that contains y with probability `coverage`, in units of the target.

        By default E[y | f] ± z √Var y, z being the quantile of a normal distribution; for counts
        the quantiles of a negative binomial distribution, which are whole numbers.
        """
        mean = self.expected_target(predictor[:, None], labels)
        variance = self.target_variance(predictor, spread, labels)
        if self.kind == "count":
            return count_interval(mean, variance, coverage)
        width = float(ndtri(0.5 + coverage / 2)) * np.sqrt(variance)
        return mean - width, mean + width

    def extra_variance(
        self, target: np.ndarray, predictor: np.ndarray, spread: np.ndarray, weight: np.ndarray
    ) -> tuple[float, float]:
        """ρ in [0, 1] and τ >= 0 such that ρ·spread + τ is Var f according to validation targets.

        (1, 0) by default: classes and levels cannot vary more than their probabilities allow, and
        other families have a noise variance.
        """
        return 1.0, 0.0


#: Methods without which no model can be fitted.
_REQUIRED = ("log_likelihood", "derivatives", "mean")


def _advice(family: type, method: str) -> str:
    return f"{family.__name__} does not define {method!r}. See docs/families.md."


# ---- called from kernels ------------------------------------------------------------------------


def _compiled(function: _Function) -> _Function:
    """Compile calls of `function` in kernels as the method of this name of the family's class."""
    name = function.__name__

    def find_method(family: Any, *_: Any) -> Callable | None:
        if not isinstance(family, types.BaseNamedTuple):
            return None
        cls = vars(family)["instance_class"]
        method = getattr(cls, name)
        if name in _REQUIRED and method is getattr(Family, name):
            raise TypeError(_advice(cls, name))
        return method

    # Only kernels call the compiled form, so that it needs no entry points for Python and C. Not
    # strict, because families may use other names of arguments.
    options: Any = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    overload(function, strict=False, jit_options=options)(find_method)
    return function


@_compiled
def log_likelihood(family, target, predictor):
    """`Family.log_likelihood`, for compiled code."""
    return family.log_likelihood(target, predictor)


@_compiled
def derivatives(family, target, predictor):
    """`Family.derivatives`, for compiled code."""
    return family.derivatives(target, predictor)


@_compiled
def expectation(family, target, mean, variance):
    """`Family.expectation`, for compiled code."""
    return family.expectation(target, mean, variance)


@_compiled
def row_log_likelihood(family, target, weight, predictor, gradient):
    """`Family.row_log_likelihood`, for compiled code."""
    return family.row_log_likelihood(target, weight, predictor, gradient)


@_compiled
def row_expectation(family, target, weight, mean, variance, by_mean, by_variance):
    """`Family.row_expectation`, for compiled code."""
    return family.row_expectation(target, weight, mean, variance, by_mean, by_variance)
