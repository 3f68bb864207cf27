"""Evidence that lasts: what halves of the documents find on average, luck taken off.

A word that says something in one sample and nothing in another is not what a stable selection is
to keep. Halves of the sample at hand show which: the evidence of each is computed as if there were
no other documents, and averaged.

A z² is large by strength or by luck, and with rare words more often by luck; its expectation in
another sample takes that off. There are two. `expected_square` supposes that all words say
something, more or less: the order of words by it changes least from sample to sample, but it has
little to say on where to stop. `doubted_square` supposes that some say nothing at all: how many
words say more than noise is told by it, and each single word less surely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import erf, expit

from topicfocus.focused.screening_statistics import (
    Signals,
    conjugate_gradients,
    normal_equations,
    word_evidence,
)

#: Into how many classes words are put by their frequency, of at least so many words.
CLASSES, WORDS_A_CLASS = 10, 100
#: Signals of halves that one pass over the documents serves, at most.
COLUMNS = 32
#: Steps of the estimate of how many words say something, and how much.
ESTIMATING = 50


@dataclass(frozen=True)
class Lasting:
    """Mean evidence of halves, words x signals, by either expectation of z² elsewhere."""

    amount: np.ndarray
    doubted: np.ndarray

    def n_words(self) -> int:
        """How many words are expected to say more than noise, about one signal at least."""
        return int(np.sum(self.doubted.max(axis=1) >= expected_noise(self.doubted.shape[1])))

    @staticmethod
    def beside(parts: list[Lasting]) -> Lasting:
        """That about several targets."""
        return Lasting(np.hstack([p.amount for p in parts]), np.hstack([p.doubted for p in parts]))


def expected_noise(n_signals: int) -> float:
    """E max_l z_l² of a word that says nothing about any of so many signals; 1 for one of them."""
    step = 0.002
    z = np.arange(step / 2, 8.0, step)
    # ∫ P(max_l |z_l| > z) dz²
    return float(np.sum(2 * z * (1 - erf(z / np.sqrt(2)) ** n_signals)) * step)


def lasting_evidence(
    signals: Signals,
    penalties: np.ndarray,
    often: np.ndarray,
    halves: np.ndarray,
    marginal_share: float,
) -> Lasting:
    """Mean over halves h of E[μ²_v | z_hv]^s · (Pratt_hv)^{1-s}, for both expectations.

    Pratt's measure is that of a ridge regression of the half; it is zero where regression and z
    disagree on the sign. Of words that say the same, it hangs on the half which has the weight, and
    on average all have some.

    Parameters
    ----------
    signals : Signals
    penalties : array (signals,)
        Of the ridge regressions of all documents; a half has its part of them.
    often : array (words,)
        n_v, to tell words of like frequency.
    halves : array of bool (documents, pairs)
        The documents of the first half of each pair; the others are the second.
    marginal_share : float
        s.
    """
    weight = np.ones(len(signals.values)) if signals.weight is None else signals.weight
    inside = np.hstack([halves, ~halves])
    part = weight @ inside / weight.sum()
    inside, part = inside[:, part > 0], part[part > 0]
    n_signals, at_once = len(penalties), max(COLUMNS // len(penalties), 1)
    sums = Lasting(*(np.zeros((len(often), n_signals)) for _ in range(2)))
    for first in range(0, len(part), at_once):
        here = slice(first, first + at_once)
        many = _side_by_side(signals, weight[:, None] * inside[:, here])
        matrix, right = normal_equations(many)
        penalty = np.outer(part[here], penalties).ravel()
        ridge = conjugate_gradients(matrix, right, penalty, np.zeros_like(right))
        found = word_evidence(many, ridge)
        joint = found.joint ** (1 - marginal_share)
        for total, expected in ((sums.amount, expected_square), (sums.doubted, doubted_square)):
            amount = expected(found.marginal, often) ** marginal_share * joint
            total += amount.reshape(len(often), -1, n_signals).sum(axis=1)
    return Lasting(sums.amount / len(part), sums.doubted / len(part))


def _side_by_side(signals: Signals, weight: np.ndarray) -> Signals:
    """The same signals once for every column of `weight`, which are zero for documents left out."""
    n_signals = signals.values.shape[1]
    return replace(
        signals,
        values=np.tile(signals.values, weight.shape[1]),
        weight=np.repeat(weight, n_signals, axis=1),
    )


def expected_square(marginal: np.ndarray, often: np.ndarray) -> np.ndarray:
    """E[μ²_v | z_v] = k² z² + k with z ~ N(μ, 1), μ ~ N(0, s), k = s/(1 + s); words x signals.

    s is that of words of like frequency n_v, `often`: what the mean of their z² is above 1, the
    mean of noise, but at least the standard error of such a mean, √(2/m) for m words.
    """
    return _by_frequency(_expected, marginal, often)


def doubted_square(marginal: np.ndarray, often: np.ndarray) -> np.ndarray:
    """E[μ²_v | z_v] = P(μ ≠ 0 | z)·(k² z² + k) where μ is 0 in all but a part π of the words.

    π and s are the most probable ones for words of like frequency (by EM, from a half and what the
    mean of z² then says), π as if one more word had said something and one more nothing.
    """
    return _by_frequency(_doubted, marginal, often)


def _expected(square: np.ndarray) -> np.ndarray:
    spread = np.maximum(square.mean(axis=0) - 1, _least_spread(square))
    return _posterior(square, spread)


def _doubted(square: np.ndarray) -> np.ndarray:
    n_words, least = len(square), _least_spread(square)
    part = np.full(square.shape[1], 0.5)
    spread = np.maximum(2 * (square.mean(axis=0) - 1), least)
    for _ in range(ESTIMATING):
        # log P(z | μ ≠ 0) - log P(z | μ = 0)
        ratio = 0.5 * square * (spread / (1 + spread)) - 0.5 * np.log1p(spread)
        true = expit(ratio + np.log(part / (1 - part)))
        total = true.sum(axis=0)
        part = (total + 1) / (n_words + 2)
        spread = np.maximum(np.sum(true * square, axis=0) / np.maximum(total, 1e-300) - 1, least)
    return true * _posterior(square, spread)


def _posterior(square: np.ndarray, spread: np.ndarray) -> np.ndarray:
    kept = spread / (1 + spread)
    return kept**2 * square + kept


def _least_spread(square: np.ndarray) -> float:
    return float(np.sqrt(2 / len(square)))


def _by_frequency(
    expected: Callable[[np.ndarray], np.ndarray], marginal: np.ndarray, often: np.ndarray
) -> np.ndarray:
    """An expectation for each class of words of like frequency; 0 of words that do not occur."""
    out = np.zeros_like(marginal)
    for own in _classes(often):
        out[own] = expected(marginal[own])
    return out


def _classes(often: np.ndarray) -> Iterator[np.ndarray]:
    """Words of like frequency; those of one frequency are of one class."""
    seen = often > 0
    if not seen.any():
        return
    n_classes = int(np.clip(seen.sum() // WORDS_A_CLASS, 1, CLASSES))
    ends = np.quantile(often[seen], np.arange(1, n_classes) / n_classes)
    place = np.where(seen, np.searchsorted(ends, often), -1)
    for c in range(n_classes):
        own = np.flatnonzero(place == c)
        if len(own):
            yield own
