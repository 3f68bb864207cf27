"""compare_models: a difference is found, and noise is not mistaken for one."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

from topicfocus import FocusedTopicRegressor, compare_models
from topicfocus.datasets import make_reviews
from topicfocus.selection.compare import corrected_t


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(160, random_state=0)


def test_the_corrected_t_test_by_hand():
    d = np.array([0.1, 0.2, 0.0, 0.3])
    mean, low, high, p = corrected_t(d, ratio=0.25, level=0.9)
    error = np.sqrt((1 / 4 + 0.25) * d.var(ddof=1))
    assert mean == pytest.approx(0.15)
    assert (high - low) / 2 == pytest.approx(2.353363 * error, rel=1e-5)  # t of 3 degrees, 95%
    assert p == pytest.approx(0.200, abs=2e-3)
    assert corrected_t([0.0, 0.0], 0.1) == (0.0, 0.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="two folds or more"):
        corrected_t([0.1], 0.1)


@pytest.mark.parametrize("method", ["corrected t", "bootstrap"])
def test_a_difference_is_found(reviews, method):
    model = FocusedTopicRegressor(2, max_epochs=4, random_state=0, n_jobs=1)
    found = compare_models(
        model, DummyRegressor(), reviews.counts, reviews.target, cv=3, n_jobs=1, method=method
    )
    assert found.better == "FocusedTopicRegressor" and found.p_value < 0.05
    assert found.low > 0 and found.scores.shape == (3, 2)
    assert str(found).startswith("FocusedTopicRegressor predicts better")
    other = compare_models(
        DummyRegressor(), model, reviews.counts, reviews.target, cv=3, n_jobs=1, method=method
    )
    assert other.difference == pytest.approx(-found.difference)
    assert other.better == "FocusedTopicRegressor"


def test_the_same_model_twice(reviews):
    found = compare_models(Ridge(), Ridge(), reviews.counts, reviews.target, cv=3, n_jobs=1)
    assert found.better is None and found.p_value == 1.0
    assert found.names == ("first Ridge", "second Ridge")
    assert str(found).startswith("No significant difference")


def test_texts_classes_groups_and_covariates(reviews):
    y = reviews.target > 5
    models = [
        make_pipeline(CountVectorizer(min_df=d), LogisticRegression(max_iter=200)) for d in (1, 40)
    ]
    groups = np.repeat(np.arange(40), 4)
    found = compare_models(
        *models,
        reviews.texts,
        y,
        groups=groups,
        cv=3,
        n_jobs=1,
        method="bootstrap",
        names=("all words", "frequent words"),
    )
    assert found.better == "all words"
    z = np.asarray(reviews.target)[:, None]
    model = FocusedTopicRegressor(2, max_epochs=4, random_state=0, n_jobs=1)
    # A model that takes covariates gets them; one that does not is none the worse.
    found = compare_models(
        model, Ridge(), reviews.counts, reviews.target, covariates=z, cv=2, n_jobs=1
    )
    assert found.scores[:, 0].min() > 0.95


def test_an_interrupted_comparison_continues(reviews, tmp_path, monkeypatch):
    fits, whole = [], Ridge.fit

    def interrupted(self, *args, **kwargs):
        fits.append(args)
        if len(fits) == 4:
            raise KeyboardInterrupt
        return whole(self, *args, **kwargs)

    monkeypatch.setattr(Ridge, "fit", interrupted)
    how = {"cv": 3, "n_jobs": 1, "checkpoint": tmp_path / "folds"}
    both = Ridge(), Ridge(alpha=10.0), reviews.counts, reviews.target
    with pytest.raises(KeyboardInterrupt):
        compare_models(*both, **how)
    found = compare_models(*both, **how)
    assert len(fits) == 4 + 4  # one of three folds was finished
    expected = compare_models(*both, cv=3, n_jobs=1)
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_mistakes(reviews):
    with pytest.raises(ValueError, match="not comparable"):
        compare_models(Ridge(), LogisticRegression(), reviews.counts, reviews.target)
    with pytest.raises(ValueError, match="method must be one of"):
        compare_models(Ridge(), Ridge(), reviews.counts, reviews.target, method="t")
    y = np.column_stack([reviews.target, reviews.target])
    with pytest.raises(ValueError, match="several targets"):
        compare_models(Ridge(), Ridge(), reviews.counts, y, cv=2, n_jobs=1, method="bootstrap")
