"""From settings to a fitted estimator, with its topics corrected."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np

from topicfocus.config import FitConfig, SettingError, is_classes, setting
from topicfocus.estimators.scaling import TargetScaling
from topicfocus.estimators.targets import read_regression
from topicfocus.estimators.training import UselessFitWarning
from topicfocus.families import FAMILIES
from topicfocus.text import ReadError
from topicfocus.text.codes import joined
from topicfocus.workflow.columns import for_estimator
from topicfocus.workflow.read import Documents
from topicfocus.workflow.summary import FittedModel, topic_rows

log = logging.getLogger(__name__)

_CLASSES = {"focused": "FocusedTopic", "pf-slda": "PFSLDA", "pc-slda": "PCSLDA", "slda": "SLDA"}
_FAMILIES = {"real": "gaussian", "count": "poisson", "ordinal": "ordinal"}
#: Words by which messages name a topic.
_WORDS = 3


def _estimator_class(config: FitConfig, kind: str) -> Any:
    """The class of the estimator for a kind of target, if it has the corrections asked for."""
    import topicfocus

    name = _CLASSES[config.model] + ("Classifier" if is_classes(kind) else "Regressor")
    found = getattr(topicfocus, name)
    for method in ("merge_topics", "rename_topics"):
        if getattr(config, method) and not hasattr(found, method):
            raise SettingError(f"{setting(method)} is not for {setting('model', config.model)}.")
    return found


def make_estimator(config: FitConfig, training: Documents) -> Any:
    """An estimator for the kind of target, not fitted."""
    settings: dict[str, Any] = {"n_topics": config.topics, "random_state": config.seed}
    if config.inclusion_prior is not None:
        settings["inclusion_prior"] = config.inclusion_prior
    if config.selection != "predictive":
        settings["selection"] = config.selection
    if config.has_remainder:
        settings["remainder"] = True
    if not is_classes(training.target.kind):
        settings["family"] = _FAMILIES[training.target.kind]
    elif config.class_weight is not None:
        settings["class_weight"] = for_estimator(config.class_weight, training.y)
    estimator = _estimator_class(config, training.target.kind)(**settings)
    return estimator.set_params(**_chosen_words(config, estimator, training.words))


def _chosen_words(config: FitConfig, estimator: Any, words: Any) -> dict[str, Any]:
    """Parameters for the words that the user drops, keeps, or starts topics from, by column."""
    column = {str(word): i for i, word in enumerate(words)}
    given: dict[str, Any] = {
        "drop_words": {"": config.drop_words} if config.drop_words else None,
        "keep_words": {"": config.keep_words} if config.keep_words else None,
        "seed_words": config.seed_words,
    }
    found: dict[str, Any] = {}
    for name, lists in given.items():
        if not lists:
            continue
        listed = [word for words in lists.values() for word in words]
        if name not in estimator.get_params():
            raise SettingError(f"{setting(name)} is not for {setting('model', config.model)}.")
        unknown = [word for word in listed if word not in column]
        if unknown:
            log.info(
                f"{setting(name)}: {', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} not "
                "among the terms of the training documents."
            )
        columns = {
            topic: [column[word] for word in words if word in column]
            for topic, words in lists.items()
        }
        found[name] = columns if name == "seed_words" else columns[""]
    return found


def check_numbers(training: Documents) -> None:
    """Raise an error for numbers that no model can be fitted to, before any fit to a part of them:
    the rows of a part have other numbers."""
    if is_classes(training.target.kind):
        return
    family, values = FAMILIES[_FAMILIES[training.target.kind]], training.target.values
    weight = training.columns.weight
    weight = np.ones(len(values)) if weight is None else weight
    read_regression([values], [family], weight)
    TargetScaling.estimate([family], values[:, None], weight)


def fit_estimator(training: Documents, config: FitConfig) -> Any:
    """A fitted estimator."""
    model = make_estimator(config, training)
    model.set_params(n_jobs=config.jobs, verbose=config.progress)
    if config.has_remainder and not training.in_memory:
        log.info("The model gets no remainder, because the counts are not in memory.")
        model.set_params(remainder=False)
    log.info("Fitting %s, %s topics ...", type(model).__name__, config.topics)
    with warnings.catch_warnings():
        # The summary has the same warnings.
        warnings.simplefilter("ignore", UselessFitWarning)
        try:
            model.fit(training.counts, training.y, **training.columns.for_fit())
        except ValueError as error:
            if "keep_words" not in str(error):
                raise
            raise ReadError(
                "no word predicts the target beyond noise, so none is kept. Check that texts and "
                f"targets belong together; {setting('model', 'pc-slda')} keeps every word."
            ) from None
    # Threads and progress are properties of this run, not of the model.
    return model.set_params(n_jobs=None, verbose=False)


# ---- corrections ---------------------------------------------------------------------------------


def correct_topics(fitted: FittedModel) -> None:
    """Rename topics of the model, then merge some of them."""
    config, model = fitted.config, fitted.model
    if not config.merge_topics and not config.rename_topics:
        return
    rows = topic_rows(fitted, fitted.effects())
    component = {row["topic"]: row["component"] for row in rows}
    words = {row["component"]: joined(row["words"][:_WORDS]) for row in rows}

    def of(number: int, name: str) -> int:
        if number not in component:
            raise SettingError(
                f"{setting(name)}: there is no topic {number}; topics are 1 to {len(component)}."
            )
        return component[number]

    names = {of(int(n), "rename_topics"): name for n, name in (config.rename_topics or {}).items()}
    if names:
        model.rename_topics(names)
    for k, new in names.items():
        # After words were dropped the numbers may be those of other topics.
        log.info("Named %r: the topic of %s.", new, words[k])
    place = list(range(len(component)))
    for numbers in config.merge_topics or ():
        group = [of(number, "merge_topics") for number in numbers]
        log.info("Merged: the topics of %s.", "; of ".join(words[k] for k in group))
        name = next((names[k] for k in group if k in names), None)
        place = _merge(fitted, [place[k] for k in group], name, place)


def _merge(fitted: FittedModel, group: list[int], name: str | None, place: list[int]) -> list[int]:
    """Merge topics, given by their present places; the places of all former topics after that."""
    first, *rest = sorted(set(group))
    if not rest:
        raise SettingError(f"{setting('merge_topics')}: these topics are one already.")
    some = fitted.training.counts if fitted.training.in_memory else None
    fitted.model.merge_topics([first, *rest], name=name, X=some)
    kept = [k for k in range(max(place) + 1) if k not in rest]
    return [kept.index(first if k in rest else k) for k in place]
