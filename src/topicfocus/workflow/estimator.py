"""From settings to a fitted estimator."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.config import FitConfig, SettingError, is_classes, setting
from topicfocus.counts import ChunkedCounts
from topicfocus.workflow.columns import Columns, for_estimator

log = logging.getLogger(__name__)

_CLASSES = {"focused": "FocusedTopic", "pf-slda": "PFSLDA", "pc-slda": "PCSLDA", "slda": "SLDA"}
_FAMILIES = {"real": "gaussian", "count": "poisson", "ordinal": "ordinal"}


@dataclass(frozen=True)
class Training:
    """The training set, which tuning and stability split again. `factor` is due to the classes."""

    counts: Any
    y: np.ndarray
    columns: Columns
    kind: str
    words: np.ndarray
    factor: np.ndarray | None = None


def estimator_class(config: FitConfig, kind: str) -> Any:
    """The class of the estimator for a kind of target, if it has the corrections asked for."""
    import topicfocus

    name = _CLASSES[config.model] + ("Classifier" if is_classes(kind) else "Regressor")
    found = getattr(topicfocus, name)
    for method in ("merge_topics", "rename_topics"):
        if getattr(config, method) and not hasattr(found, method):
            raise SettingError(f"{setting(method)} is not for {setting('model', config.model)}.")
    return found


def make_estimator(config: FitConfig, training: Training) -> Any:
    """An estimator for the kind of target, not fitted."""
    settings: dict[str, Any] = {"n_topics": config.topics, "random_state": config.seed}
    if config.inclusion_prior is not None:
        settings["inclusion_prior"] = config.inclusion_prior
    if config.selection != "predictive":
        settings["selection"] = config.selection
    if config.has_remainder:
        settings["remainder"] = True
    if not is_classes(training.kind):
        settings["family"] = _FAMILIES[training.kind]
    elif config.class_weight is not None:
        settings["class_weight"] = for_estimator(config.class_weight, training.y)
    estimator = estimator_class(config, training.kind)(**settings)
    return estimator.set_params(**_chosen_words(config, estimator, training.words))


def _chosen_words(config: FitConfig, estimator: Any, words: np.ndarray) -> dict[str, Any]:
    """Parameters for the words that the user drops, keeps, or starts topics from, by column."""
    column = {str(word): i for i, word in enumerate(words)}
    given: dict[str, Any] = {"drop_words": config.drop_words, "keep_words": config.keep_words}
    found = {
        name: [column[word] for word in listed if word in column]
        for name, listed in given.items()
        if listed
    }
    if config.seed_words:
        given["seed_words"] = [word for listed in config.seed_words.values() for word in listed]
        found["seed_words"] = {  # type: ignore[assignment]
            name: [column[word] for word in listed if word in column]
            for name, listed in config.seed_words.items()
        }
    for name in found:
        if name not in estimator.get_params():
            raise SettingError(f"{setting(name)} is not for {setting('model', config.model)}.")
        unknown = [word for word in given[name] if word not in column]
        if unknown:
            log.info(
                f"{setting(name)}: {', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} not "
                "among the terms of the training documents."
            )
    return found


def fit_estimator(training: Training, config: FitConfig) -> Any:
    """A fitted estimator."""
    from topicfocus.estimators.training import UselessFitWarning
    from topicfocus.text import ReadError

    model = make_estimator(config, training)
    model.set_params(n_jobs=config.jobs, verbose=config.progress)
    if config.has_remainder and isinstance(training.counts, ChunkedCounts):
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
