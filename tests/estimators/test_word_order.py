"""Orders of a topic's words, and the dropped words it goes with."""

import copy
import io
from dataclasses import replace

import numpy as np
import pytest

import topicfocus
from topicfocus import (
    LDA,
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PCSLDARegressor,
    PFSLDARegressor,
    SLDARegressor,
)
from topicfocus.datasets import make_reviews
from topicfocus.estimators.word_order import ORDERS, context_scores, word_scores

REVIEWS = make_reviews(600, random_state=0)
BETA = np.array([[0.5, 0.3, 0.15, 0.05, 0.0], [0.5, 0.1, 0.0, 0.1, 0.3]])
SHARE = np.array([0.5, 0.2, 0.08, 0.07, 0.15])


def order(name):
    return np.argsort(-word_scores(BETA, SHARE, name), axis=1, kind="stable").tolist()


def test_orders_of_a_small_model():
    assert order("probability") == [[0, 1, 2, 3, 4], [0, 4, 1, 3, 2]]
    relevance = np.log(BETA[0, :4]) * 0.4 + 0.6 * np.log(BETA[0, :4] / SHARE[:4])
    np.testing.assert_allclose(word_scores(BETA, SHARE, "relevance")[0, :4], relevance)
    # Ranks of β: 4 3 2 1 of 4; of exclusivity 1/2, 3/4, 1, 1/3: 2 3 4 1.
    often, own = np.array([4, 3, 2, 1]) / 4, np.array([2, 3, 4, 1]) / 4
    wanted = 2 / (1 / often + 1 / own)
    np.testing.assert_allclose(word_scores(BETA, SHARE, "frex")[0, :4], wanted)
    assert word_scores(BETA, SHARE, "frex")[0, 4] == -np.inf
    assert order("frex")[0][0] == 1


def test_one_topic_has_one_order():
    model = LDA(1, max_epochs=2, random_state=0).fit(REVIEWS.counts)
    by_probability, _, by_frex = (model.top_words(8, order=name) for name in ORDERS)
    assert by_frex == by_probability


@pytest.mark.parametrize("name", ORDERS)
def test_every_estimator_lists_words_of_its_topics(name):
    for model in (
        SLDARegressor(3, max_epochs=4, random_state=0),
        FocusedTopicRegressor(3, max_epochs=4, random_state=0),
    ):
        model.fit(REVIEWS.counts, REVIEWS.target)
        found = model.top_words(1000, REVIEWS.vocabulary, name)
        for k, words in enumerate(found):
            assert len(words) == np.sum(model.components_[k] > 0)
            columns = [REVIEWS.vocabulary.index(word) for word in words]
            assert np.all(model.components_[k, columns] > 0)


def test_an_unknown_order_is_an_error():
    model = LDA(2, max_epochs=2, random_state=0).fit(REVIEWS.counts)
    with pytest.raises(ValueError, match="'probability', 'relevance', 'frex'; got 'lift'"):
        model.top_words(order="lift")


def test_relevance_without_frequencies_has_the_average_topic():
    model = copy.copy(LDA(2, max_epochs=2, random_state=0).fit(REVIEWS.counts))
    model.fitted_ = replace(model.fitted_, word_count=None)
    np.testing.assert_allclose(model.fitted_.word_share, model.components_.mean(axis=0))
    assert len(model.top_words(5, order="relevance")[0]) == 5


@pytest.mark.parametrize("model", [FocusedTopicRegressor, PFSLDARegressor])
def test_context_words_are_dropped_and_go_with_the_topic(model):
    fitted = model(4, random_state=0, max_epochs=20).fit(REVIEWS.counts, REVIEWS.target)
    context = fitted.fitted_.context
    assert context.dtype == np.float32 and context.shape == fitted.components_.T.shape
    assert np.all(context[fitted.selected_words_] == 0)
    dropped = {
        w for w, kept in zip(REVIEWS.vocabulary, fitted.selected_words_, strict=True) if not kept
    }
    for words in fitted.context_words(8, REVIEWS.vocabulary):
        assert 0 < len(words) <= 8 and set(words) <= dropped


