"""A model that does not hold together is neither loaded nor saved: kernels would trust it."""

import io
from dataclasses import fields, is_dataclass
from functools import cache

import numpy as np
import pytest
from model_files import REVIEWS, file_by_hand, fitted, fitted_kind
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import topicfocus
from topicfocus import LDA
from topicfocus.persistence import ModelFileError

WORDS = REVIEWS.counts.shape[1]


@cache
def model_of(kind):
    """Models that no test changes."""
    names = {"focused": "FocusedTopicRegressor", "joint": "PFSLDAClassifier"}
    return fitted(names[kind]) if kind in names else fitted_kind(kind)


def refused(stream, match):
    with pytest.raises(ModelFileError, match=match):
        topicfocus.load(stream)


def attribute_of(fitted_, path):
    for step in path.split("."):
        fitted_ = getattr(fitted_, step)
    return fitted_


def with_other(kind, path, value):
    """A file in which one field of `fitted_` has another value, or changed one if it is a function.

    `path` is the names of fields, and numbers for the items of tuples.
    """
    model = model_of(kind)
    if callable(value):
        value = np.array(value(attribute_of(model.fitted_, path)))

    def alter(node, arrays):
        at = node["fitted"]["fitted_"]
        *way, last = path.split(".")
        for step in way:
            at = at["value"][int(step)] if step.isdigit() else at["params"][step]
        at["params"][last] = value
        if isinstance(value, np.ndarray):
            arrays["arrays/other.npy"] = value
            at["params"][last] = {"$": "array", "value": "arrays/other.npy"}

    return file_by_hand(model, alter)


def first_is(value):
    """A function that replaces the first number of an array."""
    return lambda array: np.where(np.arange(array.size).reshape(array.shape) == 0, value, array)


def arrays_of(record, path=""):
    """Paths of the arrays of a record, and of the records in it."""
    for field in fields(record):
        value = getattr(record, field.name)
        if is_dataclass(value):
            yield from arrays_of(value, f"{path}{field.name}.")
        elif isinstance(value, np.ndarray) and value.size:
            yield path + field.name


CHANGES = {
    "shorter": lambda a: a[:-1],
    "of more dimensions": lambda a: a[None],
    "of another type": lambda a: a.astype(np.float32 if a.dtype == np.float64 else float),
    "text": lambda a: np.full(a.shape, "x"),
    "NaN": first_is(np.nan),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["focused", "joint", "real with covariates"])
def test_arrays_of_the_wrong_shape_type_or_range(kind, change):
    paths = list(arrays_of(model_of(kind).fitted_))
    assert {"state.topic_word", "state.coef", "word_count"} <= set(paths)
    for path in paths:
        refused(with_other(kind, path, CHANGES[change]), "is not valid")


def int_array(*values):
    return np.array(values, dtype=np.int64)


ONE = np.ones(1)
POISSON = {"$": "topicfocus.Poisson", "params": {}, "fitted": {}}
COVARIATES = "real with covariates"


@pytest.mark.parametrize(
    "kind, path, value",
    [
        ("joint", "state.inclusion", lambda a: a + 1.5),
        ("joint", "state.topic_word", first_is(-1.0)),
        ("joint", "state.doc_topic_prior", first_is(0.0)),
        ("joint", "hyper.n_topics", 4),
        ("joint", "targets.codings.0.labels", np.array(["good"])),
        ("focused", "state.intercept", "high"),
        ("focused", "state.topic_word", [[1.0]]),
        ("focused", "state.topic_word", None),
        ("focused", "state", None),
        ("focused", "targets", None),
        ("focused", "evidence", 1.0),
        ("focused", "variance_factor", 1.0),
        ("focused", "word_count", None),
        ("focused", "n_samples_seen", "many"),
        ("focused", "history", 3),
        ("focused", "selects", 1),
        ("focused", "n_iter", 1.5),
        ("focused", "context", first_is(-1.0)),
        ("focused", "typical_shares", lambda a: a + 1),
        (COVARIATES, "state.family.noise_variance", 0.0),
        (COVARIATES, "state.family.noise_variance", 1e308),
        (COVARIATES, "state.family", "gaussian"),
        (COVARIATES, "state.covariate_coef", np.ones((3, 1))),
        (COVARIATES, "targets.covariates", None),
        (COVARIATES, "targets.covariates.size", np.zeros(2)),
        (COVARIATES, "targets.covariates.median", np.float64(1.0)),
        (COVARIATES, "targets.covariates.indicated", int_array(0, 0)),
        (COVARIATES, "targets.covariates.indicated", int_array(7)),
        (COVARIATES, "targets.target_scaling.size", np.zeros(1)),
        (COVARIATES, "targets.codings", []),
        (COVARIATES, "targets.codings.0.family", POISSON),
        (COVARIATES, "targets.codings.0.labels", ONE),
        (COVARIATES, "targets.codings.0.limits", {"$": "tuple", "value": [2.0, 1.0]}),
        ("rating", "state.family.thresholds", np.zeros(4)),
        ("rating", "state.family.thresholds", np.array([0, 1, 2, np.inf])),
        ("rating", "state.family.thresholds", np.arange(3.0)),
        ("rating", "state.family.thresholds", [0.0, 1.0, 2.0, 3.0]),
        ("rating", "targets.codings.0.labels", np.arange(5.0)[::-1]),
        ("classes", "state.family.n_classes", 9),
        ("classes", "targets.codings.0.family.n_classes", 10**12),
        ("classes", "state.intercept", np.ones(3)),
        ("classes", "targets.codings.0.labels", np.array(["a", "a"])),
        ("truth values", "targets.codings.0.labels", ONE),
        ("several numbers", "state.family.kind", int_array(0, 3, 5)),
        ("several numbers", "state.family.kind", int_array(0, 3, 4)),
        ("several numbers", "state.family.kind", np.array([0.0, 3, 2])),
        ("several numbers", "state.family.first", int_array(0, 2, 1, 3)),
        ("several numbers", "state.family.first", int_array(0, 1, 2, 99)),
        ("several numbers", "state.family.first", int_array(-1, 1, 2, 3)),
        ("several numbers", "state.family.place", int_array(0, 1, 9, 9)),
        ("several numbers", "state.family.parameters", ONE),
        ("several numbers", "state.family.parameters", np.zeros(5)),
        ("several numbers", "state.family.parameters", np.ones(5)),
        ("several classes", "targets.codings", []),
    ],
)
def test_values_that_do_not_fit_together(kind, path, value):
    refused(with_other(kind, path, value), "is not valid")


