"""Which classes model files may hold, and what must be true of each before it is used.

Compiled kernels trust the shapes and values they are given, so a model from a file is looked at
first. The same checks run before writing: what could not be loaded is not saved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from topicfocus.estimators.base import TopicModel
from topicfocus.estimators.coding import Coding
from topicfocus.estimators.constrained import ConstrainedModel
from topicfocus.estimators.documents import Scaling
from topicfocus.estimators.focused import (
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PCSLDAClassifier,
    PCSLDARegressor,
)
from topicfocus.estimators.joint import JointTopicModel
from topicfocus.estimators.lda import LDA
from topicfocus.estimators.pfslda import PFSLDAClassifier, PFSLDARegressor
from topicfocus.estimators.slda import SLDAClassifier, SLDARegressor
from topicfocus.estimators.targets import ClassifierPart, TargetPart
from topicfocus.families import FAMILIES, Categorical, Several
from topicfocus.inference.state import Hyperparameters, ModelState
from topicfocus.persistence import register, register_record

MODELS = (
    LDA,
    SLDARegressor,
    SLDAClassifier,
    PFSLDARegressor,
    PFSLDAClassifier,
    PCSLDARegressor,
    PCSLDAClassifier,
    FocusedTopicRegressor,
    FocusedTopicClassifier,
)


def register_all() -> None:
    """Called once, when `topicfocus.estimators` is imported."""
    for model in MODELS:
        # The state of a stream holds documents, which have no place in a model file.
        register(model, transient=("_stream", "reservoir_size"), check=check_model)
    # The identity of a list in memory, kept by scikit-learn so as to warn only once.
    register(CountVectorizer, transient=("_stop_words_id",), check=check_vectoriser)
    register(Pipeline, check=check_pipeline)
    for record in (*map(type, FAMILIES.values()), Categorical, Several):
        register_record(record)
    for record in (Hyperparameters, Coding, Scaling):
        register_record(record)


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise ValueError(f"{message}.")


# ---- topic models -----------------------------------------------------------------------------


def check_model(model: TopicModel) -> None:
    """Fitted, and every array that a kernel will see of the right type, shape and range."""
    # Not just any fitted attribute: an interrupted fit, or a file made by hand, has some of them.
    check_is_fitted(model, _needed(model), all_or_any=all)
    components = model.components_
    _require(_is_floats(components, 2), "components_ must be a matrix of floats")
    n_topics, n_words = components.shape
    _require(n_topics > 0 and n_words > 0, "components_ must not be empty")
    _require(
        type(model.n_features_in_) is int and model.n_features_in_ == n_words,
        f"components_ has {n_words} columns, but n_features_in_ is {model.n_features_in_!r}",
    )
    for name in ("inclusion_", "background_", "evidence_", "selected_words_"):
        _check_shape(model, name, (n_words,))
    for name in ("doc_topic_prior_", "topic_volume_"):
        _check_shape(model, name, (n_topics,))
    _check_names(model, n_words)
    if hasattr(model, "classes_"):
        classes = model.classes_
        _require(
            isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 1,
            "classes_ must be a list of two or more labels",
        )
    if isinstance(model, JointTopicModel):
        hyper = model._hyper
        _require(
            isinstance(hyper, Hyperparameters) and hyper.n_topics == n_topics,
            f"_hyper must be of {n_topics} topics",
        )
    _check_state(model._state(), n_topics, n_words)


def _needed(model: TopicModel) -> list[str]:
    """Attributes without which a model cannot predict, or would do so without its words."""
    names = ["components_", "doc_topic_prior_", "n_features_in_"]
    if isinstance(model, ClassifierPart):
        names += ["classes_"]
    if isinstance(model, TargetPart):
        names += ["coef_", "intercept_"]
    if isinstance(model, ConstrainedModel):
        names += ["topic_volume_"]
    if isinstance(model, JointTopicModel):
        names += ["_hyper"]
        selects = bool(getattr(getattr(model, "_hyper", None), "selects", False))
    else:
        selects = bool(getattr(model, "_selects", False))
    if selects:
        names += ["inclusion_", "background_", "selected_words_"]
    return names


def _check_state(state: ModelState, n_topics: int, n_words: int) -> None:
    """What the inference layer is given. NaN fails every comparison here, as it should."""
    shapes = {
        "topic_word": (n_words, n_topics),
        "inclusion": (n_words,),
        "background": (n_words,),
        "doc_topic_prior": (n_topics,),
    }
    for name, shape in shapes.items():
        array = getattr(state, name)
        _require(
            _is_floats(array, len(shape)) and array.shape == shape,
            f"{name} must be an array of floats of shape {shape}",
        )
        _require(np.all((array >= 0) & (array < np.inf)), f"{name} must be at least 0 and finite")
    _require(np.all(state.inclusion <= 1), "inclusion must be at most 1")
    _require(np.all(state.doc_topic_prior > 0), "doc_topic_prior must be greater than 0")
    coef = state.coef
    _require(
        isinstance(coef, np.ndarray)
        and coef.dtype == np.float64
        and coef.ndim in (1, 2)
        and n_topics in coef.shape,
        f"coef_ must have a coefficient for each of the {n_topics} topics",
    )
    intercept = np.asarray(state.intercept)
    _require(intercept.dtype.kind == "f", "intercept_ must be a number")
    dispersion = getattr(state.family, "noise_variance", 1.0)
    _require(0 < dispersion < np.inf, "noise_variance_ must be greater than 0 and finite")


def _is_floats(array: Any, ndim: int) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == np.float64 and array.ndim == ndim


def _check_shape(model: TopicModel, name: str, shape: tuple[int, ...]) -> None:
    if hasattr(model, name):
        array = getattr(model, name)
        _require(
            isinstance(array, np.ndarray) and array.shape == shape and array.dtype.kind in "fb",
            f"{name} must be an array of numbers of shape {shape}",
        )


def _check_names(model: TopicModel, n_words: int) -> None:
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        _require(
            isinstance(names, np.ndarray)
            and names.shape == (n_words,)
            and all(isinstance(name, str) for name in names),
            f"feature_names_in_ must have {n_words} names",
        )


# ---- what stands before a model in a pipeline --------------------------------------------------


def check_vectoriser(vectoriser: CountVectorizer) -> None:
    """Fitted, and its vocabulary numbers the columns 0, 1, ... once each."""
    check_is_fitted(vectoriser, "vocabulary_")
    vocabulary = vectoriser.vocabulary_
    _require(
        isinstance(vocabulary, dict)
        and all(isinstance(word, str) for word in vocabulary)
        and all(isinstance(column, (int, np.integer)) for column in vocabulary.values())
        and sorted(vocabulary.values()) == list(range(len(vocabulary))),
        "vocabulary_ must give every word a column of its own",
    )


def check_pipeline(pipeline: Pipeline) -> None:
    """Named steps, the last one a topic model that takes what the one before it makes."""
    steps = pipeline.steps
    _require(
        isinstance(steps, list)
        and steps
        and all(isinstance(s, tuple) and len(s) == 2 and isinstance(s[0], str) for s in steps),
        "steps must be a list of names and estimators",
    )
    _require(
        pipeline.memory is None,
        "Pipeline.memory is a folder of this machine; call set_params(memory=None) before saving",
    )
    last = steps[-1][1]
    if not isinstance(last, (TopicModel, Pipeline)):
        raise TypeError(
            f"Cannot save this pipeline: it ends in a {type(last).__name__}, not in an estimator "
            "of topicfocus. Save the part that does: topicfocus.save(pipeline[:n], path)."
        )
    check_is_fitted(last)
    before = [step for _, step in steps[:-1] if step is not None and step != "passthrough"]
    vocabulary = getattr(before[-1], "vocabulary_", None) if before else None
    if vocabulary is not None and isinstance(last, TopicModel):
        _require(
            len(vocabulary) == last.n_features_in_,
            f"the vectoriser has {len(vocabulary)} words, but the model {last.n_features_in_}",
        )
