"""The remainder: a sparse linear model of what the topics leave of the targets.

Topics explain what they can; the remainder adds what all terms of a document contribute beyond
them. A document has the features

    x_v = √c_v · rarity_v / length,   rarity_v = 1 + log((1 + n) / (1 + n_v)),

of length one (zero without any term), n_v being the number of documents with term v. The linear
predictor is

    f = (b + o + ζᵀz + η·θ̂) + Σ_v (x_v γ_v - c x_v²).

γ is fitted by a generalised linear model with an L2 penalty, in which the predictor of the topics
is an offset. c is a level: the mean of the predictions is the mean of the target. It is spread over
the terms, so that a document without terms has the prediction of the topics, and contributions add
up exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from topicfocus.glm import (
    Column,
    PenalisedLikelihood,
    deviance,
    level,
    mean_and_error,
    mean_curvature,
)
from topicfocus.passes import dot, transposed_dot

#: Penalties that are compared, from strong to weak, in units of the curvature that a document adds
#: to the likelihood (1 for a number in standard deviations of its noise). With 400 to 800
#: documents weaker ones sometimes won on validation documents by chance, and lost elsewhere.
PENALTIES = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0)
#: The path ends when this many weaker penalties in a row did not predict better.
PATIENCE = 2
#: The gradient that ends a regression, relative to that without terms, and the error of a step of
#: Newton's method, relative to its gradient.
TOLERANCE, STEP_TOLERANCE = 2e-3, 1e-1
#: Coefficients are multiples of this fraction of the largest one, so that a page has all digits.
RESOLUTION = 1 / 32767


@dataclass(frozen=True, eq=False)
class Remainder:
    """A fitted remainder.

    Attributes
    ----------
    rarity : array (terms,)
    coef : array (terms, predictors)
        γ.
    level : array (predictors,)
        c.
    names : array of str (terms,) or None
        None if the terms are the words of the topic model.
    """

    rarity: np.ndarray
    coef: np.ndarray
    level: np.ndarray
    names: np.ndarray | None = None

    def features(self, counts: sparse.csr_array) -> sparse.csr_array:
        """x of documents."""
        return features(counts, self.rarity)

    def amounts(self, counts: sparse.csr_array) -> np.ndarray:
        """What the remainder adds to the linear predictors, documents x predictors."""
        x = self.features(counts)
        return x @ self.coef - _has_terms(x)[:, None] * self.level

    def contributions(self, counts: sparse.csr_array) -> tuple[sparse.csr_array, ...]:
        """The amounts of the terms, documents x terms, of each predictor."""
        x = self.features(counts)
        out = []
        for gamma, c in zip(self.coef.T, self.level, strict=True):
            amounts = x.data * (gamma[x.indices] - c * x.data)
            out.append(sparse.csr_array((amounts, x.indices, x.indptr), shape=x.shape))
        return tuple(out)

    def times(self, factor: np.ndarray) -> Remainder:
        """The remainder of predictors multiplied by these factors."""
        return replace(self, coef=self.coef * factor, level=self.level * factor)


def features(counts: sparse.csr_array, rarity: np.ndarray) -> sparse.csr_array:
    """Roots of counts times the rarity of terms; rows of length one.

    Terms of rarity 0 are those that the user has dropped.
    """
    if not rarity.all():
        counts = counts.copy()
        counts.data *= rarity[counts.indices] > 0
        counts.eliminate_zeros()
    values = np.sqrt(counts.data) * rarity[counts.indices]
    owner = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(owner, values**2, minlength=counts.shape[0]))
    values /= np.maximum(length, 1e-300)[owner]
    return sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def rarity(counts: sparse.csr_array, weight: np.ndarray) -> np.ndarray:
    """1 + log((1 + n) / (1 + n_v)) of every term; a document of weight 2 is two documents."""
    owner = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    in_documents = np.bincount(counts.indices, weight[owner], minlength=counts.shape[1])
    found = 1.0 + np.log((1.0 + weight.sum()) / (1.0 + in_documents))
    return found.astype(np.float32).astype(np.float64)  # a page has all their digits


def _has_terms(x: sparse.csr_array) -> np.ndarray:
    return (np.diff(x.indptr) > 0).astype(float)


# ---- the penalised regression --------------------------------------------------------------------


def terms_likelihood(
    column: Column, x: sparse.csr_array, penalty: float, n_jobs: int | None = None
) -> PenalisedLikelihood:
    """The likelihood of γ and below it b, flattened; `x` has the documents with known targets."""
    shape = x.shape[1] + 1, column.width

    def predictor(flat: np.ndarray) -> np.ndarray:
        parameters = flat.reshape(shape)
        return dot(x, parameters[:-1], n_jobs) + parameters[-1]

    def transposed(rows: np.ndarray) -> np.ndarray:
        return np.vstack([transposed_dot(x, rows, n_jobs), rows.sum(axis=0)]).ravel()

    def pull(flat: np.ndarray) -> np.ndarray:
        out = penalty * flat.reshape(shape)
        out[-1] = 0.0
        return out.ravel()

    return PenalisedLikelihood(column, predictor, transposed, pull)


def fit_terms(
    column: Column,
    x: sparse.csr_array,
    penalty: float,
    start: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """γ and below it b, (terms + 1) x predictors of the target; `start` is another fit's."""
    likelihood = terms_likelihood(column, x, penalty, n_jobs)
    null = np.zeros((x.shape[1] + 1, column.width))
    null[-1] = level(column)
    goal = TOLERANCE * float(np.linalg.norm(likelihood(null.ravel())[1]))
    start = null if start is None else start
    return likelihood.minimise(start.ravel(), goal, STEP_TOLERANCE).reshape(null.shape)


