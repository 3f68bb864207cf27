"""Subjects of all words, and topics that are a subject with a direction."""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor
from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.estimators.training import UselessFitWarning
from topicfocus.focused.subjects import (
    cell_words,
    choose_cells,
    find_subjects,
    sign_fractions,
    subject_fractions,
)
from topicfocus.metrics import channel_overlap, rmse, topic_diversity
from topicfocus.model import make_problem

CONTEXT, OPINIONS = 30, 8


def planted(n_subjects, n_docs=1500, length=80, seed=0):
    """Documents about one or two subjects; what is said about each is praise or blame.

    Words: a context for each subject, then praise for each, then blame for each. Returns counts,
    target, and the planted topics (praise, then blame).
    """
    rng = np.random.default_rng(seed)
    n_words = n_subjects * (CONTEXT + 2 * OPINIONS)
    first = n_subjects * CONTEXT
    topics = np.zeros((2, n_subjects, n_words))
    context = np.zeros((n_subjects, n_words))
    weight = 1 / (np.arange(OPINIONS) + 2)
    for t in range(n_subjects):
        context[t, t * CONTEXT : (t + 1) * CONTEXT] = 1 / CONTEXT
        for s in range(2):
            begin = first + (s * n_subjects + t) * OPINIONS
            topics[s, t, begin : begin + OPINIONS] = weight / weight.sum()
    mixes = rng.dirichlet(np.full(n_subjects, 0.2), size=n_docs)
    praise = rng.beta(0.7, 0.7, size=(n_docs, n_subjects))
    opinion = np.einsum("dt,dt,tv->dv", mixes, praise, topics[0])
    opinion += np.einsum("dt,dt,tv->dv", mixes, 1 - praise, topics[1])
    words = 0.75 * mixes @ context + 0.25 * opinion
    counts = np.array([rng.multinomial(length, p / p.sum()) for p in words], dtype=float)
    target = (mixes * (2 * praise - 1)).sum(axis=1) + 0.2 * rng.standard_normal(n_docs)
    return sparse.csr_array(counts), target, topics.reshape(-1, n_words)


def cosines(topics, others):
    unit = [t / np.linalg.norm(t, axis=1, keepdims=True) for t in (topics, others)]
    return (unit[0] @ unit[1].T).max(axis=1)


@pytest.fixture(scope="module")
def four():
    return planted(4)


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(500, random_state=5)


# ---- subjects -----------------------------------------------------------------------------------


def test_subjects_are_found(four):
    counts, _, _ = four
    subjects = find_subjects(make_problem(make_corpus(counts), None), 4)
    assert subjects.share.sum() == pytest.approx(1.0)
    about = np.argmax(subjects.lift, axis=1)
    for t in range(4):
        block = about[t * CONTEXT : (t + 1) * CONTEXT]
        assert np.all(block == block[0])
    assert len(set(about[: 4 * CONTEXT])) == 4


def test_a_word_never_seen_has_no_subject(four):
    counts = sparse.hstack([four[0], sparse.csr_array((four[0].shape[0], 1))], format="csr")
    subjects = find_subjects(make_problem(make_corpus(sparse.csr_array(counts)), None), 4)
    np.testing.assert_allclose(subjects.lift[-1], 1.0)


# ---- start --------------------------------------------------------------------------------------


def made_up_words(n_words=40, n_subjects=3, seed=1):
    rng = np.random.default_rng(seed)
    lift = rng.dirichlet(np.ones(n_subjects), size=n_words) * n_subjects
    return rng.integers(5, 50, n_words).astype(float), lift, rng.standard_normal((n_words, 1))


UP_AND_DOWN = [np.array([1.0]), np.array([-1.0])]


@pytest.mark.parametrize("n_topics", [2, 5])
def test_every_direction_gets_a_topic_before_any_gets_a_second(n_topics):
    count, lift, lean = made_up_words()
    cells = cell_words(count, subject_fractions(lift), sign_fractions(lean, UP_AND_DOWN))
    topics = choose_cells(cells, n_topics)
    assert topics.shape == (40, n_topics)
    np.testing.assert_allclose(topics.sum(axis=0), 1.0)
    leans = topics.T @ lean[:, 0]
    assert np.sum(leans > 0) >= n_topics // 2
    assert np.sum(leans < 0) >= n_topics // 2


