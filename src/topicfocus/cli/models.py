"""From names on the command line to estimators, and the target as they take it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.cli.errors import UsageError
from topicfocus.text import Target

_CLASSES = {"focused": "FocusedTopic", "pf-slda": "PFSLDA", "pc-slda": "PCSLDA", "slda": "SLDA"}
_FAMILIES = {"real": "gaussian", "count": "poisson", "ordinal": "ordinal"}
_SELECTING = ("focused", "pf-slda")

MODEL_FILE = "model.topicfocus"
METRICS_FILE = "metrics.json"


def is_classes(kind: str) -> bool:
    return kind in ("binary", "classes")


def check_options(model: str, inclusion_prior: float | str | None) -> None:
    """Before anything is read."""
    if inclusion_prior is not None and model not in _SELECTING:
        raise UsageError(f"--inclusion-prior is for {' and '.join(_SELECTING)}, not {model}.")
    if inclusion_prior == "auto" and model == "pf-slda":
        raise UsageError("--inclusion-prior auto is for focused; give pf-slda a number.")


def make_estimator(
    model: str, kind: str, topics: int, inclusion_prior: float | str | None, seed: int
) -> Any:
    """An estimator of topicfocus, not fitted."""
    import topicfocus

    name = _CLASSES[model] + ("Classifier" if is_classes(kind) else "Regressor")
    settings: dict[str, Any] = {"n_topics": topics, "random_state": seed}
    if inclusion_prior is not None:
        settings["inclusion_prior"] = inclusion_prior
    if not is_classes(kind):
        settings["family"] = _FAMILIES[kind]
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
    return int(text) if text.lstrip("-").isdigit() and str(int(text)) == text else text


# ---- saved models ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saved:
    """A model from a file: whole, in its two parts, and the settings of its fit where known."""

    whole: Any
    counter: Any
    estimator: Any
    settings: dict[str, Any]


def load_model(path: str, jobs: int | None) -> Saved:
    """The model of a file, or of a folder that fit has written."""
    import topicfocus

    place = Path(path)
    if place.is_dir() and (place / MODEL_FILE).is_file():
        place = place / MODEL_FILE
    model = topicfocus.load(place)
    counter, estimator = None, model
    if hasattr(model, "steps"):
        if len(model.steps) != 2:
            raise ValueError(f"{path}: a pipeline of a vectoriser and a model is needed.")
        counter, estimator = model[0], model[1]
        if hasattr(counter, "n_jobs"):
            counter.n_jobs = jobs
    if not hasattr(estimator, "predict"):
        raise ValueError(f"{path} holds a {type(estimator).__name__}, which predicts no target.")
    if len(estimator._codings) > 1:
        raise ValueError(
            f"{path} was fitted with several targets, which is for Python: topicfocus.load."
        )
    estimator.n_jobs = jobs
    return Saved(model, counter, estimator, _settings_beside(place))


def _settings_beside(place: Path) -> dict[str, Any]:
    """What metrics.json in the folder of a model says of the fit; nothing if it is not there."""
    try:
        content = json.loads((place.parent / METRICS_FILE).read_text(encoding="utf-8"))
        settings = content["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return settings if isinstance(settings, dict) else {}
