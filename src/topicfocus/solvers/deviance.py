"""How well a predictor fits documents: deviances, what they explain, and shrinking to documents.

Predictors are those of `linear`; documents are usually ones that it was not fitted to.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from topicfocus.families import common, is_quadratic
from topicfocus.kernels.likelihood import class_rows, in_blocks, likelihood_rows
from topicfocus.solvers.linear import Column, fit_slope, level, solved


def shrink(column: Column, predictor: np.ndarray) -> tuple[np.ndarray, float]:
    """(s, t): predictor ← s + t·predictor on documents not trained on, t in [0.1, 1].

    η is fitted to the documents that shaped the topics, and so is too sure of itself; only ever
    shrunken, never stretched. `predictor` comes without the offset.
    """
    if column.width > 1:
        factor = _class_factor(column, predictor)
    else:
        # Thresholds stay as they are: the predictor is moved, not the levels.
        centre = np.average(predictor, axis=0, weights=column.weight)
        factor = fit_slope(column, predictor, centre)
    factor = float(np.clip(factor, 0.1, 1.0))
    return level_beside(column, factor * predictor), factor


def level_beside(column: Column, predictor: np.ndarray) -> np.ndarray:
    """The constants that fit the target best when they are added to a given predictor.

    For a number, a count or a class the mean of the predictions is then the mean of the target.
    `predictor` comes without the offset.
    """
    moved = replace(column, offset=column.offset + predictor)
    return level(moved) if column.width == 1 else _class_shift(moved)


def _class_factor(column: Column, predictor: np.ndarray) -> float:
    """t of f = t·predictor + constants, by Newton's steps in t and the constants together.

    Constants, of which one is free, have a ridge of 1e-9 beside a mean over documents; that of a
    class nobody has sinks.
    """
    w = column.weight / column.weight.sum()
    seen = np.bincount(column.target.astype(int), w, column.width)
    own = w @ predictor[np.arange(len(predictor)), column.target.astype(int)]
    x = np.zeros(1 + column.width)
    x[0] = 1.0
    curvature = np.empty((len(x), len(x)))
    for _ in range(30):
        f = column.offset + x[0] * predictor + x[1:]
        p = in_blocks(class_rows, column.target, f)[1]
        mean, expected = np.sum(p * predictor, axis=1), w @ p
        gradient = np.append(own - w @ mean, seen - expected - 1e-9 * x[1:])
        curvature[0, 0] = w @ (np.sum(p * predictor**2, axis=1) - mean**2)
        curvature[0, 1:] = curvature[1:, 0] = w @ (p * (predictor - mean[:, None]))
        curvature[1:, 1:] = np.diag(expected + 1e-9) - (w[:, None] * p).T @ p
        step = solved(curvature + 1e-12 * np.eye(len(x)), gradient)
        step /= max(1.0, abs(step[0]) / 0.5, np.abs(step[1:]).max() / 3.0)
        x += step
        x[0] = np.clip(x[0], 0.0, 2.0)
        if np.abs(step[np.append(True, seen > 0)]).max() < 1e-10:
            break
    return float(x[0])


def _class_shift(column: Column, start: np.ndarray | None = None) -> np.ndarray:
    """Constants that make the mean probabilities those observed (iterative scaling)."""
    shift = np.zeros(column.width) if start is None else start
    seen = np.bincount(column.target.astype(int), column.weight, column.width) + 1e-3
    for _ in range(300):
        p = in_blocks(class_rows, column.target, column.offset + shift)[1]
        expected = column.weight @ p + 1e-3
        step = np.log(seen / expected)
        shift = shift + step
        if np.abs(step).max() < 1e-12:
            break
    return shift - shift.mean()


def deviance(column: Column, predictor: np.ndarray) -> np.ndarray:
    """(y - f)² where log p is quadratic, else -log p(y) with |f| up to 20; the offset is in f."""
    if is_quadratic(column.family):
        return (column.target - predictor[:, 0]) ** 2
    limited = np.clip(predictor, -20.0, 20.0)
    return -_likelihood_rows(column, limited)[0]


def null_deviance(column: Column) -> float:
    """Weighted mean deviance of the best constant; a saturated level still counts for something."""
    worst = np.average(deviance(column, column.offset + level(column)), weights=column.weight)
    return max(float(worst), 1e-12)


def explained_share(column: Column, predictor: np.ndarray) -> float:
    """1 - deviance/null deviance: R² for a Gaussian target, McFadden's otherwise."""
    mine = np.average(deviance(column, predictor), weights=column.weight)
    return 1.0 - float(mine) / null_deviance(column)


def residuals(column: Column, predictor: np.ndarray) -> np.ndarray:
    """∂ log p(y | f)/∂f, known documents x predictors: what the predictor leaves to explain.

    y - f for a Gaussian target, y - p for two classes, one column a class for more.
    """
    return _likelihood_rows(column, predictor)[1]


def _likelihood_rows(column: Column, predictor: np.ndarray) -> tuple[np.ndarray, ...]:
    """log p(y | f) of known documents and its gradient in f."""
    one = np.ones((len(column.target), 1))
    rows = partial(likelihood_rows, common(column.family))
    return in_blocks(rows, column.target[:, None], one, predictor)


def significantly_more(
    loss: np.ndarray, other: np.ndarray, weight: np.ndarray, tolerance: float
) -> bool:
    """Whether `loss` is above `other` by more than `tolerance` paired standard errors."""
    more, error = mean_and_error(loss - other, weight)
    return more > tolerance * error


def mean_and_error(values: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """The mean of some documents' values, and its standard error.

    A document of weight 2 is two copies, so n is the sum of the weights. The error of a single
    document is not known, and called zero.
    """
    size = float(weight.sum())
    mean = float(weight @ values) / size
    if size < 2:
        return mean, 0.0
    variance = float(weight @ (values - mean) ** 2) / (size - 1)
    return mean, math.sqrt(variance / size)
