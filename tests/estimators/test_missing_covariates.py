"""Covariates that are not known: the training median, and a column that says so."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import topicfocus
from topicfocus import FocusedTopicRegressor, SLDAClassifier, SLDARegressor
from topicfocus.datasets import make_reviews

REVIEWS = make_reviews(200, random_state=0)
X, Y = REVIEWS.counts, REVIEWS.target.astype(float)
RNG = np.random.default_rng(0)
WHOLE = np.column_stack([RNG.normal(size=200), RNG.normal(50, 9, size=200)])
LACKING = WHOLE.copy()
LACKING[RNG.uniform(size=200) < 0.3, 1] = np.nan


def by_hand(values):
    """Median and indicator, as a user would have done it."""
    column = LACKING[:, 1]
    ordered = np.sort(column[np.isfinite(column)])
    middle = ordered[(len(ordered) - 1) // 2]
    gone = np.isnan(values[:, 1])
    return np.column_stack([values[:, 0], np.where(gone, middle, values[:, 1]), gone])


@pytest.mark.parametrize("cls", [FocusedTopicRegressor, SLDARegressor, SLDAClassifier])
def test_it_is_the_median_and_an_indicator(cls):
    y = Y if cls is not SLDAClassifier else Y > 5
    make = {"n_topics": 3, "max_epochs": 6, "random_state": 0}
    mine = cls(**make).fit(X, y, covariates=LACKING)
    theirs = cls(**make).fit(X, y, covariates=by_hand(LACKING))
    assert_array_equal(mine.components_, theirs.components_)
    assert_array_equal(mine.covariate_coef_, theirs.covariate_coef_)
    assert mine.covariate_coef_.shape == (3,) and mine.n_covariates_ == 2
    predicted = mine.predict(X[:50], covariates=LACKING[:50])
    assert_array_equal(predicted, theirs.predict(X[:50], covariates=by_hand(LACKING)[:50]))
    explained = mine.explain(X[:5], covariates=LACKING[:5])
    assert explained.covariates[0].shape == (5, 3)
    file = io.BytesIO()
    mine.save(file)
    again = topicfocus.load(io.BytesIO(file.getvalue()))
    assert_array_equal(again.predict(X[:50], covariates=LACKING[:50]), predicted)


def test_missing_only_at_predict_is_the_median():
    model = SLDARegressor(3, max_epochs=6, random_state=0).fit(X, Y, covariates=WHOLE)
    assert model.covariate_coef_.shape == (2,)
    middle = np.sort(WHOLE[:, 0])[99]
    new = WHOLE[:4].copy()
    new[0, 0] = np.nan
    known = new.copy()
    known[0, 0] = middle
    assert_allclose(model.predict(X[:4], covariates=new), model.predict(X[:4], covariates=known))


@pytest.mark.parametrize("rare", ["missing", "known"])
def test_a_column_that_differs_in_few_documents_is_not_added(rare):
    """The target of two documents without a value is extreme; others without one do not get it."""
    values, y = WHOLE.copy(), Y.copy()
    few = np.zeros(200, dtype=bool)
    few[[3, 50]] = True
    y[few] = 40.0
    values[few if rare == "missing" else ~few, 1] = np.nan
    model = FocusedTopicRegressor(3, max_epochs=6, random_state=0).fit(X, y, covariates=values)
    assert model.covariate_coef_.shape == (2,)
    without = WHOLE[:1].copy()
    without[0, 1] = np.nan
    assert abs(model.predict(X[:1], covariates=without)[0] - Y[0]) < 5.0


def test_validation_and_batches_are_filled_too():
    model = SLDARegressor(3, max_epochs=6, random_state=0)
    model.fit(X, Y, covariates=LACKING, X_val=X, y_val=Y, covariates_val=LACKING)
    model = FocusedTopicRegressor(3, random_state=0)
    for rows in (slice(0, 100), slice(100, 200)):
        model.partial_fit(X[rows], Y[rows], covariates=LACKING[rows])
    assert model.covariate_coef_.shape == (3,)


def test_a_column_that_nobody_knows():
    with pytest.raises(ValueError, match="column 1 of covariates is NaN in every document"):
        SLDARegressor(3).fit(X, Y, covariates=np.column_stack([Y, np.full(200, np.nan)]))
    with pytest.raises(ValueError, match="covariates contains inf at row 0, column 0"):
        SLDARegressor(3).fit(X, Y, covariates=np.full((200, 1), np.inf))
