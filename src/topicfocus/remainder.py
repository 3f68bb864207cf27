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
from scipy.sparse.linalg import LinearOperator, cg

from topicfocus.glm import Column, curvature_rows, deviance, level_beside, likelihood_rows
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
#: Largest numbers of steps, and of products in conjugate gradients for each.
MOST_STEPS, MOST_PRODUCTS = 20, 100
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


@dataclass(frozen=True)
class PenalisedLikelihood:
    """Minus the penalised log-likelihood of the parameters: γ and below it b, flattened.

    `x` are the features of the documents where the target is known.
    """

    column: Column
    x: sparse.csr_array
    penalty: float
    n_jobs: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(terms + 1) x predictors."""
        return self.x.shape[1] + 1, self.column.width

    def null(self) -> np.ndarray:
        """The parameters without any term."""
        start = np.zeros(self.shape)
        start[-1] = level_beside(self.column, np.zeros_like(self.column.offset))
        return start.ravel()

    def predictor(self, flat: np.ndarray) -> np.ndarray:
        """The linear predictor, without the offset."""
        parameters = flat.reshape(self.shape)
        return dot(self.x, parameters[:-1], self.n_jobs) + parameters[-1]

    def loss(self, flat: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient."""
        value, slope = likelihood_rows(self.column, self.column.offset + self.predictor(flat))
        coef = flat.reshape(self.shape)[:-1]
        loss = 0.5 * self.penalty * float(np.sum(coef**2)) - float(self.column.weight @ value)
        return loss, self._gather(-slope, coef)

    def hessian(self, flat: np.ndarray) -> LinearOperator:
        """The second derivatives of the loss, by products with vectors."""
        curvature = curvature_rows(self.column, self.column.offset + self.predictor(flat))

        def product(v: np.ndarray) -> np.ndarray:
            return self._gather(curvature(self.predictor(v)), v.reshape(self.shape)[:-1])

        return LinearOperator((flat.size, flat.size), matvec=product, dtype=float)

    def _gather(self, rows: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Sums over documents of `rows` by parameter, and the part of the penalty."""
        rows = self.column.weight[:, None] * rows
        of_terms = self.penalty * coef + transposed_dot(self.x, rows, self.n_jobs)
        return np.vstack([of_terms, rows.sum(axis=0)]).ravel()


def fit_terms(
    column: Column,
    x: sparse.csr_array,
    penalty: float,
    start: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """γ and below it b, (terms + 1) x predictors of the target; `start` is another fit's.

    Newton's method, whose steps come from conjugate gradients and are halved until the loss does
    not rise.
    """
    likelihood = PenalisedLikelihood(column, x, penalty, n_jobs)
    null = likelihood.null()
    goal = TOLERANCE * np.linalg.norm(likelihood.loss(null)[1])
    flat = null if start is None else start.ravel()
    loss, gradient = likelihood.loss(flat)
    for _ in range(MOST_STEPS):
        size = np.linalg.norm(gradient)
        if size <= goal:
            break
        hessian = likelihood.hessian(flat)
        step, _ = cg(
            hessian, -gradient, rtol=STEP_TOLERANCE, atol=0.5 * goal, maxiter=MOST_PRODUCTS
        )
        before = loss
        loss, gradient = likelihood.loss(flat + step)
        while loss > before and np.linalg.norm(step) > 1e-6 * np.linalg.norm(flat):
            step *= 0.5
            loss, gradient = likelihood.loss(flat + step)
        flat = flat + step
    return flat.reshape(likelihood.shape)


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
    alone = held.offset + level_beside(train, np.zeros_like(train.offset))
    topics, weight = deviance(held, alone), held.weight / held.weight.sum()
    paths: list[Path] = []
    losses: list[float] = []
    parameters = None
    for penalty in mean_curvature(train) * np.array(PENALTIES):
        parameters = fit_terms(train, x, penalty, parameters, n_jobs)
        predictor = held.offset + parameters[-1] + held_x @ parameters[:-1]
        both = deviance(held, predictor)
        paths.append(Path(float(penalty), topics, both, predictor, parameters))
        losses.append(float(weight @ both))
        best = int(np.argmin(losses))
        if len(losses) - 1 - best == PATIENCE:
            break
    gain = topics - paths[best].both
    error = float(np.sqrt(np.sum((weight * (gain - weight @ gain)) ** 2)))
    return paths[best] if weight @ gain > error else Path(None, topics, topics, alone)


def mean_curvature(column: Column) -> float:
    """Minus the second derivative of log p(y | f), the mean over documents and predictors."""
    curvature = curvature_rows(column, column.offset)
    bend = [curvature(one + 0 * column.offset)[:, l] for l, one in enumerate(np.eye(column.width))]
    mean = np.average(np.mean(bend, axis=0), weights=column.weight)
    return max(float(mean), 1e-3)


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
