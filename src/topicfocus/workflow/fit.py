"""Fit a model to a file: read, split, count, fit, evaluate, write; and tune, to choose its size."""

from __future__ import annotations

import logging
import math
import os
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicfocus.config import (
    SELECTING,
    FitConfig,
    SettingError,
    TuneConfig,
    common_fields,
    is_classes,
    setting,
)
from topicfocus.workflow.write import check_folder, plain, write_outcome

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

    table = open_file(config)
    with _client(config) as client, _counts_folder(config, folder) as counts:
        source = read_source(table, config, counts, client)
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
    from topicfocus.workflow.columns import class_factors, report_missing, target_values
    from topicfocus.workflow.evaluate import evaluate
    from topicfocus.workflow.outcome import make_outcome
    from topicfocus.workflow.split import choose_words, report_copies, split_source

    target = source.target
    log.info("Target: %s", target.sentence)
    factor_of = class_factors(config.class_weight, target, source.columns.weight)
    parts = split_source(source, config)
    train, test = parts
    y = target_values(target)
    wanted = config.baseline or config.has_remainder
    counted = choose_words(source, train, config, y, all_terms=wanted)
    report_copies(source, counted, parts)
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
    check_resampling(training, config)
    chosen, tuned = tune_model(training, config)
    began = time.perf_counter()
    model = fit_model(counts, y[train], training.columns, target.kind, chosen)
    seconds = time.perf_counter() - began
    model.n_jobs = config.jobs
    in_memory = not isinstance(counted.counts, ChunkedCounts)
    if config.baseline and len(test):
        said = "Comparing with a regression on all words and pairs of words ..."
        if not in_memory:
            said = "No comparison with a regression on all words: counts are not in memory."
        log.info(said)
    found = evaluate(
        model, source, counted, y, parts, config.seed, baseline=config.baseline, factor=factor
    )
    if model.fitted_.remainder is None:
        counted = replace(counted, counter=counted.counter.without_remainder())
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


_CLASSES = {"focused": "FocusedTopic", "pf-slda": "PFSLDA", "pc-slda": "PCSLDA", "slda": "SLDA"}
_FAMILIES = {"real": "gaussian", "count": "poisson", "ordinal": "ordinal"}


def make_estimator(options: FitConfig, kind: str, y: np.ndarray) -> Any:
    """An estimator for a kind of target, not fitted; `y` has the labels of classes."""
    import topicfocus
    from topicfocus.workflow.columns import for_estimator

    name = _CLASSES[options.model] + ("Classifier" if is_classes(kind) else "Regressor")
    settings: dict[str, Any] = {"n_topics": options.topics, "random_state": options.seed}
    if options.inclusion_prior is not None:
        settings["inclusion_prior"] = options.inclusion_prior
    if options.selection != "predictive":
        settings["selection"] = options.selection
    if options.has_remainder:
        settings["remainder"] = True
    if not is_classes(kind):
        settings["family"] = _FAMILIES[kind]
    elif options.class_weight is not None:
        settings["class_weight"] = for_estimator(options.class_weight, y)
    return getattr(topicfocus, name)(**settings)


def fit_model(counts: Any, y: np.ndarray, columns: Columns, kind: str, config: FitConfig) -> Any:
    """A fitted estimator, which stores the names of its columns."""
    from topicfocus.counts import ChunkedCounts
    from topicfocus.estimators.training import UselessFitWarning
    from topicfocus.text import ReadError

    model = make_estimator(config, kind, y)
    model.set_params(n_jobs=config.jobs, verbose=config.progress)
    if config.has_remainder and isinstance(counts, ChunkedCounts):
        log.info("The model gets no remainder, because the counts are not in memory.")
        model.set_params(remainder=False)
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
    # Threads and progress are properties of this run, not of the model.
    return model.set_params(n_jobs=None, verbose=False)


# ---- tune ----------------------------------------------------------------------------------------


#: The score that settings are compared by, and its name: a proper score for classes.
_SCORES = {"classes": ("neg_log_loss", "-log loss"), "other": (None, "R²")}


@dataclass(frozen=True)
class Training:
    """The training set, which tuning and stability split again. `factor` is due to the classes."""

    counts: Any
    y: np.ndarray
    columns: Columns
    kind: str
    words: np.ndarray
    factor: np.ndarray | None = None


def tune_model(
    training: Training, config: FitConfig | TuneConfig
) -> tuple[FitConfig, dict[str, Any] | None]:
    """Settings with the chosen topics and inclusion prior, and the search as plain data."""
    tuning = config.tuning
    if tuning is None:
        assert isinstance(config, FitConfig)
        return config, None
    from topicfocus.selection import TopicSearchCV

    scoring, name = _SCORES["classes" if is_classes(training.kind) else "other"]
    grid: dict[str, list[Any]] = {"n_topics": list(tuning.topics)}
    if tuning.shares and config.model in SELECTING:
        grid["inclusion_prior"] = list(tuning.shares)
    # Weights of classes are weights of documents here, so that scores of folds have them too.
    # The remainder is the same for all settings, so that topics alone are compared.
    some = replace(_chosen(config, tuning.topics[0]), class_weight=None, remainder=False)
    n_settings = math.prod(map(len, grid.values()))
    many = "setting" if n_settings == 1 else "settings"
    log.info(f"Tuning: {n_settings} {many} on {tuning.folds} folds ...")
    search = TopicSearchCV(
        make_estimator(some, training.kind, training.y),
        grid,
        cv=tuning.folds,
        scoring=scoring,
        rule=tuning.rule,
        refit=False,
        n_jobs=config.jobs,
        random_state=config.seed,
        verbose=config.progress,
    )
    search.fit(training.counts, training.y, **training.columns.times(training.factor).for_fit())
    for row in search.frontier_rows_:
        if row["error"]:
            warnings.warn(
                f"{row['n_topics']} topics, inclusion {row['inclusion_prior']}: {row['error']}",
                stacklevel=2,
            )
    taken = search.best_params_
    found = {
        "folds": search.n_splits_,
        "rule": tuning.rule,
        "score": name,
        "chosen": plain(taken),
        "rows": plain(search.frontier_rows_),
    }
    return _chosen(config, int(taken["n_topics"]), taken.get("inclusion_prior")), found


