"""Orders of a topic's words, and the dropped words it goes with."""

from dataclasses import replace

import numpy as np
import pytest

from topicfocus import (
    LDA,
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PCSLDARegressor,
    PFSLDARegressor,
    SLDARegressor,
)
from topicfocus.datasets import make_reviews
from topicfocus.estimators.words import (
    distinctive_scores,
    sign_agreement,
    usual_order,
    word_scores,
)
from topicfocus.metrics import coherence, target_agreement, topic_diversity

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


def test_an_unknown_order_is_an_error():
    model = LDA(2, max_epochs=2, random_state=0).fit(REVIEWS.counts)
    listed = "'distinctive', 'probability', 'relevance', 'frex'; got 'lift'"
    with pytest.raises(ValueError, match=listed):
        model.top_words(order="lift")
    for ask in (model.top_words, model.word_ranks):
        with pytest.raises(ValueError, match="choose another order"):
            ask(order="distinctive")


def test_telling_words_of_a_small_model():
    model = FocusedTopicRegressor(2, max_epochs=2, inclusion_prior=0.3, random_state=0)
    fitted = model.fit(REVIEWS.counts, REVIEWS.target).fitted_
    n = fitted.state.n_words
    topics = np.zeros((n, 2))
    topics[:4] = [[0.5, 0.0], [0.3, 0.3], [0.2, 0.1], [0.0, 0.6]]
    context = np.full((n, 2), 7.0, dtype=np.float32)  # of dropped words it is nobody's business
    context[:4] = [[30, 10], [20, 20], [30, 20], [5, 45]]
    leaning = np.zeros((n, 1))
    leaning[:4, 0] = [2.0, 1.0, -1.0, -2.0]
    state = replace(fitted.state, topic_word=topics, coef=np.array([3.0, -1.0]))
    fitted = replace(fitted, state=state, context=context, association=leaning)
    found = distinctive_scores(fitted)
    # C_·k are 85 and 95 of 180; u has a root mean square of one.
    far, near = (l / np.sqrt(2.5) / (1 + l / np.sqrt(2.5)) for l in (2, 1))
    np.testing.assert_allclose(found[0, 0], (30 - 40 * 85 / 180) * far)
    np.testing.assert_allclose(found[1, 3], (45 - 50 * 95 / 180) * far)
    # Half of word 1 is each topic's: it leans as the first does, and is beside it a little more.
    np.testing.assert_allclose(found[0, 1], (20 - 40 * 85 / 180) * np.sqrt(0.5) * near)
    assert found[1, 1] == 0.3 - 1  # beside the other less than expected: by probability, later
    assert found[0, 2] == 0.2 - 1  # leans the other way
    assert found[1, 2] == found[0, 3] == -np.inf  # more another's
    assert np.all(found[:, 4:] == -np.inf)


def test_a_topic_without_a_direction_asks_none_of_its_words():
    toward = sign_agreement(np.array([[1.0], [-2.0]]), np.array([[5.0, 0.0, -5.0]]))
    np.testing.assert_array_equal(toward[1], 1)
    lean = np.array([1, 2]) / np.sqrt(2.5)
    np.testing.assert_allclose(toward[[0, 2]], np.diag(lean / (1 + lean)))
    # Of two targets each counts in units of its own.
    one, two = np.array([[1.0, 5.0], [-2.0, 1.0]]), np.array([[2.0, -1.0, 0.5], [0.0, 4.0, 1.0]])
    wanted = sign_agreement(one, two)
    size = np.array([1000.0, 0.01])
    np.testing.assert_allclose(sign_agreement(one * size, two * size[:, None]), wanted)


@pytest.mark.parametrize("model", [FocusedTopicRegressor, PFSLDARegressor])
def test_context_words_are_dropped_and_go_with_the_topic(model):
    options = {"solver": "coordinate"} if model is PFSLDARegressor else {}
    fitted = model(4, random_state=0, max_epochs=20, **options)
    fitted.fit(REVIEWS.counts, REVIEWS.target)
    context = fitted.fitted_.context
    assert context.dtype == np.float32 and context.shape == fitted.components_.T.shape
    assert context[fitted.selected_words_].sum() > 0
    dropped = {
        w for w, kept in zip(REVIEWS.vocabulary, fitted.selected_words_, strict=True) if not kept
    }
    for words in fitted.context_words(8, REVIEWS.vocabulary):
        assert 0 < len(words) <= 8 and set(words) <= dropped


@pytest.mark.parametrize("model", [LDA, SLDARegressor, PCSLDARegressor])
def test_models_that_keep_every_word_have_no_context(model):
    assert not hasattr(model(2), "context_words")
    assert hasattr(FocusedTopicClassifier(2), "context_words")


def test_distinctive_words_occur_together_and_have_the_sign_of_the_topic():
    reviews = make_reviews(1500, n_themes=3, random_state=3)
    model = FocusedTopicRegressor(6, random_state=0).fit(reviews.counts, reviews.target)
    assert usual_order(model.fitted_) == "distinctive"
    figures = []
    for order in ("distinctive", "probability"):
        ranks = model.word_ranks(order)
        assert [[str(v) for v in np.argsort(-row)[:5]] for row in ranks] == model.top_words(
            5, order=order
        )
        figures.append(
            [
                coherence(ranks, reviews.counts, "smoothed_pmi", 8),
                topic_diversity(ranks, 8),
                target_agreement(ranks, model.coef_, reviews.counts, reviews.target, 8),
            ]
        )
    assert np.all(np.array(figures[0]) >= np.array(figures[1]) - 0.02), figures


def test_context_words_are_of_the_documents_of_a_topic():
    rng = np.random.default_rng(0)
    n = 800
    kind, up = rng.integers(2, size=n), rng.integers(2, size=n)
    counts = np.zeros((n, 26))
    for d in range(n):
        # Four distinctive words of a kind and direction, ten that have only the kind, two for all.
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
