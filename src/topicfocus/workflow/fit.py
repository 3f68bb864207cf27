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
from typing import TYPE_CHECKING, Any

from topicfocus.config import FitConfig, SettingError, TuneConfig, setting
from topicfocus.workflow.write import check_folder

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from topicfocus.result import Result
    from topicfocus.workflow.estimator import Training
    from topicfocus.workflow.evaluate import Evaluation
    from topicfocus.workflow.read import Source
    from topicfocus.workflow.split import Counted, Parts
    from topicfocus.workflow.summary import FittedModel

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
    import pandas as pd

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
    # Python's own values, where NumPy and pandas have their own.
    texts, targets = (v.tolist() if hasattr(v, "tolist") else list(v) for v in (data, y))
    if len(texts) != len(targets):
        raise SettingError(f"there are {len(texts):,} texts, but `y` has {len(targets):,} values.")
    if text == target:
        raise SettingError(f"texts and targets are both called {text!r}: pass `text` or `target`.")
    index = data.index if isinstance(data, pd.Series) else None
    frame = pd.DataFrame({text: texts, target: targets}, index=index, dtype=object)
    return frame, text, target


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
    ('config.toml', 'explorer.html', 'manifest.json')

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
        from topicfocus.distributed import dask

        dask()  # an error if it is not installed
    from topicfocus.workflow.read import open_file, read_source

    table = open_file(config, frame)
    with _client(config) as client, _counts_folder(config, folder, frame is None) as counts:
        source = read_source(table, config, counts, client)
        result = fit_source(source, config, client)
    if config.out is None:
        return result
    return result.save(config.out, overwrite=config.overwrite)


def _client(config: FitConfig | TuneConfig) -> AbstractContextManager[Any]:
    if config.cluster is None:
        return nullcontext()
    from topicfocus.distributed import connected

    log.info("Connecting to the cluster (%s) ...", config.cluster)
    return connected(config.cluster, config.jobs)


@contextmanager
def _counts_folder(
    config: FitConfig | TuneConfig, out: Path | None, of_files: bool
) -> Iterator[Path | None]:
    """A temporary folder for counts that may not fit into memory, else None."""
    from topicfocus.counts import counts_folder_needed

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


def fit_source(source: Source, config: FitConfig | TuneConfig, client: Any = None) -> Result:
    """Fit to a part of the documents and evaluate on the others.

    `client` is that of a cluster to fit on.
    """
    from topicfocus.counts import take_rows
    from topicfocus.workflow.columns import class_factors, report_missing, target_values
    from topicfocus.workflow.corrections import correct_topics
    from topicfocus.workflow.estimator import Training
    from topicfocus.workflow.replicate import check_stability, quick_check
    from topicfocus.workflow.split import choose_words, report_copies, split_source
    from topicfocus.workflow.summary import FittedModel
    from topicfocus.workflow.tune import check_resampling, tune_model

    target = source.target
    log.info("Target: %s", target.sentence)
    factor_of = class_factors(config.class_weight, target, source.columns.weight)
    parts = split_source(source, config)
    train, _ = parts
    y = target_values(target)
    wanted = config.baseline or config.has_remainder
    counted = choose_words(source, train, config, y, all_terms=wanted)
    report_copies(source, counted, parts)
    counts = take_rows(counted.counts, train)
    report_missing(source.columns, train)
    factor = factor_of(train)
    training = Training(
        counts if client is None else _on_cluster(counts, client),
        y[train],
        source.columns.of(train),
        target.kind,
        counted.words,
        None if factor is None else factor[train],
    )
    _check_topics(config, len(train))
    check_resampling(training, config)
    chosen, tuned = tune_model(training, config)
    began = time.perf_counter()
    model = _fit_model(training, chosen, source, train)
    seconds = time.perf_counter() - began
    model.n_jobs = config.jobs
    fitted = FittedModel(source, counted, parts, y, model, chosen, seconds=seconds)
    correct_topics(fitted)
    found = _evaluate(model, source, counted, y, parts, config, factor)
    if model.fitted_.remainder is None:
        counted = replace(counted, counter=counted.counter.without_remainder())
    extras = {
        "tuning": tuned,
        "stability": check_stability(training, model, chosen),
        "replication": quick_check(training, model, chosen),
    }
    known = {name: value for name, value in extras.items() if value is not None}
    result = _result(replace(fitted, counted=counted, evaluation=found), known)
    for message in result.summary["warnings"]:
        warnings.warn(message, stacklevel=2)
    return result


def _fit_model(
    training: Training, config: FitConfig | TuneConfig, source: Source, rows: np.ndarray
) -> Any:
    """A fitted estimator; errors name a row as the file counts it, not the training documents."""
    from topicfocus.estimators.arguments import RowError
    from topicfocus.text import ReadError
    from topicfocus.workflow.estimator import fit_estimator

    try:
        return fit_estimator(training, config)
    except RowError as error:
        named = str(error).replace(f"row {error.row}", source.where(int(rows[error.row])), 1)
        raise ReadError(named) from None


def _check_topics(config: FitConfig | TuneConfig, n_docs: int) -> None:
    most = max(config.tuning.topics) if config.tuning else config.topics
    if int(most) > n_docs:  # type: ignore[arg-type]
        raise SettingError(
            f"{most:,} topics are more than the {n_docs:,} training documents. Ask for fewer: "
            f"{setting('topics')}."
        )


def _on_cluster(counts: Any, client: Any) -> Any:
    """The training documents on the workers, which get those that were counted here."""
    from topicfocus.distributed import DaskCounts

    return counts if isinstance(counts, DaskCounts) else DaskCounts(counts, client)


