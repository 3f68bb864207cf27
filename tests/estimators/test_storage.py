"""A model that does not hold together is neither loaded nor saved: kernels would trust it."""

import io

import numpy as np
import pytest
from model_files import KINDS, REVIEWS, file_by_hand, fitted, fitted_kind, replace_array
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import topicfocus
from topicfocus import LDA
from topicfocus.persistence import ModelFileError

WORDS = REVIEWS.counts.shape[1]


@pytest.fixture(scope="module")
def focused():
    return fitted("FocusedTopicRegressor")


@pytest.fixture(scope="module")
def joint():
    return fitted("PFSLDAClassifier")


def refused(stream, match):
    with pytest.raises(ModelFileError, match=match):
        topicfocus.load(stream)


def negative(array):
    return np.where(np.arange(array.size).reshape(array.shape) == 0, -1.0, array)


def nan(array):
    return np.where(np.arange(array.size).reshape(array.shape) == 0, np.nan, array)


@pytest.mark.parametrize("kind", ["focused", "joint"])
@pytest.mark.parametrize(
    "attribute, change",
    [
        ("topic_word", lambda a: a[:-1]),
        ("topic_word", lambda a: np.vstack([a, a])),
        ("topic_word", lambda a: a[0]),
        ("topic_word", lambda a: a.astype(np.float32)),
        ("topic_word", lambda a: np.full(a.shape, "x")),
        ("topic_word", negative),
        ("topic_word", nan),
        ("doc_topic_prior", lambda a: a[:-1]),
        ("doc_topic_prior", lambda a: np.zeros_like(a)),
        ("doc_topic_prior", nan),
        ("inclusion", lambda a: a - 1.5),
        ("inclusion", nan),
        ("background", lambda a: a[:, None]),
        ("coef", lambda a: a[:-1]),
        ("coef", lambda a: a.astype(int)),
        ("coef", nan),
    ],
)
def test_arrays_of_the_wrong_shape_type_or_range(kind, attribute, change, request):
    model = request.getfixturevalue(kind)

    def alter(node, arrays):
        replace_array(arrays, attribute, np.array(change(getattr(model.fitted_.state, attribute))))

    refused(file_by_hand(model, alter), "is not valid")


def test_inclusion_of_a_joint_model_is_a_probability(joint):
    def alter(node, arrays):
        replace_array(arrays, "inclusion", joint.fitted_.state.inclusion + 1.5)

    refused(file_by_hand(joint, alter), "is not valid")


def found(node, *path):
    """What fitting has found, in an encoded model: a part of `fitted_`, by the names of fields."""
    at = node["fitted"]["fitted_"]["params"]
    for step in path:
        at = at[step]["params"]
    return at


@pytest.mark.parametrize(
    "path, value",
    [
        (("state", "intercept"), "high"),
        (("state", "topic_word"), [[1.0]]),
        (("state", "topic_word"), None),
        (("state",), None),
        (("targets",), None),
        (("evidence",), 1.0),
        (("variance_factor",), 1.0),
        (("word_count",), None),
        (("n_samples_seen",), "many"),
        (("history",), 3),
        (("selects",), 1),
        (("n_iter",), 1.5),
    ],
)
def test_values_of_the_wrong_kind(focused, path, value):
    def alter(node, arrays):
        *way, last = path
        found(node, *way)[last] = value

    refused(file_by_hand(focused, alter), "is not valid")


@pytest.mark.parametrize(
    "change", [lambda a: a[:-1], lambda a: a[:, :2], lambda a: a.astype(float), negative, nan]
)
def test_a_context_of_the_wrong_shape_type_or_range(focused, change):
    def alter(node, arrays):
        replace_array(arrays, "context", np.array(change(focused.fitted_.context)))

    refused(file_by_hand(focused, alter), "is not valid")


@pytest.mark.parametrize(
    "change", [lambda a: a[:-1], lambda a: a[:, :2], lambda a: a + 1, negative, nan]
)
def test_typical_shares_of_the_wrong_shape_or_range(focused, change):
    def alter(node, arrays):
        replace_array(arrays, "typical_shares", np.array(change(focused.fitted_.typical_shares)))

    refused(file_by_hand(focused, alter), "is not valid")


@pytest.mark.parametrize(
    "attribute, value",
    [
        ("n_features_in_", WORDS + 1),
        ("n_features_in_", float(WORDS)),
        ("feature_names_in_", ["a", "b"]),
        ("fitted_", None),
    ],
)
def test_attributes_of_the_wrong_kind(focused, attribute, value):
    def alter(node, arrays):
        node["fitted"][attribute] = value

    refused(file_by_hand(focused, alter), "is not valid")


