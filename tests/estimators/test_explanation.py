"""Explanations add up to the linear predictor exactly, for every model and kind of target."""

import numpy as np
import pytest
from scipy import sparse

import topicfocus
from topicfocus.datasets import make_reviews

REGRESSORS = ("FocusedTopicRegressor", "PCSLDARegressor", "PFSLDARegressor", "SLDARegressor")
CLASSIFIERS = ("FocusedTopicClassifier", "PFSLDAClassifier")


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(300, random_state=0)


def quick(name, **settings):
    return getattr(topicfocus, name)(3, max_epochs=8, random_state=0, **settings)


def check_adds_up(explanation, predictor):
    predictor = predictor.reshape(len(predictor), -1)
    np.testing.assert_allclose(explanation.predictor, predictor, rtol=0, atol=1e-9)
    for l in range(predictor.shape[1]):
        by_topic = explanation.base[:, l] + explanation.covariates[l].sum(axis=1)
        by_topic = by_topic + np.asarray(explanation.topics[l].sum(axis=1)).ravel()
        np.testing.assert_allclose(by_topic, predictor[:, l], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", REGRESSORS)
def test_words_and_topics_add_up(name, reviews):
    model = quick(name).fit(reviews.counts, reviews.target)
    explanation = model.explain(reviews.counts)
    check_adds_up(explanation, model.predict(reviews.counts))
    assert all(isinstance(m, sparse.csr_array) for m in explanation.words + explanation.topics)
    assert explanation.words[0].shape == reviews.counts.shape
    empty = model.explain(np.zeros((1, reviews.counts.shape[1])))
    assert empty.words[0].nnz == 0
    assert empty.base[0, 0] == pytest.approx(
        model.predict(np.zeros_like(reviews.counts[:1].toarray()))[0]
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes(name, reviews):
    y = np.digitize(reviews.target, np.quantile(reviews.target, [1 / 3, 2 / 3]))
    two = quick(name).fit(reviews.counts, y > 0)
    check_adds_up(two.explain(reviews.counts), two.decision_function(reviews.counts))
    three = quick(name).fit(reviews.counts, np.array(["bad", "fair", "good"])[y])
    explanation = three.explain(reviews.counts)
    check_adds_up(explanation, three.decision_function(reviews.counts))
    assert explanation.predictor_names == ("y is bad", "y is fair", "y is good")


def test_counts_with_exposure_and_covariates(reviews):
    rng = np.random.default_rng(0)
    z = rng.normal(5.0, 3.0, (300, 2))
    exposure = rng.uniform(0.5, 3.0, 300)
    y = rng.poisson(exposure * np.exp(0.3 * reviews.target - 1 + 0.1 * z[:, 0]))
    model = quick("FocusedTopicRegressor", family="poisson")
    model.fit(reviews.counts, y, exposure=exposure, covariates=z)
    extras = {"covariates": z, "exposure": exposure}
    explanation = model.explain(reviews.counts, **extras)
    check_adds_up(explanation, np.log(model.predict(reviews.counts, **extras)))
    assert explanation.covariates[0].shape == (300, 2)
    assert model.covariate_coef_[0] == pytest.approx(0.1, abs=0.05)


def test_dropped_words_say_nothing(reviews):
    model = quick("FocusedTopicRegressor").fit(reviews.counts, reviews.target)
    words = model.explain(reviews.counts).words[0]
    assert np.all(model.selected_words_[np.unique(words.indices)])


def test_text_of_one_document(reviews):
    import pandas as pd

    frame = pd.DataFrame.sparse.from_spmatrix(
        sparse.csr_matrix(reviews.counts), columns=reviews.vocabulary
    )
    frame = frame.sparse.to_dense()
    model = quick("FocusedTopicRegressor").fit(frame, reviews.target)
    explanation = model.explain(frame)
    text = repr(explanation[3])
    word, amount = explanation[3].top_words()[0]
    assert "base" in text and "by topic" in text
    assert word in text and f"{amount:+.4g}" in text
    assert len(explanation[3]) == 1 and len(explanation[2:7]) == 5
    assert "300 documents" in repr(explanation)
    np.testing.assert_array_equal(explanation[-1].predictor, explanation.predictor[-1:])
