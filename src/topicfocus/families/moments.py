"""Predictions of a family: expectation, probabilities, variance, and what documents say about f.

Operations like those of `families.response`, in plain NumPy.
"""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np

from topicfocus.families.parameters import mean_response

#: A step of the linear predictor for derivatives of an inverse link that is not known better.
_STEP = 1e-5


@singledispatch
def expected_target(
    family: NamedTuple, predictor: np.ndarray, labels: np.ndarray | None
) -> np.ndarray:
    """E[y | f] in the units of the target.

    Parameters
    ----------
    family : NamedTuple
    predictor : array (documents, predictors)
        f, the family's own predictors.
    labels : array or None
        The values behind the codes 0, 1, ... of levels; None if targets are numbers.

    Returns
    -------
    array (documents,)
        Expectations.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Ordinal, expected_target
    >>> expected_target(Ordinal(np.array([0.0])), np.zeros((1, 1)), np.array([1.0, 5.0]))
    array([3.])
    """
    return mean_response(family, predictor[:, 0])


@singledispatch
def label_probabilities(family: NamedTuple, predictor: np.ndarray) -> np.ndarray:
    """P(y = label).

    Parameters
    ----------
    family : NamedTuple
    predictor : array (documents, predictors)
        f, the family's own predictors.

    Returns
    -------
    array (documents, labels)
        Probabilities.

    Raises
    ------
    TypeError
        If targets of the family have no labels.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Bernoulli, label_probabilities
    >>> label_probabilities(Bernoulli(), np.array([[0.0], [2.0]])).round(2)
    array([[0.5 , 0.5 ],
           [0.12, 0.88]])
    """
    raise TypeError(f"{type(family).__name__} has no labels to give probabilities to.")


@singledispatch
def conditional_variance(family: NamedTuple, predictor: np.ndarray) -> np.ndarray:
    """Var(y | f).

    The default is dE[y|f]/df, which is right for a canonical link.

    Parameters
    ----------
    family : NamedTuple
    predictor : array (documents,)
        f.

    Returns
    -------
    array (documents,)
        Variances.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Bernoulli, conditional_variance
    >>> conditional_variance(Bernoulli(), np.zeros(1)).round(6)
    array([0.25])
    """
    return mean_slope(family, predictor)


def mean_slope(family: NamedTuple, predictor: np.ndarray) -> np.ndarray:
    """dE[y | f]/df by central differences.

    Parameters
    ----------
    family : NamedTuple
    predictor : array (documents,)
        f.

    Returns
    -------
    array (documents,)
        Slopes.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Poisson, mean_slope
    >>> mean_slope(Poisson(), np.log([1.0, 3.0])).round(6)
    array([1., 3.])
    """
    step = _STEP * np.maximum(1.0, np.abs(predictor))
    above, below = mean_response(family, predictor + step), mean_response(family, predictor - step)
    return (above - below) / (2 * step)


@singledispatch
def target_variance(
    family: NamedTuple, predictor: np.ndarray, spread: np.ndarray, labels: np.ndarray | None
) -> np.ndarray:
    """Var y ≈ Var(y | f) + (dE[y|f]/df)² Var f.

    Parameters
    ----------
    family : NamedTuple
    predictor, spread : array (documents,)
        f and Var f.
    labels : array or None
        The values behind the codes 0, 1, ... of levels; None if targets are numbers.

    Returns
    -------
    array (documents,)
        Variances.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Gaussian, target_variance
    >>> target_variance(Gaussian(2.0), np.zeros(1), np.ones(1), None)
    array([3.])
    """
    return conditional_variance(family, predictor) + mean_slope(family, predictor) ** 2 * spread


@singledispatch
def target_limits(family: NamedTuple, labels: np.ndarray | None) -> tuple[float, float]:
    """The smallest and the largest value that a target can have; none by default.

    Parameters
    ----------
    family : NamedTuple
    labels : array or None
        The values behind the codes 0, 1, ... of levels; None if targets are numbers.

    Returns
    -------
    low, high : float
        Infinite where there is no limit.

    Examples
    --------
    >>> from topicfocus.families import Poisson, target_limits
    >>> target_limits(Poisson(), None)
    (0.0, inf)
    """
    return -np.inf, np.inf


@singledispatch
def information(family: NamedTuple, predictor: np.ndarray) -> np.ndarray:
    """-E[ℓ''(f)].

    The default is (dE[y|f]/df)² / Var(y | f), Fisher's for an exponential family.

    Parameters
    ----------
    family : NamedTuple
    predictor : array (documents, predictors)
        f, the family's own predictors.

    Returns
    -------
    array (documents, predictors)
        What a document says about each predictor.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Gaussian, information
    >>> information(Gaussian(0.5), np.zeros((1, 1)))
    array([[2.]])
    """
    f = predictor[:, 0]
    slope = mean_slope(family, f)
    return (slope**2 / np.maximum(conditional_variance(family, f), 1e-300))[:, None]


@singledispatch
def overdispersion(family: NamedTuple, predictor: np.ndarray, target: np.ndarray) -> float:
    """φ: the mean squared residual over the variance expected, Σ (y-μ)²/V(μ) / n.

    Parameters
    ----------
    family : NamedTuple
    predictor, target : array (documents,)
        f and y.

    Returns
    -------
    float
        φ; 1 by default: a class or a level has no free scale.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Poisson, overdispersion
    >>> overdispersion(Poisson(), np.zeros(2), np.array([0.0, 5.0]))
    8.5
    """
    return 1.0
