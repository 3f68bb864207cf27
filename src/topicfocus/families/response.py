"""What the target of a family is to a user: its name, labels and values.

Like `families.operations` these are `functools.singledispatch` functions that a family registers
itself with, in plain NumPy. Everything that depends on the kind of target is an operation: nothing
outside `families/` asks which family it has.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Literal, NamedTuple

import numpy as np

from topicfocus.families.operations import derivatives, log_likelihood, row_log_likelihood
from topicfocus.families.parameters import mean_response

Kind = Literal["real", "count", "ordinal", "binary", "classes"]


def is_family(value: Any) -> bool:
    """Whether a value is a family: a NamedTuple that log-likelihoods are registered for.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, is_family
    >>> is_family(Bernoulli()), is_family((1.0,))
    (True, False)
    """
    cls = type(value)
    if not (isinstance(value, tuple) and hasattr(cls, "_fields")):
        return False
    scalar = log_likelihood.dispatch(cls) is not log_likelihood.dispatch(object)
    return scalar or row_log_likelihood.dispatch(cls) is not row_log_likelihood.dispatch(object)


def is_complete(value: Any) -> bool:
    """Whether a family of one predictor has all that fitting a model to it needs.

    Parameters
    ----------
    value : NamedTuple
        A family.

    Returns
    -------
    bool
        Whether `log_likelihood`, `derivatives` and `mean_response` are registered for it.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from topicfocus.families import Bernoulli, is_complete, log_likelihood
    >>> class Begun(NamedTuple):
    ...     pass
    >>> _ = log_likelihood.register(Begun, lambda family, target, predictor: 0.0)
    >>> is_complete(Bernoulli()), is_complete(Begun())
    (True, False)
    """
    cls = type(value)
    needed = (log_likelihood, derivatives, mean_response)
    return all(operation.dispatch(cls) is not operation.dispatch(object) for operation in needed)


# ---- what it is called ------------------------------------------------------------------------


@singledispatch
def family_name(family: NamedTuple) -> str:
    """How `family=` and model files call it.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    str
        The class in lower case by default.

    Examples
    --------
    >>> from topicfocus.families import Poisson, family_name
    >>> family_name(Poisson())
    'poisson'
    """
    return type(family).__name__.lower()


@singledispatch
def target_kind(family: NamedTuple) -> Kind:
    """What kind of target a person would say it is.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    str
        "real" (the default), "count", "ordinal", "binary" or "classes".

    Examples
    --------
    >>> from topicfocus.families import Categorical, Poisson, target_kind
    >>> target_kind(Poisson()), target_kind(Categorical(3))
    ('count', 'classes')
    """
    return "real"


@singledispatch
def scale_name(family: NamedTuple) -> str:
    """What the linear predictor measures.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    str
        "linear predictor" by default.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, scale_name
    >>> scale_name(Bernoulli())
    'log odds'
    """
    return "linear predictor"


# ---- values and labels ------------------------------------------------------------------------


@singledispatch
def label_kind(family: NamedTuple) -> Literal["classes", "levels"] | None:
    """Whether targets are codes of labels: of classes, of ordered levels, or numbers.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    str or None
        "classes", "levels", or None (the default) for numbers.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, Gaussian, label_kind
    >>> label_kind(Bernoulli()), label_kind(Gaussian(1.0))
    ('classes', None)
    """
    return None


@singledispatch
def admissible(family: NamedTuple, target: np.ndarray) -> tuple[np.ndarray, str]:
    """Which values a target may have, and what they are called; every number by default.

    Parameters
    ----------
    family : NamedTuple
    target : array (documents,)
        Targets, as given.

    Returns
    -------
    ok : array of bool (documents,)
        Whether each value may be a target.
    name : str
        What a message calls those that may.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Bernoulli, admissible
    >>> admissible(Bernoulli(), np.array([0.0, 1.0, 2.0]))
    (array([ True,  True, False]), '0 or 1')
    """
    return np.ones(len(target), dtype=bool), "numbers"


@singledispatch
def takes_exposure(family: NamedTuple) -> bool:
    """Whether the expected target is proportional to an exposure E, an offset log E of f.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    bool
        False by default.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, Poisson, takes_exposure
    >>> takes_exposure(Poisson()), takes_exposure(Bernoulli())
    (True, False)
    """
    return False


@singledispatch
def initial_family(
    family: NamedTuple, target: np.ndarray, weight: np.ndarray, n_labels: int
) -> NamedTuple:
    """The family to start from, given the known targets; itself by default.

    Parameters
    ----------
    family : NamedTuple
    target, weight : array (documents,)
        The known targets, and how much each counts.
    n_labels : int
        How many labels there are, where targets are codes of them.

    Returns
    -------
    NamedTuple
        A family like the given one.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.families import Gaussian, initial_family
    >>> initial_family(Gaussian(), np.array([-2.0, 2.0]), np.ones(2), 0)
    Gaussian(noise_variance=4.0)
    """
    return family


@singledispatch
def check_parameters(family: NamedTuple) -> None:
    """Refuse parameters that compiled code must not be given; none by default.

    Parameters
    ----------
    family : NamedTuple

    Raises
    ------
    ValueError
        If a parameter is wrong.

    Examples
    --------
    >>> from topicfocus.families import Gaussian, check_parameters
    >>> check_parameters(Gaussian(-1.0))
    Traceback (most recent call last):
    ValueError: noise_variance_ must be greater than 0 and finite.
    """
