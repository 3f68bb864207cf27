"""What kind of family it is: solvers ask this instead of its name.

Operations like those of `families.operations`, all with a default.
"""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np


@singledispatch
def noise_variance(family: NamedTuple) -> float | None:
    """δ = Var(y | f) of a family whose only parameter it is, log δ being its free one; or None.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    float or None
        δ; None, the default, where there is no such parameter.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, Gaussian, noise_variance
    >>> noise_variance(Gaussian(2.0)), noise_variance(Bernoulli())
    (2.0, None)
    """
    return None


@singledispatch
def with_noise_variance(family: NamedTuple, value: float) -> NamedTuple:
    """The family with δ = `value`; itself where it has no δ.

    Parameters
    ----------
    family : NamedTuple
    value : float
        δ.

    Returns
    -------
    NamedTuple
        A family like the given one.

    Examples
    --------
    >>> from topicfocus.families import Gaussian, with_noise_variance
    >>> with_noise_variance(Gaussian(2.0), 0.5)
    Gaussian(noise_variance=0.5)
    """
    return family


@singledispatch
def is_quadratic(family: NamedTuple) -> bool:
    """Whether log p(y | f) = c - (y - f)²/(2δ): (y - f)² is its deviance, Newton's step exact.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    bool
        False by default.

    Examples
    --------
    >>> from topicfocus.families import Gaussian, Poisson, is_quadratic
    >>> is_quadratic(Gaussian(1.0)), is_quadratic(Poisson())
    (True, False)
    """
    return False


@singledispatch
def is_ranking(family: NamedTuple) -> bool:
    """Whether y is one of several classes, so that the order of predictions is what counts.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    bool
        False by default.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, Poisson, is_ranking
    >>> is_ranking(Bernoulli()), is_ranking(Poisson())
    (True, False)
    """
    return False


@singledispatch
def carries_intercept(family: NamedTuple) -> bool:
    """Whether the free parameters shift f, as thresholds τ - f do: b would be redundant.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    bool
        False by default.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Gaussian, Ordinal, carries_intercept
    >>> carries_intercept(Ordinal(np.array([-1.0, 1.0]))), carries_intercept(Gaussian(1.0))
    (True, False)
    """
    return False


@singledispatch
def predictor_spread(family: NamedTuple, target: np.ndarray, weight: np.ndarray) -> float:
    """How far the linear predictors of such targets may be expected to spread.

    2 on the scale of logits and log rates, the default; the targets' standard deviation
    √(Σ w (y - ȳ)² / Σ w) where f is on the scale of y.

    Parameters
    ----------
    family : NamedTuple
    target, weight : array (documents,)
        The targets, and how much each counts.

    Returns
    -------
    float
        A standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Bernoulli, Gaussian, predictor_spread
    >>> y, one = np.array([-3.0, 3.0]), np.ones(2)
    >>> predictor_spread(Gaussian(1.0), y, one), predictor_spread(Bernoulli(), y > 0, one)
    (3.0, 2.0)
    """
    return 2.0
