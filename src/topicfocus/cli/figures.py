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


def figures(kind: str, truth: np.ndarray, predicted: Predicted, labels: Any) -> dict[str, float]:
    """The figures of one model. `labels` are the classes, or the levels of an ordinal target."""
    from sklearn import metrics

    out: dict[str, float] = {}
    if kind in ("binary", "classes"):
        p = np.asarray(predicted.probabilities)
        out["auc"] = _auc(truth, p, labels)
        out["accuracy"] = float(np.mean(predicted.values == truth))
        out["log_loss"] = float(metrics.log_loss(truth, p, labels=labels))
        return out
    values = np.asarray(predicted.values, dtype=float)
    if kind == "count":
        positive = np.maximum(values, 1e-12)
        out["deviance"] = float(metrics.mean_poisson_deviance(truth, positive))
    out["rmse"] = float(np.sqrt(np.mean((truth - values) ** 2)))
    spread = float(np.mean((truth - truth.mean()) ** 2))
    out["r2"] = 1.0 - out["rmse"] ** 2 / spread if spread > 0 else float("nan")
    if kind == "ordinal":
        levels = np.asarray(labels, dtype=float)
        if predicted.probabilities is not None:
            guess = levels[np.argmax(predicted.probabilities, axis=1)]
        else:
            guess = levels[np.argmin(np.abs(values[:, None] - levels), axis=1)]
        out["accuracy"] = float(np.mean(guess == truth))
    return out


def _auc(truth: np.ndarray, p: np.ndarray, labels: Any) -> float:
    """Of two classes, or the mean over classes of each against the rest."""
    from sklearn.metrics import roc_auc_score

    columns = [1] if len(labels) == 2 else range(len(labels))
    areas = []
    for c in columns:
        positive = truth == labels[c]
        if positive.any() and not positive.all():
            areas.append(roc_auc_score(positive, p[:, c]))
    return float(np.mean(areas)) if areas else float("nan")
