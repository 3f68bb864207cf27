"""Calibration in the large: the mean of the predictions is the mean of the target."""

import numpy as np
import pytest

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor
from topicfocus.datasets import make_reviews
from topicfocus.estimators.training import UselessFitWarning

SIZES = (100, 1_000)


def documents(n_docs):
    """Documents to fit and as many others, with a rating from 1 to 9 each."""
    reviews = make_reviews(2 * n_docs, n_themes=2, random_state=n_docs)
    half = np.arange(2 * n_docs) < n_docs
    return reviews.counts[half], reviews.target[half], reviews.counts[~half], reviews.target[~half]


def counts_of(rating):
    return np.random.default_rng(1).poisson(np.exp(0.3 * (rating - 5.0)))


TARGETS = {
    "real": (FocusedTopicRegressor, {}, lambda rating: rating),
    "count": (FocusedTopicRegressor, {"family": "poisson"}, counts_of),
    "ordinal": (FocusedTopicRegressor, {"family": "ordinal"}, np.round),
    "binary": (FocusedTopicClassifier, {}, lambda rating: rating > 6.5),
    "classes": (FocusedTopicClassifier, {}, lambda rating: np.digitize(rating, [4.0, 6.5])),
}


def fitted_and_observed(model, X, y):
    """Means of the predictions and of the target, one column per class if there are classes."""
    if hasattr(model, "classes_"):
        return model.predict_proba(X).mean(axis=0), np.mean(y[:, None] == model.classes_, axis=0)
    return model.predict(X).mean(), y.mean()


@pytest.mark.parametrize("n_docs", SIZES)
@pytest.mark.parametrize("kind", TARGETS)
def test_the_level_is_that_of_the_target(kind, n_docs):
    estimator, settings, target = TARGETS[kind]
    X, rating, X_test, rating_test = documents(n_docs)
    y, y_test = target(rating), target(rating_test)
    model = estimator(4, inclusion_prior=0.2, random_state=0, **settings).fit(X, y)
    fitted, observed = fitted_and_observed(model, X, y)
    # Maximum likelihood matches the means exactly, but for the thresholds of a rating.
    spread = np.std(y) if kind != "classes" else 1.0
    if kind == "real":  # before the ends of the scale, 1 and 10, limit a few predictions
        assert abs(fitted - observed) < 0.02 * spread
        fitted = model.explain(X).predictor.mean()
    assert np.abs(fitted - observed).max() < (0.03 if kind == "ordinal" else 1e-4) * spread
    fitted, observed = fitted_and_observed(model, X_test, y_test)
    # Both means have a sampling error; the model's own level adds one more.
    assert np.abs(fitted - observed).max() < 5.0 * np.std(y_test.astype(float)) / np.sqrt(n_docs)


def test_the_expected_number_of_rare_positives_is_theirs():
    n_docs = 500
    X, rating, *_ = documents(n_docs)
    y = np.zeros(n_docs, dtype=int)
    y[np.argsort(rating)[-5:]] = 1
    # One positive among 50 validation documents cannot show that the model is useful.
    with pytest.warns(UselessFitWarning, match="or the documents too few"):
        model = FocusedTopicClassifier(4, random_state=0).fit(X, y)
    assert model.predict_proba(X)[:, 1].sum() == pytest.approx(5.0, rel=1e-3)
