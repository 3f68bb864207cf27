"""Predictions of all documents, and how good they are: metrics, calibration, ROC curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus import metrics
from topicfocus.estimators.targets import Coding
from topicfocus.report.inputs import Inputs

#: Points of a curve.
_POINTS = 101
#: Coverage of the prediction intervals in the page.
COVERAGE = 0.8


@dataclass(frozen=True)
class Predictions:
    """Predictions for every document.

    Attributes
    ----------
    mixes, composition : arrays (documents, topics)
        Topic proportions θ̂, which predictions come from, and token proportions.
    predictor, offset : arrays (documents, predictors)
        f, and its part without topics and covariates: b + log E.
    covariates : array (documents, covariates) or None
    mean : list of arrays, one per target: numbers, or probabilities documents x classes
    interval : list of pairs of arrays or None, one per target
        Ends of the 80% interval of a number.
    """

    mixes: np.ndarray
    composition: np.ndarray
    predictor: np.ndarray
    offset: np.ndarray
    covariates: np.ndarray | None
    mean: list[np.ndarray]
    interval: list[tuple[np.ndarray, np.ndarray] | None]


def predict_all(inputs: Inputs, exposure: Any = None, covariates: Any = None) -> Predictions:
    """Predict all documents in one pass."""
    fitted, n_jobs = inputs.fitted, inputs.model.n_jobs
    if not inputs.n_docs:
        topics = np.zeros((0, fitted.state.n_topics))
        bare = np.zeros((0, fitted.state.n_predictors))
        mean = [np.zeros((0, c.n_labels) if c.is_class else 0) for c in inputs.codings]
        return Predictions(topics, topics, bare, bare, None, mean, [None for _ in mean])
    documents = fitted.documents(inputs.counts, None, exposure, covariates)
    mixes = fitted.mixes(documents.corpus, n_jobs)
    predictor = fitted.predictors(documents, mixes, n_jobs)
    offset = np.zeros((inputs.n_docs, fitted.state.n_predictors)) + fitted.state.intercept
    if documents.offset is not None:
        offset = offset + documents.offset
    variance = fitted.predictor_variance(documents.corpus, mixes, n_jobs)
    mean, interval = [], []
    for part in fitted.parts:
        is_class = part.coding.is_class
        mean.append(part.probabilities(predictor) if is_class else part.mean(predictor))
        interval.append(None if is_class else part.interval(predictor, variance, COVERAGE))
    shares = fitted.token_proportions(documents.corpus, mixes)
    return Predictions(mixes, shares, predictor, offset, documents.covariates, mean, interval)


def read_baselines(inputs: Inputs, given: Any) -> dict[str, list[np.ndarray]]:
    """Predictions of other models, one array per target."""
    out: dict[str, list[np.ndarray]] = {}
    for name, predictions in dict(given or {}).items():
        parts = [predictions] if len(inputs.codings) == 1 else predictions
        if len(inputs.codings) > 1 and isinstance(predictions, np.ndarray):
            parts = list(predictions.T)
        columns = []
        for coding, part in zip(inputs.codings, parts, strict=True):
            column = np.asarray(part, dtype=float)
            if coding.is_class and column.ndim == 1:
                column = np.column_stack([1 - column, column])
            if coding.is_class and column.shape[1] != coding.n_labels:
                raise ValueError(
                    f"the baseline {name!r} has {column.shape[1]} columns, but there are "
                    f"{coding.n_labels} classes: give probabilities, one column per class."
                )
            if len(column) != inputs.n_docs:
                raise ValueError(
                    f"the baseline {name!r} predicts {len(column)} documents, but there are "
                    f"{inputs.n_docs}."
                )
            columns.append(column)
        out[str(name)] = columns
    return out


def evaluate(
    inputs: Inputs, found: Predictions, baselines: dict[str, list[np.ndarray]]
) -> list[dict[str, Any] | None]:
    """Metrics and curves of each target over all documents with a known target."""
    out: list[dict[str, Any] | None] = []
    for t, coding in enumerate(inputs.codings):
        known = np.zeros(0, dtype=bool)
        if inputs.codes is not None and inputs.n_docs:
            known = np.isfinite(inputs.codes[:, t])
        if inputs.codes is None or known.sum() < 2:
            out.append(None)
            continue
        truth = coding.decode_levels(inputs.codes[known, t])
        mean, ends = found.mean[t][known], found.interval[t]
        rows = {"this model": _metrics(coding, truth, mean)}
        if ends is not None:
            covered = metrics.coverage(truth, ends[0][known], ends[1][known])
            rows["this model"]["in the 80% interval"] = covered
        for name, predicted in baselines.items():
            rows[name] = _metrics(coding, truth, predicted[t][known])
        record: dict[str, Any] = {"n": int(known.sum()), "figures": rows}
        if coding.is_class:
            right = (mean.argmax(axis=1) == truth).astype(float)
            by_class = [(truth == c, mean[:, c]) for c in range(mean.shape[1])]
            record["roc"] = [_roc(positive, p) for positive, p in by_class]
            record["calibration"] = [_calibration(y.astype(float), p, True) for y, p in by_class]
            record["confusion"] = _confusion(truth, mean)
            # Accuracy of the predicted class by its probability.
            record["certainty"] = _calibration(right, mean.max(axis=1), True)
        else:
            record["calibration"] = [_calibration(truth, mean, False)]
        out.append(record)
    return out


def _metrics(coding: Coding, truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Metrics of one target; `predicted` are numbers, or probabilities documents x classes."""
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
    r2 = metrics.r2(truth, predicted)
    if np.isfinite(r2):
        out["R²"] = r2
    if coding.family.kind == "count":
        out["mean deviance"] = metrics.poisson_deviance(truth, predicted)
    return out


def _roc(positive: np.ndarray, score: np.ndarray) -> dict[str, Any]:
    """The curve, thinned to about a hundred points, and its area (0.5 for a single class)."""
    fpr, tpr = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    if positive.any() and not positive.all():
        fpr, tpr = metrics.roc_curve(positive, score)
    if len(fpr) > _POINTS:
        keep = np.unique(np.linspace(0, len(fpr) - 1, _POINTS).astype(int))
        fpr, tpr = fpr[keep], tpr[keep]
    area = metrics.auc(positive, score, undefined=0.5)
    return {"x": rounded(fpr), "y": rounded(tpr), "auc": area}


def _calibration(truth: np.ndarray, predicted: np.ndarray, shares: bool) -> dict[str, Any]:
    """`metrics.calibration` with rounded numbers."""
    found = metrics.calibration(truth, predicted, shares=shares)
    named = zip(("x", "y", "low", "high"), found[:4], strict=True)
    return {name: rounded(values) for name, values in named} | {"n": found.n.tolist()}


def _confusion(truth: np.ndarray, predicted: np.ndarray) -> list[list[int]]:
    """Documents by actual class (rows) and most probable class (columns)."""
    n = predicted.shape[1]
    pairs = truth.astype(int) * n + predicted.argmax(axis=1)
    return np.bincount(pairs, minlength=n * n).reshape(n, n).tolist()


def rounded(values: Any, digits: int = 6) -> list[float | None]:
    """Floats with `digits` significant digits, None for NaN."""
    return [
        float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.asarray(values).ravel()
    ]
