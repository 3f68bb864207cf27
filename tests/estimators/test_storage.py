"""A model that does not hold together is neither loaded nor saved: kernels would trust it."""

import io

import numpy as np
import pytest
from model_files import KINDS, OTHERS, REVIEWS, file_by_hand, fitted, fitted_kind, replace_array
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import topicfocus
from topicfocus import LDA
from topicfocus.estimators import storage
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


def test_every_estimator_is_registered():
    assert {m.__name__ for m in storage.MODELS} == set(topicfocus.__all__) - OTHERS


def negative(array):
    return np.where(np.arange(array.size).reshape(array.shape) == 0, -1.0, array)


def nan(array):
    return np.where(np.arange(array.size).reshape(array.shape) == 0, np.nan, array)


@pytest.mark.parametrize("kind", ["focused", "joint"])
@pytest.mark.parametrize(
    "attribute, change",
    [
        ("components_", lambda a: a[:, :-1]),
        ("components_", lambda a: np.hstack([a, a])),
        ("components_", lambda a: a[:2]),
        ("components_", lambda a: a[:0]),
        ("components_", lambda a: a[0]),
        ("components_", lambda a: a[None]),
        ("components_", lambda a: a.astype(np.float32)),
        ("components_", lambda a: np.full(a.shape, "x")),
        ("components_", negative),
        ("components_", nan),
        ("doc_topic_prior_", lambda a: a[:-1]),
        ("doc_topic_prior_", lambda a: np.zeros_like(a)),
        ("doc_topic_prior_", negative),
        ("doc_topic_prior_", nan),
        ("inclusion_", lambda a: a[:-1]),
        ("inclusion_", lambda a: a + 1.5),
        ("inclusion_", nan),
        ("background_", lambda a: a[:, None]),
        ("background_", negative),
        ("selected_words_", lambda a: a[1:]),
        ("coef_", lambda a: a[:-1]),
        ("coef_", lambda a: a.astype(int)),
    ],
)
def test_arrays_of_the_wrong_shape_type_or_range(kind, attribute, change, request):
    model = request.getfixturevalue(kind)

    def alter(node, arrays):
        replace_array(arrays, attribute, np.array(change(getattr(model, attribute))))

    refused(file_by_hand(model, alter), "does not hold together")


@pytest.mark.parametrize(
    "attribute, value",
    [
        ("n_features_in_", WORDS + 1),
        ("n_features_in_", float(WORDS)),
        ("n_features_in_", -1),
        ("noise_variance_", 0.0),
        ("noise_variance_", "small"),
        ("noise_variance_", None),
        ("intercept_", "high"),
        ("intercept_", None),
        ("components_", [[1.0]]),
        ("components_", None),
        ("feature_names_in_", ["a", "b"]),
        ("topic_volume_", 1.0),
    ],
)
def test_values_of_the_wrong_kind(focused, attribute, value):
    def alter(node, arrays):
        node["fitted"][attribute] = value

    refused(file_by_hand(focused, alter), "does not hold together")


@pytest.mark.parametrize(
    "attribute",
    ["components_", "n_features_in_", "coef_", "intercept_", "classes_", "_hyper", "inclusion_"],
)
def test_attributes_that_are_missing(joint, attribute):
    refused(
        file_by_hand(joint, lambda node, arrays: node["fitted"].pop(attribute)),
        "does not hold together",
    )


def test_hyperparameters_of_other_topics(joint):
    def alter(node, arrays):
        node["fitted"]["_hyper"]["fields"]["n_topics"] = 4

    refused(file_by_hand(joint, alter), "_hyper must be of 3 topics")


def test_one_label_is_no_classifier(joint):
    def alter(node, arrays):
        replace_array(arrays, "classes_", np.array(["good"]))

    refused(file_by_hand(joint, alter), "classes_ is not that of the targets")


