"""Fit a model to a file or a DataFrame: read, split, count, fit, evaluate, write."""

from __future__ import annotations

import logging
import os
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from topicfocus.config import FitConfig, SettingError, TuneConfig, setting
from topicfocus.counts import counts_folder_needed, in_memory, take_rows
from topicfocus.distributed import DaskCounts, connected, dask
from topicfocus.estimators.arguments import RowError
from topicfocus.text import ReadError
from topicfocus.workflow.columns import (
    check_class_weight,
    class_factors,
    remember,
    report_missing,
)
from topicfocus.workflow.estimator import check_numbers, correct_topics, fit_estimator
from topicfocus.workflow.evaluate import evaluate
from topicfocus.workflow.predict import as_frame, prediction_columns
from topicfocus.workflow.read import Documents, open_file, read_documents
from topicfocus.workflow.resampling import (
    check_enough,
    check_stability,
    numbered,
    quick_check,
    tune_model,
)
from topicfocus.workflow.result import Result
from topicfocus.workflow.split import count_words, report_copies, split_documents
from topicfocus.workflow.summary import (
    FittedModel,
    effect_table,
    summarise,
    topic_table,
    word_table,
)
from topicfocus.workflow.write import check_folder

log = logging.getLogger(__name__)


def fit(
    data: Any, text: str | None = None, target: str | None = None, *, y: Any = None, **settings: Any
) -> Result:
    """Fit a topic model to texts and a target: the shortest way, from data to a `Result`.

    Holds out a part of the documents, chooses and counts the words of the others, fits, and
    evaluates the model on the held-out part next to a regression on all words: what ``topicfocus
    fit`` does.

    Parameters
    ----------
    data : DataFrame, list or Series of texts with `y`, path-like or list of these
        Documents with their targets. Rows of a DataFrame without a target are used for their words.
    text, target : str, optional
        Columns of a DataFrame or a file.
    y : sequence, optional
        Targets of a list or Series of texts: numbers or labels, None where unknown.
    **settings
        Fields of `FitConfig`, such as ``topics=8``, ``covariates=("age",)``, ``group="patient"``,
        ``drop_words=("film",)`` or ``out="folder"``.

    Returns
    -------
    Result
        Topics, effects, held-out metrics; `predict`, `explain`, `plot`, `explorer` and `save`.

    Raises
    ------
    SettingError
        If settings are wrong or contradict each other.
    ReadError
        If the data cannot be read, or lack a column. Rows are counted from 1.

    Examples
    --------
    >>> import topicfocus
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(200, random_state=0)
    >>> result = topicfocus.fit(reviews.texts, y=reviews.target, topics=2, phrases=False)
    >>> good, bad = result.predict(["superb masterpiece", "awful mess"])["prediction"]
    >>> bool(good > bad)
    True
    """
    named_files = target is not None and isinstance(data, (list, tuple))
    if y is None and (named_files or isinstance(data, (str, os.PathLike))):
        return run(FitConfig(file=data, text=text, target=target, **settings))  # type: ignore[arg-type]
    frame, text, target = _as_frame(data, text, target, y)
    return run(FitConfig(text=text, target=target, **settings), frame)


def _as_frame(
    data: Any, text: str | None, target: str | None, y: Any
) -> tuple[pd.DataFrame, str | None, str | None]:
    """A DataFrame, and the names of the columns of texts and targets in it."""
    if isinstance(data, pd.DataFrame):
        if y is None:
            return data, text, target
        name = target or getattr(y, "name", None) or "target"
        return data.assign(**{str(name): y}), text, str(name)
    if y is None:
        raise SettingError("texts need their targets: fit(texts, y=...).")
    if isinstance(data, (str, os.PathLike)):
        raise SettingError("`y` is for texts in memory; name the column of a file: `target`.")
    text = text or str(getattr(data, "name", None) or "text")
    target = target or str(getattr(y, "name", None) or "target")
    data, y = (v if hasattr(v, "__len__") else list(v) for v in (data, y))
    if len(data) != len(y):
        raise SettingError(f"there are {len(data):,} texts, but `y` has {len(y):,} values.")
    if text == target:
        raise SettingError(f"texts and targets are both called {text!r}: pass `text` or `target`.")
    return as_frame({text: data, target: y}), text, target


