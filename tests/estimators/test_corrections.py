"""Renamed and merged topics, and words that are kept or dropped by name."""

import copy
import io

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline

import topicfocus
from topicfocus import (
    LDA,
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PFSLDARegressor,
    TokenCounter,
)
from topicfocus.datasets import make_reviews

REVIEWS = make_reviews(400, n_themes=2, random_state=0)
X, Y = sparse.csr_array(REVIEWS.counts), REVIEWS.target


@pytest.fixture(scope="module")
def model():
    return FocusedTopicRegressor(4, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def classes():
    return FocusedTopicClassifier(5, random_state=0).fit(X, np.digitize(Y, [4.0, 6.5]))


def test_names_are_shown_everywhere(model):
    renamed = copy.deepcopy(model).rename_topics({0: "<praise>", 2: "blame"})
    assert renamed.topic_names_ == ["<praise>", None, "blame", None]
    assert model.topic_names_ == [None] * 4
    assert list(renamed.top_words(3, named=True)) == ["<praise>", "topic1", "blame", "topic3"]
    assert renamed.topic_effects(X)["name"].tolist() == ["<praise>", "", "blame", ""]
    assert "name" not in model.topic_effects(X)
    assert "blame" in repr(renamed.explain(X[:1])[0])
    assert "&lt;praise&gt;" in renamed._repr_html_() and "<praise>" not in renamed._repr_html_()
    file = io.BytesIO()
    renamed.save(file)
    loaded = topicfocus.load(io.BytesIO(file.getvalue()))
    assert loaded.topic_names_ == renamed.topic_names_
    # By the name, and away again.
    assert loaded.rename_topics({"blame": None}).topic_names_ == ["<praise>", None, None, None]
    assert loaded.rename_topics({"<praise>": None}).topic_names_ == [None] * 4
    swapped = renamed.rename_topics({0: "blame", 2: "<praise>"})
    assert swapped.topic_names_ == ["blame", None, "<praise>", None]
    assert renamed.fit(X, Y).topic_names_ == [None] * 4


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ({4: "a"}, ValueError, "there is no topic 4: the model has topics 0 to 3"),
        ({"no": "a"}, ValueError, "no topic is named 'no'; none has a name"),
        ({0: "a", 1: "a"}, ValueError, "two topics cannot both be named 'a'"),
        ({0: "a\nb"}, ValueError, "one line"),
        ({0: 3}, TypeError, "must be a string"),
        ({True: "a"}, TypeError, "index or its name"),
        (["a"], TypeError, "must be a dict"),
    ],
)
def test_wrong_names(model, names, error, message):
    with pytest.raises(error, match=message):
        model.rename_topics(names)


def merged(model, topics, **settings):
    return copy.deepcopy(model).merge_topics(topics, **settings)


def test_merged_topics_are_the_mean_of_their_words(model):
    found = merged(model, [3, 1], name="both")
    assert found.topic_names_ == [None, "both", None]
    share = model.fitted_.typical_shares[0]
    weights = share[[1, 3]] / share[[1, 3]].sum()
    np.testing.assert_allclose(found.components_[1], weights @ model.components_[[1, 3]])
    assert found.coef_[1] == pytest.approx(weights @ model.coef_[[1, 3]])
    np.testing.assert_array_equal(found.components_[[0, 2]], model.components_[[0, 2]])
    assert found.doc_topic_prior_.sum() == pytest.approx(model.doc_topic_prior_.sum())
    np.testing.assert_allclose(
        found.fitted_.context[:, 1], model.fitted_.context[:, [1, 3]].sum(axis=1)
    )
    assert found.transform(X).shape == (400, 3)
    assert len(found.topic_effects(X)) == len(found.context_words(3)) == 3
    np.testing.assert_array_equal(found.selected_words_, model.selected_words_)
    assert "both" in found._repr_html_()


def test_explanations_of_a_merged_model_are_exact(model, classes):
    found = merged(model, [0, 1])
    explanation = found.explain(X)
    total = (explanation.predictor + explanation.limit)[:, 0]
    np.testing.assert_allclose(total, found.predict(X), atol=1e-9)
    assert explanation.topics[0].shape == (400, 3)
    found = merged(classes, [0, 4])
    np.testing.assert_allclose(found.explain(X).after, found.predict_proba(X), atol=1e-12)
    assert found.coef_.shape == (3, 4)


def test_predictions_change_as_little_as_possible(model):
    """Nothing for topics that are the same; less with documents than without."""
    before, order = model.predict(X), np.argsort(model.coef_)
    near, far = order[:2], order[[0, -1]]
    changes = {}
    for name, topics in (("near", near), ("far", far)):
        for documents in (None, X):
            after = merged(model, topics, X=documents).predict(X)
            changes[name, documents is None] = np.std(after - before) / np.std(before)
    assert changes["near", False] <= changes["near", True] < 0.25
    assert changes["far", False] < changes["far", True]
    assert changes["near", True] < changes["far", True]
    level = merged(model, near, X=X).predict(X).mean()
    assert level == pytest.approx(before.mean(), abs=1e-2 * before.std())


@pytest.mark.parametrize(
    "other",
    [LDA(3, max_epochs=3, random_state=0), PFSLDARegressor(3, max_epochs=3, random_state=0)],
    ids=["LDA", "pf-sLDA"],
)
def test_joint_models_merge_and_are_saved(other):
    found = merged(other.fit(X, Y), [0, 2], name="one")
    file = io.BytesIO()
    found.save(file)
    loaded = topicfocus.load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(loaded.transform(X), found.transform(X))
    assert loaded.topic_names_ == ["one", None]
    np.testing.assert_allclose(found.components_.sum(axis=1), 1.0)


def test_merging_again_by_name(model):
    found = merged(model, [0, 1], name="first").merge_topics(["first", 2])
    assert found.topic_names_ == ["first", None]
    for topics, message in (([1], "two or more"), ([0, 0], "two or more"), (["no", 1], "no topic")):
        with pytest.raises(ValueError, match=message):
            merged(model, topics)
    with pytest.raises(TypeError, match="list of indices or names"):
        merged(model, "first")


# ---- words by name -------------------------------------------------------------------------------


def frame():
    return pd.DataFrame(X.toarray(), columns=list(REVIEWS.vocabulary))


def test_words_by_name_in_frames_counts_and_pipelines():
    words = {"drop_words": ["delicious", "rude"], "keep_words": ["apron"]}
    settings = {"inclusion_prior": 0.2, "max_epochs": 2, "random_state": 0}
    by_frame = FocusedTopicRegressor(3, **words, **settings).fit(frame(), Y)
    pipeline = make_pipeline(
        TokenCounter(min_df=1), FocusedTopicRegressor(3, **words, **settings)
    ).fit(REVIEWS.texts, Y)
    for fitted in (by_frame, pipeline[-1]):
        kept = set(np.asarray(fitted.feature_names_in_)[fitted.selected_words_])
        assert "apron" in kept and not kept & {"delicious", "rude"}
    named = pipeline[0].transform(REVIEWS.texts)
    again = FocusedTopicRegressor(3, **words, **settings).fit(named, Y)
    np.testing.assert_array_equal(again.components_, pipeline[-1].components_)


def test_an_unknown_word_is_an_error_with_a_suggestion():
    with pytest.raises(ValueError, match=r"which is not a column of X\. Did you mean 'delicious"):
        FocusedTopicRegressor(drop_words=["delicous"]).fit(frame(), Y)
