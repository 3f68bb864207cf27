"""The evidence of words from sums over documents, for documents that are no longer at hand.

Evidence and slopes (`inference.evidence`) need only sums over documents of words, their squares
and their products with the signal. Such sums can be added, so a stream keeps them of the
documents that have gone by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from topicfocus.inference.evidence import Evidence, Signal


@dataclass(frozen=True)
class SignalMoments:
    """Sums over documents, x being words (√counts), r the signal, l = Σ_v x_v, w the weight.

    Attributes
    ----------
    size, value, square : Σ w, Σ w r, Σ w r²
    length, length_value, length_square : Σ w l, Σ w l r, Σ w l r²
    words, word_squares, word_values : arrays (words,)
        Σ w x, Σ w x², Σ w x r
    """

    size: float
    value: float
    square: float
    length: float
    length_value: float
    length_square: float
    words: np.ndarray
    word_squares: np.ndarray
    word_values: np.ndarray

    @staticmethod
    def of(signal: Signal) -> SignalMoments:
        x, r = signal.words, signal.value
        w = np.ones(len(r)) if signal.weight is None else signal.weight
        length = w * np.asarray(x.sum(axis=1)).ravel()
        return SignalMoments(
            float(w.sum()),
            float(w @ r),
            float(w @ r**2),
            float(length.sum()),
            float(length @ r),
            float(length @ r**2),
            x.T @ w,
            x.multiply(x).T @ w,
            x.T @ (w * r),
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
        return self.word_values - self.value / self.size * self.words

    @property
    def _variance(self) -> float:
        mean = self.value / self.size
        return max(self.square / self.size - mean**2, 1e-300)

    def evidence(self, weights: np.ndarray) -> Evidence:
        """As `word_evidence`: z² and Pratt's measure, given the weights of a ridge regression."""
        variance = np.maximum(self.word_squares / self.size - (self.words / self.size) ** 2, 1e-12)
        covariance = self._centred_values
        marginal = covariance**2 / (self.size * variance * self._variance)
        joint = np.maximum(weights * covariance, 0.0)
        joint *= marginal.sum() / max(joint.sum(), 1e-300)
        return Evidence(marginal, joint)

    def slopes(self) -> np.ndarray:
        """As `target_slopes`."""
        mean, size = self.value / self.size, math.sqrt(self._variance)
        total = max(self.length, 1e-300)
        centre = (self.length_value - mean * self.length) / (size * total)
        around = self.length_square - 2 * mean * self.length_value + mean**2 * self.length
        spread = max(around / (size**2 * total) - centre**2, 0.0)
        return (self._centred_values / size - centre * self.words) / (self.words * spread + 5.0)


@dataclass(frozen=True)
class Past:
    """Documents no longer at hand: moments of each signal, n_v of all counts, their number."""

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
