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
from topicfocus.estimators.coding import CLASS_FAMILIES, REGRESSION_FAMILIES, Coding
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
from topicfocus.families import (
    Bernoulli,
    Categorical,
    Gaussian,
    Ordinal,
    Poisson,
    Several,
    n_predictors,
    split,
)
from topicfocus.inference.state import Hyperparameters, ModelState
from topicfocus.persistence import register, register_record
from topicfocus.text.counter import TokenCounter

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
        # The state of a stream holds documents, which have no place in a model file; nor has a
        # second model, that of the last epoch.
        transient = ("_stream", "reservoir_size", "_last_epoch")
        register(model, transient=transient, check=check_model)
    # The identity of a list in memory, kept by scikit-learn so as to warn only once.
    register(CountVectorizer, transient=("_stop_words_id",), check=check_vectoriser)
    register(TokenCounter, check=check_vectoriser)
    register(Pipeline, check=check_pipeline)
    for record in (Gaussian, Bernoulli, Poisson, Ordinal, Categorical, Several):
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
    if isinstance(model, TargetPart):
        # First, because the state below is made with the family's own code.
        check_targets(model)
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
        names += ["coef_", "intercept_", "family_", "n_covariates_", "_codings", "_scaling"]
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


# ---- targets ------------------------------------------------------------------------------------


def check_targets(model: Any) -> None:
    """Family, labels and coefficients of every target, and that they are of the same targets."""
    codings = model._codings
    _require(
        isinstance(codings, list) and codings and all(isinstance(c, Coding) for c in codings),
        "_codings must be a list of codings, one a target",
    )
    families = _families(model.family_, len(codings))
    for coding, family in zip(codings, families, strict=True):
        _check_coding(coding, family, isinstance(model, ClassifierPart))
    _check_kept(model, codings, families)
    _check_coefficients(model)


def _families(family: Any, n_targets: int) -> list[Any]:
    """The family of each target. Compiled code follows the arrays of Several without looking."""
    kinds = (Gaussian, Bernoulli, Poisson, Ordinal, Categorical)
    if not isinstance(family, Several):
        _require(type(family) in kinds, "family_ must be a family of topicfocus")
        _require(n_targets == 1, f"family_ is of one target, but there are {n_targets}")
        return [family]
    for name in ("kind", "first", "place"):
        array = getattr(family, name)
        _require(
            isinstance(array, np.ndarray) and array.dtype == np.int64 and array.ndim == 1,
            f"family_.{name} must be an array of whole numbers",
        )
    _require(
        n_targets > 1 and len(family.kind) == n_targets,
        f"family_ is of {len(family.kind)} targets, but there are {n_targets}",
    )
    _require(_is_floats(family.parameters, 1), "family_.parameters must be an array of floats")
    _require(
        np.all((family.kind >= 0) & (family.kind < len(kinds))), "family_.kind is of no known kind"
    )
    for name in ("first", "place"):
        array = getattr(family, name)
        _require(
            len(array) == n_targets + 1 and array[0] == 0 and np.all(np.diff(array) >= 0),
            f"family_.{name} must begin at 0 and never fall",
        )
    _require(family.place[-1] == len(family.parameters), "family_.place must end at the parameters")
    widths, sizes = np.diff(family.first), np.diff(family.place)
    for kind, width, size in zip(family.kind, widths, sizes, strict=True):
        cls = kinds[kind]
        _require(
            width >= 2 if cls is Categorical else width == 1,
            f"family_ gives {width} predictors to a target that is {cls.__name__}",
        )
        _require(
            size >= 1 if cls is Ordinal else size == (cls is Gaussian),
            f"family_ gives {size} parameters to a target that is {cls.__name__}",
        )
    return [own for own, _ in split(family)]


