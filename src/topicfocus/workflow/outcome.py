"""The outcome of a fit: a pipeline, the result as plain data, tables, and inputs of the page."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.config import FitConfig
from topicfocus.counts import in_memory, take_rows
from topicfocus.estimators.training import no_words_kept
from topicfocus.estimators.words import usual_order
from topicfocus.workflow import summary
from topicfocus.workflow.columns import remember_columns
from topicfocus.workflow.count import Counted
from topicfocus.workflow.evaluate import Evaluation
from topicfocus.workflow.predict import prediction_columns
from topicfocus.workflow.read import Source
from topicfocus.workflow.split import Parts
from topicfocus.workflow.tables import Table, plain
from topicfocus.workflow.write import TOPICS_FILE, WORDS_FILE


@dataclass(frozen=True)
class Outcome:
    """What `fit_file` returns.

    Attributes
    ----------
    pipeline : Pipeline
        The counter of words and the fitted model; takes texts.
    result : dict
        What ``topicfocus fit --json`` prints and metrics.json holds: settings, target, topics,
        words, held-out metrics. Python's own numbers and lists; None for NaN.
    predictions : dict
        Columns of predictions.csv: row of the file, part, target, prediction, ...
    shown : dict
        Inputs of the explorer page: held-out documents (all documents without a held-out part),
        with texts where these are in memory, else as counts; their targets, and predictions of the
        regression on all words.
    folder : pathlib.Path or None
        Where it was written.
    written : tuple of str
        The names of the files there.
    config : FitConfig or None
        The settings with everything that was chosen during the fit, as in config.toml.
    tables : dict
        Columns of topics.csv and words.csv, by these names.
    """

    pipeline: Any
    result: dict[str, Any]
    predictions: Table
    shown: dict[str, Any] = field(repr=False)
    folder: Path | None = None
    written: tuple[str, ...] = ()
    config: FitConfig | None = None
    tables: dict[str, Table] = field(default_factory=dict, repr=False)


def make_outcome(
    source: Source,
    counted: Counted,
    model: Any,
    found: Evaluation,
    parts: Parts,
    y: np.ndarray,
    config: FitConfig,
    seconds: float,
) -> Outcome:
    """The outcome of a fit with these settings, which took so many seconds."""
    from sklearn.pipeline import make_pipeline

    remember_columns(model, config.columns)
    result = _result(source, counted, model, found, parts, config, seconds)
    part = np.full(source.n_docs, "unused", dtype=object)
    part[parts[0]], part[parts[1]] = "train", "test"
    file = {} if source.files is None else {"file": source.files}
    predictions: Table = {**file, "row": source.rows, "part": part, "target": y}
    seen = counted.counts
    if found.documents is not None:
        predictions = {name: column[found.documents] for name, column in predictions.items()}
        seen = take_rows(seen, found.documents)
    predictions["target"] = _as_written(predictions["target"])
    predictions |= prediction_columns(model, found.predicted)
    predictions["relevant_words"] = model.relevant_words(seen)
    kind = config.kind if source.target.kind == "binary" else source.target.kind
    return Outcome(
        make_pipeline(counted.counter, model),
        plain(result),
        predictions,
        _shown(source, counted, found, parts, y, config.target),
        config=replace(config, kind=kind, min_df=counted.min_df, max_df=counted.max_df),
        tables={
            TOPICS_FILE: summary.topic_table(plain(result["topics"])),
            WORDS_FILE: summary.word_table(
                model, counted.words, take_rows(counted.counts, parts[0])
            ),
        },
    )


#: Settings that metrics.json records.
_SETTINGS = (
    *("model", "topics", "inclusion_prior", "selection", "class_weight", "stability"),
    *("test_share", "seed", "jobs"),
)


def _result(
    source: Source,
    counted: Counted,
    model: Any,
    found: Evaluation,
    parts: Parts,
    config: FitConfig,
    seconds: float,
) -> dict[str, Any]:
    train, test = parts
    target, counts = source.target, take_rows(counted.counts, train)
    positive = _positive(model, target)
    # The documents of the page, so that the effects there are the same.
    shown = _on_page(source, parts)
    some = take_rows(counted.counts, shown)
    effects = summary.effects(model, some, source.columns.of(shown), config.jobs)
    model.n_jobs = None
    result = {
        "model": type(model).__name__,
        "settings": {
            **{name: getattr(config, name) for name in _SETTINGS},
            "file": config.file,
            **config.columns,
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
        "topics": summary.topics(model, counted.words, effects, positive),
        "effects": summary.scale(model, effects),
        "word_order": usual_order(model.fitted_),
        "covariates": summary.covariates(model, source.columns.names.covariates),
        "words": summary.selection(model, counted.words, counts, effects.words, positive),
        "held_out": found.held_out,
        "warnings": [*no_words_kept(model), *found.warnings(target.kind)],
        "reliability": found.reliability,
    }
    for name in ("shaping_", "inclusion_prior_"):
        if hasattr(model, name):
            result[name.rstrip("_")] = getattr(model, name)
    return result


def _positive(model: Any, target: Any) -> Any:
    """The class of two that topics are shown for."""
    if target.classes is None or len(model.classes_) != 2:
        return None
    return next(c for c in model.classes_ if str(c) == target.classes[1])


def _as_written(y: np.ndarray) -> list[Any]:
    """Targets as they were, without the decimals of whole numbers."""
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in y.tolist()]


def _on_page(source: Source, parts: Parts) -> np.ndarray:
    """Documents of the page: held-out ones, or all; those with a text in memory, if any has."""
    train, test = parts
    documents = test if len(test) else train[np.isfinite(source.target.values[train])]
    with_text = documents < len(source.texts)
    return documents[with_text] if with_text.any() else documents


def _shown(
    source: Source,
    counted: Counted,
    found: Evaluation,
    parts: Parts,
    y: np.ndarray,
    target_name: str | None,
) -> dict[str, Any]:
    documents, words, test = _on_page(source, parts), found.words, parts[1]
    if documents[0] < len(source.texts):
        given: dict[str, Any] = {"texts": [source.texts[i] for i in documents]}
    else:
        some = in_memory(take_rows(counted.counts, documents))
        given = {"counts": some, "vocabulary": counted.words.tolist()}
    baselines = {}
    if words is not None:
        other = words.values if words.probabilities is None else words.probabilities
        baselines[words.name] = other[np.searchsorted(test, documents)]
    shown = {
        **given,
        "target": y[documents],
        "baselines": baselines,
        "held_out": len(test) > 0,
        "target_name": target_name if source.is_text or not target_name else Path(target_name).stem,
        "document_names": [source.where(i) for i in documents],
        **source.columns.of(documents).for_predict(),
    }
    names = source.columns.names.covariates
    if names:
        shown["covariate_names"] = list(names)
    return shown