def _chosen(config: FitConfig | TuneConfig, topics: int, prior: float | None = None) -> FitConfig:
    """The settings of a fit with what the search has chosen."""
    if prior is None and isinstance(config, FitConfig):
        prior = config.inclusion_prior  # type: ignore[assignment]
    return FitConfig(**common_fields(config), topics=topics, inclusion_prior=prior)


def check_resampling(training: Training, config: FitConfig | TuneConfig) -> None:
    """Raise an error, before any fit, if the training set cannot be split into folds or halves."""
    folds = config.tuning.folds if config.tuning else 0
    group = training.columns.group
    if group is not None:
        n_groups = len(set(group.tolist()))
        if n_groups < folds:
            raise SettingError(
                f"{setting('folds', folds)}: the training set has only {n_groups} groups, and each "
                "has to be in one fold. Ask for fewer folds."
            )
        if config.stability and n_groups < 2:
            raise SettingError(
                f"{setting('stability')}: the training set has one group only, which cannot be "
                f"halved. Name another column, or leave {setting('group')} or "
                f"{setting('stability')} out."
            )
    if not folds or not is_classes(training.kind):
        return
    label, least = Counter(str(y) for y in training.y if y is not None).most_common()[-1]
    if least < folds:
        fewer = f"ask for {least} folds at most, " if least > 1 else ""
        raise SettingError(
            f"{setting('folds', folds)}: class {label} has {least} document"
            f"{'' if least == 1 else 's'} in the training set, and every fold needs one: {fewer}"
            "join rare classes, or leave them out."
        )


def check_stability(training: Training, model: Any, config: FitConfig) -> dict[str, Any] | None:
    """What replicates in halves of the training set, as plain data; None if not asked for.

    A failure is a warning: the fitted model is still written.
    """
    if not config.stability:
        return None
    from topicfocus.selection import stability

    log.info(f"Stability: {2 * config.stability} fits to halves of the training set ...")
    try:
        found = stability(
            model,
            training.counts,
            training.y,
            n_resamples=config.stability,
            n_jobs=config.jobs,
            random_state=config.seed,
            verbose=config.progress,
            **training.columns.for_fit(),
        )
    except ValueError as error:
        warnings.warn(f"no {setting('stability')}: {error}", stacklevel=2)
        return None
    return plain(found.to_dict(training.words.tolist()))


def with_choice(
    outcome: Outcome, tuning: dict[str, Any] | None, stability: dict[str, Any] | None
) -> Outcome:
    """The outcome with the results of tuning and stability."""
    result, shown = dict(outcome.result), dict(outcome.shown)
    if tuning is not None:
        result["tuning"] = tuning
        rows = frontier_rows(tuning)
        if len(rows) > 1:
            shown["frontier"] = rows
    if stability is not None:
        result["stability"] = shown["stability"] = stability
    return replace(outcome, result=result, shown=shown)


def frontier_rows(tuning: dict[str, Any]) -> list[dict[str, float]]:
    """Numbers of every setting that did not fail, for the page."""
    searched, figures = ("n_topics", "inclusion_prior"), ("score", "score_se", "words", "npmi")
    shown = (*searched, *figures, "target_agreement", "diversity", "jaccard")
    return [
        {name: row[name] for name in shown if row.get(name) is not None}
        for row in tuning["rows"]
        if not row["error"]
    ]


def tune_file(
    file: TuneConfig | str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **settings: Any
) -> Outcome:
    """Choose topics and words by cross-validation, then fit: what ``topicfocus tune FILE`` does.

    Parameters
    ----------
    file : path-like, sequence of path-like, or TuneConfig
        The file or files to read, or all settings.
    **settings
        Fields of `TuneConfig`.

    Returns
    -------
    Outcome
        Of the chosen model; ``result["tuning"]`` has every setting.

    Raises
    ------
    SettingError, ReadError, OSError
        As `fit_file`.

    Examples
    --------
    With the file that the example of `fit_file` has written:

    >>> from topicfocus.workflow import tune_file
    >>> outcome = tune_file(
    ...     "reviews.csv", text="text", target="stars", topics=(2, 3), shares=(0.1, 0.2), folds=2
    ... )
    >>> tuning = outcome.result["tuning"]
    >>> len(tuning["rows"]), sorted(tuning["chosen"])
    (4, ['inclusion_prior', 'n_topics'])
    """

    return run(file if isinstance(file, TuneConfig) else TuneConfig(file=file, **settings))  # type: ignore[arg-type]