@pytest.mark.parametrize("column", [-1, 5, 10**9, 0.5, "1"])
def test_a_vocabulary_that_numbers_no_columns(column):
    pipeline = make_pipeline(CountVectorizer(vocabulary=["awful", "film", "great"]), LDA(2))
    pipeline.fit(REVIEWS.texts)

    def alter(node, arrays):
        vectoriser = node["params"]["steps"][0]["values"][1]
        vectoriser["fitted"]["vocabulary_"]["values"][2] = column

    refused(file_by_hand(pipeline, alter), "vocabulary_ must give every word a column")


def test_a_pipeline_that_does_not_fit_together():
    pipeline = make_pipeline(CountVectorizer(), LDA(2, max_epochs=1)).fit(REVIEWS.texts)

    def steps(change):
        def alter(node, arrays):
            node["params"]["steps"] = change(node["params"]["steps"])

        return file_by_hand(pipeline, alter)

    refused(steps(lambda s: []), "steps must be")
    refused(steps(lambda s: s[0]), "steps must be")
    refused(steps(lambda s: [["a", None]]), "steps must be")
    refused(steps(lambda s: s[:1]), "ends in a CountVectorizer")

    def memory(node, arrays):
        node["params"]["memory"] = "/somewhere"

    refused(file_by_hand(pipeline, memory), "memory")
    other = CountVectorizer().fit(["a few words only"])
    pipeline.steps[0] = ("countvectorizer", other)
    with pytest.raises(ValueError, match="the vectoriser has 3 words, but the model"):
        topicfocus.save(pipeline, io.BytesIO())


def test_what_could_not_be_loaded_is_not_saved(focused):
    model = topicfocus.load(file_by_hand(focused, lambda node, arrays: None))
    model.components_[0, 0] = np.nan
    with pytest.raises(ValueError, match="at least 0 and finite"):
        model.save(io.BytesIO())
    del model.coef_
    with pytest.raises(NotFittedError):
        model.save(io.BytesIO())


# ---- targets ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kinds():
    return {kind: fitted_kind(kind) for kind in KINDS}


def altered(model, *path, value):
    """The model's file with one value of its JSON, or one array, put in the place of another."""

    def alter(node, arrays):
        *way, last = path
        at = node["fitted"]
        for step in way:
            at = at[step]
        if isinstance(value, np.ndarray):
            arrays["arrays/other.npy"] = value
            at[last] = {"kind": "array", "array": "arrays/other.npy"}
        else:
            at[last] = value

    return file_by_hand(model, alter)


ONE = np.ones(1)


