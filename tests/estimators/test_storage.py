"""A model that does not hold together is neither loaded nor saved: kernels would trust it."""

import io

import numpy as np
import pytest
from model_files import REVIEWS, file_by_hand, fitted, replace_array
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
    assert {m.__name__ for m in storage.MODELS} == set(topicfocus.__all__) - {"load", "save"}


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

    refused(file_by_hand(joint, alter), "classes_ must be")


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
