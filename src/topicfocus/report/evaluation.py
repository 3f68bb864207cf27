"""Predictions of all documents, how good they are, and what is known about the fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import confusion_matrix

from topicfocus import metrics
from topicfocus.estimators.remainder import held_out_completeness
from topicfocus.estimators.targets import Coding
from topicfocus.report.inputs import Inputs
from topicfocus.selection.replication import Stability

#: Points of a curve.
_POINTS = 101
#: Coverage of the prediction intervals in the page.
COVERAGE = 0.8
#: Fitted attributes and their names in the page.
_FITTED = {
    "n_iter_": "steps",
    "converged_": "converged",
    "shaping_": "optimisation of the topics",
    "inclusion_prior_": "inclusion prior",
    "supervision_weight_": "supervision weight",
    "doc_topic_prior_": "document-topic prior",
    "noise_variance_": "noise variance",
    "thresholds_": "thresholds between levels",
}
#: Settings along a frontier; everything else in a row is a metric.
SEARCHED = ("n_topics", "inclusion_prior")
#: Settings of a run, not of the model.
_RUN_SETTINGS = ("n_jobs", "verbose")
#: Keys of `Stability.to_dict`.
_OF_STABILITY = {"resamples", "topics", "words", "substitutes"}


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
    inputs: Inputs,
    found: Predictions,
    baselines: dict[str, list[np.ndarray]],
    weight: np.ndarray | None = None,
) -> list[dict[str, Any] | None]:
    """Metrics and curves of each target over all documents with a known target.

    `weight` is that of the documents in the metrics; curves count documents.
    """
    out: list[dict[str, Any] | None] = []
    for t, coding in enumerate(inputs.codings):
        known = np.zeros(0, dtype=bool)
        if inputs.codes is not None:
            known = np.isfinite(inputs.codes[:, t])
        if inputs.codes is None or known.sum() < 2:
            out.append(None)
            continue
        truth = coding.decode_levels(inputs.codes[known, t])
        mean, ends = found.mean[t][known], found.interval[t]
        weights = None if weight is None else weight[known]
        rows = {"this model": _metrics(coding, truth, mean, weights)}
        if ends is not None:
            covered = metrics.coverage(truth, ends[0][known], ends[1][known], weights)
            rows["this model"]["in the 80% interval"] = covered
        for name, predicted in baselines.items():
            rows[name] = _metrics(coding, truth, predicted[t][known], weights)
        record: dict[str, Any] = {"n": int(known.sum()), "figures": rows}
        if coding.is_class:
            right = (mean.argmax(axis=1) == truth).astype(float)
            by_class = [(truth == c, mean[:, c]) for c in range(mean.shape[1])]
            record["roc"] = [_roc(positive, p) for positive, p in by_class]
            record["calibration"] = [_calibration(y.astype(float), p, True) for y, p in by_class]
            classes = range(mean.shape[1])
            record["confusion"] = confusion_matrix(truth, mean.argmax(axis=1), labels=classes)
            # Accuracy of the predicted class by its probability.
            record["certainty"] = _calibration(right, mean.max(axis=1), True)
        else:
            record["calibration"] = [_calibration(truth, mean, False)]
        out.append(record)
    return out


def completeness_summary(inputs: Inputs, extras: Any) -> dict[str, Any] | None:
    """Completeness of the topics, in the documents if they had no part in the fit."""
    fitted, found = inputs.fitted, inputs.fitted.completeness
    if found is None:
        return None
    which = "validation"
    if extras.held_out and inputs.codes is not None and inputs.n_docs:
        documents = fitted.documents(inputs.counts, None, extras.exposure, extras.covariates)
        documents = replace(documents, target=inputs.codes, weight=extras.weight)
        tested = held_out_completeness(fitted, documents, inputs.model.n_jobs)
        if tested is not None:
            found, which = tested, "held-out"
    return {**found._asdict(), "documents": which}


def _metrics(
    coding: Coding, truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray | None
) -> dict[str, float]:
    """Metrics of one target; `predicted` are numbers, or probabilities documents x classes."""
    if coding.is_class:
        labels = np.arange(predicted.shape[1])
        return {
            "accuracy": metrics.accuracy(truth, predicted.argmax(axis=1), weight),
            "AUC": metrics.auc(truth, predicted, labels=labels, weight=weight, undefined=0.5),
            "log loss": metrics.log_loss(truth, predicted, labels, weight),
        }
    out = {
        "RMSE": metrics.rmse(truth, predicted, weight),
        "mean absolute error": float(np.average(np.abs(truth - predicted), weights=weight)),
    }
    r2 = metrics.r2(truth, predicted, weight)
    if np.isfinite(r2):
        out["R²"] = r2
    if coding.family.kind == "count":
        out["mean deviance"] = metrics.poisson_deviance(truth, predicted, weight)
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


def rounded(values: Any, digits: int = 6) -> list[float | None]:
    """Floats with `digits` significant digits, None for NaN."""
    return [
        float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.asarray(values).ravel()
    ]


# ---- the fit -------------------------------------------------------------------------------------


def fit_summary(inputs: Inputs, frontier: Any = None) -> dict[str, Any]:
    """Settings, results and data of the fit."""
    model = inputs.model
    history = {
        name: rounded(values)
        for name, values in getattr(model, "history_", {}).items()
        if len(values) and np.issubdtype(np.asarray(values).dtype, np.number)
    }
    settings = sorted(model.get_params(deep=False).items())
    n_words, selected = len(inputs.vocabulary), inputs.fitted.selected_words
    tokens = float(inputs.counts.sum())
    return {
        "history": history,
        "settings": {name: _shown(v) for name, v in settings if name not in _RUN_SETTINGS},
        "fitted": {n: _shown(getattr(model, a)) for a, n in _FITTED.items() if hasattr(model, a)},
        "data": {
            "documents given": inputs.n_docs,
            "words in the vocabulary": n_words,
            "words kept": n_words if selected is None else int(selected.sum()),
            "tokens": tokens,
            "tokens of an average document": round(tokens / max(inputs.n_docs, 1), 1),
        },
        "frontier": _frontier_rows(frontier),
    }


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (float, np.floating)):
        return f"{value:.3g}"
    if isinstance(value, np.ndarray):
        numbers = [f"{v:.3g}" for v in value.ravel()[:20]]
        # The same prior for all topics is one number.
        return f"{numbers[0]} each" if len(numbers) > 1 == len(set(numbers)) else ", ".join(numbers)
    text = "not set" if value is None else str(value)
    return text if len(text) <= 200 else text[:200] + " …"


# ---- searches ------------------------------------------------------------------------------------


def read_frontier(given: Any) -> pd.DataFrame | None:
    """Numbers and flags of the settings of a search that did not fail, None without a search.

    From a search, dicts or a DataFrame; in the order of the settings, without empty columns.
    """
    if given is None:
        return None
    table = pd.DataFrame(getattr(given, "frontier_rows_", given))
    if "error" in table:
        failed = table["error"].fillna("").astype(bool)
        scored = table["score"].notna() if "score" in table else False
        table = table[~failed | scored]
    searched = [name for name in SEARCHED if name in table]
    if len(table) and (not searched or table[searched].isna().all(axis=1).any()):
        raise ValueError("every row of frontier needs inclusion_prior or n_topics, and metrics.")
    table = table.select_dtypes(["number", "bool"]).replace([np.inf, -np.inf], np.nan)
    return table.dropna(axis=1, how="all").sort_values(searched, ignore_index=True)


def frontier_axis(table: pd.DataFrame) -> str:
    """The setting along the frontier: topics if each row has another number of them."""
    different = "n_topics" in table and table["n_topics"].nunique() == len(table) > 1
    return "n_topics" if different else "inclusion_prior"


def _frontier_rows(given: Any) -> list[dict[str, float]] | None:
    """The rows of the page, without missing metrics."""
    table = read_frontier(given)
    if table is None:
        return None
    numbers = table.select_dtypes("number").astype(float)
    return [row.dropna().to_dict() for _, row in numbers.iterrows()]


# ---- stability -----------------------------------------------------------------------------------


def read_stability(given: Any, vocabulary: Sequence[str] = ()) -> dict[str, Any] | None:
    """A `Stability`, or its `to_dict`, for the page; None without, or for a quick check.

    "whole" has results about the whole fit by name, "topics" those of the topics, and "words" the
    frequencies and the interchangeable words.
    """
    if given is None or quick_check(given) is not None:
        return None
    if isinstance(given, Stability):
        given = given.to_dict(list(vocabulary) or None)
    if not isinstance(given, Mapping) or not set(given) >= _OF_STABILITY:
        raise TypeError(
            "stability must be what topicfocus.stability returns, or its to_dict(); got "
            f"{type(given).__name__}."
        )
    topics = []
    for topic in given["topics"]:
        # Top words that return in nearly all halves.
        words = [w["word"] for w in topic["words"] if w["returns"] >= given["often"]]
        found = {name: topic[name] for name in ("same", "cosine", "difference", "spread")}
        topics.append(found | {"returning": words})
    return {
        "topics": topics,
        "whole": {
            "pairs of halves": given["resamples"],
            "Nogueira's index": given["nogueira"],
            "Jaccard of disjoint halves": given["disjoint_jaccard"],
            "words kept in 90% of halves": given["stable_words"],
            "correlation of predictions of two halves": given["prediction_correlation"],
        },
        "words": _word_stability(given, vocabulary),
    }


def quick_check(given: Any) -> dict[str, Any] | None:
    """The components that two samples of the training set have, if `fit` has checked this."""
    quick = isinstance(given, Mapping) and set(given) == {"documents", "components"}
    return dict(given) if quick else None


def _word_stability(found: Mapping[str, Any], vocabulary: Sequence[str]) -> dict[str, Any]:
    """Frequency of each word in halves, and rows (word, interchangeable word, share of halves).

    The share is that of the halves that keep one of the two. Words are columns of the page.
    """
    column = {str(word): v for v, word in enumerate(vocabulary)}
    frequency = [0.0] * len(column)
    for row in found["words"]:
        if row["word"] in column:
            frequency[column[row["word"]]] = round(row["frequency"], 4)
    others = [
        [column[row["word"]], column[other["word"]], round(other["either"], 4)]
        for row in found["substitutes"]
        for other in row["others"]
        if row["word"] in column and other["word"] in column
    ]
    return {"frequency": frequency, "others": others, "often": found["often"]}
