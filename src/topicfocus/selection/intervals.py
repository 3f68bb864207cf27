"""Intervals of effects from fits to complementary halves: selection and shaping included.

Let e be an effect in the model, a_b and b_b in the two halves of pair b. Halves are independent and
have twice the variance of a fit to all documents, so Var(a_b - b_b) is four times that variance:

    standard error = ½ √(mean_b (a_b - b_b)²),   centre = ½ (e + mean over all halves).

The model alone would be a poor centre: it chooses words and topics once, and what that choice adds
to its spread the halves average out. The halves alone have the bias of smaller samples. What such
an interval is about is the mean of e over samples of this size, the share of words held at the
model's (`holding_share`); with unlimited documents the topics would be other ones. Measured on
synthetic documents: experiments/COVERAGE.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """Effects with intervals, arrays of one shape.

    Attributes
    ----------
    estimate : array
        Of the model itself.
    centre : array
        The middle of the interval, between the estimate and the mean over halves.
    error : array
        Standard error.
    low, high : arrays
        Ends of the interval.
    level : float
    """

    estimate: np.ndarray
    centre: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float


def half_sample_intervals(estimate: np.ndarray, halves: np.ndarray, level: float) -> Intervals:
    """Intervals of effects; `halves` is pairs x 2 x the shape of `estimate`."""
    if estimate.size == 0:
        return Intervals(
            estimate=estimate,
            centre=estimate,
            error=estimate,
            low=estimate,
            high=estimate,
            level=level,
        )
    difference = halves[:, 0] - halves[:, 1]
    centre = (estimate + halves.mean(axis=(0, 1))) / 2
    error = np.sqrt(np.mean(difference**2, axis=0)) / 2
    reach = float(norm.ppf(0.5 + level / 2)) * error
    return Intervals(
        estimate=estimate,
        centre=centre,
        error=error,
        low=centre - reach,
        high=centre + reach,
        level=level,
    )
