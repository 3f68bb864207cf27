"""The whole job on documents that have been read: split, words, fit, figures."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.cli import summary
from topicfocus.cli.baselines import Predicted, constant, regression
from topicfocus.cli.checkpoints import FolderStore, fingerprint
from topicfocus.cli.columns import NO_COLUMNS, Columns, remember
from topicfocus.cli.console import Remarks
from topicfocus.cli.errors import Interrupted
from topicfocus.cli.figures import figures
from topicfocus.cli.interrupts import noting_interrupts
from topicfocus.cli.models import make_estimator, target_values
from topicfocus.cli.reading import CountOptions, Source
from topicfocus.cli.splitting import split
from topicfocus.cli.words import Counted, choose_words
from topicfocus.solvers.checkpoints import checkpointing


@dataclass(frozen=True)
class ModelOptions:
    """What is fitted, and how it is tested."""

    model: str = "focused"
    topics: int = 5
    inclusion_prior: float | str | None = None
    test_share: float = 0.2
    seed: int = 0
    jobs: int | None = None


@dataclass(frozen=True)
class Outcome:
    """A fitted pipeline, the result as plain data, and a table of predictions.

    `shown` is what the explorer page shows: held-out documents whose texts are at hand, their
    targets, and what the regression on all words predicts for them.
    """

    pipeline: Any
    result: dict[str, Any]
    predictions: dict[str, Any]
    shown: dict[str, Any]


def fit_source(
    source: Source,
    options: ModelOptions,
    counting: CountOptions,
    remarks: Remarks,
    *,
    partial: Path | None = None,
    resume: bool = False,
    every: float = 5.0,
    columns: dict[str, Any] | None = None,
) -> Outcome:
    """Fit to a part of the documents and judge on the others.

    With `partial`, a folder for checkpoints, an interrupted fit can be taken up again. `columns`
    (of text and target) are remembered with the result.
    """
    target = source.target
    remarks.say(f"Target: {target.sentence}")
    train, test = split(target, options.test_share, options.seed, source.path)
    counted = choose_words(source, train, counting, remarks)
    y = target_values(target)
    store = None
    if partial is not None:
        store = FolderStore(partial, every, remarks)
        settings = {**asdict(options), **asdict(source.columns.names), "kind": target.kind}
        del settings["jobs"]  # changes nothing
        counts = counted.counts
        arrays = (counts.data, counts.indices, counts.indptr, counted.words, train, target.values)
        mark = fingerprint(settings, *arrays, *source.columns.known())
        store.open(mark, settings, resume)
    began = time.perf_counter()
    try:
        columns_of_train = source.columns.of(train)
        model = _fit(counted, y, train, columns_of_train, target.kind, options, remarks, store)
        seconds = time.perf_counter() - began
        remarks.say("Comparing with a regression on all words ...")
        outcome = _judge(source, counted, model, y, (train, test), options, seconds, columns)
    except KeyboardInterrupt:
        raise _interrupted(store) from None
    except BaseException:
        # An error comes again with --resume, too: nothing is worth keeping.
        if store is not None:
            store.remove()
        raise
    return outcome


def _interrupted(store: FolderStore | None) -> Interrupted:
    if store is None:
        return Interrupted()
    if not store.any_finished:
        store.remove()
        return Interrupted("Nothing was finished yet; start anew.")
    return Interrupted(
        f"What was finished is in {store.folder}; go on with the same command and --resume."
    )


def _fit(
    counted: Counted,
    y: np.ndarray,
    train: np.ndarray,
    columns: Columns,
    kind: str,
    options: ModelOptions,
    remarks: Remarks,
    store: FolderStore | None,
) -> Any:
    model = make_estimator(
        options.model, kind, options.topics, options.inclusion_prior, options.seed
    )
    model.set_params(n_jobs=options.jobs, verbose=not remarks.quiet)
    remarks.say(f"Fitting {type(model).__name__}, {options.topics} topics ...")
    with noting_interrupts(), checkpointing(store) if store else nullcontext():
        model.fit(counted.counts[train], y[train], **columns.for_fit())
    remember(model, columns.names)
    # Of this run and this machine, not of the model.
    return model.set_params(n_jobs=None, verbose=False)


def _judge(
    source: Source,
    counted: Counted,
    model: Any,
    y: np.ndarray,
    parts: tuple[np.ndarray, np.ndarray],
    options: ModelOptions,
    seconds: float,
    columns: dict[str, Any] | None,
) -> Outcome:
    from sklearn.pipeline import make_pipeline

    train, test = parts
    target, kind, counts = source.target, source.target.kind, counted.counts
    model.n_jobs = options.jobs
    more = source.columns
    everyone = predict(model, counts, more)
    known = train[np.isfinite(target.values[train])]
    labelled = y[known]
    if labelled.dtype == object:
        labelled = np.array(labelled.tolist())
    truth = np.array(y[test].tolist())
    labels = getattr(model, "classes_", getattr(model, "levels_", None))
    mine = Predicted(
        type(model).__name__,
        everyone.values[test],
        None if everyone.probabilities is None else everyone.probabilities[test],
    )
    of_known, of_test = more.of(known), more.of(test)
    data = (counts[known], of_known, labelled, counts[test], of_test)
    others = [regression(kind, *data, options.seed)]
    if more.covariates is not None:
        # What words add is the difference to this one.
        others.append(regression(kind, None, of_known, labelled, None, of_test, options.seed))
    others.append(constant(kind, labelled, of_known, of_test, len(test)))
    weight = of_test.weight
    held_out = {p.name: figures(kind, truth, p, labels, weight) for p in (mine, *others)}
    positive = None
    if target.classes is not None and len(model.classes_) == 2:
        positive = next(c for c in model.classes_ if str(c) == target.classes[1])
    mixes = model.transform(counts[train])
    model.n_jobs = None
    result = {
        "model": type(model).__name__,
        "settings": {
            **asdict(options),
            "file": source.path,
            **(columns or {}),
            "kind": kind,
            "min_df": counted.min_df,
            "max_df": counted.max_df,
        },
        "target": {
            "kind": kind,
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
        "topics": summary.topics(model, counted.words, mixes, positive),
        "covariates": summary.covariates(model, more.names.covariates),
        "words": summary.selection(model, counted.words, counts[train]),
        "held_out": held_out,
    }
    for name in ("rung_", "inclusion_prior_"):
        if hasattr(model, name):
            result[name.rstrip("_")] = getattr(model, name)
    part = np.full(source.n_docs, "train", dtype=object)
    part[test] = "test"
    predictions = {"row": source.rows, "part": part, "target": _shown(y)}
    predictions |= prediction_columns(model, everyone)
    with_text = test < len(source.texts)
    other = others[0].values if others[0].probabilities is None else others[0].probabilities
    shown = {
        "texts": [source.texts[i] for i in test[with_text]],
        "target": y[test][with_text],
        "baselines": {others[0].name: other[with_text]},
        "held_out": True,
        "target_name": (columns or {}).get("target"),
        "document_names": [f"row {row}" for row in source.rows[test[with_text]]],
        **more.of(test[with_text]).for_predict(),
    }
    if more.names.covariates:
        shown["covariate_names"] = list(more.names.covariates)
    return Outcome(make_pipeline(counted.counter, model), result, predictions, shown)


def _shown(y: np.ndarray) -> list[Any]:
    """Targets as they were, without the decimals of whole numbers."""
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in y.tolist()]


def predict(model: Any, counts: Any, columns: Columns = NO_COLUMNS) -> Predicted:
    """Predictions with what a model knows of their uncertainty."""
    name, more = type(model).__name__, columns.for_predict()
    if hasattr(model, "classes_"):
        p = model.predict_proba(counts, **more)
        return Predicted(name, model.classes_[np.argmax(p, axis=1)], p)
    mean, std = model.predict(counts, return_std=True, **more)
    # Of ordinal targets, which have no exposure.
    levels = model.predict_proba(counts, **more) if hasattr(model, "predict_proba") else None
    return Predicted(name, mean, levels, std)


def prediction_columns(model: Any, predicted: Predicted) -> dict[str, Any]:
    """Predictions as columns of a table."""
    out: dict[str, Any] = {"prediction": predicted.values}
    if predicted.std is not None:
        out["std"] = predicted.std
    if predicted.probabilities is not None:
        labels = model.classes_ if hasattr(model, "classes_") else model.levels_
        for c, label in enumerate(labels):
            text = f"{label:g}" if isinstance(label, (float, np.floating)) else str(label)
            out[f"probability_{text}"] = predicted.probabilities[:, c]
    return out
