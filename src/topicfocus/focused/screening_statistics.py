"""How much each word says about the target: the evidence that words are kept by.

Two views of a word are combined. Marginally, z² is the squared score of its covariance with
the target. Jointly, Pratt's measure w_v·cov_v is its part of what a ridge regression on all
words explains; it is small for a word that only repeats what others say. Their weighted geometric
mean E_v asks for both. All are computed on √counts: the second occurrence of a word says
less than the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from topicfocus.counts import Counts, Rows
from topicfocus.inference.passes import (
    Arrays,
    Task,
    dot,
    row_sums,
    run_pass,
    transposed_dot,
    transposed_dots,
    zeros,
)
from topicfocus.kernels.products import add_rows, add_words

#: Penalties tried, from heavy to light, each fit starting from the one before.
PENALTIES = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0)


@dataclass(frozen=True)
class Centred:
    """Counts with their (weighted) column means taken off, without ever being dense.

    Rows are scaled by the root of their weight, so that plain products are weighted ones. Where
    every column of what they are multiplied with has weights of its own, it is as many matrices:
    `mean` is words x 1 or columns, `root` documents x 1 or columns.
    """

    matrix: Counts
    mean: np.ndarray
    root: np.ndarray | None
    n_jobs: int | None = None

    @staticmethod
    def of(matrix: Counts, weight: np.ndarray | None = None, n_jobs: int | None = None) -> Centred:
        if weight is None:
            share = np.full((matrix.shape[0], 1), 1.0 / matrix.shape[0])
            return Centred(matrix, transposed_dot(matrix, share, n_jobs), None, n_jobs)
        tall = weight.reshape(len(weight), -1)
        mean = transposed_dot(matrix, tall, n_jobs) / weight.sum(axis=0)
        return Centred(matrix, mean, np.sqrt(tall), n_jobs)

    def offset(self, x: np.ndarray) -> np.ndarray:
        """What Ax is lower by than the product with the counts themselves."""
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
        offset = self.offset(tall)
        task = Task(
            kernel=_square,
            make=zeros(tall.shape, tall.shape[1]),
            shared=(tall, offset),
            given=() if self.root is None else (self.root,),
            by_word=True,
            light=True,
        )
        sums, total = run_pass(self.matrix, task, self.n_jobs)
        return sums - self.mean * total


def _square(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Arrays) -> None:
    """r = Ax of the documents, rows scaled twice by the root of the weight, and what Aᵀ makes."""
    x, offset = shared
    r = np.empty((rows.n_docs, x.shape[1]))
    add_rows(*rows, x, r)
    r -= offset
    for root in given:
        np.multiply(root, r, out=r)
        np.multiply(root, r, out=r)
    add_words(*rows, r, total[0])
    total[1][:] += r.sum(axis=0)


@dataclass(frozen=True)
class RidgeFit:
    """Least squares of a signal on words: weights, penalty, and loss on held-out documents."""

    weights: np.ndarray
    penalty: float
    loss: float
    mean_square: float


def area_under_curve(
    target: np.ndarray, score: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Probability that a positive document scores above a negative one, ties counting half."""
    positive = target > 0
    if weight is None:
        n_positive = int(positive.sum())
        n_negative = len(target) - n_positive
        if n_positive == 0 or n_negative == 0:
            return 0.5
        ranks = rankdata(score)
        above = ranks[positive].sum() - n_positive * (n_positive + 1) / 2
        return above / (n_positive * n_negative)
    _, place = np.unique(score, return_inverse=True)
    wins = np.bincount(place, weight * positive)
    losses = np.bincount(place, weight * ~positive)
    total = wins.sum() * losses.sum()
    if total == 0:
        return 0.5
    return float(wins @ (np.cumsum(losses) - 0.5 * losses) / total)


@dataclass(frozen=True)
class Signals:
    """What is to be explained by words: documents x words, and numbers for the same documents.

    Attributes
    ----------
    words : counts (documents, words), or √counts
    values : array (documents, signals)
    weight : array (documents,) or (documents, signals), or None
        None: all one.
    ranking : bool
        Whether each is one of two values (the sign says which), so that order is what counts.
    n_jobs : int, optional
    """

    words: Counts
    values: np.ndarray
    weight: np.ndarray | None
    ranking: bool
    n_jobs: int | None = None


def conjugate_gradients(
    matrix: Centred,
    right: np.ndarray,
    penalty: np.ndarray,
    start: np.ndarray,
    *,
    tolerance: float = 1e-2,
    max_steps: int = 40,
) -> np.ndarray:
    """(AᵀA + penalty) x = right for several columns at once, each with its own recurrence.

    One product with the matrix serves all columns. A column rests when its residual is below
    `tolerance` of its right side.
    """
    x = start.copy()
    residual = right - (matrix.square_dot(x) + penalty * x)
    descend(matrix, right, penalty, x, residual, tolerance=tolerance, max_steps=max_steps)
    return x


def descend(
    matrix: Centred,
    right: np.ndarray,
    penalty: np.ndarray,
    x: np.ndarray,
    residual: np.ndarray,
    *,
    tolerance: float = 1e-2,
    max_steps: int = 40,
) -> None:
    """The same in place, from x and its residual, right - (AᵀA + penalty) x."""
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


