"""What solvers ask of a family between kernels: predictors, coefficients, parameters of its own.

Operations like those of `families.operations`, on arrays, in plain NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from topicfocus.families.operations import unknown


@singledispatch
def n_predictors(family: NamedTuple) -> int:
    """L, the number of linear predictors; one by default.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    int
        L.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, Categorical, n_predictors
    >>> n_predictors(Bernoulli()), n_predictors(Categorical(4))
    (1, 4)
    """
    return 1


@singledispatch
def split(family: NamedTuple) -> list[tuple[NamedTuple, slice]]:
    """The family of each target with its linear predictors; one target by default.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    list of (NamedTuple, slice)
        A pair for each target.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, Gaussian, several, split
    >>> split(several([Gaussian(2.0), Bernoulli()]))
    [(Gaussian(noise_variance=2.0), slice(0, 1, None)), (Bernoulli(), slice(1, 2, None))]
    """
    return [(family, slice(0, n_predictors(family)))]


@singledispatch
def rejoined(family: NamedTuple, parts: Sequence[NamedTuple]) -> NamedTuple:
    """The inverse of `split`: the family of all targets from the families of each.

    Parameters
    ----------
    family : NamedTuple
    parts : sequence of NamedTuple
        The families of its targets, perhaps with other parameters.

    Returns
    -------
    NamedTuple
        A family like the given one.

    Examples
    --------
    >>> from topicfocus.families import Gaussian, rejoined
    >>> rejoined(Gaussian(1.0), [Gaussian(2.0)])
    Gaussian(noise_variance=2.0)
    """
    return parts[0]


@singledispatch
def coef_shape(family: NamedTuple, n_topics: int) -> tuple[int, ...]:
    """The shape of η: (topics,) for one predictor, else (topics, predictors).

    Parameters
    ----------
    family : NamedTuple
    n_topics : int
        How many topics there are.

    Returns
    -------
    tuple of int
        The shape.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, Categorical, coef_shape
    >>> coef_shape(Bernoulli(), 10), coef_shape(Categorical(4), 10)
    ((10,), (10, 4))
    """
    width = n_predictors(family)
    return (n_topics,) if width == 1 else (n_topics, width)


@singledispatch
def mean_response(family: NamedTuple, predictor: np.ndarray) -> np.ndarray:
    """E[y | f], the inverse link, elementwise; with several predictors, from rows of them.

    Parameters
    ----------
    family : NamedTuple
    predictor : array
        f.

    Returns
    -------
    array
        E[y | f], in the shape of `predictor`.

    Raises
    ------
    TypeError
        If the family has none registered.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Bernoulli, mean_response
    >>> mean_response(Bernoulli(), np.array([0.0, 2.0])).round(2)
    array([0.5 , 0.88])
    """
    raise unknown("mean_response", family)


@singledispatch
def initial_coef(
    family: NamedTuple, target: np.ndarray, weight: np.ndarray, n_topics: int
) -> np.ndarray:
    """Coefficients to start from: topics spread evenly over the targets seen.

    Parameters
    ----------
    family : NamedTuple
    target, weight : array (documents,)
        The known targets, and how much each counts.
    n_topics : int
        How many topics there are.

    Returns
    -------
    array
        (topics,), or (topics, predictors) where there are several.

    Raises
    ------
    TypeError
        If the family has none registered.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Poisson, initial_coef
    >>> initial_coef(Poisson(), np.ones(5), np.ones(5), 3)
    array([-1.,  0.,  1.])
    """
    raise unknown("initial_coef", family)


@singledispatch
def update_dispersion(
    family: NamedTuple,
    target: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    weight: np.ndarray,
) -> NamedTuple:
    """The family whose own parameters maximise Σ_d w_d E_q[log p(y_d | f_d)].

    Parameters
    ----------
    family : NamedTuple
    target, weight : array (documents,)
        The targets, and how much each counts.
    mean, variance : array (documents,)
        Those of f_d under q.

    Returns
    -------
    NamedTuple
        The family; itself, which is the default, if it has no parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Gaussian, update_dispersion
    >>> y, one, zero = np.array([-2.0, 2.0]), np.ones(2), np.zeros(2)
    >>> update_dispersion(Gaussian(1.0), y, zero, zero, one)
    Gaussian(noise_variance=4.0)
    """
    return family


@singledispatch
def rows_update_dispersion(
    family: NamedTuple,
    target: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    weight: np.ndarray,
) -> NamedTuple:
    """`update_dispersion` from matrices.

    Parameters
    ----------
    family : as for `update_dispersion`
    target, weight : array (documents, targets)
        The targets, and how much each counts.
    mean, variance : array (documents, predictors)
        Those of f.

    Returns
    -------
    NamedTuple
        As of `update_dispersion`.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Gaussian, rows_update_dispersion
    >>> y, one, zero = np.array([[-2.0], [2.0]]), np.ones((2, 1)), np.zeros((2, 1))
    >>> rows_update_dispersion(Gaussian(1.0), y, zero, zero, one)
    Gaussian(noise_variance=4.0)
    """
    if n_predictors(family) == 1:
        return update_dispersion(family, target[:, 0], mean[:, 0], variance[:, 0], weight[:, 0])
    return update_dispersion(family, target, mean, variance, weight)


@singledispatch
def free_parameters(family: NamedTuple) -> np.ndarray:
    """The family's own parameters as unconstrained numbers (log δ; none by default).

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    array
        As many numbers as the family has parameters.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, Gaussian, free_parameters
    >>> free_parameters(Gaussian(1.0)), free_parameters(Bernoulli())
    (array([0.]), array([], dtype=float64))
    """
    return np.zeros(0)


@singledispatch
def with_free_parameters(family: NamedTuple, free: np.ndarray) -> NamedTuple:
    """The family with the parameters that these numbers stand for.

    Parameters
    ----------
    family : NamedTuple
    free : array
        As of `free_parameters`.

    Returns
    -------
    NamedTuple
        A family like the given one.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Gaussian, with_free_parameters
    >>> with_free_parameters(Gaussian(4.0), np.array([0.0]))
    Gaussian(noise_variance=1.0)
    """
    return family


@singledispatch
def free_gradient(
    family: NamedTuple,
    target: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    weight: np.ndarray,
) -> np.ndarray:
    """∂/∂free of Σ_d w_d E[log p(y_d | f_d)], f_d of the given mean and variance.

    Parameters
    ----------
    family, target, mean, variance, weight : as for `update_dispersion`

    Returns
    -------
    array
        A number for each of `free_parameters`.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Gaussian, free_gradient
    >>> y, one, zero = np.array([-2.0, 2.0]), np.ones(2), np.zeros(2)
    >>> free_gradient(Gaussian(4.0), y, zero, zero, one)  # where update_dispersion leads
    array([0.])
    """
    return np.zeros(0)


@singledispatch
def rows_free_gradient(
    family: NamedTuple,
    target: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    weight: np.ndarray,
) -> np.ndarray:
    """`free_gradient` from matrices.

    Parameters
    ----------
    family, target, mean, variance, weight : as for `rows_update_dispersion`

    Returns
    -------
    array
        As of `free_gradient`.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Gaussian, rows_free_gradient
    >>> y, one, zero = np.array([[-2.0], [2.0]]), np.ones((2, 1)), np.zeros((2, 1))
    >>> rows_free_gradient(Gaussian(4.0), y, zero, zero, one)
    array([0.])
    """
    if n_predictors(family) == 1:
        return free_gradient(family, target[:, 0], mean[:, 0], variance[:, 0], weight[:, 0])
    return free_gradient(family, target, mean, variance, weight)
