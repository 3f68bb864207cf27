"""What a fit gives: a pipeline, the result as plain data, a table, and what the page shows."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.counts import in_memory, take_rows
from topicfocus.estimators.usefulness import no_words_kept
from topicfocus.estimators.word_order import usual_order
from topicfocus.workflow import summary
from topicfocus.workflow.columns import remember_columns
from topicfocus.workflow.count import Counted
from topicfocus.workflow.judge import Judged
from topicfocus.workflow.manifest import (
    MANIFEST_FILE,
    METRICS_FILE,
    MODEL_FILE,
    PREDICTIONS_FILE,
    TOPICS_FILE,
    WORDS_FILE,
    Manifest,
)
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
    fingerprint : str or None
        Of data, settings and version, where the fit had a folder.
    config : dict or None
        The settings, as config.toml of the folder has them.
    tables : dict
        Columns of topics.csv and words.csv, by these names.
    """

    pipeline: Any
    result: dict[str, Any]
    predictions: Table
    shown: dict[str, Any] = field(repr=False)
    folder: Path | None = None
    written: tuple[str, ...] = ()
    fingerprint: str | None = None
    config: dict[str, Any] | None = None
    tables: dict[str, Table] = field(default_factory=dict, repr=False)


def read_outcome(folder: Path, manifest: Manifest) -> Outcome:
    """The outcome that a folder holds, but for what its page shows; predictions as written."""
    import topicfocus

    with (folder / PREDICTIONS_FILE).open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    columns = {name: [row[j] for row in rows] for j, name in enumerate(header)}
    return Outcome(
        topicfocus.load(folder / MODEL_FILE),
        json.loads((folder / METRICS_FILE).read_text(encoding="utf-8")),
        {name: np.array(column) for name, column in columns.items()},
        {"texts": []},
        folder,
        tuple(sorted([*manifest.files, MANIFEST_FILE])),
        manifest.fingerprint,
    )


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

    remember_columns(model, columns)
    result = _result(source, counted, model, judged, parts, options, columns, seconds)
    part = np.full(source.n_docs, "unused", dtype=object)
    part[parts[0]], part[parts[1]] = "train", "test"
    file = {} if source.files is None else {"file": source.files}
    predictions: Table = {**file, "row": source.rows, "part": part, "target": y}
    seen = counted.counts
    if judged.documents is not None:
        predictions = {name: column[judged.documents] for name, column in predictions.items()}
        seen = take_rows(seen, judged.documents)
    predictions["target"] = _as_written(predictions["target"])
    predictions |= prediction_columns(model, judged.predicted)
    predictions["relevant_words"] = model.relevant_words(seen)
    return Outcome(
        make_pipeline(counted.counter, model),
        plain(result),
        predictions,
        _shown(source, counted, judged, parts[1], y, columns.get("target")),
        tables={
            TOPICS_FILE: summary.topic_table(plain(result["topics"])),
            WORDS_FILE: summary.word_table(
                model, counted.words, take_rows(counted.counts, parts[0])
            ),
        },
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
    target, counts = source.target, take_rows(counted.counts, train)
    positive = _positive(model, target)
    # Of the documents that the page shows: the same model must not have other effects there.
    shown = test[_on_page(source, test)]
    some = take_rows(counted.counts, shown)
    found = summary.effects(model, some, source.columns.of(shown), options.jobs)
    model.n_jobs = None
    result = {
        "model": type(model).__name__,
        "settings": {
            **asdict(options),
            "file": source.given or source.path,
            **columns,
            "kind": target.kind,
            "min_df": counted.min_df,
            "max_df": counted.max_df,
            "separator": counted.counter.separator,
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
            "empty": counted.n_empty,
        },
        "seconds": round(seconds, 3),
        "steps": model.n_iter_,
        "topics": summary.topics(model, counted.words, found, positive),
        "effects": summary.scale(model, found),
        "word_order": usual_order(model.fitted_),
        "covariates": summary.covariates(model, source.columns.names.covariates),
        "words": summary.selection(model, counted.words, counts, found.words, positive),
        "held_out": judged.held_out,
        "warnings": [*no_words_kept(model), *judged.warnings(target.kind)],
        "reliability": judged.reliability,
    }
    for name in ("shaping_", "inclusion_prior_"):
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


def _on_page(source: Source, test: np.ndarray) -> np.ndarray:
    """Which held-out documents the page shows: those whose texts are at hand, else all."""
    with_text = test < len(source.texts)
    return with_text if with_text.any() else np.ones(len(test), dtype=bool)


def _shown(
    source: Source,
    counted: Counted,
    judged: Judged,
    test: np.ndarray,
    y: np.ndarray,
    target_name: str | None,
) -> dict[str, Any]:
    on_page = _on_page(source, test)
    documents, words = test[on_page], judged.words
    if documents[0] < len(source.texts):
        given: dict[str, Any] = {"texts": [source.texts[i] for i in documents]}
    else:
        some = in_memory(take_rows(counted.counts, documents))
        given = {"counts": some, "vocabulary": counted.words.tolist()}
    baselines = {}
    if words is not None:
        other = words.values if words.probabilities is None else words.probabilities
        baselines[words.name] = other[on_page]
    shown = {
        **given,
        "target": y[documents],
        "baselines": baselines,
        "held_out": True,
        "target_name": target_name if source.is_text or not target_name else Path(target_name).stem,
        "document_names": [source.where(i) for i in documents],
        **source.columns.of(documents).for_predict(),
    }
    names = source.columns.names.covariates
    if names:
        shown["covariate_names"] = list(names)
    return shown