@pytest.mark.parametrize("attribute", ["fitted_", "n_features_in_"])
def test_attributes_that_are_missing(joint, attribute):
    refused(
        file_by_hand(joint, lambda node, arrays: node["fitted"].pop(attribute)),
        "is not valid",
    )


@pytest.mark.parametrize("field", ["state", "targets", "hyper", "selects", "history"])
def test_what_fitting_has_found_is_missing(joint, field):
    stream = file_by_hand(joint, lambda node, arrays: found(node).pop(field))
    refused(stream, "Cannot load")


def test_an_attribute_that_the_class_defines_is_not_set_from_a_file(joint):
    def alter(node, arrays):
        node["fitted"]["coef_"] = 1.0

    refused(file_by_hand(joint, alter), "no attribute 'coef_'")


def test_hyperparameters_of_other_topics(joint):
    def alter(node, arrays):
        found(node, "hyper")["n_topics"] = 4

    refused(file_by_hand(joint, alter), "hyper must be of 3 topics")


def test_one_label_is_no_classifier(joint):
    def alter(node, arrays):
        replace_array(arrays, "labels", np.array(["good"]))

    refused(file_by_hand(joint, alter), "there must be 2 labels")


def test_public_attributes_are_read_only(focused):
    with pytest.raises(AttributeError, match="read from fitted_"):
        focused.coef_ = np.zeros(3)
    with pytest.raises(AttributeError):
        focused.fitted_.state.coef = np.zeros(3)
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


def test_what_could_not_be_loaded_is_not_saved(focused):
    model = topicfocus.load(file_by_hand(focused, lambda node, arrays: None))
    model.fitted_.state.topic_word[0, 0] = np.nan
    with pytest.raises(ValueError, match="topic_word must be an array"):
        model.save(io.BytesIO())
    del model.fitted_
    with pytest.raises(NotFittedError):
        model.save(io.BytesIO())


# ---- targets ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kinds():
    return {kind: fitted_kind(kind) for kind in KINDS}


NAN = np.full((2, 1), np.nan)
ONE = np.ones(1)
POISSON = {"$": "topicfocus.Poisson", "params": {}, "fitted": {}}


def int_array(*values):
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    "kind, path, value",
    [
        ("real with covariates", "state.family.noise_variance", 0.0),
        ("real with covariates", "state.family.noise_variance", 1e308),
        ("real with covariates", "state.family", "gaussian"),
        ("real with covariates", "state.covariate_coef", np.ones((3, 1))),
        ("real with covariates", "state.covariate_coef", NAN),
        ("real with covariates", "targets.covariates", None),
        ("real with covariates", "targets.covariates.centre", ONE),
        ("real with covariates", "targets.covariates.size", np.zeros(2)),
        ("real with covariates", "targets.covariates.median", ONE),
        ("real with covariates", "targets.covariates.indicated", int_array(0, 0)),
        ("real with covariates", "targets.covariates.indicated", int_array(7)),
        ("real with covariates", "targets.target_scaling.size", np.zeros(1)),
        ("real with covariates", "targets.target_scaling.centre", np.zeros(2)),
        ("real with covariates", "targets.codings", []),
        ("real with covariates", "targets.codings.0.family", POISSON),
        ("real with covariates", "targets.codings.0.labels", ONE),
        ("real with covariates", "targets.codings.0.limits", {"$": "tuple", "value": [2.0, 1.0]}),
        ("rating", "state.family.thresholds", np.zeros(4)),
        ("rating", "state.family.thresholds", np.array([0, 1, 2, np.inf])),
        ("rating", "state.family.thresholds", np.arange(3.0)),
        ("rating", "state.family.thresholds", [0.0, 1.0, 2.0, 3.0]),
        ("rating", "targets.codings.0.labels", np.arange(5.0)[::-1]),
        ("classes", "state.family.n_classes", 9),
        ("classes", "targets.codings.0.family.n_classes", 10**12),
        ("classes", "state.coef", np.ones((2, 2))),
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
def test_targets_that_do_not_fit_together(kinds, kind, path, value):
    """One value of the model's JSON, or one array, is put in the place of another."""

    def alter(node, arrays):
        at = {"params": found(node)}
        *way, last = path.split(".")
        for step in way:
            at = at["value"][int(step)] if step.isdigit() else at["params"][step]
        new = value
        if isinstance(value, np.ndarray):
            arrays["arrays/other.npy"] = value
            new = {"$": "array", "value": "arrays/other.npy"}
        at["params"][last] = new

    refused(file_by_hand(kinds[kind], alter), "is not valid")


@pytest.mark.parametrize("field", ["codings", "covariates"])
def test_what_is_known_of_the_target_is_missing(kinds, field):
    model = kinds["rating with covariates"]
    refused(file_by_hand(model, lambda node, arrays: found(node, "targets").pop(field)), "load")
