"""The inverse link of a family that the page does not know, as a curve to look values up in."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Points of the curve. Between them the page uses cubics that have the slopes, too.
_POINTS = 401


def link_curve(family: Any, predictor: np.ndarray) -> dict[str, list[float]]:
    """E[y | f], its slope and Var(y | f) on a grid of f, wider than the documents' by half.

    Beyond it the page goes on along straight lines.
    """
    low, high = (-3.0, 3.0) if not len(predictor) else (predictor.min(), predictor.max())
    reach = max(high - low, 1.0)
    grid = np.linspace(low - 0.5 * reach, high + 0.5 * reach, _POINTS)
    return {
        "f": grid.tolist(),
        "mean": family.mean(grid).tolist(),
        "slope": family.mean_slope(grid).tolist(),
        "variance": family.variance(grid).tolist(),
    }
