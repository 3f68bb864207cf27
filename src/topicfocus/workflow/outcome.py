"""What a fit gives: a pipeline, the result as plain data, a table, and what the page shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.estimators.word_order import DEFAULT_ORDER
from topicfocus.workflow import summary
from topicfocus.workflow.count import Counted
from topicfocus.workflow.judge import Judged
from topicfocus.workflow.options import ModelOptions
from topicfocus.workflow.predict import Table, prediction_columns
from topicfocus.workflow.read import Source
from topicfocus.workflow.split import Parts
from topicfocus.workflow.tables import plain


@dataclass(frozen=True)
class Outcome:
    """What `fit_file` returns.

    Attributes
    ----------
    pipeline : Pipeline
        The counter of words and the fitted model; takes texts.
    result : dict
        What ``topicfocus fit --json`` prints and metrics.json holds: settings, target, topics,
        words, held-out figures. Python's own numbers and lists; None for what is not a number.
    predictions : dict
        Columns of predictions.csv: row of the file, part, target, prediction, ...
    shown : dict
        What the explorer page shows: held-out documents, those whose texts are at hand or, where
        none are (a count matrix), their counts; their targets, and what the regression on all
        words predicts for them.
    folder : pathlib.Path or None
        Where it was written.
    written : tuple of str
        The names of the files there.
    """

    pipeline: Any
    result: dict[str, Any]
    predictions: Table
    shown: dict[str, Any] = field(repr=False)
    folder: Path | None = None
    written: tuple[str, ...] = ()


def make_outcome(
    source: Source,
    counted: Counted,
    model: Any,
    judged: Judged,
    parts: Parts,
    y: np.ndarray,
    *,
    options: ModelOptions,
    columns: dict[str, Any],
    seconds: float,
) -> Outcome:
    """Everything in its place. `columns` (of text and target) are remembered with the result."""
    from sklearn.pipeline import make_pipeline

    result = _result(source, counted, model, judged, parts, options, columns, seconds)
    part = np.full(source.n_docs, "train", dtype=object)
    part[parts[1]] = "test"
    predictions = {"row": source.rows, "part": part, "target": _as_written(y)}
    predictions |= prediction_columns(model, judged.predicted)
    predictions["relevant_words"] = model.relevant_words(counted.counts)
    return Outcome(
        make_pipeline(counted.counter, model),
        plain(result),
        predictions,
        _shown(source, counted, judged, parts[1], y, columns.get("target")),
    )


def _result(
    source: Source,
    counted: Counted,
    model: Any,
    judged: Judged,
    parts: Parts,
    options: ModelOptions,
    columns: dict[str, Any],
    seconds: float,
) -> dict[str, Any]:
    train, test = parts
    target, counts = source.target, counted.counts[train]
    positive = _positive(model, target)
    found = summary.effects(model, counts, source.columns.of(train), options.jobs)
    model.n_jobs = None
    result = {
        "model": type(model).__name__,
        "settings": {
            **asdict(options),
            "file": source.path,
            **columns,
            "kind": target.kind,
            "min_df": counted.min_df,
            "max_df": counted.max_df,
        },
        "target": {
            "kind": target.kind,
            "sentence": target.sentence,
            "classes": target.classes,
            "missing": target.n_missing,
        },
        "documents": {
            "all": source.n_docs,
            "train": len(train),
            "test": len(test),
            "skipped": source.n_skipped,
        },
        "seconds": round(seconds, 3),
        "steps": model.n_iter_,
        "topics": summary.topics(model, counted.words, found, positive),
        "effects": summary.scale(model, found),
        "word_order": DEFAULT_ORDER,
        "covariates": summary.covariates(model, source.columns.names.covariates),
        "words": summary.selection(model, counted.words, counts, found.words, positive),
        "held_out": judged.held_out,
        "reliability": judged.reliability,
    }
    for name in ("rung_", "inclusion_prior_"):
        if hasattr(model, name):
            result[name.rstrip("_")] = getattr(model, name)
    return result


def _positive(model: Any, target: Any) -> Any:
    """Of two classes the one that topics are shown for."""
    if target.classes is None or len(model.classes_) != 2:
        return None
    return next(c for c in model.classes_ if str(c) == target.classes[1])


def _as_written(y: np.ndarray) -> list[Any]:
    """Targets as they were, without the decimals of whole numbers."""
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in y.tolist()]


def _shown(
    source: Source,
    counted: Counted,
    judged: Judged,
    test: np.ndarray,
    y: np.ndarray,
    target_name: str | None,
) -> dict[str, Any]:
    with_text = test < len(source.texts)
    given: dict[str, Any] = {"texts": [source.texts[i] for i in test[with_text]]}
    if not with_text.any():
        with_text = np.ones(len(test), dtype=bool)
        given = {"counts": counted.counts[test], "vocabulary": counted.words.tolist()}
    documents, words = test[with_text], judged.others[0]
    other = words.values if words.probabilities is None else words.probabilities
    shown = {
        **given,
        "target": y[documents],
        "baselines": {words.name: other[with_text]},
        "held_out": True,
        "target_name": target_name if source.is_text or not target_name else Path(target_name).stem,
        "document_names": [f"row {row}" for row in source.rows[documents]],
        **source.columns.of(documents).for_predict(),
    }
    names = source.columns.names.covariates
    if names:
        shown["covariate_names"] = list(names)
    return shown
