"""Intervals of effects from complementary halves: selection and shaping included.

A topic that was found is a function of the documents, and so is what it moves: the estimand is
τ(S), what the very topics S that were found would move in all documents there are, η being the
regression of the target on their mixes. The model's e is too sure of it, because the same documents
chose words, shaped topics and gave η. Halves tell by how much. Let a be an effect in a half's model
and a′ the effect of the *same* topics with η estimated from the other half, which had no part in
finding them. Given these topics a′ is unbiased for τ, so

    E[a - a′] = E[a - τ] = optimism of n/2 documents,
    Var(a - a′) = Var(a - τ) + Var(a′ - τ) = 2·(2σ²),

σ² being Var(e - τ) of n documents: variances and optimism are twice as large from n/2 documents as
from n, and both terms are taken to be alike. With means and deviations over all halves

    centre = e - ½ mean(a - a′),   standard error = ½ sd(a - a′).

The two differences of a pair go against each other, so B pairs know the standard error as well as B
numbers know theirs, and the ends are those of Student's t with B - 1 degrees of freedom.

Measured on synthetic documents, also for other truths one may ask for: experiments/COVERAGE.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """Effects with intervals, arrays of one shape.

    Attributes
    ----------
    estimate : array
        Of the model itself.
    centre : array
        The middle of the interval: the estimate less its optimism.
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


def half_sample_intervals(
    estimate: np.ndarray, halves: np.ndarray, elsewhere: np.ndarray, level: float
) -> Intervals:
    """Intervals of effects; `halves` and `elsewhere` are pairs x 2 x the shape of `estimate`.

    `elsewhere` has the effects of each half's topics estimated from the other half.
    """
    if estimate.size == 0:
        return Intervals(
            estimate=estimate,
            centre=estimate,
            error=estimate,
            low=estimate,
            high=estimate,
            level=level,
        )
    optimism = (halves - elsewhere).reshape(-1, *estimate.shape)
    centre = estimate - optimism.mean(axis=0) / 2
    error = optimism.std(axis=0, ddof=1) / 2
    reach = float(student.ppf(0.5 + level / 2, len(halves) - 1)) * error
    return Intervals(
        estimate=estimate,
        centre=centre,
        error=error,
        low=centre - reach,
        high=centre + reach,
        level=level,
    )