@pytest.mark.parametrize(
    "kind, path, value, message",
    [
        ("real with covariates", ("family_", "fields", "noise_variance"), 0.0, "noise_variance_"),
        ("real with covariates", ("family_", "fields", "noise_variance"), -1.0, "noise_variance_"),
        ("real with covariates", ("family_",), "gaussian", "family_ must be"),
        ("real with covariates", ("noise_variance_",), 0.5, "noise_variance_ is not"),
        ("real with covariates", ("n_covariates_",), 3, "shape"),
        ("real with covariates", ("n_covariates_",), 0, "covariate_coef_ must be there"),
        ("real with covariates", ("n_covariates_",), 2.0, "n_covariates_ must be"),
        ("real with covariates", ("covariate_coef_",), np.ones(3), "covariate_coef_"),
        ("real with covariates", ("covariate_coef_",), np.full(2, np.nan), "covariate_coef_"),
        ("real with covariates", ("_scaling", "fields", "centre"), ONE, "_scaling.centre"),
        ("real with covariates", ("_scaling", "fields", "size"), np.zeros(2), "greater than 0"),
        ("real with covariates", ("_scaling",), None, "_scaling must be"),
        ("real with covariates", ("_codings",), [], "_codings must be"),
        ("real with covariates", ("_codings",), [3], "_codings must be"),
        ("real with covariates", ("_codings", 0, "fields", "kind"), "poisson", "coded as"),
        ("real with covariates", ("_codings", 0, "fields", "labels"), ONE, "no labels"),
        ("rating", ("family_", "fields", "thresholds"), np.zeros(4), "that rise"),
        ("rating", ("family_", "fields", "thresholds"), np.array([0, 1, 2, np.inf]), "that rise"),
        ("rating", ("family_", "fields", "thresholds"), np.arange(3.0), "5 labels, not 4"),
        ("rating", ("family_", "fields", "thresholds"), np.arange(4), "that rise"),
        ("rating", ("family_", "fields", "thresholds"), [0.0, 1.0, 2.0, 3.0], "that rise"),
        ("rating", ("_codings", 0, "fields", "labels"), np.arange(5.0)[::-1], "sorted"),
        ("rating", ("levels_",), np.arange(5.0) + 1, "levels_ is not"),
        ("rating", ("thresholds_",), np.arange(4.0), "thresholds_ is not"),
        ("classes", ("family_", "fields", "n_classes"), 9, "labels, not 9"),
        ("classes", ("family_", "fields", "n_classes"), -1, "labels, not -1"),
        ("classes", ("coef_",), np.ones((2, 2)), "coef_ must be"),
        ("classes", ("coef_",), np.ones(2), "coef_ must be"),
        ("classes", ("intercept_",), 0.0, "intercept_ must be"),
        ("classes", ("intercept_",), np.ones(3), "intercept_ must be"),
        ("classes", ("classes_",), np.array(["a", "b", "c"]), "classes_ is not"),
        ("classes", ("_codings", 0, "fields", "labels"), np.array(["a", "a"]), "sorted"),
        ("truth values", ("_codings", 0, "fields", "labels"), ONE, "two or more labels"),
        ("several numbers", ("family_", "fields", "kind"), np.array([0, 3, 5]), "no known kind"),
        ("several numbers", ("family_", "fields", "kind"), np.array([0, 3, -1]), "no known kind"),
        ("several numbers", ("family_", "fields", "kind"), np.array([0, 3]), "2 targets"),
        ("several numbers", ("family_", "fields", "kind"), np.array([0, 3, 4]), "1 predictors"),
        ("several numbers", ("family_", "fields", "kind"), np.array([3, 0, 2]), "parameters to"),
        ("several numbers", ("family_", "fields", "kind"), np.array([0.0, 3, 2]), "whole numbers"),
        ("several numbers", ("family_", "fields", "first"), np.array([0, 1, 2]), "never fall"),
        ("several numbers", ("family_", "fields", "first"), np.array([0, 2, 1, 3]), "never fall"),
        ("several numbers", ("family_", "fields", "first"), np.array([0, 1, 2, 99]), "predictors"),
        ("several numbers", ("family_", "fields", "first"), np.array([-1, 1, 2, 3]), "begin at 0"),
        ("several numbers", ("family_", "fields", "place"), np.array([0, 1, 9, 9]), "must end at"),
        ("several numbers", ("family_", "fields", "place"), np.array([0, 0, 5, 5]), "0 parameters"),
        ("several numbers", ("family_", "fields", "parameters"), ONE, "must end at"),
        ("several numbers", ("family_", "fields", "parameters"), np.zeros(5), "noise_variance_"),
        ("several numbers", ("family_", "fields", "parameters"), np.ones(5), "that rise"),
        ("several numbers", ("noise_variance_",), 1.0, "noise_variance_ is not"),
        ("several classes", ("classes_",), [], "classes_ is not"),
        ("several classes", ("_codings",), [], "_codings must be"),
    ],
)
def test_targets_that_do_not_fit_together(kinds, kind, path, value, message):
    refused(altered(kinds[kind], *path, value=value), message)


@pytest.mark.parametrize("attribute", ["family_", "_codings", "_scaling", "n_covariates_"])
def test_what_is_known_of_the_target_is_missing(kinds, attribute):
    stream = file_by_hand(kinds["rating"], lambda node, arrays: node["fitted"].pop(attribute))
    refused(stream, "does not hold together")
