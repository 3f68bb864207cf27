"""Trainers without estimators."""

import numpy as np
import pytest

from topicfocus import LDA, FocusedTopicRegressor, PFSLDARegressor
from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.focused_training import FocusedTrainer
from topicfocus.estimators.joint_training import JointTrainer
from topicfocus.estimators.targets import TargetModel
from topicfocus.estimators.training import in_data_units
from topicfocus.focused import FocusSettings
from topicfocus.inference.state import Hyperparameters
from topicfocus.joint import CoordinateSolver

REVIEWS = make_reviews(300, random_state=0)
TARGETS = TargetModel.of_numbers(REVIEWS.target).with_target_scaling([REVIEWS.target], np.ones(300))
DOCUMENTS = Documents(make_corpus(REVIEWS.counts), TARGETS.scale(TARGETS.encode(REVIEWS.target)))


def joint(**changed):
    solver = CoordinateSolver()
    settings = {
        "hyper": Hyperparameters(n_topics=3, inclusion_prior=0.2),
        "prior": np.ones(3),
        "name": "coordinate",
        "solver": solver,
        "coordinate": solver,
        "max_epochs": 4,
        "tol": 0.0,
        "random_state": 0,
    }
    return JointTrainer(**settings | changed)


def test_a_joint_trainer_is_what_the_estimator_does():
    mine = joint().fit(DOCUMENTS, TARGETS)[0]
    options = {"solver": "coordinate", "max_epochs": 4, "tol": 0.0}
    model = PFSLDARegressor(3, inclusion_prior=0.2, random_state=0, **options)
    theirs = model.fit(REVIEWS.counts, REVIEWS.target).fitted_
    np.testing.assert_array_equal(mine.state.topic_word, theirs.state.topic_word)
    np.testing.assert_array_equal(in_data_units(mine).coef, theirs.coef)
    assert mine.n_iter == theirs.n_iter == 4
    assert mine.hyper.selects and not mine.sees_roots


def test_a_joint_trainer_without_targets():
    hyper = Hyperparameters(n_topics=3, selects=False)
    words = Documents(DOCUMENTS.corpus, None)
    mine = joint(hyper=hyper).fit(words, None)[0]
    theirs = LDA(3, max_epochs=4, tol=0.0, random_state=0).fit(REVIEWS.counts)
    np.testing.assert_array_equal(mine.components, theirs.components_)
    assert mine.targets is None and mine.coef is None


def test_a_joint_trainer_keeps_the_last_epoch_beside_the_best():
    held = DOCUMENTS.rows(np.arange(100))
    fitted, last = joint().fit(DOCUMENTS.rows(np.arange(100, 300)), TARGETS, held)
    assert last is not None
    assert "validation" in fitted.history


def test_a_focused_trainer_is_what_the_estimator_does():
    trainer = FocusedTrainer(settings=FocusSettings(n_topics=3), random_state=0)
    mine = trainer.fit(DOCUMENTS, TARGETS)[0]
    model = FocusedTopicRegressor(3, random_state=0).fit(REVIEWS.counts, REVIEWS.target)
    np.testing.assert_array_equal(mine.state.topic_word, model.fitted_.state.topic_word)
    np.testing.assert_array_equal(mine.selected_words, model.selected_words_)
    assert mine.sees_roots and mine.shaping == "themes"


@pytest.mark.parametrize(
    "trainer", [joint(), FocusedTrainer(settings=FocusSettings(n_topics=3), random_state=0)]
)
def test_batches_end_in_a_model_of_all_documents(trainer):
    first, second = DOCUMENTS.rows(np.arange(150)), DOCUMENTS.rows(np.arange(150, 300))
    stream, fitted = trainer.advance(trainer.stream(first, TARGETS), first, None, TARGETS)
    assert fitted.n_samples_seen == 150
    stream, fitted = trainer.advance(stream, second, fitted, TARGETS)
    assert fitted.n_samples_seen == 300
    assert fitted.n_iter == len(fitted.history["epoch"]) == 2
    np.testing.assert_array_equal(fitted.word_count, np.asarray(REVIEWS.counts.sum(axis=0)).ravel())


def test_a_stream_goes_on_from_a_fitted_model():
    trainer = FocusedTrainer(settings=FocusSettings(n_topics=3), random_state=0)
    fitted = trainer.fit(DOCUMENTS, TARGETS)[0]
    few = DOCUMENTS.rows(np.arange(20))
    _, after = trainer.advance(trainer.stream(few, TARGETS, fitted), few, fitted, TARGETS)
    np.testing.assert_array_equal(after.state.topic_word, fitted.state.topic_word)
    assert after.n_samples_seen == 320
