"""How much each word says about the target: the evidence that words are kept by.

Two views of a word are combined. Marginally, z² is the squared score of its covariance with
the target. Jointly, Pratt's measure w_v·cov_v is its part of what a ridge regression on all
words explains; it is small for a word that only repeats what others say. Their weighted geometric
mean E_v asks for both. All are computed on √counts: the second occurrence of a word says
less than the first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg
from scipy.stats import rankdata

#: Penalties tried, from heavy to light, each fit starting from the one before.
PENALTIES = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0)


@dataclass(frozen=True)
class Centred:
    """A sparse matrix with its column means taken off, without ever being dense."""

    matrix: sparse.csr_array
    transposed: sparse.csr_array
    mean: np.ndarray

    @staticmethod
    def of(matrix: sparse.csr_array) -> Centred:
        mean = np.asarray(matrix.mean(axis=0)).ravel()
        return Centred(matrix, matrix.T.tocsr(), mean)

    def dot(self, x: np.ndarray) -> np.ndarray:
        return self.matrix @ x - self.mean @ x

    def transposed_dot(self, r: np.ndarray) -> np.ndarray:
        return self.transposed @ r - self.mean * r.sum()


@dataclass(frozen=True)
class RidgeFit:
    """Least squares of the target on words: weights, penalty, and loss on held-out documents."""

    weights: np.ndarray
    penalty: float
    loss: float
    mean_square: float


def area_under_curve(target: np.ndarray, score: np.ndarray) -> float:
    """Probability that a positive document scores above a negative one, ties counting half."""
    positive = target > 0.5
    n_positive = int(positive.sum())
    n_negative = len(target) - n_positive
    if n_positive == 0 or n_negative == 0:
        return 0.5
    ranks = rankdata(score)
    return (ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)


def ridge_path(
    words: sparse.csr_array,
    target: np.ndarray,
    held_words: sparse.csr_array,
    held_target: np.ndarray,
    *,
    ranking: bool,
    penalties: Sequence[float] = PENALTIES,
) -> RidgeFit:
    """Ridge regression by conjugate gradients along a path of penalties, the best on held-out data.

    ``ranking``: best by the area under the curve (two classes), else by squared error. A few digits
    are enough here: the weights only rank words and start topics.
    """
    centred = Centred.of(words)
    mean = target.mean()
    right = centred.transposed_dot(target - mean)
    size = words.shape[1]
    weights = np.zeros(size)
    best: RidgeFit | None = None
    for penalty in penalties:

        def normal(x: np.ndarray, penalty: float = penalty) -> np.ndarray:
            return centred.transposed_dot(centred.dot(x)) + penalty * x

        operator = LinearOperator((size, size), matvec=normal, dtype=float)
        weights, _ = cg(operator, right, x0=weights, rtol=1e-2, maxiter=40)
        predicted = held_words @ weights - centred.mean @ weights + mean
        mean_square = float(np.mean((predicted - held_target) ** 2))
        loss = -area_under_curve(held_target, predicted) if ranking else mean_square
        if best is None or loss < best.loss:
            best = RidgeFit(weights.copy(), penalty, loss, mean_square)
    assert best is not None
    return best


@dataclass(frozen=True)
class Evidence:
    """Both views of every word, on one scale (equal sums)."""

    marginal: np.ndarray
    joint: np.ndarray

    def combined(self, share: float) -> np.ndarray:
        """E_v = (z²_v)^s · (Pratt_v)^{1-s}, s = `share`."""
        return self.marginal**share * self.joint ** (1 - share)


def word_evidence(words: sparse.csr_array, target: np.ndarray, ridge: RidgeFit) -> Evidence:
    """z² and Pratt's measure of every word, `ridge` fitted to the same documents."""
    n_docs = words.shape[0]
    centred = target - target.mean()
    mean = np.asarray(words.mean(axis=0)).ravel()
    square = np.asarray(words.multiply(words).mean(axis=0)).ravel()
    variance = np.maximum(square - mean**2, 1e-12)
    covariance = words.T @ centred
    marginal = covariance**2 / (n_docs * variance * max(centred.var(), 1e-300))
    joint = np.maximum(ridge.weights * covariance, 0.0)
    joint *= marginal.sum() / max(joint.sum(), 1e-300)
    return Evidence(marginal, joint)


def target_slopes(words: sparse.csr_array, target: np.ndarray) -> np.ndarray:
    """Inverse regression: the rate of word v goes like exp(slope_v·y), y in standard deviations.

    Slopes are shrunken to zero by five tokens' worth, so that a rare word has none to speak of.
    """
    standard = (target - target.mean()) / max(target.std(), 1e-300)
    length = np.asarray(words.sum(axis=1)).ravel()
    total = max(length.sum(), 1e-300)
    centre = (length * standard).sum() / total
    spread = (length * (standard - centre) ** 2).sum() / total
    tokens = np.asarray(words.sum(axis=0)).ravel()
    return (words.T @ (standard - centre)) / (tokens * spread + 5.0)


def cut(
    evidence: np.ndarray,
    word_count: np.ndarray,
    share: float,
    *,
    vocabulary: float = 0.25,
    keep: np.ndarray | None = None,
    drop: np.ndarray | None = None,
    smallest: int = 10,
) -> np.ndarray:
    """Columns kept: the words with the most evidence per token, up to a share of all tokens.

    A word's score is (E_v - c)/n_v. c is its description length: the evidence that pure noise is
    expected to show in the best of V words, 2 log V, or less when that would leave fewer than
    `vocabulary` (or `share`, if larger) of the words to choose from. Sorted by score and cut
    where the kept tokens reach `share`, so more words are kept the larger it is. `keep` and `drop`
    are columns decided by the user.
    """
    n_words = len(evidence)
    seen = word_count > 0
    quantile = 1 - max(vocabulary, share)
    cost = min(float(np.quantile(evidence, quantile)), 2 * math.log(max(n_words, 2)))
    score = np.where(seen & (evidence > cost), (evidence - cost) / np.maximum(word_count, 1), -1.0)
    forced = np.zeros(n_words, dtype=bool)
    if drop is not None:
        score[drop] = -1.0
    if keep is not None:
        forced[keep] = True
        score[keep] = np.inf
    order = np.argsort(-score, kind="stable")
    reached = np.cumsum(word_count[order]) / max(word_count.sum(), 1.0)
    chosen = (score[order] > 0) & ((reached <= share) | (np.arange(n_words) < smallest))
    return np.sort(order[chosen | forced[order]])
