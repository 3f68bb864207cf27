"""Several targets at once: each with its own family, predictors and weights.

Given the topic mix the targets are independent, so log-likelihoods add. Compiled code cannot loop
over a list of different types; here a family is a number and its parameters a stretch of an array,
so any combination of the package's families, one alone included, runs in the same compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from topicfocus.families.bernoulli import Bernoulli
from topicfocus.families.categorical import Categorical
from topicfocus.families.gaussian import Gaussian
from topicfocus.families.operations import (
    derivatives,
    expectation,
    log_likelihood,
    row_expectation,
    row_gradient,
    row_log_likelihood,
)
from topicfocus.families.ordinal import Ordinal
from topicfocus.families.parameters import (
    coef_shape,
    free_gradient,
    free_parameters,
    n_predictors,
    rejoined,
    rows_free_gradient,
    rows_update_dispersion,
    split,
    update_dispersion,
    with_free_parameters,
)
from topicfocus.families.poisson import Poisson
from topicfocus.families.response import check_parameters

_KINDS = (Gaussian, Bernoulli, Poisson, Ordinal, Categorical)


class Several(NamedTuple):
    """log p(y|f) = Σ_t log p_t(y_t | f_t), f_t the predictors of target t.

    Attributes
    ----------
    kind : array of int (targets,)
        0 Gaussian, 1 Bernoulli, 2 Poisson, 3 ordinal, 4 categorical.
    first : array of int (targets + 1,)
        Predictors of target t are first[t] .. first[t+1]-1.
    place : array of int (targets + 1,)
        Its parameters are parameters[place[t] : place[t+1]].
    parameters : array
        δ of Gaussian targets, τ of ordinal ones, one after the other.
    """

    kind: np.ndarray
    first: np.ndarray
    place: np.ndarray
    parameters: np.ndarray


def several(families: Sequence[Any]) -> Several:
    """The family of several targets, one of the package's families each.

    Parameters
    ----------
    families : sequence of NamedTuple
        The family of each target.

    Returns
    -------
    Several
        What kernels are given.

    Raises
    ------
    TypeError
        If one is not of the package.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, Categorical, n_predictors, several
    >>> n_predictors(several([Bernoulli(), Categorical(3)]))
    4
    """
    kinds, predictors, parameters = [], [0], []
    place = [0]
    for family in families:
        if type(family) not in _KINDS:
            raise TypeError(f"{type(family).__name__} cannot be one of several targets.")
        kinds.append(_KINDS.index(type(family)))
        predictors.append(predictors[-1] + n_predictors(family))
        if isinstance(family, Gaussian):
            parameters.append(np.array([family.noise_variance]))
        elif isinstance(family, Ordinal):
            parameters.append(np.asarray(family.thresholds, dtype=float))
        else:
            parameters.append(np.zeros(0))
        place.append(place[-1] + len(parameters[-1]))
    return Several(
        np.array(kinds, dtype=np.int64),
        np.array(predictors, dtype=np.int64),
        np.array(place, dtype=np.int64),
        np.concatenate([*parameters, np.zeros(0)]),
    )


def common(family: Any) -> Any:
    """The family as compiled code is given it: a family of the package as one of several.

    So each kernel is compiled once for all of them, not once for each; a family from outside the
    package stays itself.

    Parameters
    ----------
    family : NamedTuple

    Returns
    -------
    NamedTuple
        A `Several` of one target, or the family itself.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, common
    >>> type(common(Bernoulli())).__name__
    'Several'
    """
    return several([family]) if type(family) in _KINDS else family


@split.register(Several)
def _split(family):
    out = []
    for t, kind in enumerate(family.kind):
        where = slice(int(family.first[t]), int(family.first[t + 1]))
        own = family.parameters[family.place[t] : family.place[t + 1]]
        if _KINDS[kind] is Gaussian:
            out.append((Gaussian(float(own[0])), where))
        elif _KINDS[kind] is Ordinal:
            out.append((Ordinal(own), where))
        elif _KINDS[kind] is Categorical:
            out.append((Categorical(where.stop - where.start), where))
        else:
            out.append((_KINDS[kind](), where))
    return out


@rejoined.register(Several)
def _rejoined(family, parts):
    return several(parts)


@n_predictors.register(Several)
def _n_predictors(family):
    return int(family.first[-1])


@coef_shape.register(Several)
def _coef_shape(family, n_topics):
    return n_topics, int(family.first[-1])  # a matrix, also of one target


# The three below spell out the five kinds: compiled code has no table of functions to look in.


@row_log_likelihood.register(Several)
def _row_log_likelihood(family, target, weight, predictor):
    value = 0.0
    for t in range(family.kind.shape[0]):
        a, y, w = family.first[t], target[t], weight[t]
        own = family.parameters[family.place[t] : family.place[t + 1]]
        kind = family.kind[t]
        if not w > 0.0:
            continue
        if kind == 0:
            value += w * log_likelihood(Gaussian(own[0]), y, predictor[a])
        elif kind == 1:
            value += w * log_likelihood(Bernoulli(), y, predictor[a])
        elif kind == 2:
            value += w * log_likelihood(Poisson(), y, predictor[a])
        elif kind == 3:
            value += w * log_likelihood(Ordinal(own), y, predictor[a])
        else:
            f = predictor[a : family.first[t + 1]]
            classes = Categorical(f.shape[0])
            value += row_log_likelihood(classes, target[t : t + 1], weight[t : t + 1], f)
    return value


@row_gradient.register(Several)
def _row_gradient(family, target, weight, predictor, out):
    for t in range(family.kind.shape[0]):
        a, b, y, w = family.first[t], family.first[t + 1], target[t], weight[t]
        own = family.parameters[family.place[t] : family.place[t + 1]]
        kind = family.kind[t]
        for l in range(a, b):
            out[l] = 0.0
        if not w > 0.0:
            continue
        if kind == 0:
            out[a] = w * derivatives(Gaussian(own[0]), y, predictor[a])[0]
        elif kind == 1:
            out[a] = w * derivatives(Bernoulli(), y, predictor[a])[0]
        elif kind == 2:
            out[a] = w * derivatives(Poisson(), y, predictor[a])[0]
        elif kind == 3:
            out[a] = w * derivatives(Ordinal(own), y, predictor[a])[0]
        else:
            classes, f = Categorical(b - a), predictor[a:b]
            row_gradient(classes, target[t : t + 1], weight[t : t + 1], f, out[a:b])


@row_expectation.register(Several)
def _row_expectation(family, target, weight, mean, variance, by_mean, by_variance):
    value = 0.0
    for t in range(family.kind.shape[0]):
        a, b, y, w = family.first[t], family.first[t + 1], target[t], weight[t]
        own = family.parameters[family.place[t] : family.place[t + 1]]
        kind = family.kind[t]
        for l in range(a, b):
            by_mean[l] = 0.0
            by_variance[l] = 0.0
        if not w > 0.0:
            continue
        if kind == 4:
            value += row_expectation(
                Categorical(b - a), target[t : t + 1], weight[t : t + 1], mean[a:b], variance[a:b],
                by_mean[a:b], by_variance[a:b],
            )  # fmt: skip
            continue
        if kind == 0:
            expected, slope, bend = expectation(Gaussian(own[0]), y, mean[a], variance[a])
        elif kind == 1:
            expected, slope, bend = expectation(Bernoulli(), y, mean[a], variance[a])
        elif kind == 2:
            expected, slope, bend = expectation(Poisson(), y, mean[a], variance[a])
        else:
            expected, slope, bend = expectation(Ordinal(own), y, mean[a], variance[a])
        value += w * expected
        by_mean[a] = w * slope
        by_variance[a] = w * bend
    return value


# ---- between kernels: one target after the other ------------------------------------------------
# Targets and weights are documents x targets here, means and variances documents x predictors.


@rows_update_dispersion.register(Several)
@update_dispersion.register(Several)
def _update_dispersion(family, target, mean, variance, weight):
    parts = []
    for t, (own, where) in enumerate(split(family)):
        known = weight[:, t] > 0
        if where.stop - where.start == 1 and known.any():
            l = where.start
            own = update_dispersion(
                own, target[known, t], mean[known, l], variance[known, l], weight[known, t]
            )
        parts.append(own)
    return several(parts)


@free_parameters.register(Several)
def _free_parameters(family):
    return np.concatenate([free_parameters(own) for own, _ in split(family)])


@with_free_parameters.register(Several)
def _with_free_parameters(family, free):
    parts, at = [], 0
    for own, _ in split(family):
        size = len(free_parameters(own))
        parts.append(with_free_parameters(own, free[at : at + size]))
        at += size
    return several(parts)


@rows_free_gradient.register(Several)
@free_gradient.register(Several)
def _free_gradient(family, target, mean, variance, weight):
    parts = []
    for t, (own, where) in enumerate(split(family)):
        if where.stop - where.start == 1:
            l = where.start
            parts.append(free_gradient(own, target[:, t], mean[:, l], variance[:, l], weight[:, t]))
    return np.concatenate([*parts, np.zeros(0)])


@check_parameters.register(Several)
def _check_parameters(family):
    """Compiled code follows these arrays without looking."""
    n_targets = len(family.kind) if isinstance(family.kind, np.ndarray) else 0
    for name in ("kind", "first", "place"):
        array = getattr(family, name)
        whole = isinstance(array, np.ndarray) and array.dtype == np.int64 and array.ndim == 1
        _require(whole, f"family_.{name} must be an array of whole numbers")
    own = family.parameters
    floats = isinstance(own, np.ndarray) and own.dtype == np.float64 and own.ndim == 1
    _require(floats, "family_.parameters must be an array of floats")
    known = np.all((family.kind >= 0) & (family.kind < len(_KINDS)))
    _require(known, "family_.kind is of no known kind")
    for name in ("first", "place"):
        array = getattr(family, name)
        rises = len(array) == n_targets + 1 and array[0] == 0 and np.all(np.diff(array) >= 0)
        _require(rises, f"family_.{name} must begin at 0 and never fall")
    _require(family.place[-1] == len(own), "family_.place must end at the parameters")
    _check_widths(family)
    for part, _ in split(family):
        check_parameters(part)


def _check_widths(family: Several) -> None:
    widths, sizes = np.diff(family.first), np.diff(family.place)
    for kind, width, size in zip(family.kind, widths, sizes, strict=True):
        cls = _KINDS[kind]
        _require(
            width >= 2 if cls is Categorical else width == 1,
            f"family_ gives {width} predictors to a target that is {cls.__name__}",
        )
        _require(
            size >= 1 if cls is Ordinal else size == (cls is Gaussian),
            f"family_ gives {size} parameters to a target that is {cls.__name__}",
        )


def _require(condition, message: str) -> None:
    if not condition:
        raise ValueError(f"{message}.")
