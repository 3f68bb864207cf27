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
from topicfocus.estimators.classifier import TopicClassifier
from topicfocus.estimators.coding import Coding
from topicfocus.estimators.documents import Filling, Scaling
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.focused import FocusedTopicClassifier, FocusedTopicRegressor
from topicfocus.estimators.format1 import upgrade_attributes, upgrade_coding
from topicfocus.estimators.joint import JointTopicModel
from topicfocus.estimators.lda import LDA
from topicfocus.estimators.pcslda import PCSLDAClassifier, PCSLDARegressor
from topicfocus.estimators.pfslda import PFSLDAClassifier, PFSLDARegressor
from topicfocus.estimators.slda import SLDAClassifier, SLDARegressor
from topicfocus.estimators.targets import TargetModel
from topicfocus.estimators.units import TargetUnits
from topicfocus.families import (
    Bernoulli,
    Categorical,
    Gaussian,
    Ordinal,
    Poisson,
    Several,
    check_parameters,
    family_name,
    is_family,
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
_FAMILIES = (Gaussian, Bernoulli, Poisson, Ordinal, Categorical, Several)
_RECORDS = (Filling, Fitted, Hyperparameters, ModelState, Scaling, TargetModel, TargetUnits)


def register_all() -> None:
    """Called once, when `topicfocus.estimators` is imported."""
    for model in MODELS:
        # The state of a stream holds documents, which have no place in a model file; nor has a
        # second model, that of the last epoch.
        transient = ("_stream", "reservoir_size", "_last_epoch")
        register(model, transient=transient, check=check_model, upgrade=upgrade_attributes)
    # The identity of a list in memory, kept by scikit-learn so as to warn only once.
    register(CountVectorizer, transient=("_stop_words_id",), check=check_vectoriser)
    register(TokenCounter, check=check_vectoriser, functions=("tokenizer",))
    register(Pipeline, check=check_pipeline)
    for record in (*_FAMILIES, *_RECORDS):
        register_record(record)
    register_record(Coding, upgrade=upgrade_coding)


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise ValueError(f"{message}.")


# ---- topic models -----------------------------------------------------------------------------


def check_model(model: TopicModel) -> None:
    """Fitted, and every array that a kernel will see of the right type, shape and range."""
    check_is_fitted(model)
    fitted = model.fitted_
    _require(isinstance(fitted, Fitted), "fitted_ must be what fitting has found")
    _require(isinstance(fitted.state, ModelState), "state must be the state of a model")
    n_topics, n_words = _check_words(fitted.state)
    if fitted.hyper is not None:  # of a focused model it is a weight
        _require(np.all(fitted.state.inclusion <= 1), "inclusion must be at most 1")
    _require(
        type(getattr(model, "n_features_in_", None)) is int and model.n_features_in_ == n_words,
        f"topics have {n_words} words, but n_features_in_ is "
        f"{getattr(model, 'n_features_in_', None)!r}",
    )
    _check_names(model, n_words)
    _check_found(fitted, n_words)
    supervised = not isinstance(model, LDA)
    _require(
        supervised == isinstance(fitted.targets, TargetModel),
        "targets must be there in a model of targets, and nowhere else",
    )
    _check_coefficients(fitted.state, n_topics)
    if supervised:
        check_targets(fitted, isinstance(model, TopicClassifier))
    _check_shares(fitted)
    if isinstance(model, JointTopicModel):
        hyper = fitted.hyper
        _require(
            isinstance(hyper, Hyperparameters)
            and hyper.n_topics == n_topics
            and hyper.selects == fitted.selects,
            f"hyper must be of {n_topics} topics",
        )
    else:
        _require(fitted.sees_roots, "sees_roots must be true of a focused model")


def _check_words(state: ModelState) -> tuple[int, int]:
    """What the inference layer is given. NaN fails every comparison here, as it should."""
    _require(_is_floats(state.topic_word, 2), "topic_word must be a matrix of floats")
    n_words, n_topics = state.topic_word.shape
    _require(n_topics > 0 and n_words > 0, "topic_word must not be empty")
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
    _require(np.all(state.doc_topic_prior > 0), "doc_topic_prior must be greater than 0")
    return n_topics, n_words


def _check_found(fitted: Fitted, n_words: int) -> None:
    for name in ("evidence", "word_count"):
        array = getattr(fitted, name)
        _require(
            array is None or (_is_floats(array, 1) and array.shape == (n_words,)),
            f"{name} must be an array of numbers of shape {(n_words,)}",
        )
    shape, context = fitted.state.topic_word.shape, fitted.context
    _require(
        context is None
        or (
            isinstance(context, np.ndarray)
            and context.dtype == np.float32
            and context.shape == shape
            and np.all((context >= 0) & (context < np.inf))
        ),
        f"context must be an array of small floats, at least 0, of shape {shape}",
    )
    _require(isinstance(fitted.history, dict), "history must be lists by name")
    for name in ("n_samples_seen", "word_cost", "inclusion_prior", "supervision_weight"):
        value = getattr(fitted, name)
        _require(
            value is None or (isinstance(value, (int, float)) and np.isfinite(value)),
            f"{name} must be a number",
        )
    _require(
        fitted.n_samples_seen is None or fitted.word_count is not None,
        "word_count must be there with n_samples_seen",
    )


def _check_shares(fitted: Fitted) -> None:
    """What only tables, intervals and the order of words are made from."""
    size, leaning = (fitted.state.n_words, fitted.state.n_predictors), fitted.leaning
    _require(
        leaning is None
        or (_is_floats(leaning, 2) and leaning.shape == size and np.all(np.isfinite(leaning))),
        f"leaning must be an array of finite floats of shape {size}",
    )
    shares, shape = fitted.typical_shares, (3, fitted.state.n_topics)
    _require(
        shares is None
        or (
            _is_floats(shares, 2)
            and shares.shape == shape
            and np.all((shares >= 0) & (shares <= 1))
        ),
        f"typical_shares must be shares, of shape {shape}",
    )
    rho = fitted.openness
    _require(
        rho is None
        or (
            isinstance(rho, tuple)
            and len(rho) == len(fitted.parts)
            and all(isinstance(r, float) and 0 <= r <= 1 for r in rho)
        ),
        "openness must be shares, one a target",
    )
    tau = fitted.excess
    _require(
        tau is None
        or (
            isinstance(tau, tuple)
            and len(tau) == len(fitted.parts)
            and all(isinstance(t, float) and 0 <= t < np.inf for t in tau)
        ),
        "excess must be variances, one a target",
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


def _is_floats(array: Any, ndim: int) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == np.float64 and array.ndim == ndim


# ---- targets ------------------------------------------------------------------------------------


def _check_coefficients(state: ModelState, n_topics: int) -> None:
    """η, b and ζ, for as many predictors as the family has."""
    family = state.family
    _require(is_family(family), "family must be a family of targets")
    check_parameters(family)
    width = n_predictors(family)
    coef = state.coef
    _require(
        isinstance(coef, np.ndarray)
        and coef.dtype == np.float64
        and coef.shape in ((n_topics, width), (n_topics,) if width == 1 else ())
        and np.all(np.isfinite(coef)),
        f"coef must be an array of finite floats, {n_topics} topics x {width} predictors",
    )
    intercept = np.asarray(state.intercept)
    _require(
        intercept.dtype == np.float64
        and intercept.shape in ((), (width,))
        and np.all(np.isfinite(intercept)),
        "intercept must be finite, one number a predictor",
    )


def check_targets(fitted: Fitted, classes: bool) -> None:
    """Family and labels of every target, and that they are of the same targets."""
    targets, state = fitted.target_model, fitted.state
    codings = targets.codings
    _require(
        isinstance(codings, tuple) and codings and all(isinstance(c, Coding) for c in codings),
        "codings must be one a target",
    )
    families = [own for own, _ in split(state.family)]
    _require(
        len(families) == len(codings),
        f"family is of {len(families)} targets, but there are {len(codings)}",
    )
    for coding, family in zip(codings, families, strict=True):
        _check_coding(coding, family, classes)
    _check_units(targets)
    _check_covariates(targets, state)


def _check_units(targets: TargetModel) -> None:
    units, shape = targets.units, (targets.n_targets,)
    if units is None:
        return
    _require(isinstance(units, TargetUnits), "units must be those of the targets")
    for name in ("centre", "size"):
        array = getattr(units, name)
        _require(
            _is_floats(array, 1) and array.shape == shape and np.all(np.isfinite(array)),
            f"units.{name} must be an array of finite floats of shape {shape}",
        )
    _require(np.all(units.size > 0), "units.size must be greater than 0")


def _check_coding(coding: Coding, family: Any, classes: bool) -> None:
    """One target: labels that can be searched, as many as its family has."""
    _require(is_family(coding.family), "a target must have a family")
    kind = family_name(family)
    _require(coding.kind == kind, f"a target is coded as {coding.kind}, but its family is {kind}")
    _require(coding.is_class if classes else coding.n_predictors == 1, f"no {kind}")
    for name in ("observed", "limits"):
        _check_ends(getattr(coding, name), name)
    labels: Any = coding.labels
    if not (classes or coding.is_rating):
        _require(labels is None, f"a target that is {kind} has no labels")
        return
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
    check_parameters(family)
    n_labels = coding.probabilities(family, np.zeros((1, n_predictors(family)))).shape[1]
    _require(len(labels) == n_labels, f"{what} has {len(labels)} labels, not {n_labels}")


def _check_ends(ends: Any, name: str) -> None:
    """Two floats in order, or nothing: files of older versions do not have them."""
    pair = isinstance(ends, tuple) and len(ends) == 2 and all(type(v) is float for v in ends)
    _require(ends is None or (pair and ends[0] <= ends[1]), f"{name} must be two floats that rise")


def _check_covariates(targets: TargetModel, state: ModelState) -> None:
    n, width = targets.n_covariates, state.n_predictors
    _require(type(n) is int and n >= 0, "n_covariates must be a whole number")
    zeta = state.covariate_coef
    _require((n > 0) == (zeta is not None), f"covariate_coef must be there for {n} covariates")
    _check_filling(targets.filling, n)
    n = targets.n_columns
    scaling = targets.scaling
    _require(isinstance(scaling, Scaling), "scaling must be that of the covariates")
    arrays: dict[str, tuple[Any, tuple[int, ...]]]
    arrays = {"scaling.centre": (scaling.centre, (n,)), "scaling.size": (scaling.size, (n,))}
    if zeta is not None:
        arrays["covariate_coef"] = (zeta, (n, width))
    for name, (array, shape) in arrays.items():
        _require(
            _is_floats(array, len(shape)) and array.shape == shape and np.all(np.isfinite(array)),
            f"{name} must be an array of finite floats of shape {shape}",
        )
    _require(np.all(scaling.size > 0), "scaling.size must be greater than 0")


def _check_filling(filling: Filling | None, n: int) -> None:
    if filling is None:
        return
    _require(isinstance(filling, Filling), "filling must be that of the covariates")
    where = filling.indicated
    _require(
        _is_floats(filling.median, 1)
        and filling.median.shape == (n,)
        and np.all(np.isfinite(filling.median)),
        f"filling.median must be an array of finite floats of shape {(n,)}",
    )
    _require(
        isinstance(where, np.ndarray)
        and where.dtype.kind == "i"
        and where.ndim == 1
        and np.all((where >= 0) & (where < n))
        and len(np.unique(where)) == len(where),
        "filling.indicated must be columns of the covariates",
    )


# ---- what stands before a model in a pipeline --------------------------------------------------


def check_vectoriser(vectoriser: CountVectorizer | TokenCounter) -> None:
    """Fitted, its vocabulary numbers the columns 0, 1, ... once each, and it opens no files."""
    check_is_fitted(vectoriser, "vocabulary_")
    vocabulary = vectoriser.vocabulary_
    _require(
        isinstance(vocabulary, dict)
        and all(isinstance(word, str) for word in vocabulary)
        and all(isinstance(column, (int, np.integer)) for column in vocabulary.values())
        and sorted(vocabulary.values()) == list(range(len(vocabulary))),
        "vocabulary_ must give every word a column of its own",
    )
    _require(
        getattr(vectoriser, "input", "content") == "content",
        "its vectoriser takes texts for names of files, and a model file must not open any; read "
        "them yourself, with input='content'",
    )
    separator = getattr(vectoriser, "separator", None)
    _require(
        separator is None or (isinstance(separator, str) and separator),
        "separator must be one character or more",
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
