"""The evidence of words from sums over documents, for documents that are no longer at hand.

Evidence and slopes (`inference.focused.evidence`) need only sums over documents of words, their
squares and their products with the signal. Such sums can be added, so a stream keeps them of the
documents that have gone by.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from topicfocus.focused.screening_statistics import Evidence, Signals
from topicfocus.inference.passes import row_sums, transposed_dots


@dataclass(frozen=True)
class SignalMoments:
    """Sums over documents, x being words (√counts), r the signals, l = Σ_v x_v, w the weight.

    Attributes
    ----------
    size, value, square : Σ w, and arrays (signals,) Σ w r, Σ w r²
    length, length_value, length_square : Σ w l, and arrays (signals,) Σ w l r, Σ w l r²
    words, word_squares : arrays (words,)
        Σ w x, Σ w x²
    word_values : array (words, signals)
        Σ w x r
    """

    size: float
    value: np.ndarray
    square: np.ndarray
    length: float
    length_value: np.ndarray
    length_square: np.ndarray
    words: np.ndarray
    word_squares: np.ndarray
    word_values: np.ndarray

    @staticmethod
    def of(signals: Signals) -> SignalMoments:
        x, r = signals.words, signals.values
        w = np.ones(len(r)) if signals.weight is None else signals.weight
        length = w * row_sums(x, signals.n_jobs)
        both = np.column_stack([w, w[:, None] * r])
        sums, squares = transposed_dots(x, both, w[:, None], signals.n_jobs)
        return SignalMoments(
            float(w.sum()),
            w @ r,
            w @ r**2,
            float(length.sum()),
            length @ r,
            length @ r**2,
            sums[:, 0].copy(),
            squares[:, 0],
            sums[:, 1:].copy(),
        )

    @staticmethod
    def zero(n_words: int, n_signals: int) -> SignalMoments:
        """Of no documents."""
        none, words = np.zeros(n_signals), np.zeros(n_words)
        return SignalMoments(
            0.0, none, none, 0.0, none, none, words, words, np.zeros((n_words, n_signals))
        )

    def __add__(self, other: SignalMoments) -> SignalMoments:
        return SignalMoments(
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(self))
        )

    def scale(self, factor: float) -> SignalMoments:
        return SignalMoments(*(factor * getattr(self, f.name) for f in fields(self)))

    @property
    def _centred_values(self) -> np.ndarray:
        """Σ w x (r - r̄)."""
        return self.word_values - np.outer(self.words, self.value / self.size)

    @property
    def _variance(self) -> np.ndarray:
        mean = self.value / self.size
        return np.maximum(self.square / self.size - mean**2, 1e-300)

    def evidence(self, weights: np.ndarray) -> Evidence:
        """As `word_evidence`: z² and Pratt's measure, given the weights of ridge regressions."""
        variance = np.maximum(self.word_squares / self.size - (self.words / self.size) ** 2, 1e-12)
        covariance = self._centred_values
        marginal = covariance**2 / (self.size * variance[:, None] * self._variance)
        joint = np.maximum(weights * covariance, 0.0)
        joint *= marginal.sum(axis=0) / np.maximum(joint.sum(axis=0), 1e-300)
        return Evidence(marginal, joint)

    def slopes(self) -> np.ndarray:
        """As `target_slopes`."""
        mean, size = self.value / self.size, np.sqrt(self._variance)
        total = max(self.length, 1e-300)
        centre = (self.length_value - mean * self.length) / (size * total)
        around = self.length_square - 2 * mean * self.length_value + mean**2 * self.length
        spread = np.maximum(around / (size**2 * total) - centre**2, 0.0)
        away = self._centred_values / size - np.outer(self.words, centre)
        return away / (np.outer(self.words, spread) + 5.0)


@dataclass(frozen=True)
class Past:
    """Documents no longer at hand: moments of each target's signals, n_v, their number."""

    moments: tuple[SignalMoments, ...]
    word_count: np.ndarray
    size: float

    def __add__(self, other: Past) -> Past:
        return Past(
            tuple(a + b for a, b in zip(self.moments, other.moments, strict=True)),
            self.word_count + other.word_count,
            self.size + other.size,
        )

    def scale(self, factor: float) -> Past:
        return Past(
            tuple(m.scale(factor) for m in self.moments),
            factor * self.word_count,
            factor * self.size,
        )
