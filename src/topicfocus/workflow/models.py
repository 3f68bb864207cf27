"""Estimators from settings, targets as these take them, and models from files."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.config import FitConfig
from topicfocus.text import Target
from topicfocus.workflow.class_weights import for_estimator
from topicfocus.workflow.columns import remembered_columns
from topicfocus.workflow.write import METRICS_FILE, MODEL_FILE

_CLASSES = {"focused": "FocusedTopic", "pf-slda": "PFSLDA", "pc-slda": "PCSLDA", "slda": "SLDA"}
_FAMILIES = {"real": "gaussian", "count": "poisson", "ordinal": "ordinal"}


def is_classes(kind: str) -> bool:
    return kind in ("binary", "classes")


def make_estimator(options: FitConfig, kind: str, y: np.ndarray) -> Any:
    """An estimator for a kind of target, not fitted; `y` has the labels of classes."""
    import topicfocus

    name = _CLASSES[options.model] + ("Classifier" if is_classes(kind) else "Regressor")
    settings: dict[str, Any] = {"n_topics": options.topics, "random_state": options.seed}
    if options.inclusion_prior is not None:
        settings["inclusion_prior"] = options.inclusion_prior
    if options.selection != "predictive":
        settings["selection"] = options.selection
    if not is_classes(kind):
        settings["family"] = _FAMILIES[kind]
    elif options.class_weight is not None:
        settings["class_weight"] = for_estimator(options.class_weight, y)
    return getattr(topicfocus, name)(**settings)


def target_values(target: Target) -> np.ndarray:
    """The target for `fit`: numbers, or labels, which are numbers again if all of them were."""
    if target.classes is None:
        return target.values
    labels = [_label(text) for text in target.classes]
    if not all(isinstance(label, int) for label in labels):
        labels = list(target.classes)
    codes = target.values
    if not np.isnan(codes).any():
        return np.array(labels)[codes.astype(np.intp)]
    out = np.array([*labels, None], dtype=object)
    return out[np.where(np.isnan(codes), -1, codes).astype(np.intp)]


def _label(text: str) -> int | str:
    """Class 1 of a file is the number 1 in Python, too."""
    # Longer ones are names: no integer of NumPy holds them.
    digits = text.removeprefix("-")
    whole = digits.isascii() and digits.isdecimal() and len(digits) <= 18
    return int(text) if whole and str(int(text)) == text else text


# ---- saved models ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saved:
    """A model from a file: whole, in its two parts, and the settings of its fit where known.

    Attributes
    ----------
    path : str
        Where it was asked for.
    whole : Pipeline or estimator
    counter : TokenCounter, CountVectorizer or None
    estimator : estimator of topicfocus
    settings : dict
        Of the fit, from metrics.json beside the file; of a file alone the columns of text and
        target.
    """

    path: str
    whole: Any
    counter: Any
    estimator: Any
    settings: dict[str, Any]


def load_model(
    path: str | os.PathLike[str], *, jobs: int | None = None, tokenizer: Any = None
) -> Saved:
    """Load the model of a file, or of a folder that `fit_file` has written.

    Parameters
    ----------
    path : path-like
        A model file, also one saved from Python (a model, or a pipeline of a vectoriser and a
        model), or a folder.
    jobs : int, optional
        Threads; all cores by default.
    tokenizer : callable, optional
        The function that the model was fitted with, of which its file has the name only.

    Returns
    -------
    Saved

    Raises
    ------
    ModelFileError
        If it is no model file, or a damaged one.
    ValueError
        If its model predicts no target, or several.

    Examples
    --------
    With the folder that the example of `fit_file` has written:

    >>> from topicfocus.workflow import load_model
    >>> saved = load_model("reviews-topics")
    >>> saved.estimator.top_words(3, saved.counter.get_feature_names_out())
    [['masterpiece', 'brilliant', 'enjoyable'], ['awful', 'worst', 'terrible']]
    >>> saved.whole.predict(["a superb masterpiece"]).shape
    (1,)
    """
    import topicfocus

    place, path = Path(path), str(path)
    if place.is_dir() and (place / MODEL_FILE).is_file():
        place = place / MODEL_FILE
    model = topicfocus.load(place, tokenizer=tokenizer)
    counter, estimator = None, model
    if hasattr(model, "steps"):
        if len(model.steps) != 2:
            raise ValueError(f"{path}: a pipeline of a vectoriser and a model is needed.")
        counter, estimator = model[0], model[1]
        if hasattr(counter, "n_jobs"):
            counter.n_jobs = jobs
    if not hasattr(estimator, "predict"):
        raise ValueError(f"{path} holds a {type(estimator).__name__}, which predicts no target.")
    if estimator.fitted_.target_model.n_targets > 1:
        raise ValueError(
            f"{path} was fitted with several targets, which is for Python: topicfocus.load."
        )
    estimator.n_jobs = jobs
    settings = {**remembered_columns(estimator), **_settings_beside(place)}
    return Saved(path, model, counter, estimator, settings)


def model_files(model: Saved | str | os.PathLike[str]) -> tuple[Path, ...]:
    """Files that a model is read from."""
    place = Path(model.path if isinstance(model, Saved) else model)
    if not place.is_dir():
        return (place,)
    return (place / MODEL_FILE, place / METRICS_FILE)


def as_saved(model: Saved | str | os.PathLike[str], jobs: int | None) -> Saved:
    """The model itself if it is loaded, else loaded now."""
    return model if isinstance(model, Saved) else load_model(model, jobs=jobs)


def _settings_beside(place: Path) -> dict[str, Any]:
    """Settings of the fit from metrics.json in the folder of a model; none without that file."""
    try:
        content = json.loads((place.parent / METRICS_FILE).read_text(encoding="utf-8"))
        settings = content["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return settings if isinstance(settings, dict) else {}