def normal_equations(signals: Signals) -> tuple[Centred, np.ndarray]:
    """A and Aᵀb of the least squares of each signal on the words, both centred."""
    matrix = Centred.of(signals.words, signals.weight, signals.n_jobs)
    target = signals.values - np.average(signals.values, axis=0, weights=signals.weight)
    return matrix, matrix.transposed_dot(target if matrix.root is None else matrix.root * target)


def ridge_path(
    signals: Signals,
    held_out: Signals,
    penalties: Sequence[float] | Sequence[np.ndarray] = PENALTIES,
) -> list[RidgeFit]:
    """Ridge regressions of all signals along a path of penalties, each the best on held-out data.

    Best by the area under the curve for a ranking, else by squared error. A few digits are enough
    here: the weights only rank words and start topics. A penalty may be an array, one a signal.
    From strong to weak, and the path ends where each signal is predicted worse twice in a row than
    before: what is left of it costs most and is taken least.
    """
    matrix, right = normal_equations(signals)
    mean = np.average(signals.values, axis=0, weights=signals.weight)
    n_signals = right.shape[1]
    weights, residual, before = np.zeros_like(right), right.copy(), np.zeros(n_signals)
    best: list[RidgeFit | None] = [None] * n_signals
    worse, last = np.zeros(n_signals, dtype=int), np.full(n_signals, np.inf)
    for given in penalties:
        penalty = np.broadcast_to(given, (n_signals,))
        residual -= (penalty - before) * weights  # AᵀA x is as it was
        descend(matrix, right, penalty, weights, residual)
        before = penalty
        found = dot(held_out.words, weights, signals.n_jobs)
        predicted = found - matrix.offset(weights) + mean
        for l in range(n_signals):
            square = (predicted[:, l] - held_out.values[:, l]) ** 2
            mean_square = float(np.average(square, weights=held_out.weight))
            loss = mean_square
            if signals.ranking:
                loss = -area_under_curve(held_out.values[:, l], predicted[:, l], held_out.weight)
            found_before = best[l]
            if found_before is None or loss < found_before.loss:
                best[l] = RidgeFit(weights[:, l].copy(), float(penalty[l]), loss, mean_square)
            worse[l] = worse[l] + 1 if loss > last[l] else 0
            last[l] = loss
        if worse.min() >= 2:
            break
    return [fit for fit in best if fit is not None]


@dataclass(frozen=True)
class Evidence:
    """Both views of every word, on one scale (equal sums); words x signals."""

    marginal: np.ndarray
    joint: np.ndarray

    def combined(self, share: float) -> np.ndarray:
        """E_v = max over signals of (z²_v)^s · (Pratt_v)^{1-s}, s = `share`."""
        return (self.marginal**share * self.joint ** (1 - share)).max(axis=1)

    @staticmethod
    def beside(parts: Sequence[Evidence]) -> Evidence:
        """The evidence about several signals."""
        return Evidence(np.hstack([p.marginal for p in parts]), np.hstack([p.joint for p in parts]))


def word_evidence(signals: Signals, weights: np.ndarray) -> Evidence:
    """z² and Pratt's measure of every word; `weights` (words x signals) of the ridges."""
    marginal, covariance = _scores(signals)
    joint = np.maximum(weights * covariance, 0.0)
    joint *= marginal.sum(axis=0) / np.maximum(joint.sum(axis=0), 1e-300)
    return Evidence(marginal, joint)


def _scores(signals: Signals) -> tuple[np.ndarray, np.ndarray]:
    """z² of every word, and its covariance with the signals (a sum), words x signals."""
    words = signals.words
    w = np.ones(words.shape[0]) if signals.weight is None else signals.weight
    total = w.sum(axis=0)
    centred = signals.values - np.average(signals.values, axis=0, weights=w)
    tall = w.reshape(len(w), -1)  # documents x 1, or a column a signal
    sums, squares = transposed_dots(
        words, np.column_stack([tall, tall * centred]), tall, signals.n_jobs
    )
    mean, covariance = sums[:, : tall.shape[1]] / total, sums[:, tall.shape[1] :]
    variance = np.maximum(squares / total - mean**2, 1e-12)
    spread = np.maximum(np.average(centred**2, axis=0, weights=w), 1e-300)
    return covariance**2 / (total * variance * spread), covariance


def target_slopes(signals: Signals) -> np.ndarray:
    """Inverse regression: the rate of word v goes like exp(slope_v·y), y in standard deviations.

    Slopes are shrunken to zero by five tokens' worth, so that a rare word has none to speak of.
    """
    words = signals.words
    w = np.ones(words.shape[0]) if signals.weight is None else signals.weight
    centred = signals.values - np.average(signals.values, axis=0, weights=w)
    size = np.sqrt(np.average(centred**2, axis=0, weights=w))
    standard = centred / np.maximum(size, 1e-300)
    length = w * row_sums(words, signals.n_jobs)
    total = max(length.sum(), 1e-300)
    away = standard - length @ standard / total
    spread = length @ away**2 / total
    both = np.column_stack([w, w[:, None] * away])
    sums = transposed_dot(words, both, signals.n_jobs)
    return sums[:, 1:] / (np.outer(sums[:, 0], spread) + 5.0)