@pytest.mark.parametrize(
    "change",
    [
        lambda fitted: fitted.update(n_features_in_=WORDS + 1),
        lambda fitted: fitted.update(n_features_in_=float(WORDS)),
        lambda fitted: fitted.update(feature_names_in_=["a", "b"]),
        lambda fitted: fitted.update(fitted_=None),
        lambda fitted: fitted.pop("fitted_"),
        lambda fitted: fitted.pop("n_features_in_"),
    ],
)
def test_attributes_that_are_wrong_or_missing(change):
    stream = file_by_hand(model_of("focused"), lambda node, arrays: change(node["fitted"]))
    refused(stream, "is not valid")


@pytest.mark.parametrize(
    "path", ["state", "targets", "hyper", "selects", "history", "targets.codings"]
)
def test_what_fitting_has_found_is_missing(path):
    def alter(node, arrays):
        at = node["fitted"]["fitted_"]["params"]
        *way, last = path.split(".")
        for step in way:
            at = at[step]["params"]
        at.pop(last)

    refused(file_by_hand(model_of("joint"), alter), "Cannot load")


def test_public_attributes_are_read_only():
    with pytest.raises(AttributeError, match="read from fitted_"):
        model_of("focused").coef_ = np.zeros(3)
    with pytest.raises(AttributeError):
        model_of("focused").fitted_.state.coef = np.zeros(3)
    assert not hasattr(LDA(), "components_")


@pytest.mark.parametrize("column", [-1, 5, 10**9, 0.5, "1"])
def test_a_vocabulary_that_numbers_no_columns(column):
    pipeline = make_pipeline(CountVectorizer(vocabulary=["awful", "film", "great"]), LDA(2))
    pipeline.fit(REVIEWS.texts)

    def alter(node, arrays):
        vectoriser = node["params"]["steps"][0]["value"][1]
        vectoriser["fitted"]["vocabulary_"]["great"] = column

    refused(file_by_hand(pipeline, alter), "vocabulary_ must give every word a column")


def test_a_pipeline_that_does_not_fit_together():
    pipeline = make_pipeline(CountVectorizer(), LDA(2, max_epochs=1)).fit(REVIEWS.texts)

    def steps(change):
        def alter(node, arrays):
            node["params"]["steps"] = change(node["params"]["steps"])

        return file_by_hand(pipeline, alter)

    refused(steps(lambda s: s[:1]), "not in a CountVectorizer")

    def memory(node, arrays):
        node["params"]["memory"] = "/somewhere"

    refused(file_by_hand(pipeline, memory), "memory")
    other = CountVectorizer().fit(["a few words only"])
    pipeline.steps[0] = ("countvectorizer", other)
    with pytest.raises(ValueError, match="the vectoriser has 3 words, but the model"):
        topicfocus.save(pipeline, io.BytesIO())


def test_what_could_not_be_loaded_is_not_saved():
    model = topicfocus.load(file_by_hand(model_of("focused"), lambda node, arrays: None))
    model.fitted_.state.topic_word[0, 0] = np.nan
    with pytest.raises(ValueError, match="topic_word must be an array"):
        model.save(io.BytesIO())
    del model.fitted_
    with pytest.raises(NotFittedError):
        model.save(io.BytesIO())
