"""Classes that model files may hold, and the checks of their objects.

Compiled kernels trust shapes and values, and a file may have any parameters, so both are checked
first. The same checks run before writing. `topicfocus.persistence` checks the types of fields.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from topicfocus.estimators.arguments import check_parameters, check_topic_name
from topicfocus.estimators.base import TopicModel, has_targets
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.joint import JointTopicModel
from topicfocus.estimators.scaling import CovariateScaling, TargetScaling
from topicfocus.estimators.supervised import TopicClassifier
from topicfocus.estimators.targets import Coding, TargetModel, TargetPart
from topicfocus.families import FAMILIES, Categorical, Family, Multiple
from topicfocus.joint.settings import Hyperparameters
from topicfocus.model import ModelState
from topicfocus.persistence import register, register_record
from topicfocus.remainder import Completeness, Remainder
from topicfocus.text.counter import TokenCounter, read_orders

_RECORDS = (
    Coding,
    Completeness,
    CovariateScaling,
    Fitted,
    Hyperparameters,
    ModelState,
    Remainder,
    TargetModel,
    TargetScaling,
)

#: Largest number in units of the data, including variances; sums of a few do not overflow.
_LARGEST = 1e305
#: Largest weight, prior or probability of words and topics.
_LARGEST_WEIGHT = 1e15
_MOST_TOPICS = 100_000
_MOST_JOBS = 1024
#: Largest length of n-grams; longer ones could fill the memory with a short text.
_LONGEST_NGRAM = 32

_TINY, _INFINITE = np.finfo(float).tiny, np.inf
#: Arrays of `Fitted`: dimensions, smallest and largest value (by default ∓`_LARGEST`), type. The
#: dimensions are words V, topics K, predictors P, targets T, terms of the remainder R, covariates
#: C, and Z, the columns of covariates.
_ARRAYS: dict[str, tuple] = {
    "state.topic_word": ("VK", 0, _LARGEST_WEIGHT),
    "state.inclusion": ("V", 0, _LARGEST_WEIGHT),
    "state.background": ("V", 0, _LARGEST_WEIGHT),
    "state.doc_topic_prior": ("K", _TINY, _LARGEST_WEIGHT),
    "state.covariate_coef": ("ZP",),
    "evidence": ("V", -_INFINITE, _INFINITE),
    "word_count": ("V", 0),
    "context": ("VK", 0, 1e30, np.float32),
    "association": ("VP",),
    "typical_shares": ("3K", 0, 1),
    "variance_factor": ("T", 0, 1),
    "extra_variance": ("T", 0),
    "remainder.rarity": ("R", 0, _LARGEST_WEIGHT),
    "remainder.coef": ("RP",),
    "remainder.level": ("P",),
    "targets.target_scaling.centre": ("T",),
    "targets.target_scaling.size": ("T", 1 / _LARGEST),
    "targets.covariates.median": ("C",),
    "targets.covariates.centre": ("Z",),
    "targets.covariates.size": ("Z", 1 / _LARGEST),
}


def register_all(models: Iterable[type]) -> None:
    """Called once with all estimators, when `topicfocus.estimators` is imported."""
    for model in models:
        register(model, check=check_model)
    register(CountVectorizer, check=check_vectoriser)
    register(TokenCounter, check=check_vectoriser, functions=("tokenizer",))
    register(Pipeline, check=check_pipeline)
    for record in (*map(type, FAMILIES.values()), Categorical, Multiple, *_RECORDS):
        register_record(record)


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise ValueError(f"{message}.")


def _check_array(
    name: str,
    array: Any,
    shape: tuple[int, ...],
    low: float = -_LARGEST,
    high: float = _LARGEST,
    dtype: Any = np.float64,
) -> None:
    """Check type, shape and range of an array if there is one; NaN is out of every range."""
    if array is None:
        return
    array = np.asarray(array)
    fits = array.dtype == dtype and array.shape == shape
    _require(
        fits and np.all((array >= low) & (array <= high)),
        f"{name} must be an array of {np.dtype(dtype)} of shape {shape}, from {low:g} to {high:g}",
    )


def _check_settings(estimator: Any) -> None:
    jobs = getattr(estimator, "n_jobs", None)
    _require(
        jobs is None or (isinstance(jobs, (int, np.integer)) and -_MOST_JOBS <= jobs <= _MOST_JOBS),
        f"n_jobs must be None or a whole number of at most {_MOST_JOBS}",
    )
    output = vars(estimator).get("_sklearn_output_config", {})
    _require(isinstance(output, dict), "set_output must have been given a container")


# ---- topic models --------------------------------------------------------------------------------


def check_model(model: TopicModel) -> None:
    """Check parameters, and type, shape and range of all arrays."""
    check_is_fitted(model)
    fitted: Any = model.fitted_
    _require(isinstance(fitted, Fitted), "fitted_ must be the result of fitting")
    _check_settings(model)
    # Before the other parameters: their check makes an array with one number per topic.
    _require(model.n_topics <= _MOST_TOPICS, f"n_topics must be at most {_MOST_TOPICS:,}")
    _check_arrays(fitted, isinstance(model, JointTopicModel))
    n_words = fitted.state.n_words
    check_parameters(model)
    model._trainer(n_words)
    columns = getattr(model, "n_features_in_", None)
    _require(
        type(columns) is int and columns == n_words,
        f"n_features_in_ must be {n_words}, as the topics have words",
    )
    names = getattr(model, "feature_names_in_", np.zeros(n_words, dtype=object))
    _require(
        isinstance(names, np.ndarray) and (names.dtype, names.shape) == (object, (n_words,)),
        f"feature_names_in_ must have {n_words} names",
    )
    others = [*getattr(model, "covariate_names_", []), getattr(model, "exposure_name_", "")]
    _require(all(isinstance(name, str) for name in others), "names of columns must be strings")
    if has_targets(model):
        _require(fitted.targets is not None, "targets must be there in a model of targets")
        _check_targets(fitted, fitted.target_model, isinstance(model, TopicClassifier))


def _check_arrays(fitted: Fitted, joint: bool) -> None:
    """Check types, shapes and ranges of all arrays, which kernels trust."""
    state, hyper, rest, targets = fitted.state, fitted.hyper, fitted.remainder, fitted.targets
    _require(state.topic_word.ndim == 2 and state.topic_word.size, "topic_word must be a matrix")
    _require(isinstance(state.family, Family), "family must be a family of targets")
    state.family.check_parameters()
    floats = [v for v in map(np.asarray, state.family) if v.dtype.kind == "f"]
    _require(all(np.all(abs(v) <= _LARGEST) for v in floats), "family has too large a number")
    (n_words, n_topics), width = state.topic_word.shape, state.family.n_predictors
    sizes = {"V": n_words, "K": n_topics, "P": width, "3": 3, "R": n_words}
    sizes["T"] = 0 if targets is None else len(state.family.split())
    if rest is not None and rest.names is not None:
        sizes["R"] = len(rest.names)
        _require(
            rest.names.dtype == object and all(isinstance(name, str) for name in rest.names),
            "the terms of the remainder must be strings",
        )
    covariates = CovariateScaling() if targets is None else targets.covariates
    n_covariates, indicated = covariates.median.size, covariates.indicated
    sizes |= {"C": n_covariates, "Z": n_covariates + indicated.size}
    _require(
        (n_covariates > 0) == (state.covariate_coef is not None),
        f"covariate_coef must be there for {n_covariates} covariates",
    )
    different = np.unique(indicated).shape
    _check_array("covariates.indicated", indicated, different, 0, n_covariates - 1, np.int64)
    for path, (letters, *rule) in _ARRAYS.items():
        shape = tuple(sizes[letter] for letter in letters)
        _check_array(path.removeprefix("state."), _attribute(fitted, path), shape, *rule)
    _require(not joint or np.all(state.inclusion <= 1), "inclusion must be at most 1")
    single = width == 1 and state.coef.ndim == 1
    _check_array("coef", state.coef, (n_topics,) if single else (n_topics, width))
    _check_array("intercept", state.intercept, (width,) if np.ndim(state.intercept) else ())
    for name in ("n_samples_seen", "word_cost", "inclusion_prior", "supervision_weight"):
        value = getattr(fitted, name)
        _require(value is None or abs(value) <= _LARGEST, f"{name} must be a number")
    if fitted.topic_names is not None:
        _require(len(fitted.topic_names) == n_topics, f"topic_names must be of {n_topics} topics")
        given = [check_topic_name(name) for name in fitted.topic_names if name is not None]
        _require(len(set(given)) == len(given), "topic_names must differ")
    history = [v for values in fitted.history.values() for v in values]
    _require(all(isinstance(v, (int, float)) for v in history), "history must be lists of numbers")
    _require(
        joint == (hyper is not None)
        and (hyper is None or (hyper.n_topics, hyper.selects) == (n_topics, fitted.selects)),
        f"hyper must be of {n_topics} topics in a joint model, and None in a focused one",
    )


def _attribute(record: Any, path: str) -> Any:
    """The value at a path of names of fields, None where one of them is None."""
    for name in path.split("."):
        record = None if record is None else getattr(record, name)
    return record


def _check_targets(fitted: Fitted, targets: TargetModel, classes: bool) -> None:
    """Check families and labels."""
    families = [own for own, _ in fitted.state.family.split()]
    _require(len(families) == len(targets.codings), f"codings must be of {len(families)} targets")
    for coding, family in zip(targets.codings, families, strict=True):
        _check_coding(coding, family, classes)


def _check_coding(coding: Coding, family: Any, classes: bool) -> None:
    """Check that one target has sorted labels, as many as its family."""
    width, labels = family.n_predictors, coding.labels
    _require(
        type(coding.family) is type(family) and coding.n_predictors == width,
        f"a target is coded as {coding.family!r:.80}, but its family is {family!r:.80}",
    )
    _require(coding.is_class if classes else width == 1, f"no {coding.kind}")
    for ends in (coding.observed, coding.limits):
        _require(ends is None or ends[0] <= ends[1], "observed and limits must be pairs that rise")
    if not (classes or coding.is_rating):
        _require(labels is None, f"a {coding.kind} target has no labels")
        return
    part = TargetPart(coding, family, slice(0, width))
    n_labels = part.probabilities(np.zeros((1, width))).shape[1]
    _require(
        labels is not None
        and labels.shape == (n_labels,)
        and labels.dtype.kind in ("biufU" if classes else "biuf")
        and np.array_equal(np.unique(labels), labels),
        f"there must be {n_labels} labels, sorted, without repeats",
    )


# ---- the other steps of a pipeline ---------------------------------------------------------------


def check_vectoriser(vectoriser: CountVectorizer | TokenCounter) -> None:
    """Check that each word has a column, that no files are read, and the length of n-grams."""
    check_is_fitted(vectoriser, "vocabulary_")
    _check_settings(vectoriser)
    for name in ("vocabulary_", "remainder_vocabulary_"):
        items = getattr(vectoriser, name, {"": 0}).items()
        words, columns = zip(*items, strict=True)
        _require(
            all(isinstance(word, str) for word in words)
            and all(isinstance(column, (int, np.integer)) for column in columns)
            and sorted(columns) == list(range(len(columns))),
            f"{name} must give every word a column of its own",
        )
    _require(
        read_orders(vectoriser.ngram_range)[1] <= _LONGEST_NGRAM,
        f"n-grams must have at most {_LONGEST_NGRAM} tokens",
    )
    if isinstance(vectoriser, TokenCounter):
        vectoriser.check()
        return
    _require(np.dtype(vectoriser.dtype).kind in "iuf", "dtype must be a type of numbers")
    _require(
        vectoriser.input == "content",
        "its vectoriser takes texts for names of files, and a model file must not open any; read "
        "them yourself, with input='content'",
    )
    _require(vectoriser.analyzer in ("word", "char", "char_wb"), "analyzer is unknown")
    vectoriser.build_preprocessor()
    vectoriser.build_tokenizer()
    vectoriser.get_stop_words()


def check_pipeline(pipeline: Pipeline) -> None:
    """Check names of steps, and that the last one is a topic model with the vectoriser's words."""
    _require(
        pipeline.memory is None,
        "Pipeline.memory is a folder of this machine; call set_params(memory=None) before saving",
    )
    names, steps = zip(*pipeline.steps, strict=True)
    _require(
        len(set(names)) == len(names) and all(isinstance(name, str) for name in names),
        "steps must have different names",
    )
    *before, last = [step for step in steps if step is not None and step != "passthrough"]
    _require(
        all(hasattr(step, "transform") for step in before)
        and isinstance(last, (TopicModel, Pipeline)),
        f"a pipeline must end in an estimator of topicfocus, not in a {type(last).__name__}; save "
        "the part that does: topicfocus.save(pipeline[:n], path)",
    )
    n_words = len(getattr(before[-1], "vocabulary_", ())) if before else 0
    if n_words and isinstance(last, TopicModel):
        _require(
            n_words == last.n_features_in_,
            f"the vectoriser has {n_words} words, but the model {last.n_features_in_}",
        )
