"""Variances of predictions: the family's own, and what the words leave open of the topic mix."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.estimators.coding import Coding
from topicfocus.families import level_probabilities


def response_variance(
    coding: Coding, family: Any, predictor: np.ndarray, spread: np.ndarray
) -> np.ndarray:
    """Var y ≈ Var(y | f) + (dE[y|f]/df)² Var f, in the units of the target.

    Exact for Gaussian targets: δ + Var f. A target with bounds has at most the variance of a coin
    thrown between them, which the approximation does not know.
    """
    if coding.kind == "gaussian":
        return family.noise_variance + spread
    if coding.kind == "ordinal":
        p = level_probabilities(family, predictor)
        levels = coding.labels.astype(float)
        mean = p @ levels
        below = np.cumsum(p, axis=1)[:, :-1]
        slope = (below * (1 - below)) @ np.diff(levels)
        most = 0.25 * (levels[-1] - levels[0]) ** 2
        return np.minimum(p @ levels**2 - mean**2 + slope**2 * spread, most)
    mean = coding.mean(family, predictor[:, None])
    if coding.kind == "poisson":
        return mean + mean**2 * spread
    return np.minimum(mean * (1 - mean) + (mean * (1 - mean)) ** 2 * spread, 0.25)