def test_context_words_are_of_the_documents_of_a_topic():
    rng = np.random.default_rng(0)
    n = 800
    kind, up = rng.integers(2, size=n), rng.integers(2, size=n)
    counts = np.zeros((n, 26))
    for d in range(n):
        # Four telling words of a kind and direction, ten that say only the kind, two for all.
        counts[d, 2 * kind[d] + up[d] + 4 * rng.integers(2, size=4)] += 1
        counts[d, 8 + 8 * kind[d] + rng.integers(8, size=10)] += 1
        counts[d, 24 + rng.integers(2, size=6)] += 1
    target = (2.0 * up - 1) * (1 + kind) + 0.2 * rng.standard_normal(n)
    model = FocusedTopicRegressor(4, keep_words=range(8), drop_words=range(8, 26), random_state=0)
    model.fit(counts, target)
    of_kind = np.add.reduceat(model.components_[:, [0, 1, 4, 5, 2, 3, 6, 7]], [0, 4], axis=1)
    clear = of_kind.max(axis=1) > 0.9  # there is a solution with two topics for both kinds, too
    assert clear.sum() >= 2
    words = model.context_words(5)
    for k in np.flatnonzero(clear):
        assert all((int(v) - 8) // 8 == of_kind[k].argmax() for v in words[k]), (k, words)


def test_rare_and_indifferent_words_do_not_come_first():
    counts = np.array([[400.0, 100], [2, 0], [5000, 5000], [30, 40], [0, 0]])
    scores = context_scores(counts)
    assert scores[0].argmax() == 0
    assert scores[0, 0] > 10 * scores[0, 1] and scores[0, 4] == 0 and scores[1, 2] > 0


@pytest.mark.parametrize("model", [LDA, SLDARegressor, PCSLDARegressor])
def test_models_that_keep_every_word_have_no_context(model):
    assert not hasattr(model(2), "context_words")
    assert hasattr(FocusedTopicClassifier(2), "context_words")


def test_context_is_saved_and_old_files_say_what_to_do():
    model = FocusedTopicRegressor(3, max_epochs=4, random_state=0)
    model.fit(REVIEWS.counts, REVIEWS.target)
    file = io.BytesIO()
    model.save(file)
    again = topicfocus.load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(again.fitted_.context, model.fitted_.context)
    assert again.context_words(5) == model.context_words(5)
    model.fitted_ = replace(model.fitted_, context=None)
    file = io.BytesIO()
    model.save(file)
    with pytest.raises(ValueError, match="Fit it again"):
        topicfocus.load(io.BytesIO(file.getvalue())).context_words(5)


@pytest.mark.parametrize("model", [FocusedTopicRegressor, PFSLDARegressor])
def test_batches_have_a_context_too(model):
    learning = model(3, random_state=0)
    for batch in (slice(0, 300), slice(300, 320), slice(320, 600)):
        learning.partial_fit(REVIEWS.counts[batch], REVIEWS.target[batch])
        context, kept = learning.fitted_.context, learning.selected_words_
        assert np.all(context[kept] == 0) and context[~kept].sum() > 0
        assert max(map(len, learning.context_words(5))) == 5


def test_a_weight_of_two_is_two_copies():
    weight = np.where(np.arange(600) < 200, 2, 1)
    rows = np.repeat(np.arange(600), weight)
    one = FocusedTopicRegressor(3, max_epochs=4, random_state=0)
    one.fit(REVIEWS.counts, REVIEWS.target, sample_weight=weight)
    two = FocusedTopicRegressor(3, max_epochs=4, random_state=0)
    two.fit(REVIEWS.counts[rows], REVIEWS.target[rows])
    np.testing.assert_allclose(one.fitted_.context, two.fitted_.context, rtol=1e-4, atol=1e-4)
