"""Judge: predictions on the held-out part, beside those of regressions on the same split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.counts import ChunkedCounts, take_rows
from topicfocus.metrics import (
    accuracy,
    auc,
    calibration,
    calibration_error,
    coverage,
    log_loss,
    poisson_deviance,
    r2,
    rmse,
)
from topicfocus.metrics.baselines import Inputs, Predicted, constant, regression
from topicfocus.metrics.prediction import stated_and_happened
from topicfocus.workflow.count import Counted
from topicfocus.workflow.models import is_classes
from topicfocus.workflow.predict import interval, predict
from topicfocus.workflow.read import Source
from topicfocus.workflow.split import Parts

#: The figure that says whether a model is of use, less being better, by the kind of target.
_MAIN = {
    "real": ("rmse", "RMSE"),
    "ordinal": ("rmse", "RMSE"),
    "count": ("deviance", "deviance"),
    "binary": ("log_loss", "log loss"),
    "classes": ("log_loss", "log loss"),
}
#: Intervals whose coverage of held-out targets is told.
_LEVELS = (0.5, 0.8, 0.95)


@dataclass(frozen=True)
class Judged:
    """Predictions of the model for all documents, those of others, and held-out figures of all.

    `others` are for the held-out documents; the first is the regression on all words, unless it was
    left out (`words` is then None), and the last the best constant. `reliability` says how far the
    model's own probabilities or intervals can be believed. `documents` are those that `predicted`
    is of, where it is not of all.
    """

    predicted: Predicted
    others: list[Predicted]
    held_out: dict[str, dict[str, float]]
    reliability: dict[str, Any]
    words: Predicted | None = None
    documents: np.ndarray | None = None

    def warnings(self, kind: str) -> list[str]:
        """That the model is worse than a constant, where it is."""
        (name, mine), (_, constant) = (list(self.held_out.items())[i] for i in (0, -1))
        figure, label = _MAIN[kind]
        if not mine[figure] > constant[figure]:
            return []
        return [
            f"{name} predicts the held-out documents worse than a constant does ({label} "
            f"{mine[figure]:.4g} against {constant[figure]:.4g}): do not use its predictions. "
            "Check that texts and targets belong together, or try another model."
        ]


def judge(
    model: Any,
    source: Source,
    counted: Counted,
    y: np.ndarray,
    parts: Parts,
    seed: int,
    *,
    baseline: bool = True,
    factor: np.ndarray | None = None,
) -> Judged:
    """Predict everything, compare on the held-out part; with regressions only if `baseline`.

    `factor` is what each document counts for by its class, for regressions and figures. How far
    probabilities can be believed is asked of the documents as they are.
    Of counts on disk only the held-out part is predicted, and the regression on all words, which
    would need them in memory, is left out.
    """
    kind, more = source.target.kind, source.columns
    train, test = parts
    stored = isinstance(counted.counts, ChunkedCounts)
    if stored:
        mine = predict(model, take_rows(counted.counts, test), more.of(test))
        everyone = mine
    else:
        everyone = predict(model, counted.counts, more)
        mine = everyone.of(test)
    known = train[np.isfinite(source.target.values[train])]
    labelled, truth = (_plain(y[part]) for part in (known, test))
    counts = None if stored else counted.counts
    of_known, of_test = (_inputs(counts, source, part, factor) for part in (known, test))
    compared = baseline and not stored
    others = [regression(kind, of_known, labelled, of_test, seed)] if compared else []
    words = others[0] if compared else None
    if baseline and more.covariates is not None:
        # What words add is the difference to this one.
        alone = [_inputs(None, source, part, factor) for part in (known, test)]
        others.append(regression(kind, alone[0], labelled, alone[1], seed))
    others.append(constant(kind, of_known, labelled, of_test, len(test)))
    labels = getattr(model, "classes_", getattr(model, "levels_", None))
    held_out = {
        predicted.name: figures(kind, truth, predicted, labels, of_test.weight)
        for predicted in (mine, *others)
    }
    believed = reliability(model, truth, mine, more.of(test).weight)
    return Judged(everyone, others, held_out, believed, words, test if stored else None)


def _plain(y: np.ndarray) -> np.ndarray:
    """Labels with a type of their own; numbers have one."""
    return np.array(y.tolist()) if y.dtype == object else y


def reliability(
    model: Any, truth: np.ndarray, predicted: Predicted, weight: np.ndarray | None
) -> dict[str, Any]:
    """Of classes: how far probabilities are from what happens. Of numbers: what intervals hold."""
    if not hasattr(model, "classes_"):
        out = {}
        for level in _LEVELS:
            low, high = interval(model, predicted, level)
            out[f"{level:.0%}"] = coverage(truth, low, high, weight)
        return {"coverage": out}
    p, labels = np.asarray(predicted.probabilities), model.classes_
    groups = calibration(*stated_and_happened(truth, p, labels)[::-1], shares=True)
    return {
        "about": str(labels[1]) if len(labels) == 2 else "the class that is predicted",
        "calibration_error": calibration_error(truth, p, labels, weight),
        "groups": groups._asdict(),
    }


def _inputs(
    counts: Any, source: Source, documents: np.ndarray, factor: np.ndarray | None
) -> Inputs:
    columns = source.columns.times(factor).of(documents)
    return Inputs(
        words=None if counts is None else counts[documents],
        covariates=columns.covariates,
        weight=columns.weight,
        exposure=columns.exposure,
    )


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
    if is_classes(kind):
        p = np.asarray(predicted.probabilities)
        return {
            "auc": auc(truth, p, labels=labels, weight=weight),
            "accuracy": accuracy(truth, predicted.values, weight),
            "log_loss": log_loss(truth, p, labels, weight),
        }
    values = np.asarray(predicted.values, dtype=float)
    out: dict[str, float] = {}
    if kind == "count":
        out["deviance"] = poisson_deviance(truth, values, weight)
    out["rmse"] = rmse(truth, values, weight)
    out["r2"] = r2(truth, values, weight)
    if kind == "ordinal":
        levels = np.asarray(labels, dtype=float)
        if predicted.probabilities is not None:
            guess = levels[np.argmax(predicted.probabilities, axis=1)]
        else:
            guess = levels[np.argmin(np.abs(values[:, None] - levels), axis=1)]
        out["accuracy"] = accuracy(truth, guess, weight)
    return out
