"""Fits to parts of the training set: to choose settings, and to see which topics replicate."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from topicfocus.config import (
    SELECTING,
    FitConfig,
    SettingError,
    TuneConfig,
    common_fields,
    is_classes,
    setting,
)
from topicfocus.estimators.training import FitOptions
from topicfocus.persistence import plain
from topicfocus.selection import TopicSearchCV, stability
from topicfocus.selection.replication import SAME_TOPIC, chosen_inclusion, fit_halves
from topicfocus.selection.resamples import read_data
from topicfocus.workflow.estimator import make_estimator
from topicfocus.workflow.read import Documents

log = logging.getLogger(__name__)

#: The score that settings are compared by, and its name: a proper score for classes.
_SCORES = {"classes": ("neg_log_loss", "-log loss"), "other": (None, "R²")}


def tune_model(
    training: Documents, config: FitConfig | TuneConfig
) -> tuple[FitConfig, dict[str, Any] | None]:
    """Settings with the chosen topics and inclusion prior, and the search as plain data."""
    tuning = config.tuning
    if tuning is None:
        assert isinstance(config, FitConfig)
        return config, None
    scoring, name = _SCORES["classes" if is_classes(training.target.kind) else "other"]
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
    search.fit(training.counts, training.y, **training.columns.with_class_weights().for_fit())
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


def check_enough(training: Documents, config: FitConfig | TuneConfig) -> None:
    """Raise an error, before any fit, if there are too few documents, or groups for halves."""
    n_docs = training.n_docs
    most = max(config.tuning.topics) if config.tuning else config.topics
    if int(most) > n_docs:  # type: ignore[arg-type]
        raise SettingError(
            f"{most:,} topics are more than the {n_docs:,} training documents. Ask for fewer: "
            f"{setting('topics')}."
        )
    group = training.columns.group
    if config.stability and group is not None and len(set(group.tolist())) < 2:
        raise SettingError(
            f"{setting('stability')}: the training set has one group only, which cannot be "
            f"halved. Name another column, or leave {setting('group')} or {setting('stability')} "
            "out."
        )


# ---- what replicates -----------------------------------------------------------------------------


def check_stability(training: Documents, model: Any, config: FitConfig) -> dict[str, Any] | None:
    """What replicates in halves of the training set, as plain data; None if not asked for.

    A failure is a warning: the fitted model is still written.
    """
    if not config.stability:
        return None
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
    return found.to_dict(training.words.tolist())


#: Training documents below which samples say little; the smallest and the largest sample of the
#: quick check, where there are more. Two samples of a quarter take about a third of the fit's time.
_ENOUGH, _LEAST, _MOST = 200, 1000, 10_000


def numbered(found: dict[str, Any], components: Sequence[int]) -> dict[str, Any]:
    """The result of `check_stability` with topics by their numbers, as they are shown."""
    number = {k: i for i, k in enumerate(components, start=1)}
    rows = [
        {**row, "component": row["topic"], "topic": number[row["topic"]]} for row in found["topics"]
    ]
    return {**found, "topics": sorted(rows, key=lambda row: row["topic"])}


def quick_check(
    training: Documents, model: Any, config: FitConfig, components: Sequence[int]
) -> dict[str, Any] | None:
    """Which topics two separate samples of the training set have, by fits of low fidelity.

    Only focused models have such fits, which take a part of the time of the fit itself; for other
    models, and for counts that are not in memory, nothing is checked. None for few documents, and
    where stability was asked for.
    """
    n_docs = training.n_docs
    if config.stability or n_docs < _ENOUGH:
        return None
    if config.model != "focused" or not training.in_memory:
        return {"documents": 0, "topics": []}
    size = min(n_docs // 2, max(_LEAST, n_docs // 4), _MOST)
    arguments = training.columns.for_fit()
    groups = arguments.pop("groups", None)
    data = read_data(training.counts, training.y, groups, arguments, None)
    options = FitOptions(low_fidelity=True, fixed_inclusion=chosen_inclusion(model))
    other = clone(model).set_params(n_jobs=config.jobs, remainder=False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pair = fit_halves(other, model, data, options, config.seed, most=size)
    except ValueError:  # a sample lacks what a fit needs
        return {"documents": 0, "topics": []}
    again = np.min([half.cosine for half in pair], axis=0) >= SAME_TOPIC
    topics = [number for number, k in enumerate(components, start=1) if again[k]]
    return {"documents": size, "topics": topics}
