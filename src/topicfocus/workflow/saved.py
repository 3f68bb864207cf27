"""Load models from files and result folders."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topicfocus.persistence import load
from topicfocus.text.errors import nearest
from topicfocus.workflow.columns import remembered
from topicfocus.workflow.write import METRICS_FILE, MODEL_FILE


@dataclass(frozen=True)
class Saved:
    """A model from a file: whole, in its two parts, and the columns of its fit where known.

    Attributes
    ----------
    path : str
        Where it was asked for.
    whole : Pipeline or estimator
    counter : TokenCounter, CountVectorizer or None
    estimator : estimator of topicfocus
    columns : dict
        Names of the columns of the fit by role, of a model that the workflow has fitted.
    """

    path: str
    whole: Any
    counter: Any
    estimator: Any
    columns: dict[str, Any]


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
    FileNotFoundError
        If there is no such file, or no model in the folder.
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
    place, path = Path(path), str(path)
    if not place.exists():
        names = [p.name for p in place.parent.iterdir()] if place.parent.is_dir() else []
        raise FileNotFoundError(
            f"there is no model {path}.{nearest(place.name, names)} Name a model file, or the "
            "folder that a fit has written."
        )
    if place.is_dir():
        place = place / MODEL_FILE
        if not place.is_file():
            raise FileNotFoundError(
                f"{path} has no {MODEL_FILE}, so it is not a folder that a fit has written."
            )
    model = load(place, tokenizer=tokenizer)
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
    return Saved(path, model, counter, estimator, remembered(estimator))


def as_saved(model: Saved | str | os.PathLike[str], jobs: int | None) -> Saved:
    """The model itself if it is loaded, else loaded now."""
    return model if isinstance(model, Saved) else load_model(model, jobs=jobs)


def read_summary(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of metrics.json in the folder of a fit.

    Raises
    ------
    FileNotFoundError
        If the folder has no such file.
    ValueError
        If the file is damaged.
    """
    path = Path(folder) / METRICS_FILE
    if not path.is_file():
        raise FileNotFoundError(
            f"{folder} has no {METRICS_FILE}, so it is not a folder that a fit has written."
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content["settings"], dict) and content["topics"][0]["topic"] >= 1:
            return content
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise ValueError(f"{path} is damaged, or of another version of topicfocus. Fit again.")
