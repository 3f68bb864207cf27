"""How good predictions are: figures, calibration and ROC curves, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from topicfocus.estimators.coding import Coding
from topicfocus.families import target_interval, target_kind

_BINS = 10
_CURVE = 101
#: 80% of a normal distribution lies within so many standard deviations.
Z80 = 1.2815515655446004
#: And 95% within so many.
Z95 = 1.959963984540054


def figures(
    coding: Coding, truth: np.ndarray, predicted: np.ndarray, std: np.ndarray | None = None
) -> dict[str, float]:
    """Figures of merit of one target; `truth` in its own units, or class codes.

    `predicted`: numbers, or probabilities documents x classes.
    """
    if coding.is_class:
        n_classes = predicted.shape[1]
        chosen = np.clip(predicted[np.arange(len(truth)), truth.astype(int)], 1e-15, 1.0)
        areas = [auc(truth == c, predicted[:, c]) for c in range(n_classes)]
        areas = [areas[1]] if n_classes == 2 else areas
        return {
            "accuracy": float(np.mean(predicted.argmax(axis=1) == truth)),
            "AUC": float(np.mean(areas)),
            "log loss": float(-np.mean(np.log(chosen))),
        }
    error = truth - predicted
    out = {
        "RMSE": float(np.sqrt(np.mean(error**2))),
        "mean absolute error": float(np.mean(np.abs(error))),
    }
    spread = float(np.mean((truth - truth.mean()) ** 2))
    if spread > 0:
        out["R²"] = 1 - float(np.mean(error**2)) / spread
    if target_kind(coding.family) == "count":
        mean = np.maximum(predicted, 1e-300)
        safe = np.where(truth > 0, truth, 1.0)
        deviance = truth * np.log(safe / mean) - (truth - mean)
        out["mean deviance"] = float(2 * np.mean(deviance))
    if std is not None:
        low, high = target_interval(coding.family, predicted, std, Z80, coding.labels)
        out["in the 80% interval"] = float(np.mean((low <= truth) & (truth <= high)))
    return out


def auc(positive: np.ndarray, score: np.ndarray) -> float:
    """Area under the ROC curve; ½ where there is only one class."""
    if positive.all() or not positive.any():
        return 0.5
    return float(roc_auc_score(positive, score))


def roc(positive: np.ndarray, score: np.ndarray) -> dict[str, Any]:
    """The curve, thinned to about a hundred points, and its area."""
    fpr, tpr = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    if positive.any() and not positive.all():
        fpr, tpr, _ = roc_curve(positive, score, drop_intermediate=False)
    if len(fpr) > _CURVE:
        keep = np.unique(np.linspace(0, len(fpr) - 1, _CURVE).astype(int))
        fpr, tpr = fpr[keep], tpr[keep]
    return {"x": rounded(fpr), "y": rounded(tpr), "auc": auc(positive, score)}


def calibration(truth: np.ndarray, predicted: np.ndarray, shares: bool) -> dict[str, Any]:
    """Mean prediction and mean target of tenths of the documents, by prediction.

    `low` and `high` are the ends of 95% intervals: Wilson's for `shares` (targets 0 and 1), which
    has a width where a tenth holds one class only; mean ± 1.96 standard errors otherwise.
    """
    order = np.argsort(predicted, kind="stable")
    parts = [p for p in np.array_split(order, min(_BINS, max(1, len(order) // 5))) if len(p)]
    n = np.array([len(p) for p in parts])
    mean = np.array([truth[p].mean() for p in parts])
    if shares:
        middle = (mean + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
        reach = np.sqrt(mean * (1 - mean) / n + (Z95 / (2 * n)) ** 2) * Z95 / (1 + Z95**2 / n)
    else:
        middle = mean
        reach = Z95 * np.array([truth[p].std() for p in parts]) / np.sqrt(n)
    return {
        "x": rounded([predicted[p].mean() for p in parts]),
        "y": rounded(mean),
        "low": rounded(middle - reach),
        "high": rounded(middle + reach),
        "n": n.tolist(),
    }


def rounded(values: Any, digits: int = 6) -> list[float | None]:
    """Floats of so many significant digits, as JSON should show them; None for NaN."""
    return [
        float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.asarray(values).ravel()
    ]
