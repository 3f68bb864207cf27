"""η and b on given topic mixes: refitted, shrunken to held-out documents, and scored there."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.families import Gaussian, mean_response
from topicfocus.kernels.likelihood import likelihood_table


def refit_coef(
    mixes: np.ndarray, target: np.ndarray, weight: np.ndarray, family: Any, penalty: float = 1e-2
) -> tuple[np.ndarray, float]:
    """η and b of a GLM of the target on given topic mixes, by Newton; K + 1 numbers.

    Mixes are centred, and η has a small penalty, because they sum to one.
    """
    centre = mixes.mean(axis=0)
    design = np.column_stack([mixes - centre, np.ones(len(mixes))])
    ridge = np.full(design.shape[1], penalty)
    ridge[-1] = 1e-9
    family = Gaussian(1.0) if isinstance(family, Gaussian) else family
    level = _level(target, weight, family)
    x = np.zeros(design.shape[1])
    x[-1] = level
    for _ in range(100):
        _, slope, bend, _ = likelihood_table(family, target, design @ x)
        gradient = design.T @ (weight * slope) - ridge * np.append(x[:-1], 0.0)
        curvature = design.T @ (design * (weight * -bend)[:, None]) + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        if not isinstance(family, Gaussian):
            step *= min(1.0, 5.0 / max(np.abs(step).max(), 1e-300))
        x = x + step
        if np.abs(step).max() < 1e-8 * (1 + np.abs(x).max()):
            break
    return x[:-1], float(x[-1] - centre @ x[:-1])


def _level(target: np.ndarray, weight: np.ndarray, family: Any) -> float:
    """The constant predictor that fits the target best, by Newton from zero."""
    x = 0.0
    for _ in range(50):
        _, slope, bend, _ = likelihood_table(family, target, np.full(len(target), x))
        step = (weight @ slope) / max(-(weight @ bend), 1e-12)
        x += float(np.clip(step, -5.0, 5.0)) if not isinstance(family, Gaussian) else float(step)
        if abs(step) < 1e-10 * (1 + abs(x)):
            break
    return x


def shrink_to_held_out(
    predictor: np.ndarray, target: np.ndarray, family: Any
) -> tuple[float, float]:
    """(s, t): predictor ← s + t·predictor on documents not trained on, t in [0.1, 1].

    η is fitted to the documents that shaped the topics, and so is too sure of itself; only ever
    shrunken, never stretched.
    """
    family = Gaussian(1.0) if isinstance(family, Gaussian) else family
    one = np.ones(len(target))
    slope, _ = refit_coef(predictor[:, None], target, one, family, penalty=1e-6)
    factor = float(np.clip(slope[0], 0.1, 1.0))
    shift = 0.0
    for _ in range(50):
        _, first, second, _ = likelihood_table(family, target, shift + factor * predictor)
        step = first.sum() / max(-second.sum(), 1e-12)
        shift += (
            float(np.clip(step, -2.0, 2.0)) if not isinstance(family, Gaussian) else float(step)
        )
        if abs(step) < 1e-10:
            break
    return shift, factor


def pointwise_deviance(target: np.ndarray, predictor: np.ndarray, family: Any) -> np.ndarray:
    """(y - μ)² for a Gaussian target, -log p(y) for classes, |predictor| up to 20."""
    if isinstance(family, Gaussian):
        return (target - mean_response(family, predictor)) ** 2
    return -likelihood_table(family, target, np.clip(predictor, -20.0, 20.0))[0]


def explained_share(target: np.ndarray, predictor: np.ndarray, family: Any) -> float:
    """1 - deviance/null deviance: R² for a Gaussian target, McFadden's for classes."""
    family = Gaussian(1.0) if isinstance(family, Gaussian) else family
    null = np.full(len(target), _level(target, np.ones(len(target)), family))
    worst = float(pointwise_deviance(target, null, family).sum())
    return 1.0 - float(pointwise_deviance(target, predictor, family).sum()) / worst
