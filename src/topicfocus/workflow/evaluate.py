"""Evaluate: held-out predictions of the model, next to those of regressions on the same split."""

from __future__ import annotations

import logging
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from topicfocus.config import is_classes
from topicfocus.counts import take_rows
from topicfocus.estimators.remainder import held_out_completeness
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
from topicfocus.remainder import Completeness
from topicfocus.workflow.columns import Columns
from topicfocus.workflow.predict import interval, predict
from topicfocus.workflow.read import Documents
from topicfocus.workflow.split import Parts

log = logging.getLogger(__name__)

#: The metric by which a model is compared with a constant (lower is better), by kind of target.
_MAIN = {
    "real": ("rmse", "RMSE"),
    "ordinal": ("rmse", "RMSE"),
    "count": ("deviance", "deviance"),
    "binary": ("log_loss", "log loss"),
    "classes": ("log_loss", "log loss"),
}
#: Prediction intervals whose coverage of held-out targets is measured.
_LEVELS = (0.5, 0.8, 0.95)


@dataclass(frozen=True)
class Evaluation:
    """Predictions of the model for all documents, and held-out metrics of all models.

    `documents` are those that `predicted` has, if these are not all. `held_out` has the metrics by
    model: the model itself first, the best constant last. It is empty without held-out documents.
    `reliability` has the coverage of intervals or the calibration of probabilities. `words` are the
    held-out predictions of the regression on all words, if there is one. `completeness` is that of
    a model that was asked for a remainder, in the held-out documents if there are any.
    """

    predicted: Predicted
    documents: np.ndarray | None = None
    held_out: dict[str, dict[str, float]] = field(default_factory=dict)
    reliability: dict[str, Any] = field(default_factory=dict)
    words: Predicted | None = None
    completeness: Completeness | None = None

    def warnings(self, kind: str) -> list[str]:
        """A warning if the model predicts worse than a constant."""
        if not self.held_out:
            return []
        (name, mine), (_, constant) = (list(self.held_out.items())[i] for i in (0, -1))
        metric, label = _MAIN[kind]
        if not mine[metric] > constant[metric]:
            return []
        return [
            f"{name} predicts the held-out documents worse than a constant does ({label} "
            f"{mine[metric]:.4g} against {constant[metric]:.4g}): do not use its predictions. "
            "Check that texts and targets belong together, or try another model."
        ]


def evaluate(
    model: Any, documents: Documents, parts: Parts, seed: int, *, baseline: bool = True
) -> Evaluation:
    """Predict everything; compare with a constant and, with `baseline`, with regressions.

    Weights of classes count in regressions, metrics and effects, but not in the calibration of
    probabilities. For counts that are not in memory only the held-out part is predicted, without
    the regression on all words.
    """
    train, test = parts
    in_memory, columns, y = documents.in_memory, documents.columns, documents.y
    predicted = train if not len(test) else test
    if in_memory:
        everyone = predict(model, documents.counts, columns)
        mine = everyone.of(predicted)
    else:
        some = take_rows(documents.counts, predicted)
        everyone = mine = predict(model, some, columns.of(predicted))
    if not len(test):
        complete = model.fitted_.completeness if in_memory else None
        return Evaluation(everyone, None if in_memory else train, completeness=complete)
    if baseline:
        message = "Comparing with a regression on all words and pairs of words ..."
        if not in_memory:
            message = "No comparison with a regression on all words: counts are not in memory."
        log.info(message)
    kind = documents.target.kind
    known = train[np.isfinite(documents.target.values[train])]
    labelled, truth = (_plain(y[part]) for part in (known, test))
    counts = documents.counts if in_memory else None
    of_known, of_test = (_inputs(counts, columns, part) for part in (known, test))
    words: Predicted | None = None
    complete, others = None, list[Predicted]()
    if counts is not None:
        weighted = columns.with_class_weights().of(test)
        complete, others = _topics_alone(model, counts[test], y[test], weighted)
        if baseline:
            words = regression(kind, of_known, labelled, of_test, seed)
            others.append(words)
            if words.note:
                log.info(words.note)
    if baseline and columns.covariates is not None:
        # The difference to this one is the contribution of the words.
        alone = [_inputs(None, columns, part) for part in (known, test)]
        others.append(regression(kind, alone[0], labelled, alone[1], seed))
    others.append(constant(kind, of_known, labelled, of_test, len(test)))
    labels = getattr(model, "classes_", getattr(model, "levels_", None))
    held_out = {
        each.name: metrics(kind, truth, each, labels, of_test.weight) for each in (mine, *others)
    }
    reliable = reliability(model, truth, mine, columns.of(test).weight)
    return Evaluation(everyone, None if in_memory else test, held_out, reliable, words, complete)


def _topics_alone(
    model: Any, counts: Any, y: np.ndarray, columns: Any
) -> tuple[Completeness | None, list[Predicted]]:
    """Completeness of the topics, and their predictions without the remainder, if there is one."""
    fitted = model.fitted_
    documents = fitted.documents(counts, _plain(y), **columns.for_predict())
    documents = replace(documents, weight=columns.weight)
    complete = held_out_completeness(fitted, documents, model.n_jobs)
    if fitted.remainder is None:
        return complete, []
    topics = copy(model)
    topics.fitted_ = replace(fitted, remainder=None)
    found = predict(topics, counts, columns)
    return complete, [replace(found, name=f"{found.name}, topics alone")]


def _plain(y: np.ndarray) -> np.ndarray:
    """Labels as an array of their own type, not of objects."""
    return np.array(y.tolist()) if y.dtype == object else y


def reliability(
    model: Any, truth: np.ndarray, predicted: Predicted, weight: np.ndarray | None
) -> dict[str, Any]:
    """Calibration of probabilities for classes, coverage of intervals for numbers."""
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


def _inputs(counts: Any, columns: Columns, documents: np.ndarray) -> Inputs:
    columns = columns.with_class_weights().of(documents)
    terms = getattr(counts, "remainder", None)
    words = counts if terms is None else terms
    return Inputs(
        words=None if words is None else words[documents],
        pairs=terms is not None,
        covariates=columns.covariates,
        weight=columns.weight,
        exposure=columns.exposure,
    )


def metrics(
    kind: str,
    truth: np.ndarray,
    predicted: Predicted,
    labels: Any,
    weight: np.ndarray | None = None,
) -> dict[str, float]:
    """Metrics of one model. `labels` are the classes, or the levels of an ordinal target."""
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
