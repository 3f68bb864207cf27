"""Statistics of words as functions of sums over documents, which a stream can add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from topicfocus.focused.ridge import Signals
from topicfocus.passes import row_sums, transposed_dots

#: Tokens added to those of each word, so that the slopes of rare words are close to zero.
SLOPE_TOKENS = 5.0
#: s, the weight of the marginal score in the screening statistic.
MARGINAL_SHARE = 2 / 3


@dataclass(frozen=True)
class WordStatistics:
    """z² and Pratt's measure of every word, scaled to equal sums; words x signals."""

    marginal: np.ndarray
    joint: np.ndarray

    def combined(self) -> np.ndarray:
        """E_v = max over signals of (z²_v)^s (Pratt_v)^{1-s}."""
        return (self.marginal**MARGINAL_SHARE * self.joint ** (1 - MARGINAL_SHARE)).max(axis=1)

    @staticmethod
    def beside(parts: Sequence[WordStatistics]) -> WordStatistics:
        """The statistics for the signals of several targets."""
        return WordStatistics(
            np.hstack([p.marginal for p in parts]), np.hstack([p.joint for p in parts])
        )


@dataclass(frozen=True)
class SignalSums:
    """Sums over documents, with words x (√counts), signals r, l = Σ_v x_v and weights w.

    Arrays of "weights" have one column if documents have one weight, otherwise one per signal.

    Attributes
    ----------
    size, length : arrays (weights,)
        Σ w, Σ w l
    value, square, length_value, length_square : arrays (signals,)
        Σ w r, Σ w r², Σ w l r, Σ w l r²
    words, word_squares : arrays (words, weights)
        Σ w x, Σ w x²
    word_values : array (words, signals)
        Σ w x r
    """

    size: np.ndarray
    length: np.ndarray
    value: np.ndarray
    square: np.ndarray
    length_value: np.ndarray
    length_square: np.ndarray
    words: np.ndarray
    word_squares: np.ndarray
    word_values: np.ndarray

    @staticmethod
    def of(signals: Signals) -> SignalSums:
        x, r = signals.words, signals.values
        w = np.ones(len(r)) if signals.weight is None else signals.weight
        w = w.reshape(len(r), -1)
        length = w * row_sums(x, signals.n_jobs)[:, None]
        sums, squares = transposed_dots(x, np.hstack([w, w * r]), w, signals.n_jobs)
        n = w.shape[1]
        return SignalSums(
            w.sum(axis=0),
            length.sum(axis=0),
            (w * r).sum(axis=0),
            (w * r**2).sum(axis=0),
            (length * r).sum(axis=0),
            (length * r**2).sum(axis=0),
            sums[:, :n].copy(),
            squares,
            sums[:, n:].copy(),
        )

    @staticmethod
    def zero(n_words: int, n_signals: int) -> SignalSums:
        """The sums over no documents."""
        one, each, words = np.zeros(1), np.zeros(n_signals), np.zeros((n_words, 1))
        by_word = np.zeros((n_words, n_signals))
        return SignalSums(one, one, each, each, each, each, words, words, by_word)

    def __add__(self, other: SignalSums) -> SignalSums:
        return SignalSums(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def scale(self, factor: float) -> SignalSums:
        return SignalSums(*(factor * getattr(self, f.name) for f in fields(self)))

    @property
    def _mean(self) -> np.ndarray:
        return self.value / self.size

    @property
    def _covariance(self) -> np.ndarray:
        """Σ w x (r - r̄)."""
        return self.word_values - self.words * self._mean

    @property
    def _variance(self) -> np.ndarray:
        return np.maximum(self.square / self.size - self._mean**2, 1e-300)

    def statistics(self, weights: np.ndarray) -> WordStatistics:
        """z² and Pratt's measure, given the `weights` of ridge regressions, words x signals."""
        variance = np.maximum(self.word_squares / self.size - (self.words / self.size) ** 2, 1e-12)
        marginal = self._covariance**2 / (self.size * variance * self._variance)
        joint = np.maximum(weights * self._covariance, 0.0)
        # Fractions first: a class without documents has weights of zero, and no quotient is finite.
        fractions = joint / np.maximum(joint.sum(axis=0), 1e-300)
        return WordStatistics(marginal, fractions * marginal.sum(axis=0))

    def slopes(self) -> np.ndarray:
        """Slopes of inverse regressions: word v has a rate ∝ exp(slope_v·r), r standardised."""
        mean, deviation = self._mean, np.sqrt(self._variance)
        length = np.maximum(self.length, 1e-300)
        centre = (self.length_value - mean * self.length) / (deviation * length)
        around = self.length_square - 2 * mean * self.length_value + mean**2 * self.length
        spread = np.maximum(around / (deviation**2 * length) - centre**2, 0.0)
        away = self._covariance / deviation - self.words * centre
        return away / (self.words * spread + SLOPE_TOKENS)


@dataclass(frozen=True)
class Past:
    """Documents no longer in memory: sums of the signals of each target, n_v, and their number."""

    sums: tuple[SignalSums, ...]
    word_count: np.ndarray
    size: float

    def __add__(self, other: Past) -> Past:
        return Past(
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
            self.word_count + other.word_count,
            self.size + other.size,
        )

    def scale(self, factor: float) -> Past:
        sums = tuple(s.scale(factor) for s in self.sums)
        return Past(sums, factor * self.word_count, factor * self.size)
