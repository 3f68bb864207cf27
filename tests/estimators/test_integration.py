"""The estimators inside scikit-learn's tools."""

import warnings

import numpy as np
import pandas as pd
import pytest
from model_files import MODELS
from sklearn import config_context
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline

import topicfocus
from topicfocus.datasets import make_reviews
from topicfocus.estimators.training import UselessFitWarning

REVIEWS = make_reviews(300, random_state=2)
X, Y = REVIEWS.counts, REVIEWS.target
GOOD = np.where(np.median(Y) < Y, "good", "bad")
SELECTING = ("FocusedTopicRegressor", "FocusedTopicClassifier", "PFSLDARegressor")
FRAME = pd.DataFrame(X.toarray(), columns=list(REVIEWS.vocabulary))


def make(name, **options):
    settings = {"n_topics": 3, "max_epochs": 10, "random_state": 0}
    if name.startswith("Focused"):
        settings["inclusion_prior"] = 0.2  # to choose it is most of a small fit
    return getattr(topicfocus, name)(**settings | options)


def target_of(name):
    return GOOD if name.endswith("Classifier") else Y


def test_grid_search_in_a_text_pipeline():
    pipe = make_pipeline(CountVectorizer(), make("FocusedTopicRegressor"))
    search = GridSearchCV(pipe, {"focusedtopicregressor__n_topics": [2, 4]}, cv=3)
    search.fit(REVIEWS.texts, Y)
    assert search.best_score_ > 0.4
    assert np.ptp(search.cv_results_["mean_test_score"]) > 0
    assert search.best_estimator_[-1].components_.shape[0] in (2, 4)


@pytest.mark.parametrize("name", ["SLDAClassifier", "FocusedTopicClassifier"])
def test_cross_val_predict_of_classes(name):
    model = make(name)
    for method in ("predict_proba", "decision_function"):
        scores = cross_val_predict(model, X, GOOD, cv=3, method=method)
        ranked = scores[:, 1] if scores.ndim == 2 else scores
        assert roc_auc_score(GOOD == "good", ranked) > 0.6
    stars = np.digitize(Y, np.quantile(Y, [1 / 3, 2 / 3]))
    assert cross_val_predict(model, X, stars, cv=3, method="predict_proba").shape == (300, 3)


@pytest.mark.parametrize("name", MODELS)
def test_dataframes_out(name):
    model = make(name, max_epochs=2).fit(FRAME, target_of(name))
    plain = model.transform(FRAME)
    frame = model.set_output(transform="pandas").transform(FRAME)
    assert list(frame.columns) == ["topic0", "topic1", "topic2"]
    assert list(frame.index) == list(FRAME.index)
    np.testing.assert_array_equal(frame.to_numpy(), plain)


# ---- metadata routing --------------------------------------------------------------------------

RNG = np.random.default_rng(0)
WEIGHT = RNG.integers(1, 4, len(Y)).astype(float)
COVARIATES = RNG.normal(size=(len(Y), 2))
RATE = np.exp(0.3 * (Y - 5))
EXPOSURE = RNG.uniform(0.1, 20.0, len(Y))
COUNTS = RNG.poisson(RATE * EXPOSURE)


def test_exposure_is_routed_to_fit_predict_and_score():
    with config_context(enable_metadata_routing=True):
        model = make("FocusedTopicRegressor", family="poisson")
        model.set_fit_request(exposure=True).set_score_request(exposure=True)
        model.set_predict_request(exposure=True)
        grid = GridSearchCV(model, {"n_topics": [2, 3]}, cv=3)
        grid.fit(X, COUNTS, exposure=EXPOSURE)
        told = cross_validate(model, X, COUNTS, cv=3, params={"exposure": EXPOSURE})
        untold = cross_validate(make("FocusedTopicRegressor", family="poisson"), X, COUNTS, cv=3)
        found = cross_val_predict(model, X, COUNTS, cv=3, params={"exposure": EXPOSURE})
    assert grid.best_score_ > 0.5
    # Counts of documents watched for a short or a long time cannot be told from the words.
    assert told["test_score"].mean() > 0.2 + untold["test_score"].mean()
    assert found.shape == COUNTS.shape


def test_covariates_are_routed_with_their_rows():
    y = Y + 5 * COVARIATES[:, 0]
    with config_context(enable_metadata_routing=True):
        model = make("FocusedTopicRegressor").set_fit_request(covariates=True)
        model.set_score_request(covariates=True).set_predict_request(covariates="covariates")
        result = cross_validate(
            make_pipeline(CountVectorizer(), model),
            REVIEWS.texts,
            y,
            cv=3,
            params={"covariates": COVARIATES},
        )
        assert result["test_score"].min() > 0.7
        with pytest.raises(UnsetMetadataPassedError, match="covariates"):
            cross_validate(make("SLDARegressor"), X, y, params={"covariates": COVARIATES})


# ---- words and documents that say nothing ------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in MODELS if n != "LDA"])
def test_unseen_words_and_empty_documents_get_the_priors_prediction(name):
    train = X[:200].toarray()
    unseen = [3, 50]
    train[:, unseen] = 0
    prior = [1.0, 2.0, 5.0]
    model = make(name, doc_topic_prior=prior).fit(train, target_of(name)[:200])
    new = X[200:210].toarray()
    more = new.copy()
    more[:, unseen] += 7
    # Up to rounding: there are more numbers to add up, though they are zero.
    np.testing.assert_allclose(model.transform(more), model.transform(new), rtol=1e-12)
    nothing = np.zeros((2, X.shape[1]))
    nothing[1, unseen] = 4
    wanted = model.intercept_ + model.coef_ @ np.array(prior) / 8
    predict = model.decision_function if name.endswith("Classifier") else model.predict
    np.testing.assert_allclose(predict(nothing), wanted)
    if name.endswith("Regressor"):
        mean, std = model.predict(nothing, return_std=True)
        np.testing.assert_allclose(mean, wanted)
        assert np.all(std >= np.sqrt(model.noise_variance_))


@pytest.mark.parametrize("name", ["FocusedTopicRegressor", "SLDARegressor"])
def test_documents_without_a_known_word(name):
    """All of them, in validation and prediction: nothing divides by their number of words."""
    reviews = make_reviews(300, random_state=0)
    counts, y, empty = reviews.counts, reviews.target, 0 * reviews.counts[:40]
    model = getattr(topicfocus, name)(3, max_epochs=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UselessFitWarning)
        model.fit(counts, y, X_val=empty, y_val=y[:40])
    mean, std = model.predict(empty, return_std=True)
    assert np.ptp(mean) == 0 and np.all(std > 0)
    assert np.isfinite(model.explain(empty).predictor).all()
    assert np.isfinite(model.topic_effects(empty, y[:40])["change"]).all()
    assert np.isfinite(model.word_effects(empty)["change"]).all()
