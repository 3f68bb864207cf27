"""How good predictions are: figures, calibration and ROC curves, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus import metrics
from topicfocus.estimators.coding import Coding

_CURVE = 101
#: Of the intervals that the page shows.
COVERAGE = 0.8


def figures(
    coding: Coding,
    truth: np.ndarray,
    predicted: np.ndarray,
    interval: tuple[np.ndarray, np.ndarray] | None = None,
) -> dict[str, float]:
    """Figures of merit of one target; `truth` in its own units, or class codes.

    `predicted`: numbers, or probabilities documents x classes. `interval`: of numbers, both ends.
    """
    if coding.is_class:
        labels = np.arange(predicted.shape[1])
        return {
            "accuracy": metrics.accuracy(truth, predicted.argmax(axis=1)),
            "AUC": metrics.auc(truth, predicted, labels=labels, undefined=0.5),
            "log loss": metrics.log_loss(truth, predicted, labels),
        }
    out = {
        "RMSE": metrics.rmse(truth, predicted),
        "mean absolute error": float(np.mean(np.abs(truth - predicted))),
    }
    share = metrics.r2(truth, predicted)
    if np.isfinite(share):
        out["R²"] = share
    if coding.family.kind == "count":
        out["mean deviance"] = metrics.poisson_deviance(truth, predicted)
    if interval is not None:
        low, high = interval
        out["in the 80% interval"] = float(np.mean((low <= truth) & (truth <= high)))
    return out


def roc(positive: np.ndarray, score: np.ndarray) -> dict[str, Any]:
    """The curve, thinned to about a hundred points, and its area (½ of one class only)."""
    fpr, tpr = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    if positive.any() and not positive.all():
        fpr, tpr = metrics.roc_curve(positive, score)
    if len(fpr) > _CURVE:
        keep = np.unique(np.linspace(0, len(fpr) - 1, _CURVE).astype(int))
        fpr, tpr = fpr[keep], tpr[keep]
    area = metrics.auc(positive, score, undefined=0.5)
    return {"x": rounded(fpr), "y": rounded(tpr), "auc": area}


def calibration(truth: np.ndarray, predicted: np.ndarray, shares: bool) -> dict[str, Any]:
    """`metrics.calibration` of tenths of the documents."""
    found = metrics.calibration(truth, predicted, shares=shares)
    return {
        "x": rounded(found.predicted),
        "y": rounded(found.observed),
        "low": rounded(found.low),
        "high": rounded(found.high),
        "n": found.n.tolist(),
    }


def confusion(truth: np.ndarray, predicted: np.ndarray) -> list[list[int]]:
    """Documents by actual class (rows) and the most probable one (columns)."""
    n = predicted.shape[1]
    pairs = truth.astype(int) * n + predicted.argmax(axis=1)
    return np.bincount(pairs, minlength=n * n).reshape(n, n).tolist()


def rounded(values: Any, digits: int = 6) -> list[float | None]:
    """Floats of so many significant digits, as JSON should show them; None for NaN."""
    return [
        float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.asarray(values).ravel()
    ]
