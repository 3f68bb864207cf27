"""Tune: the number of topics and the share of words, chosen on folds of the training part.

    read -> split -> count -> tune -> fit -> judge -> write

The test part takes no part in the choice, so the figures of the chosen model stay honest.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.workflow.checkpoints import SEARCH, STABILITY, finished_fits
from topicfocus.workflow.columns import Columns
from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.models import is_classes, make_estimator
from topicfocus.workflow.options import SELECTING, ModelOptions, TuneOptions
from topicfocus.workflow.outcome import Outcome
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.tables import plain
from topicfocus.workflow.wording import setting

#: What settings are compared by, and its name; a proper score for classes.
_SCORES = {"classes": ("neg_log_loss", "-log loss"), "other": (None, "R²")}


@dataclass(frozen=True)
class Training:
    """The training part: what tuning and stability split again. `factor`: of classes."""

    counts: Any
    y: np.ndarray
    columns: Columns
    kind: str
    words: np.ndarray
    remarks: Remarks
    progress: bool = False
    partial: Path | None = None
    factor: np.ndarray | None = None

    def checkpoint(self, name: str) -> Path | None:
        """A folder for finished fits, in the one for checkpoints."""
        return None if self.partial is None else finished_fits(self.partial / name)


def most_topics(options: ModelOptions) -> int:
    """The number of topics, or the largest that is tried."""
    if options.topics != "auto":
        return int(options.topics)
    return max((options.tuning or TuneOptions()).topics)


def tune_model(
    training: Training, options: ModelOptions
) -> tuple[ModelOptions, dict[str, Any] | None]:
    """Options with topics and share as chosen, and the search as plain data.

    Without anything to choose the options are as they were.
    """
    tuning = options.tuning
    if tuning is None:
        if options.topics != "auto":
            return options, None
        tuning = TuneOptions(shares=())
    from topicfocus.selection import TopicSearchCV

    scoring, name = _SCORES["classes" if is_classes(training.kind) else "other"]
    grid = _grid(tuning, options)
    # What a class counts for is a weight here: held-out scores of folds have it, too.
    some = replace(options, topics=tuning.topics[0], tuning=None, class_weight=None)
    n_settings = math.prod(map(len, grid.values()))
    many = "setting" if n_settings == 1 else "settings"
    training.remarks.say(f"Tuning: {n_settings} {many} on {tuning.folds} folds ...")
    _check_folds(training, tuning.folds)
    search = TopicSearchCV(
        make_estimator(some, training.kind, training.y),
        grid,
        cv=tuning.folds,
        scoring=scoring,
        rule=tuning.rule,
        refit=False,
        n_jobs=options.jobs,
        checkpoint=training.checkpoint(SEARCH),
        random_state=options.seed,
        verbose=training.progress,
    )
    search.fit(training.counts, training.y, **training.columns.times(training.factor).for_fit())
    for row in search.frontier_rows_:
        if row["error"]:
            training.remarks.warn(
                f"{row['n_topics']} topics, share {row['inclusion_prior']}: {row['error']}"
            )
    taken = search.best_params_
    chosen = replace(options, topics=int(taken["n_topics"]), tuning=None)
    if "inclusion_prior" in taken:
        chosen = replace(chosen, inclusion_prior=taken["inclusion_prior"])
    found = {
        "folds": search.n_splits_,
        "rule": tuning.rule,
        "score": name,
        "chosen": plain(taken),
        "rows": plain(search.frontier_rows_),
    }
    return chosen, found


def _check_folds(training: Training, n_folds: int) -> None:
    """That every fold can have a document of each class, and a group of its own."""
    what, group = setting("folds", n_folds), training.columns.group
    if group is not None and len(np.unique(group)) < n_folds:
        raise SettingError(
            f"{what}: the training part has {len(np.unique(group))} groups only, and each has to "
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
            f"{'' if least == 1 else 's'} in the training part, and every fold needs one: {fewer}"
            "join rare classes, or leave them out."
        )


def _grid(tuning: TuneOptions, options: ModelOptions) -> dict[str, list[Any]]:
    """Topics, and shares where the model selects words."""
    grid: dict[str, list[Any]] = {"n_topics": list(tuning.topics)}
    if tuning.shares and options.model in SELECTING:
        grid["inclusion_prior"] = list(tuning.shares)
    return grid


def check_stability(training: Training, model: Any, options: ModelOptions) -> dict[str, Any] | None:
    """What comes back in halves of the training part, as plain data; None if not asked for."""
    if not options.stability:
        return None
    from topicfocus.selection import stability

    training.remarks.say(
        f"Stability: {2 * options.stability} fits to halves of the training part ..."
    )
    found = stability(
        model,
        training.counts,
        training.y,
        n_resamples=options.stability,
        n_jobs=options.jobs,
        checkpoint=training.checkpoint(STABILITY),
        random_state=options.seed,
        verbose=training.progress,
        **training.columns.for_fit(),
    )
    return plain(found.to_dict(training.words.tolist()))


def with_choice(
    outcome: Outcome, tuning: dict[str, Any] | None, stability: dict[str, Any] | None
) -> Outcome:
    """The outcome with what tuning and stability found, in the result and on the page."""
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
    """Every setting that did not fail, its numbers only: what the page draws."""
    searched, figures = ("n_topics", "inclusion_prior"), ("score", "score_se", "words", "npmi")
    shown = (*searched, *figures, "agreement", "diversity", "jaccard")
    return [
        {name: row[name] for name in shown if row.get(name) is not None}
        for row in tuning["rows"]
        if not row["error"]
    ]


def write_picture(path: Path, tuning: dict[str, Any]) -> bool:
    """The frontier as a picture; False where matplotlib is not installed."""
    try:
        # Not pyplot's: a figure that nobody shows, in whatever thread this runs.
        from matplotlib.figure import Figure
    except ImportError:
        return False
    from topicfocus.report import plot_search

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    plot_search(tuning["rows"], score=tuning["score"], ax=figure.add_subplot())
    figure.savefig(path, dpi=150)
    return True


def tune_file(
    path: str | os.PathLike[str],
    *,
    tuning: TuneOptions = TuneOptions(),  # noqa: B008 - frozen
    **settings: Any,
) -> Outcome:
    """Choose topics and words on folds, then fit: what ``topicfocus tune FILE`` does.

    Parameters
    ----------
    path : path-like
        As for `fit_file`.
    tuning : TuneOptions, optional
        What is tried, on how many folds.
    **settings
        All others of `fit_file`, but for ``topics`` and ``inclusion_prior``.

    Returns
    -------
    Outcome
        Of the chosen model; ``result["tuning"]`` has every setting.

    Raises
    ------
    SettingError, ReadError, OSError, Interrupted
        As `fit_file`.

    Examples
    --------
    With the file that the example of `fit_file` has written:

    >>> from topicfocus.workflow import TuneOptions, tune_file
    >>> tried = TuneOptions(topics=(2, 3), shares=(0.1, 0.2), folds=2)
    >>> outcome = tune_file("reviews.csv", text="text", target="stars", tuning=tried)
    >>> tuning = outcome.result["tuning"]
    >>> len(tuning["rows"]), sorted(tuning["chosen"])
    (4, ['inclusion_prior', 'n_topics'])
    """
    from topicfocus.workflow.run import fit_file

    return fit_file(path, topics="auto", tuning=tuning, **settings)
