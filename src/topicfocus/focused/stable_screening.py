"""Statistics of a stable selection: averages over halves of the documents, corrected for chance.

The statistics of each half are computed without the other documents, and averaged. A z² is large by
association or by chance, for rare words more often by chance; its expectation in another sample
corrects for that. There are two models of this expectation (`expected_squares`). One assumes that
all words have some association: its order of words changes least from sample to sample, but it has
no threshold. The other assumes that some words have none: it estimates how many words are
associated, but its order of words is less stable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import erf, expit

from topicfocus.focused.ridge import Signals, descend, normal_equations
from topicfocus.focused.word_statistics import MARGINAL_SHARE, SignalSums

#: Largest number of classes of words of similar frequency, and smallest number of words per class.
CLASSES, WORDS_PER_CLASS = 10, 100
#: Largest number of signals of halves in one pass over the documents.
COLUMNS = 32
#: Steps of EM for the fraction of associated words.
EM_STEPS = 50


@dataclass(frozen=True)
class StableStatistics:
    """Mean statistics of halves, words x signals, with either expectation of z²."""

    amount: np.ndarray
    sparse: np.ndarray

    def n_words(self) -> int:
        """Expected number of words that are associated with at least one signal."""
        return int(np.sum(self.sparse.max(axis=1) >= expected_noise(self.sparse.shape[1])))

    @staticmethod
    def beside(parts: list[StableStatistics]) -> StableStatistics:
        """The statistics for the signals of several targets."""
        amounts = [p.amount for p in parts], [p.sparse for p in parts]
        return StableStatistics(*(np.hstack(each) for each in amounts))


def expected_noise(n_signals: int) -> float:
    """E max_l z_l² of a word without association with any of the signals; 1 for one signal."""
    step = 0.002
    z = np.arange(step / 2, 8.0, step)
    # ∫ P(max_l |z_l| > z) dz²
    return float(np.sum(2 * z * (1 - erf(z / np.sqrt(2)) ** n_signals)) * step)


def stable_statistics(
    signals: Signals,
    penalties: np.ndarray,
    n_tokens: np.ndarray,
    halves: np.ndarray,
) -> StableStatistics:
    """Mean over halves h of E[μ²_v | z_hv]^s (Pratt_hv)^{1-s}, for both expectations.

    Pratt's measure is that of a ridge regression on the half, zero where its weight and z differ in
    sign. Which of several interchangeable words gets the weight depends on the half, so that on
    average all have some.

    Parameters
    ----------
    signals : Signals
    penalties : array (signals,)
        Of the ridge regressions on all documents; that of a half is proportional to its weight.
    n_tokens : array (words,)
        n_v, for the classes of words of similar frequency.
    halves : array of bool (documents, pairs)
        The documents of the first half of each pair; the others are the second.
    """
    weight = np.ones(len(signals.values)) if signals.weight is None else signals.weight
    inside = np.hstack([halves, ~halves])
    part = weight @ inside / weight.sum()
    inside, part = inside[:, part > 0], part[part > 0]
    n_signals, at_once = len(penalties), max(COLUMNS // len(penalties), 1)
    totals = [np.zeros((len(n_tokens), n_signals)) for _ in range(2)]
    for first in range(0, len(part), at_once):
        here = slice(first, first + at_once)
        many = _side_by_side(signals, weight[:, None] * inside[:, here])
        matrix, right = normal_equations(many)
        ridge = np.zeros_like(right)
        descend(matrix, right, np.outer(part[here], penalties).ravel(), ridge, right.copy())
        found = SignalSums.of(many).statistics(ridge)
        joint = found.joint ** (1 - MARGINAL_SHARE)
        for total, square in zip(totals, expected_squares(found.marginal, n_tokens), strict=True):
            amount = square**MARGINAL_SHARE * joint
            total += amount.reshape(len(n_tokens), -1, n_signals).sum(axis=1)
    return StableStatistics(*(total / len(part) for total in totals))


def _side_by_side(signals: Signals, weight: np.ndarray) -> Signals:
    """The signals once per column of `weight`, which is zero for documents outside the half."""
    return replace(
        signals,
        values=np.tile(signals.values, weight.shape[1]),
        weight=np.repeat(weight, signals.values.shape[1], axis=1),
    )


def expected_squares(marginal: np.ndarray, n_tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E[μ²_v | z_v] by both models, words x signals; 0 for words without tokens.

    With z ~ N(μ, 1), μ ~ N(0, s) and k = s/(1 + s) it is k² z² + k. s belongs to words of similar
    frequency: the mean of their z² minus 1, its mean by chance, and at least the standard error of
    that mean, √(2/m) for m words.

    Where μ is 0 in all but a fraction π of the words, it is P(μ ≠ 0 | z)·(k² z² + k). π and s
    maximise the likelihood of words of similar frequency (EM), with one pseudo-count each for words
    with and without association.
    """
    every, sparse = np.zeros_like(marginal), np.zeros_like(marginal)
    for own in _classes(n_tokens):
        every[own], sparse[own] = _expected(marginal[own]), _sparse_expected(marginal[own])
    return every, sparse


def _expected(square: np.ndarray) -> np.ndarray:
    return _posterior(square, np.maximum(square.mean(axis=0) - 1, _least_spread(square)))


def _sparse_expected(square: np.ndarray) -> np.ndarray:
    n_words, least = len(square), _least_spread(square)
    fraction = np.full(square.shape[1], 0.5)
    spread = np.maximum(2 * (square.mean(axis=0) - 1), least)
    for _ in range(EM_STEPS):
        # log P(z | μ ≠ 0) - log P(z | μ = 0)
        ratio = 0.5 * square * (spread / (1 + spread)) - 0.5 * np.log1p(spread)
        true = expit(ratio + np.log(fraction / (1 - fraction)))
        total = true.sum(axis=0)
        fraction = (total + 1) / (n_words + 2)
        spread = np.maximum(np.sum(true * square, axis=0) / np.maximum(total, 1e-300) - 1, least)
    return true * _posterior(square, spread)


def _posterior(square: np.ndarray, spread: np.ndarray) -> np.ndarray:
    kept = spread / (1 + spread)
    return kept**2 * square + kept


def _least_spread(square: np.ndarray) -> float:
    return float(np.sqrt(2 / len(square)))


def _classes(n_tokens: np.ndarray) -> Iterator[np.ndarray]:
    """Classes of words of similar frequency; words of equal frequency are in one class."""
    seen = n_tokens > 0
    if not seen.any():
        return
    n_classes = int(np.clip(seen.sum() // WORDS_PER_CLASS, 1, CLASSES))
    ends = np.quantile(n_tokens[seen], np.arange(1, n_classes) / n_classes)
    place = np.where(seen, np.searchsorted(ends, n_tokens), -1)
    for c in range(n_classes):
        own = np.flatnonzero(place == c)
        if len(own):
            yield own
