"""Tune: choose the number of topics and the proportion of words by cross-validation.

The test part is not used for the choice, so the held-out metrics of the chosen model are unbiased.
"""

from __future__ import annotations

import logging
import math
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.config import SELECTING, FitConfig, TuneConfig, common_fields
from topicfocus.workflow.columns import Columns
from topicfocus.workflow.errors import SettingError, setting
from topicfocus.workflow.models import is_classes, make_estimator
from topicfocus.workflow.outcome import Outcome
from topicfocus.workflow.tables import plain

log = logging.getLogger(__name__)

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
    some = replace(_chosen(config, tuning.topics[0]), class_weight=None)
    n_settings = math.prod(map(len, grid.values()))
    many = "setting" if n_settings == 1 else "settings"
    log.info(f"Tuning: {n_settings} {many} on {tuning.folds} folds ...")
    _check_folds(training, tuning.folds)
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


def _check_folds(training: Training, n_folds: int) -> None:
    """Raise an error unless every fold can have a document of each class, and a group."""
    what, group = setting("folds", n_folds), training.columns.group
    if group is not None and len(np.unique(group)) < n_folds:
        raise SettingError(
            f"{what}: the training set has only {len(np.unique(group))} groups, and each has to "
            "be in one fold. Ask for fewer folds."
        )
    if not is_classes(training.kind):
        return
    labels, often = np.unique([str(y) for y in training.y if y is not None], return_counts=True)
    least = int(often.min())
    if least < n_folds:
        fewer = f"ask for {least} folds at most, " if least > 1 else ""
        raise SettingError(
            f"{what}: class {labels[np.argmin(often)]} has {least} document"
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


def write_picture(path: Path, tuning: dict[str, Any]) -> bool:
    """The frontier as a picture; False where matplotlib is not installed."""
    try:
        # Without pyplot, which keeps figures and needs the main thread.
        from matplotlib.figure import Figure
    except ImportError:
        return False
    from topicfocus.report import plot_search

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    plot_search(tuning["rows"], score=tuning["score"], ax=figure.add_subplot())
    figure.savefig(path, dpi=150)
    return True


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
    from topicfocus.workflow.fit import run

    return run(file if isinstance(file, TuneConfig) else TuneConfig(file=file, **settings))  # type: ignore[arg-type]