def fit_file(
    file: FitConfig | str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **settings: Any
) -> Result:
    """Fit a model to a file of texts and a target: what ``topicfocus fit FILE`` does.

    As `topicfocus.fit`, for one or more files. Messages on progress are logged by the logger
    "topicfocus".

    Parameters
    ----------
    file : path-like, sequence of path-like, or FitConfig
        The file or files to read, or all settings.
    **settings
        Fields of `FitConfig`.

    Returns
    -------
    Result

    Raises
    ------
    SettingError
        If settings are wrong or contradict each other.
    ReadError
        If the file cannot be read, or lacks a column.
    OSError
        If the folder exists (FileExistsError) or cannot be written.

    Examples
    --------
    >>> import csv
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.workflow import fit_file
    >>> reviews = make_reviews(120, random_state=0)
    >>> with open("reviews.csv", "w", newline="") as stream:
    ...     writer = csv.writer(stream)
    ...     _ = writer.writerow(["text", "stars"])
    ...     writer.writerows(zip(reviews.texts, reviews.target))
    >>> result = fit_file(
    ...     "reviews.csv",
    ...     text="text",
    ...     target="stars",
    ...     topics=2,
    ...     phrases=False,
    ...     out="reviews-topics",
    ... )
    >>> result.summary["documents"]["test"]
    24
    >>> list(result.summary["held_out"])[0]
    'FocusedTopicRegressor'
    >>> good, bad = result.pipeline.predict(["a superb masterpiece", "an awful mess"])
    >>> bool(good > bad)
    True
    >>> result.written[:3]
    ('config.toml', 'explorer.html', 'metrics.json')

    The folder is what `predict_file`, `explain_text`, `report_file` and `load_model` take.
    """
    return run(file if isinstance(file, FitConfig) else FitConfig(file=file, **settings))  # type: ignore[arg-type]


def tune_file(
    file: TuneConfig | str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **settings: Any
) -> Result:
    """Choose topics and words by cross-validation, then fit: what ``topicfocus tune FILE`` does.

    Parameters
    ----------
    file : path-like, sequence of path-like, or TuneConfig
        The file or files to read, or all settings.
    **settings
        Fields of `TuneConfig`.

    Returns
    -------
    Result
        Of the chosen model; ``summary["tuning"]`` has every setting.

    Raises
    ------
    SettingError, ReadError, OSError
        As `fit_file`.

    Examples
    --------
    With the file that the example of `fit_file` has written:

    >>> from topicfocus.workflow import tune_file
    >>> result = tune_file(
    ...     "reviews.csv", text="text", target="stars", topics=(2, 3), shares=(0.1, 0.2), folds=2
    ... )
    >>> tuning = result.summary["tuning"]
    >>> len(tuning["rows"]), sorted(tuning["chosen"])
    (4, ['inclusion_prior', 'n_topics'])
    """
    return run(file if isinstance(file, TuneConfig) else TuneConfig(file=file, **settings))  # type: ignore[arg-type]


def run(config: FitConfig | TuneConfig, frame: pd.DataFrame | None = None) -> Result:
    """Read, fit, evaluate and write. Mistakes in settings and columns are found first."""
    if frame is None and (not config.paths or not config.paths[0]):
        raise SettingError(f"name a file to read: {setting('file')}.")
    folder = None
    if config.out is not None:
        folder = check_folder(config.out, config.overwrite, config.paths)
    if config.cluster is not None:
        dask()  # an error if it is not installed
    table = open_file(config, frame)
    with _client(config) as client, _counts_folder(config, folder, frame is None) as counts:
        result = fit_documents(read_documents(table, config, counts, client), config, client)
    if config.out is None:
        return result
    return result.save(config.out, overwrite=config.overwrite)


def _client(config: FitConfig | TuneConfig) -> AbstractContextManager[Any]:
    if config.cluster is None:
        return nullcontext()
    log.info("Connecting to the cluster (%s) ...", config.cluster)
    return connected(config.cluster, config.jobs)


@contextmanager
def _counts_folder(
    config: FitConfig | TuneConfig, out: Path | None, of_files: bool
) -> Iterator[Path | None]:
    """A temporary folder for counts that may not fit into memory, else None."""
    needed = config.out_of_core
    if not needed and of_files and config.cluster is None:
        needed = counts_folder_needed(config.paths)
    if not needed:
        yield None
        return
    beside = None if out is None else out.parent
    with tempfile.TemporaryDirectory(
        prefix=".topicfocus-", dir=beside, ignore_cleanup_errors=True
    ) as place:
        log.info("Counts are kept in a temporary folder, %s.", place)
        yield Path(place) / "counts"


