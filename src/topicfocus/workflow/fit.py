"""Fit a model to a file: read, split, count, fit, evaluate, write."""

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

from topicfocus.config import FitConfig, TuneConfig
from topicfocus.workflow.errors import SettingError, setting
from topicfocus.workflow.write import check_folder, write_outcome

if TYPE_CHECKING:
    import numpy as np

    from topicfocus.workflow.columns import Columns
    from topicfocus.workflow.outcome import Outcome
    from topicfocus.workflow.read import Source

log = logging.getLogger(__name__)


def fit_file(
    file: FitConfig | str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **settings: Any
) -> Outcome:
    """Fit a model to a file of texts and a target: what ``topicfocus fit FILE`` does.

    Reads the file, holds out a part, counts the words of the other part, fits, and evaluates the
    model on the held-out part next to a regression on all words. Messages on progress are logged by
    the logger "topicfocus".

    Parameters
    ----------
    file : path-like, sequence of path-like, or FitConfig
        The file or files to read, or all settings.
    **settings
        Fields of `FitConfig`.

    Returns
    -------
    Outcome
        ``pipeline``, ``result`` (what ``--json`` prints), ``predictions``, ``folder``, ``written``.

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
    >>> outcome = fit_file(
    ...     "reviews.csv", text="text", target="stars", topics=2, out="reviews-topics"
    ... )
    >>> outcome.result["documents"]["test"]
    24
    >>> list(outcome.result["held_out"])
    ['FocusedTopicRegressor', 'ridge on all words', 'mean of the training part']
    >>> good, bad = outcome.pipeline.predict(["a superb masterpiece", "an awful mess"])
    >>> bool(good > bad)
    True
    >>> outcome.written[:3]
    ('config.toml', 'explorer.html', 'manifest.json')

    The folder is what `predict_file`, `explain_text`, `report_file` and `load_model` take.
    """
    return run(file if isinstance(file, FitConfig) else FitConfig(file=file, **settings))  # type: ignore[arg-type]


def run(config: FitConfig | TuneConfig) -> Outcome:
    """Read, fit, evaluate and write. Mistakes in settings and columns are found first."""
    if not config.paths or not config.paths[0]:
        raise SettingError(f"name a file to read: {setting('file')}.")
    folder = None
    if config.out is not None:
        folder = check_folder(config.out, config.overwrite, config.paths)
    if config.cluster is not None:
        from topicfocus.distributed import dask

        dask()  # an error if it is not installed
    from topicfocus.workflow.read import open_file, read_source

    table = open_file(config.paths, config, config.reading, config)
    with _client(config) as client, _counts_folder(config, folder) as counts:
        source = read_source(table, config, config, config.jobs, config.reading, counts, client)
        outcome = fit_source(source, config, client)
    if folder is None or config.out is None:
        return outcome
    return replace(
        write_outcome(folder, outcome, overwrite=config.overwrite), folder=Path(config.out)
    )


def _client(config: FitConfig | TuneConfig) -> AbstractContextManager[Any]:
    if config.cluster is None:
        return nullcontext()
    from topicfocus.distributed import connected

    log.info("Connecting to the cluster (%s) ...", config.cluster)
    return connected(config.cluster, config.jobs)


@contextmanager
def _counts_folder(config: FitConfig | TuneConfig, out: Path | None) -> Iterator[Path | None]:
    """A temporary folder for counts that may not fit into memory, else None."""
    from topicfocus.counts import counts_folder_needed

    needed = config.out_of_core
    if not needed and config.cluster is None:
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


def fit_source(source: Source, config: FitConfig | TuneConfig, client: Any = None) -> Outcome:
    """Fit to a part of the documents and evaluate on the others.

    `client` is that of a cluster to fit on.
    """
    from topicfocus.counts import ChunkedCounts, take_rows
    from topicfocus.workflow.class_weights import class_factors
    from topicfocus.workflow.count import choose_words
    from topicfocus.workflow.evaluate import evaluate
    from topicfocus.workflow.missing_covariates import report_missing
    from topicfocus.workflow.models import target_values
    from topicfocus.workflow.outcome import make_outcome
    from topicfocus.workflow.split import report_copies, split_source
    from topicfocus.workflow.tune import Training, check_stability, tune_model, with_choice

    target = source.target
    log.info("Target: %s", target.sentence)
    factor_of = class_factors(config.class_weight, target, source.columns.weight)
    parts = split_source(source, config)
    train, test = parts
    y = target_values(target)
    counted = choose_words(source, train, config, y)
    report_copies(source, counted.counts, parts)
    counts = take_rows(counted.counts, train)
    report_missing(source.columns, train)
    factor = factor_of(train)
    if client is not None:
        counts = _on_cluster(counts, client)
    training = Training(
        counts,
        y[train],
        source.columns.of(train),
        target.kind,
        counted.words,
        None if factor is None else factor[train],
    )
    _check_topics(config, len(train))
    chosen, tuned = tune_model(training, config)
    began = time.perf_counter()
    model = fit_model(counts, y[train], training.columns, target.kind, chosen)
    seconds = time.perf_counter() - began
    model.n_jobs = config.jobs
    in_memory = not isinstance(counted.counts, ChunkedCounts)
    if config.baseline and len(test):
        said = "Comparing with a regression on all words ..."
        if not in_memory:
            said = "No comparison with a regression on all words: counts are not in memory."
        log.info(said)
    found = evaluate(
        model, source, counted, y, parts, config.seed, baseline=config.baseline, factor=factor
    )
    stability = check_stability(training, model, chosen)
    outcome = make_outcome(source, counted, model, found, parts, y, chosen, seconds)
    for message in outcome.result["warnings"]:
        warnings.warn(message, stacklevel=2)
    return with_choice(outcome, tuned, stability)


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


def fit_model(counts: Any, y: np.ndarray, columns: Columns, kind: str, config: FitConfig) -> Any:
    """A fitted estimator, which stores the names of its columns."""
    from topicfocus.estimators.fit_warnings import UselessFitWarning
    from topicfocus.text import ReadError
    from topicfocus.workflow.columns import remember
    from topicfocus.workflow.models import make_estimator

    model = make_estimator(config, kind, y)
    model.set_params(n_jobs=config.jobs, verbose=config.progress)
    log.info("Fitting %s, %s topics ...", type(model).__name__, config.topics)
    with warnings.catch_warnings():
        if config.test_share:  # the evaluation will warn, with held-out metrics
            warnings.simplefilter("ignore", UselessFitWarning)
        try:
            model.fit(counts, y, **columns.for_fit())
        except ValueError as error:
            if "keep_words" not in str(error):
                raise
            raise ReadError(
                "no word predicts the target beyond noise, so none is kept. Check that texts and "
                f"targets belong together; {setting('model', 'pc-slda')} keeps every word."
            ) from None
    remember(model, columns.names)
    # Threads and progress are properties of this run, not of the model.
    return model.set_params(n_jobs=None, verbose=False)