def _evaluate(
    model: Any,
    source: Source,
    counted: Counted,
    y: np.ndarray,
    parts: Parts,
    config: FitConfig | TuneConfig,
    factor: np.ndarray | None,
) -> Evaluation:
    from topicfocus.counts import ChunkedCounts
    from topicfocus.workflow.evaluate import evaluate

    if config.baseline and len(parts[1]):
        message = "Comparing with a regression on all words and pairs of words ..."
        if isinstance(counted.counts, ChunkedCounts):
            message = "No comparison with a regression on all words: counts are not in memory."
        log.info(message)
    return evaluate(
        model, source, counted, y, parts, config.seed, baseline=config.baseline, factor=factor
    )


# ---- the result ----------------------------------------------------------------------------------


def _result(fitted: FittedModel, extras: dict[str, Any]) -> Result:
    """The result of a fit; `extras` are those of tuning and stability."""
    from sklearn.pipeline import make_pipeline

    from topicfocus.counts import take_rows
    from topicfocus.result import Result
    from topicfocus.workflow.columns import remember
    from topicfocus.workflow.summary import effect_table, summarise, topic_table, word_table

    model, counted, config = fitted.model, fitted.counted, fitted.config
    effects = fitted.effects()
    summary = summarise(fitted, effects)
    rows = summary["topics"]
    components = [row["component"] for row in rows]
    predictions = _predictions(fitted)
    model.n_jobs = None
    remember(model, config.columns, components)
    kind = fitted.source.target.kind
    return Result(
        pipeline=make_pipeline(counted.counter, model),
        topics=topic_table(rows),
        words=word_table(
            model, counted.words, take_rows(counted.counts, fitted.parts[0]), components
        ),
        predictions=predictions,
        summary={**summary, **_numbered(extras, components)},
        effect_table=effect_table(model, effects, rows),
        shown=_shown(fitted) | _for_page(extras),
        config=replace(
            config,
            kind=config.kind if kind == "binary" else kind,
            min_df=counted.min_df,
            max_df=counted.max_df,
        ),
    )


def _numbered(extras: dict[str, Any], components: list[int]) -> dict[str, Any]:
    """Results of resampling with topics by their numbers."""
    number = {k: i for i, k in enumerate(components, start=1)}
    out = dict(extras)
    if "stability" in extras:
        rows = [
            {**row, "component": row["topic"], "topic": number[row["topic"]]}
            for row in extras["stability"]["topics"]
        ]
        rows.sort(key=lambda row: row["topic"])
        out["stability"] = {**extras["stability"], "topics": rows}
    if "replication" in extras:
        found = extras["replication"]
        again = sorted(number[k] for k in found["components"])
        out["replication"] = {"documents": found["documents"], "topics": again}
    return out


def _for_page(extras: dict[str, Any]) -> dict[str, Any]:
    from topicfocus.workflow.tune import frontier_rows

    out = {}
    if "tuning" in extras and len(frontier_rows(extras["tuning"])) > 1:
        out["frontier"] = frontier_rows(extras["tuning"])
    if "stability" in extras:
        out["stability"] = extras["stability"]
    return out


def _predictions(fitted: FittedModel) -> pd.DataFrame:
    """The table of predictions.csv."""
    import numpy as np
    import pandas as pd

    from topicfocus.counts import take_rows
    from topicfocus.workflow.predict import prediction_columns

    source, found = fitted.source, fitted.evaluation
    part = np.full(source.n_docs, "unused", dtype=object)
    part[fitted.parts[0]], part[fitted.parts[1]] = "train", "test"
    file = {} if source.files is None else {"file": source.files}
    columns = {**file, "row": source.rows, "part": part, "target": fitted.y}
    seen = fitted.counted.counts
    if found.documents is not None:
        columns = {name: column[found.documents] for name, column in columns.items()}
        seen = take_rows(seen, found.documents)
    columns["target"] = pd.Series(_as_written(columns["target"]), dtype=object)
    assert found.predicted is not None
    columns |= prediction_columns(fitted.model, found.predicted)
    columns["relevant_words"] = fitted.model.relevant_words(seen)
    return pd.DataFrame(columns)


def _as_written(y: np.ndarray) -> list[Any]:
    """Targets as they were, without the decimals of whole numbers."""
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in y.tolist()]


def _shown(fitted: FittedModel) -> dict[str, Any]:
    """Inputs of the explorer page."""
    import numpy as np

    from topicfocus.counts import in_memory, take_rows

    source, counted, documents = fitted.source, fitted.counted, fitted.on_page
    if documents[0] < len(source.texts):
        given: dict[str, Any] = {"texts": [source.texts[i] for i in documents]}
    else:
        some = in_memory(take_rows(counted.counts, documents))
        given = {"counts": some, "vocabulary": counted.words.tolist()}
    baselines, words, test = {}, fitted.evaluation.words, fitted.parts[1]
    if words is not None:
        other = words.values if words.probabilities is None else words.probabilities
        baselines[words.name] = other[np.searchsorted(test, documents)]
    name = fitted.config.target
    shown = {
        **given,
        "target": fitted.y[documents],
        "baselines": baselines,
        "held_out": len(test) > 0,
        # The target of a count matrix is a file.
        "target_name": name if source.is_text or not name else Path(name).stem,
        "document_names": [source.where(i) for i in documents],
        **source.columns.of(documents).for_predict(),
    }
    if source.columns.names.covariates:
        shown["covariate_names"] = list(source.columns.names.covariates)
    return shown