def fit_documents(
    documents: Documents, config: FitConfig | TuneConfig, client: Any = None
) -> Result:
    """Fit to a part of the documents and evaluate on the others.

    `client` is that of a cluster to fit on.
    """
    target = documents.target
    log.info("Target: %s", target.sentence)
    check_class_weight(config.class_weight, target)
    parts = split_documents(documents, config)
    train = parts[0]
    documents, config = count_words(documents, train, config)
    report_copies(documents, parts)
    columns = documents.columns
    report_missing(columns, train)
    factor = class_factors(config.class_weight, target, columns.weight, train)
    documents = replace(documents, columns=replace(columns, class_factor=factor))
    training = documents.of(train)
    if client is not None and not isinstance(training.counts, DaskCounts):
        training = replace(training, counts=DaskCounts(training.counts, client))
    check_enough(training, config)
    with _rows_of_file(training):
        check_numbers(training)
    chosen, tuned = tune_model(training, config)
    began = time.perf_counter()
    with _rows_of_file(training):
        model = fit_estimator(training, chosen)
    seconds = time.perf_counter() - began
    model.n_jobs = config.jobs
    fitted = FittedModel(documents, parts, training, model, chosen, seconds=seconds)
    correct_topics(fitted)
    found = evaluate(model, documents, parts, config.seed, baseline=config.baseline)
    if model.fitted_.remainder is None:
        documents = replace(documents, counter=documents.counter.without_remainder())
    fitted = replace(fitted, documents=documents, evaluation=found)
    result = _result(fitted, tuned)
    for message in result.summary["warnings"]:
        warnings.warn(message, stacklevel=2)
    return result


@contextmanager
def _rows_of_file(training: Documents) -> Iterator[None]:
    """Errors name a row as the file counts it, not among the training documents."""
    try:
        yield
    except RowError as error:
        named = str(error).replace(f"row {error.row}", training.where(error.row), 1)
        raise ReadError(named) from None


# ---- the result ----------------------------------------------------------------------------------


def _result(fitted: FittedModel, tuned: dict[str, Any] | None) -> Result:
    """The result of a fit, with the search for its settings and with what replicates."""
    model, config, training = fitted.model, fitted.config, fitted.training
    effects = fitted.effects()
    summary = summarise(fitted, effects)
    rows = summary["topics"]
    components = [row["component"] for row in rows]
    shown = _shown(fitted)
    if tuned is not None:
        summary["tuning"] = tuned
        shown["frontier"] = tuned["rows"] if len(tuned["rows"]) > 1 else None
    stable = check_stability(training, model, config)
    if stable is not None:
        summary["stability"] = numbered(stable, components)
        shown["stability"] = stable
    replication = quick_check(training, model, config, components)
    if replication is not None:
        summary["replication"] = replication
        if replication["documents"]:
            again = [components[number - 1] for number in replication["topics"]]
            shown["stability"] = {"documents": replication["documents"], "components": again}
    predictions = _predictions(fitted)
    model.n_jobs = None
    remember(model, config.columns, components)
    kind = training.target.kind
    return Result(
        pipeline=make_pipeline(fitted.documents.counter, model),
        topics=topic_table(rows),
        words=word_table(fitted, components),
        predictions=predictions,
        summary=summary,
        effect_table=effect_table(model, effects, rows),
        shown=shown,
        config=replace(config, kind=config.kind if kind == "binary" else kind),
    )


def _predictions(fitted: FittedModel) -> pd.DataFrame:
    """The table of predictions.csv."""
    documents, found = fitted.documents, fitted.evaluation
    assert found is not None
    part = np.full(documents.n_docs, "unused", dtype=object)
    part[fitted.parts[0]], part[fitted.parts[1]] = "train", "test"
    file = {} if documents.files is None else {"file": documents.files}
    columns = {**file, "row": documents.rows, "part": part, "target": documents.y}
    seen = documents.counts
    if found.documents is not None:
        columns = {name: column[found.documents] for name, column in columns.items()}
        seen = take_rows(seen, found.documents)
    columns["target"] = pd.Series(_as_written(columns["target"]), dtype=object)
    columns |= prediction_columns(fitted.model, found.predicted)
    columns["relevant_words"] = fitted.model.relevant_words(seen)
    return pd.DataFrame(columns)


def _as_written(y: np.ndarray) -> list[Any]:
    """Targets as they were, without the decimals of whole numbers."""
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in y.tolist()]


def _shown(fitted: FittedModel) -> dict[str, Any]:
    """Inputs of the explorer page."""
    documents, chosen, found = fitted.documents, fitted.on_page, fitted.evaluation
    assert found is not None
    if chosen[0] < len(documents.texts):
        given: dict[str, Any] = {"texts": [documents.texts[i] for i in chosen]}
    else:
        some = in_memory(take_rows(documents.counts, chosen))
        given = {"counts": some, "vocabulary": documents.words.tolist()}
    baselines, words, test = {}, found.words, fitted.parts[1]
    if words is not None:
        other = words.values if words.probabilities is None else words.probabilities
        baselines[words.name] = other[np.searchsorted(test, chosen)]
    name = fitted.config.target
    columns = documents.columns.with_class_weights().of(chosen)
    covariates = documents.columns.names.covariates
    return {
        **given,
        "target": documents.y[chosen],
        "baselines": baselines,
        "held_out": len(test) > 0,
        # The target of a count matrix is a file.
        "target_name": name if documents.is_text or not name else Path(name).stem,
        "document_names": [documents.where(i) for i in chosen],
        "covariate_names": list(covariates) or None,
        "sample_weight": columns.weight,
        **columns.for_predict(),
    }
