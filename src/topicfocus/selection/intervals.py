"""Intervals of effects from fits to complementary halves: selection and shaping included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """Estimates with the ends of their intervals, arrays of one shape, and the level of these."""

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float


def half_sample_intervals(estimate: np.ndarray, halves: np.ndarray, level: float) -> Intervals:
    """Placeholder until coverage is known."""
    difference = halves[:, 0] - halves[:, 1]
    error = np.sqrt(np.mean(difference**2, axis=0)) / 2
    reach = norm.ppf(0.5 + level / 2) * error
    return Intervals(estimate=estimate, low=estimate - reach, high=estimate + reach, level=level)