@dataclass(frozen=True)
class Path:
    """What validation documents show of one target.

    `penalty` is the best one, None if no remainder predicts them better than the topics alone by
    one standard error. `topics` and `both` are the deviances of the known documents without and
    with the remainder of the best penalty; `predictor` has both parts. `parameters` are those of
    the training documents.
    """

    penalty: float | None
    topics: np.ndarray
    both: np.ndarray
    predictor: np.ndarray
    parameters: np.ndarray | None = None


def choose_penalty(
    train: Column,
    x: sparse.csr_array,
    held: Column,
    held_x: sparse.csr_array,
    n_jobs: int | None = None,
) -> Path:
    """Compare penalties by the deviance of validation documents, from strong to weak.

    Offsets of training documents must not come from models that were fitted to the validation
    documents: the regression would learn the negative of the noise that these have learned.
    """
    alone = held.offset + level(train)
    topics = deviance(held, alone)
    paths: list[Path] = []
    losses: list[float] = []
    parameters = None
    for penalty in mean_curvature(train) * np.array(PENALTIES):
        parameters = fit_terms(train, x, penalty, parameters, n_jobs)
        predictor = held.offset + parameters[-1] + held_x @ parameters[:-1]
        both = deviance(held, predictor)
        paths.append(Path(float(penalty), topics, both, predictor, parameters))
        losses.append(float(np.average(both, weights=held.weight)))
        best = int(np.argmin(losses))
        if len(losses) - 1 - best == PATIENCE:
            break
    gain, error = mean_and_error(topics - paths[best].both, held.weight)
    return paths[best] if gain > error else Path(None, topics, topics, alone)


def rows_of(column: Column, index: np.ndarray) -> Column:
    """A target of some of the documents where it is known."""
    return replace(
        column,
        known=np.ones(len(index), dtype=bool),
        target=column.target[index],
        weight=column.weight[index],
        offset=column.offset[index],
    )


def rounded(coef: np.ndarray) -> np.ndarray:
    """Coefficients as multiples of a small fraction of the largest one of each predictor."""
    step = np.maximum(np.abs(coef).max(axis=0, initial=0.0), 1e-300) * RESOLUTION
    return np.round(coef / step) * step


# ---- completeness --------------------------------------------------------------------------------


class Completeness(NamedTuple):
    """How much of what the text tells about the targets the topics capture.

    Attributes
    ----------
    share : float
        `topics` / `both`; NaN if `both` is not positive.
    error : float
        Standard error of `share`.
    topics, both : float
        Fraction of the deviance explained by the topics, and by topics and remainder, of documents
        that had no part in the fit.
    """

    share: float
    error: float
    topics: float
    both: float


def completeness(gains: np.ndarray) -> Completeness:
    """From documents x 2: what each adds to the fractions explained by topics and by both."""
    topics, both = (float(total) for total in gains.sum(axis=0))
    if not both > 0:
        return Completeness(np.nan, np.nan, topics, both)
    share = topics / both
    error = float(np.sqrt(np.sum((gains[:, 0] - share * gains[:, 1]) ** 2))) / both
    return Completeness(share, error, topics, both)


def explained_gains(
    column: Column, null: np.ndarray, topics: np.ndarray, both: np.ndarray
) -> np.ndarray:
    """`completeness` needs these of one target: all documents x 2, 0 where it is not known.

    The arguments are deviances of the known documents: of a constant, and of the two predictors.
    """
    out = np.zeros((len(column.known), 2))
    total = max(float(column.weight @ null), 1e-300)
    gains = np.column_stack([null - topics, null - both])
    out[column.known] = column.weight[:, None] * gains / total
    return out