# ---- the whole fit ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_subjects", [4, 8])
def test_planted_subjects_and_directions_are_recovered(n_subjects):
    counts, target, truth = planted(n_subjects)
    model = FocusedTopicRegressor(2 * n_subjects, random_state=0).fit(counts, target)
    assert np.mean(cosines(truth, model.components_) >= 0.9) >= 0.9
    best = np.argmax(truth @ model.components_.T, axis=1)
    assert len(set(best)) == 2 * n_subjects
    assert np.all(model.coef_[best[:n_subjects]] > model.coef_[best[n_subjects:]])


@pytest.mark.parametrize("n_topics", [1, 7])
def test_any_number_of_topics(reviews, n_topics):
    model = FocusedTopicRegressor(n_topics, random_state=0, max_epochs=4)
    with pytest.warns(UselessFitWarning) if n_topics == 1 else nullcontext():
        model.fit(reviews.counts, reviews.target)  # one topic predicts a constant
    assert model.components_.shape == (n_topics, reviews.counts.shape[1])
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    assert np.all(np.isfinite(model.predict(reviews.counts)))
    assert channel_overlap(model.components_, model.background_) == 0.0


def test_fewer_topics_are_found_where_words_are_few(reviews):
    model = FocusedTopicRegressor(80, random_state=0, max_epochs=4, inclusion_prior=0.05)
    with pytest.warns(UserWarning, match="topics instead of 80: only"):
        model.fit(reviews.counts, reviews.target)
    n_topics = len(model.components_)
    assert 2 <= n_topics < 80
    assert model.transform(reviews.counts).shape == (500, n_topics)
    assert np.all(np.isfinite(model.predict(reviews.counts)))


def test_dropped_words_count_for_nothing_and_kept_ones_by_their_strength(reviews):
    model = FocusedTopicRegressor(4, random_state=0).fit(reviews.counts, reviews.target)
    kept = model.selected_words_
    weight = model.word_weight_
    assert np.all(weight[~kept] == 0) and np.all(weight[kept] > 0)
    assert weight.max() > 1 and len(np.unique(weight)) > 5
    np.testing.assert_array_equal(model.inclusion_, kept)
    assert np.all(model.components_[:, ~kept] == 0) and np.all(model.background_[kept] == 0)
    other = reviews.counts.copy().tolil()
    other[:, np.flatnonzero(~kept)] = 0
    np.testing.assert_allclose(
        model.predict(other.tocsr()), model.predict(reviews.counts), rtol=1e-12
    )


def test_weights_let_topics_be_distinct_and_predict(four):
    """Without them one of the two is lost: docs/focused.md."""
    counts, target, _ = four
    train, test = counts[:1000], counts[1000:]
    subjects = FocusedTopicRegressor(8, random_state=0).fit(train, target[:1000])
    graded = FocusedTopicRegressor(8, random_state=0, themes=False).fit(train, target[:1000])
    errors = [rmse(target[1000:], m.predict(test)) for m in (subjects, graded)]
    assert errors[0] < 1.02 * errors[1]
    assert topic_diversity(subjects.components_, 5) > topic_diversity(graded.components_, 5)


def test_the_same_documents_have_the_same_topics(reviews):
    fits = [
        FocusedTopicRegressor(6, random_state=0, max_epochs=5, n_jobs=n).fit(
            reviews.counts, reviews.target
        )
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


@pytest.mark.parametrize("kind", ["classes", "counts", "ratings", "three classes", "two targets"])
def test_every_kind_of_target(reviews, kind):
    counts, rating = reviews.counts, reviews.target
    settings = {"max_epochs": 4, "random_state": 0}
    if kind == "classes":
        model = FocusedTopicClassifier(5, **settings).fit(counts, rating > 5)
    elif kind == "three classes":
        model = FocusedTopicClassifier(7, **settings).fit(counts, np.digitize(rating, [4, 7]))
    elif kind == "two targets":
        both = np.column_stack([rating, -rating])
        model = FocusedTopicRegressor(8, **settings).fit(counts, both)
    else:
        family = "poisson" if kind == "counts" else "ordinal"
        model = FocusedTopicRegressor(5, family=family, **settings).fit(counts, rating)
    assert model.shaping_ == "themes"
    assert np.all(np.isfinite(model.components_))


def test_topics_may_be_places_on_a_line(reviews):
    model = FocusedTopicRegressor(4, themes=False, random_state=0)
    model.fit(reviews.counts, reviews.target)
    assert model.shaping_ == "graded"
    assert set(np.unique(model.word_weight_)) == {0.0, 1.0}
    assert rmse(reviews.target, model.predict(reviews.counts)) < np.std(reviews.target)
    with pytest.raises(TypeError, match="themes"):
        FocusedTopicRegressor(4, themes="yes").fit(reviews.counts, reviews.target)
