"""Multiple targets: each with its own family, predictors and weights.

Given topic proportions targets are independent, and their log-likelihoods add up. Compiled code
cannot loop over a list of different types. Here a family is a code with a slice of an array of
parameters, so that all combinations of the package's families run in the same compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from topicfocus.families.base import (
    Family,
    row_expectation,
    row_log_likelihood,
)
from topicfocus.families.bernoulli import Bernoulli
from topicfocus.families.categorical import Categorical
from topicfocus.families.gaussian import Gaussian
from topicfocus.families.ordinal import Ordinal
from topicfocus.families.poisson import Poisson

#: The code of a family is its place here.
_FAMILIES = (Gaussian, Bernoulli, Poisson, Ordinal, Categorical)


class _Parameters(NamedTuple):
    code: np.ndarray
    first: np.ndarray
    place: np.ndarray
    parameters: np.ndarray


class Multiple(_Parameters, Family):
    """log p(y|f) = Σ_t log p_t(y_t | f_t), f_t being the predictors of target t.

    Attributes
    ----------
    code : array of int (targets,)
        0 Gaussian, 1 Bernoulli, 2 Poisson, 3 ordinal, 4 categorical.
    first : array of int (targets + 1,)
        Predictors of target t are first[t] .. first[t+1]-1.
    place : array of int (targets + 1,)
        Its parameters are parameters[place[t] : place[t+1]].
    parameters : array
        δ of Gaussian targets, τ of ordinal ones, one after the other.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, Categorical, Multiple
    >>> Multiple.of([Bernoulli(), Categorical(3)]).split()
    [(Bernoulli(), slice(0, 1, None)), (Categorical(n_classes=3), slice(1, 4, None))]
    """

    __slots__ = ()

    @classmethod
    def of(cls, families: Sequence[Any]) -> Multiple:
        """The family of several targets, from the family of each, which must be the package's."""
        codes, predictors, place, parameters = [], [0], [0], [np.zeros(0)]
        for family in families:
            if type(family) not in _FAMILIES:
                raise TypeError(f"{type(family).__name__} cannot be one of several targets.")
            own = [] if isinstance(family, Categorical) else [np.ravel(v) for v in family]
            codes.append(_FAMILIES.index(type(family)))
            predictors.append(predictors[-1] + family.n_predictors)
            parameters.extend(own)
            place.append(place[-1] + sum(map(len, own)))
        return cls(
            np.array(codes, dtype=np.int64),
            np.array(predictors, dtype=np.int64),
            np.array(place, dtype=np.int64),
            np.concatenate(parameters).astype(float),
        )

    @property
    def n_predictors(self):
        """Those of all targets."""
        return int(self.first[-1])

    def coef_shape(self, n_topics):
        """A matrix, also for one target."""
        return n_topics, self.n_predictors

    # Branches for each family, because compiled code cannot look up types in a table.

    def row_log_likelihood(self, target, weight, predictor, gradient):
        value = 0.0
        for t in range(self.code.shape[0]):
            y, w = target[t : t + 1], weight[t : t + 1]
            f = predictor[self.first[t] : self.first[t + 1]]
            g = gradient[self.first[t] : self.first[t + 1]]
            own = self.parameters[self.place[t] : self.place[t + 1]]
            code = self.code[t]
            if code == 0:
                value += row_log_likelihood(Gaussian(own[0]), y, w, f, g)
            elif code == 1:
                value += row_log_likelihood(Bernoulli(), y, w, f, g)
            elif code == 2:
                value += row_log_likelihood(Poisson(), y, w, f, g)
            elif code == 3:
                value += row_log_likelihood(Ordinal(own), y, w, f, g)
            else:
                value += row_log_likelihood(Categorical(f.shape[0]), y, w, f, g)
        return value

    def row_expectation(self, target, weight, mean, variance, by_mean, by_variance):
        value = 0.0
        for t in range(self.code.shape[0]):
            y, w = target[t : t + 1], weight[t : t + 1]
            a, b = self.first[t], self.first[t + 1]
            m, v, by_m, by_v = mean[a:b], variance[a:b], by_mean[a:b], by_variance[a:b]
            own = self.parameters[self.place[t] : self.place[t + 1]]
            code = self.code[t]
            if code == 0:
                value += row_expectation(Gaussian(own[0]), y, w, m, v, by_m, by_v)
            elif code == 1:
                value += row_expectation(Bernoulli(), y, w, m, v, by_m, by_v)
            elif code == 2:
                value += row_expectation(Poisson(), y, w, m, v, by_m, by_v)
            elif code == 3:
                value += row_expectation(Ordinal(own), y, w, m, v, by_m, by_v)
            else:
                value += row_expectation(Categorical(b - a), y, w, m, v, by_m, by_v)
        return value

    # ---- between kernels, one target after the other --------------------------------------------

    update_dispersion = Family.rows_update_dispersion
    free_gradient = Family.rows_free_gradient

    def split(self):
        out: list[tuple[Any, slice]] = []
        for t, code in enumerate(self.code):
            where = slice(int(self.first[t]), int(self.first[t + 1]))
            own = self.parameters[self.place[t] : self.place[t + 1]]
            cls = _FAMILIES[code]
            if cls is Gaussian:
                out.append((Gaussian(float(own[0])), where))
            elif cls is Ordinal:
                out.append((Ordinal(own), where))
            elif cls is Categorical:
                out.append((Categorical(where.stop - where.start), where))
            else:
                out.append((cls(), where))
        return out

    def join(self, parts):
        return Multiple.of(parts)

    def free_parameters(self):
        return np.concatenate([own.free_parameters() for own, _ in self.split()])

    def with_free_parameters(self, free):
        parts, at = [], 0
        for own, _ in self.split():
            size = len(own.free_parameters())
            parts.append(own.with_free_parameters(free[at : at + size]))
            at += size
        return Multiple.of(parts)

    def check_parameters(self):
        """Raise a ValueError for arrays that compiled code could not use safely."""
        try:
            parts = [own for own, _ in self.split()]
            again = Multiple.of(parts)  # which has the arrays of these families, and no others
        except (IndexError, TypeError, ValueError, AttributeError) as error:
            raise ValueError("family_ does not have the arrays of several families.") from error
        for name, mine, sound in zip(self._fields, self, again, strict=True):
            if not (mine.dtype == sound.dtype and np.array_equal(mine, sound)):
                raise ValueError(f"family_.{name} does not fit the families in family_.code.")
        for part in parts:
            part.check_parameters()


def for_kernels(family: Any) -> Any:
    """The family in the form for kernels: a `Multiple` of one target for a family of the package.

    So each kernel is compiled once for all these families. Other families are not changed.

    Parameters
    ----------
    family : Family

    Returns
    -------
    Family
        A `Multiple` of one target, or the family itself.

    Examples
    --------
    >>> from topicfocus.families import Bernoulli, for_kernels
    >>> type(for_kernels(Bernoulli())).__name__
    'Multiple'
    """
    return Multiple.of([family]) if type(family) in _FAMILIES else family
