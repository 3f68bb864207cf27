"""Themes of all words, and topics that are a theme with a direction."""

import numpy as np
import pytest
from scipy import sparse

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor
from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.focused.themes import find_themes
from topicfocus.inference.state import make_problem
from topicfocus.metrics import channel_overlap, rmse

CONTEXT, OPINIONS = 30, 8


def planted(n_themes, n_docs=1500, length=80, seed=0):
    """Documents about one or two themes; what is said about each is praise or blame.

    Words: a context for each theme, then praise for each, then blame for each. Returns counts,
    target, and the planted topics (praise, then blame).
    """
    rng = np.random.default_rng(seed)
    n_words = n_themes * (CONTEXT + 2 * OPINIONS)
    first = n_themes * CONTEXT
    topics = np.zeros((2, n_themes, n_words))
    context = np.zeros((n_themes, n_words))
    weight = 1 / (np.arange(OPINIONS) + 2)
    for t in range(n_themes):
        context[t, t * CONTEXT : (t + 1) * CONTEXT] = 1 / CONTEXT
        for s in range(2):
            begin = first + (s * n_themes + t) * OPINIONS
            topics[s, t, begin : begin + OPINIONS] = weight / weight.sum()
    mixes = rng.dirichlet(np.full(n_themes, 0.2), size=n_docs)
    praise = rng.beta(0.7, 0.7, size=(n_docs, n_themes))
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


# ---- themes -------------------------------------------------------------------------------------


def test_themes_are_found(four):
    counts, _, _ = four
    themes = find_themes(make_problem(make_corpus(counts), None), 4)
    assert themes.share.sum() == pytest.approx(1.0)
    about = np.argmax(themes.lift, axis=1)
    for t in range(4):
        block = about[t * CONTEXT : (t + 1) * CONTEXT]
        assert np.all(block == block[0])
    assert len(set(about[: 4 * CONTEXT])) == 4


def test_themes_do_not_depend_on_threads(reviews):
    corpus = make_corpus(reviews.counts)
    one = find_themes(make_problem(corpus, None, n_jobs=1), 3)
    two = find_themes(make_problem(corpus, None, n_jobs=2), 3)
    np.testing.assert_array_equal(one.lift, two.lift)


# ---- start --------------------------------------------------------------------------------------


# ---- the whole fit ------------------------------------------------------------------------------


@pytest.mark.parametrize("n_themes", [4, 8])
def test_planted_themes_and_directions_are_recovered(n_themes):
    counts, target, truth = planted(n_themes)
    model = FocusedTopicRegressor(2 * n_themes, random_state=0).fit(counts, target)
    assert np.mean(cosines(truth, model.components_) >= 0.9) >= 0.9
    best = np.argmax(truth @ model.components_.T, axis=1)
    assert len(set(best)) == 2 * n_themes
    assert np.all(model.coef_[best[:n_themes]] > model.coef_[best[n_themes:]])


@pytest.mark.parametrize("n_topics", [1, 2, 3, 7])
def test_any_number_of_topics(reviews, n_topics):
    model = FocusedTopicRegressor(n_topics, random_state=0, max_epochs=4)
    model.fit(reviews.counts, reviews.target)
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
