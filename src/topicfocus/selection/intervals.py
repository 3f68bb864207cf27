"""Intervals of effects from complementary halves: selection and shaping included.

A topic that was found is a function of the documents, and so is what it moves: the estimand is
τ(S), what the very topics S that were found would move in all documents there are, η being the
regression of the target on their mixes. The model's e is too sure of it, because the same documents
chose words, shaped topics and gave η. Halves tell by how much. Let a be an effect in a half's model
and a′ the effect of the *same* topics with η estimated from the other half, which had no part in
finding them. Given these topics a′ is unbiased for τ and independent of a, so

    E[a - a′] = E[a - τ] = optimism of n/2 documents,
    Var(a - a′) = Var(a - τ) + Var(a′ - τ).

What is wanted is the first term, from n/2 documents twice σ² = Var(e - τ) of n, as optimism is
twice that of n. The second is known from the halves of the other half: each has twice its variance,
so it is E[(a′₁ - a′₂)²]/4 =: V. Having found the topics as well, a varies no less than a′, so that
V is at most half of D = Var(a - a′):

    centre = e - ½ mean(a - a′),   σ² = ½ (D - V) = ½ D (1 - V/D),   ¼ D ≤ σ² ≤ ½ D.

D is that of each effect; V/D, the median over effects, since single ones are noisy. The two
differences of a pair go against each other, so B pairs know D as well as B numbers know their
variance, and the ends are those of Student's t with B - 1 degrees of freedom.

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
    estimate: np.ndarray,
    halves: np.ndarray,
    elsewhere: np.ndarray,
    noise: np.ndarray,
    level: float,
) -> Intervals:
    """Intervals of effects; the three after `estimate` are pairs x 2 x its shape.

    `elsewhere` has the effects of each half's topics estimated from the other half, `noise` what
    tells V.
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
    spread = optimism.var(axis=0, ddof=1)
    ratio = noise.reshape(-1, *estimate.shape).mean(axis=0) / np.maximum(spread, 1e-300)
    error = np.sqrt(spread * (1 - np.clip(np.median(ratio, axis=0), 0.0, 0.5)) / 2)
    reach = float(student.ppf(0.5 + level / 2, len(halves) - 1)) * error
    return Intervals(
        estimate=estimate,
        centre=centre,
        error=error,
        low=centre - reach,
        high=centre + reach,
        level=level,
    )
