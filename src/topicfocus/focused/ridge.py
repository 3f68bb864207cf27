"""Ridge regressions of residuals on all words, along a path of penalties.

Regressions and all statistics of words use √counts, since the second occurrence of a word in a
document adds less information than the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topicfocus.counts import Counts, Rows
from topicfocus.kernels.products import add_rows, add_words
from topicfocus.passes import Arrays, Task, dot, run_pass, transposed_dot, zeros

#: Penalties, from strong to weak; each fit starts from the previous one.
PENALTIES = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0)


@dataclass(frozen=True)
class Signals:
    """Signals that are regressed on words, one or several columns for the same documents.

    Attributes
    ----------
    words : counts (documents, words), or √counts
    values : array (documents, signals)
    weight : array (documents,) or (documents, signals), or None
        None if all weights are 1.
    n_jobs : int, optional
    """

    words: Counts
    values: np.ndarray
    weight: np.ndarray | None
    n_jobs: int | None = None


@dataclass(frozen=True)
class CentredMatrix:
    """Counts minus their (weighted) column means, as a linear operator A that is never dense.

    Rows are scaled by the root of their weight, so that plain products are weighted. If each column
    of the right side has its own weights, there is a matrix for each: `mean` is words x 1 or
    columns, `root` documents x 1 or columns.
    """

    matrix: Counts
    mean: np.ndarray
    root: np.ndarray | None
    n_jobs: int | None = None

    @staticmethod
    def of(matrix: Counts, weight: np.ndarray | None, n_jobs: int | None) -> CentredMatrix:
        if weight is None:
            constant = np.full((matrix.shape[0], 1), 1.0 / matrix.shape[0])
            return CentredMatrix(matrix, transposed_dot(matrix, constant, n_jobs), None, n_jobs)
        tall = weight.reshape(len(weight), -1)
        mean = transposed_dot(matrix, tall, n_jobs) / weight.sum(axis=0)
        return CentredMatrix(matrix, mean, np.sqrt(tall), n_jobs)

    def offset(self, x: np.ndarray) -> np.ndarray:
        """counts @ x - Ax, without weights."""
        if self.mean.shape[1] == 1:
            return self.mean[:, 0] @ x
        return np.einsum("vc,vc->c", self.mean, x)

    def transposed_dot(self, r: np.ndarray) -> np.ndarray:
        """Aᵀr, for several columns."""
        r = r if self.root is None else self.root * r
        return transposed_dot(self.matrix, r, self.n_jobs) - self.mean * r.sum(axis=0)

    def square_dot(self, x: np.ndarray) -> np.ndarray:
        """AᵀAx in one pass over the documents, for several columns."""
        tall = np.ascontiguousarray(x)
        task = Task(
            kernel=_square,
            make=zeros(tall.shape, tall.shape[1]),
            shared=(tall, self.offset(tall)),
            given=() if self.root is None else (self.root,),
            by_word=True,
            light=True,
        )
        sums, total = run_pass(self.matrix, task, self.n_jobs)
        return sums - self.mean * total


def _square(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Arrays) -> None:
    """r = Ax of some documents, with rows scaled twice by the root of their weight, and Aᵀr."""
    x, offset = shared
    r = np.empty((rows.n_docs, x.shape[1]))
    add_rows(*rows, x, r)
    r -= offset
    for root in given:
        r *= root**2
    add_words(*rows, r, total[0])
    total[1][:] += r.sum(axis=0)


def descend(
    matrix: CentredMatrix,
    right: np.ndarray,
    penalty: np.ndarray,
    x: np.ndarray,
    residual: np.ndarray,
    *,
    tolerance: float = 1e-2,
    max_steps: int = 40,
) -> None:
    """Solve (AᵀA + penalty) x = right by conjugate gradients, in place, from x and its residual.

    Each column has its own recurrence, with one product of matrices for all. A column ends when its
    residual is below `tolerance` times its right side; two digits are enough to rank words.
    """
    goal = tolerance * np.linalg.norm(right, axis=0)
    direction = residual.copy()
    square = np.sum(residual**2, axis=0)
    for _ in range(max_steps):
        active = np.sqrt(square) > goal
        if not active.any():
            break
        image = matrix.square_dot(direction) + penalty * direction
        along = np.sum(direction * image, axis=0)
        rate = np.where(active & (along > 0), square / np.where(along > 0, along, 1.0), 0.0)
        x += rate * direction
        residual -= rate * image
        new = np.sum(residual**2, axis=0)
        ratio = np.where(active & (square > 0), new / np.where(square > 0, square, 1.0), 0.0)
        direction = residual + ratio * direction
        square = new


def normal_equations(signals: Signals) -> tuple[CentredMatrix, np.ndarray]:
    """A and Aᵀb of the least squares of each signal on the words, both centred."""
    matrix = CentredMatrix.of(signals.words, signals.weight, signals.n_jobs)
    target = signals.values - np.average(signals.values, axis=0, weights=signals.weight)
    return matrix, matrix.transposed_dot(target if matrix.root is None else matrix.root * target)


@dataclass(frozen=True)
class RidgeFit:
    """Weights and penalty of a regression of a signal on words, and its validation error."""

    weights: np.ndarray
    penalty: float
    mean_square: float


def ridge_path(
    signals: Signals,
    held_out: Signals,
    penalties: Sequence[float] | Sequence[np.ndarray] = PENALTIES,
) -> list[RidgeFit]:
    """For each signal, the ridge regression of the penalty with the smallest validation error.

    The path ends when the error of every signal has risen twice in a row, since the last penalties
    take most time and are chosen least. A penalty may be an array with one entry per signal.
    """
    matrix, right = normal_equations(signals)
    mean = np.average(signals.values, axis=0, weights=signals.weight)
    n_signals = right.shape[1]
    weights, residual, before = np.zeros_like(right), right.copy(), np.zeros(n_signals)
    best: list[RidgeFit | None] = [None] * n_signals
    worse, last = np.zeros(n_signals, dtype=int), np.full(n_signals, np.inf)
    for given in penalties:
        penalty = np.broadcast_to(given, (n_signals,))
        residual -= (penalty - before) * weights  # AᵀAx is unchanged
        descend(matrix, right, penalty, weights, residual)
        before = penalty
        found = dot(held_out.words, weights, signals.n_jobs)
        predicted = found - matrix.offset(weights) + mean
        errors = np.average((predicted - held_out.values) ** 2, axis=0, weights=held_out.weight)
        for l, error in enumerate(errors):
            so_far = best[l]
            if so_far is None or error < so_far.mean_square:
                best[l] = RidgeFit(weights[:, l].copy(), float(penalty[l]), float(error))
        worse = np.where(errors > last, worse + 1, 0)
        last = errors
        if worse.min() >= 2:
            break
    return [fit for fit in best if fit is not None]