def _check_coding(coding: Coding, family: Any, classes: bool) -> None:
    """One target: labels that can be searched, as many as its family has, and its dispersion."""
    kind = type(family).__name__.lower()
    _require(coding.kind == kind, f"a target is coded as {coding.kind}, but its family is {kind}")
    _require((kind in CLASS_FAMILIES) if classes else (kind in REGRESSION_FAMILIES), f"no {kind}")
    labels = coding.labels
    if classes or kind == "ordinal":
        what = "classes_" if classes else "levels_"
        _require(
            isinstance(labels, np.ndarray) and labels.ndim == 1 and len(labels) > 1,
            f"{what} must be a list of two or more labels",
        )
        _require(
            labels.dtype.kind in ("biufU" if classes else "biuf")
            and np.array_equal(np.unique(labels), labels),
            f"{what} must be sorted, without repeats",
        )
        n_labels = {
            "ordinal": lambda: len(family.thresholds) + 1,
            "categorical": lambda: family.n_classes,
            "bernoulli": lambda: 2,
        }[kind]()
        _require(len(labels) == n_labels, f"{what} has {len(labels)} labels, not {n_labels}")
    else:
        _require(labels is None, f"a target that is {kind} has no labels")
    if kind == "gaussian":
        noise = family.noise_variance
        _require(
            isinstance(noise, float) and 0 < noise < np.inf,
            "noise_variance_ must be greater than 0 and finite",
        )
    if kind == "ordinal":
        _require(
            _is_floats(family.thresholds, 1)
            and np.all(np.isfinite(family.thresholds))
            and np.all(np.diff(family.thresholds) > 0),
            "thresholds_ must be finite numbers that rise",
        )


def _check_kept(model: Any, codings: list[Coding], families: list[Any]) -> None:
    """Attributes for the user say the same as what predictions are made with."""
    one = len(codings) == 1
    wanted: dict[str, Any] = {"classes_": None, "levels_": None}
    wanted |= {"thresholds_": None, "noise_variance_": None}
    if isinstance(model, ClassifierPart):
        wanted["classes_"] = codings[0].labels if one else [c.labels for c in codings]
    elif one and isinstance(families[0], Ordinal):
        wanted["levels_"] = codings[0].labels
        wanted["thresholds_"] = families[0].thresholds
    noises = [getattr(f, "noise_variance", np.nan) for f in families]
    if not np.all(np.isnan(noises)):
        wanted["noise_variance_"] = noises[0] if one else np.array(noises)
    for name, value in wanted.items():
        found = getattr(model, name, None)
        _require(
            type(found) is type(value) and _equal(found, value),
            f"{name} is not that of the targets",
        )


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(
            one, other, equal_nan=one.dtype.kind == "f"
        )
    return bool(one == other)


def _check_coefficients(model: Any) -> None:
    n_topics, n_covariates = len(model.components_), model.n_covariates_
    _require(
        type(n_covariates) is int and n_covariates >= 0, "n_covariates_ must be a whole number"
    )
    several = isinstance(model.family_, (Several, Categorical))
    rows = (n_predictors(model.family_),) if several else ()
    intercept = model.intercept_
    if not several:
        _require(isinstance(intercept, float), "intercept_ must be a number")
        intercept = np.array(intercept)
    arrays = {"coef_": (model.coef_, (*rows, n_topics)), "intercept_": (intercept, rows)}
    _require(
        (n_covariates > 0) == hasattr(model, "covariate_coef_"),
        f"covariate_coef_ must be there for {n_covariates} covariates",
    )
    if n_covariates:
        arrays["covariate_coef_"] = (model.covariate_coef_, (*rows, n_covariates))
    scaling = model._scaling
    _require(isinstance(scaling, Scaling), "_scaling must be the scaling of the covariates")
    arrays["_scaling.centre"] = (scaling.centre, (n_covariates,))
    arrays["_scaling.size"] = (scaling.size, (n_covariates,))
    for name, (array, shape) in arrays.items():
        _require(
            _is_floats(array, len(shape)) and array.shape == shape and np.all(np.isfinite(array)),
            f"{name} must be an array of finite floats of shape {shape}",
        )
    _require(np.all(scaling.size > 0), "_scaling.size must be greater than 0")


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


def check_vectoriser(vectoriser: CountVectorizer | TokenCounter) -> None:
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
