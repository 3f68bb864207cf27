"""The two channels words come from: what both objectives need of β and π."""

from __future__ import annotations

import numpy as np


def update_background(word_count: np.ndarray, inclusion: np.ndarray) -> np.ndarray:
    """π_v ∝ (1-φ_v) n_v. All words relevant: the words' own frequencies, so that π stays a law."""
    weight = (1 - inclusion) * word_count
    total = weight.sum()
    if total <= 0:
        return word_count / word_count.sum()
    return weight / total


def softmax_gradient(gradient: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """∂/∂logits from p∘∂/∂p (a gradient in log p): g - p Σ g, down the columns."""
    return gradient - probabilities * gradient.sum(axis=0)
