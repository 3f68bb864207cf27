"""Held-out figures of predictions, by the kind of target."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.cli.baselines import Predicted

#: Name, how it is printed, and whether more is better.
FIGURES = {
    "rmse": ("RMSE", False),
    "r2": ("R²", True),
    "deviance": ("deviance", False),
    "auc": ("AUC", True),
    "accuracy": ("accuracy", True),
    "log_loss": ("log loss", False),
}


def figures(
    kind: str,
    truth: np.ndarray,
    predicted: Predicted,
    labels: Any,
    weight: np.ndarray | None = None,
) -> dict[str, float]:
    """The figures of one model. `labels` are the classes, or the levels of an ordinal target.

    A document of weight 2 counts like two copies of it, here as in the fit.
    """
    from sklearn import metrics

    out: dict[str, float] = {}
    if kind in ("binary", "classes"):
        p = np.asarray(predicted.probabilities)
        out["auc"] = _auc(truth, p, labels, weight)
        out["accuracy"] = float(np.average(predicted.values == truth, weights=weight))
        out["log_loss"] = float(metrics.log_loss(truth, p, labels=labels, sample_weight=weight))
        return out
    values = np.asarray(predicted.values, dtype=float)
    if kind == "count":
        positive = np.maximum(values, 1e-12)
        deviance = metrics.mean_poisson_deviance(truth, positive, sample_weight=weight)
        out["deviance"] = float(deviance)
    out["rmse"] = float(np.sqrt(np.average((truth - values) ** 2, weights=weight)))
    centre = np.average(truth, weights=weight)
    spread = float(np.average((truth - centre) ** 2, weights=weight))
    out["r2"] = 1.0 - out["rmse"] ** 2 / spread if spread > 0 else float("nan")
    if kind == "ordinal":
        levels = np.asarray(labels, dtype=float)
        if predicted.probabilities is not None:
            guess = levels[np.argmax(predicted.probabilities, axis=1)]
        else:
            guess = levels[np.argmin(np.abs(values[:, None] - levels), axis=1)]
        out["accuracy"] = float(np.average(guess == truth, weights=weight))
    return out


def _auc(truth: np.ndarray, p: np.ndarray, labels: Any, weight: np.ndarray | None) -> float:
    """Of two classes, or the mean over classes of each against the rest."""
    from sklearn.metrics import roc_auc_score

    columns = [1] if len(labels) == 2 else range(len(labels))
    areas = []
    for c in columns:
        positive = truth == labels[c]
        if positive.any() and not positive.all():
            areas.append(roc_auc_score(positive, p[:, c], sample_weight=weight))
    return float(np.mean(areas)) if areas else float("nan")
