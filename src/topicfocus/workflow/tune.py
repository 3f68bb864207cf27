"""Choose the number of topics and the inclusion by cross-validation on the training set."""

from __future__ import annotations

import logging
import math
import warnings
from collections import Counter
from dataclasses import replace
from typing import Any

from topicfocus.config import (
    SELECTING,
    FitConfig,
    SettingError,
    TuneConfig,
    common_fields,
    is_classes,
    setting,
)
from topicfocus.workflow.estimator import Training, make_estimator
from topicfocus.workflow.write import plain

log = logging.getLogger(__name__)

#: The score that settings are compared by, and its name: a proper score for classes.
_SCORES = {"classes": ("neg_log_loss", "-log loss"), "other": (None, "R²")}


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
        make_estimator(some, training),
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


def frontier_rows(tuning: dict[str, Any]) -> list[dict[str, float]]:
    """Numbers of every setting that did not fail, for the page."""
    searched, figures = ("n_topics", "inclusion_prior"), ("score", "score_se", "words", "npmi")
    shown = (*searched, *figures, "target_agreement", "diversity", "jaccard")
    return [
        {name: row[name] for name in shown if row.get(name) is not None}
        for row in tuning["rows"]
        if not row["error"]
    ]
