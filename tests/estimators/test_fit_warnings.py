"""A fit that must not be used says so."""

import warnings

import numpy as np
import pytest

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor, PFSLDARegressor, SLDARegressor
from topicfocus.datasets import make_reviews
from topicfocus.estimators.training import (
    UselessFitWarning,
    empty_topics,
    useless_fit_messages,
    validation_explained,
)

REVIEWS = make_reviews(300, random_state=0)
TRAIN, HELD = slice(0, 200), slice(200, 300)


def test_worse_than_a_constant_on_held_out_documents():
    """Validation targets are the other way round: what is learned is wrong for them."""
    y = REVIEWS.target.astype(float)
    with pytest.warns(UselessFitWarning, match="SLDARegressor: .* no better than a constant"):
        model = SLDARegressor(3, max_epochs=40, tol=0.0, random_state=0).fit(
            REVIEWS.counts[TRAIN],
            y[TRAIN],
            X_val=REVIEWS.counts[HELD],
            y_val=100 - 5 * y[HELD],
        )
    assert validation_explained(model.fitted_) < 0


def test_no_word_kept():
    with pytest.warns(UserWarning, match="no word is kept"):
        model = PFSLDARegressor(
            2, inclusion_prior=1e-6, max_epochs=40, tol=0.0, random_state=0
        ).fit(REVIEWS.counts[TRAIN], np.random.default_rng(0).normal(size=200))
    assert useless_fit_messages(model)


@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
def test_a_target_of_noise(kind):
    """Nearly all fits warn: of 60 fits of each kind, 2, 1 and 1 did not."""
    silent = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        target = rng.normal(size=300)
        model = FocusedTopicRegressor(3, inclusion_prior=0.2, max_epochs=3, random_state=0)
        if kind != "numbers":
            target = rng.integers(0, 2 if kind == "two classes" else 3, 300)
            model = FocusedTopicClassifier(3, inclusion_prior=0.2, max_epochs=3, random_state=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(REVIEWS.counts, target)
        silent += not any("no better than a constant" in str(w.message) for w in caught)
    assert silent <= 2


def test_a_joint_model_whose_validation_score_is_within_one_standard_error():
    """Whether validation documents are given, or chosen for the inclusion prior."""
    target = np.random.default_rng(1).normal(size=300)
    auto = PFSLDARegressor(2, inclusion_prior="auto", max_epochs=10, random_state=0)
    with pytest.warns(UselessFitWarning, match="no better than a constant"):
        auto.fit(REVIEWS.counts, target)
    given = {"X_val": REVIEWS.counts[HELD], "y_val": target[HELD]}
    with pytest.warns(UselessFitWarning, match="no better than a constant"):
        model = SLDARegressor(2, max_epochs=5, random_state=0)
        model.fit(REVIEWS.counts[TRAIN], target[TRAIN], **given)
    assert model.fitted_.explained[0] < model.fitted_.explained_error


def test_good_fits_and_trials_are_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FocusedTopicRegressor(3, random_state=0).fit(REVIEWS.counts, REVIEWS.target)
        PFSLDARegressor(2, max_epochs=2, random_state=0).fit(REVIEWS.counts, REVIEWS.target)
    assert validation_explained(model.fitted_) > 0.5
    assert useless_fit_messages(model) == []
    assert np.isnan(
        validation_explained(
            SLDARegressor(2, max_epochs=1).fit(REVIEWS.counts, REVIEWS.target).fitted_
        )
    )


def test_most_documents_are_empty():
    counts = REVIEWS.counts.tolil()
    counts[:180] = 0
    with pytest.warns(UserWarning, match="180 of 300 documents have no words"):
        SLDARegressor(2, max_epochs=1, random_state=0).fit(counts.tocsr(), REVIEWS.target)


def test_empty_topics_are_reported():
    """Three words predict, and five topics are asked for."""
    rng = np.random.default_rng(1)
    counts = rng.poisson(0.3, (800, 60))
    y = counts[:, 0] - counts[:, 1] + 0.5 * counts[:, 2] + rng.normal(0, 0.5, 800)
    with pytest.warns(UselessFitWarning, match=r"of one word: .* Fit fewer topics than 5"):
        model = FocusedTopicRegressor(5, random_state=0).fit(counts, y)
    few = empty_topics(model.fitted_)
    assert few and max(model.components_[k].max() for k in few) > 0.5
    named = model.rename_topics(dict.fromkeys(few[:1], "wanted"))
    assert empty_topics(named.fitted_) == few[1:]
    assert empty_topics(FocusedTopicRegressor(2, random_state=0).fit(counts, y).fitted_) == []
