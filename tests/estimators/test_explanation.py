"""Explanations add up to the linear predictor exactly, for every model and kind of target."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import logit
from sklearn.feature_extraction.text import CountVectorizer

import topicfocus
from topicfocus.datasets import make_reviews

REGRESSORS = ("FocusedTopicRegressor", "PCSLDARegressor", "PFSLDARegressor", "SLDARegressor")
CLASSIFIERS = ("FocusedTopicClassifier", "PFSLDAClassifier")


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(300, random_state=0)


def quick(name, **settings):
    return getattr(topicfocus, name)(3, max_epochs=8, random_state=0, **settings)


def check_adds_up(explanation, predictor):
    predictor = predictor.reshape(len(predictor), -1) - explanation.limit
    np.testing.assert_allclose(explanation.predictor, predictor, rtol=0, atol=1e-9)
    for l in range(predictor.shape[1]):
        by_topic = explanation.base[:, l] + explanation.covariates[l].sum(axis=1)
        by_topic = by_topic + np.asarray(explanation.topics[l].sum(axis=1)).ravel()
        np.testing.assert_allclose(by_topic, predictor[:, l], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", REGRESSORS)
def test_words_and_topics_add_up(name, reviews):
    model = quick(name).fit(reviews.counts, reviews.target)
    explanation = model.explain(reviews.counts)
    check_adds_up(explanation, model.predict(reviews.counts))
    assert all(isinstance(m, sparse.csr_array) for m in explanation.words + explanation.topics)
    assert explanation.words[0].shape == reviews.counts.shape
    found = np.sum(reviews.counts.toarray()[:, model.components_.max(axis=0) > 0] > 0, axis=1)
    np.testing.assert_array_equal(explanation.relevant, found)
    empty = model.explain(np.zeros((1, reviews.counts.shape[1])))
    assert empty.words[0].nnz == 0 and empty.relevant[0] == 0
    assert empty.base[0, 0] == pytest.approx(
        model.predict(np.zeros_like(reviews.counts[:1].toarray()))[0]
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes(name, reviews):
    y = np.digitize(reviews.target, np.quantile(reviews.target, [1 / 3, 2 / 3]))
    two = quick(name).fit(reviews.counts, y > 0)
    check_adds_up(two.explain(reviews.counts), two.decision_function(reviews.counts))
    three = quick(name).fit(reviews.counts, np.array(["bad", "fair", "good"])[y])
    explanation = three.explain(reviews.counts)
    check_against_the_rest(explanation, three.predict_proba(reviews.counts))
    assert explanation.predictor_names == ("y is bad", "y is fair", "y is good")
    empty = three.predict_proba(np.zeros((1, reviews.counts.shape[1])))
    np.testing.assert_allclose(explanation.before, np.tile(empty, (300, 1)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(explanation.base, logit(explanation.before), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(
        explanation.chosen[:, 0], three.predict_proba(reviews.counts).argmax(axis=1)
    )
    # Shown is the class that is predicted, with the probability at both ends.
    first = explanation[0]
    likeliest = explanation.chosen[0, 0]
    text = repr(first)
    assert text.startswith(explanation.predictor_names[likeliest])
    assert text.count("by topic") == 1
    assert f"from {first.before[0, likeliest]:.3g} without words" in text
    assert first.top_words() == explanation.top_words(0, int(likeliest))


def log_odds(probabilities):
    """Of each class against all others; 1 - P(c) would lose digits where P(c) is almost one."""
    others = probabilities @ (1 - np.eye(probabilities.shape[1]))
    return np.log(probabilities / others)


def check_against_the_rest(explanation, probabilities):
    check_adds_up(explanation, log_odds(probabilities))
    np.testing.assert_allclose(explanation.after, probabilities, rtol=0, atol=1e-12)
    # What all words add is of the sign of what the probability changes by: always.
    added = np.column_stack([np.asarray(w.sum(axis=1)).ravel() for w in explanation.words])
    changed = explanation.after - explanation.before
    clear = np.abs(added) > 1e-9
    if not explanation.covariates[0].shape[1]:
        np.testing.assert_array_equal(np.sign(added[clear]), np.sign(changed[clear]))


def test_what_is_added_to_all_scores_adds_nothing(reviews):
    y = np.digitize(reviews.target, np.quantile(reviews.target, [1 / 3, 2 / 3]))
    model = quick("FocusedTopicClassifier").fit(reviews.counts, y)
    before = model.explain(reviews.counts)
    state = model.fitted_.state
    push = np.linspace(-5, 5, state.n_topics)[:, None]  # the same for every class
    model.fitted_ = replace(model.fitted_, state=replace(state, coef=state.coef + push))
    after = model.explain(reviews.counts)
    for one, other in zip(before.words + before.topics, after.words + after.topics, strict=True):
        np.testing.assert_allclose(one.toarray(), other.toarray(), rtol=0, atol=1e-9)


def test_a_topic_below_the_empty_document_never_raises(reviews):
    model = quick("FocusedTopicRegressor").fit(reviews.counts, reviews.target)
    state, found = model.fitted_.state, model.explain(reviews.counts)
    prior = state.doc_topic_prior
    above = state.coef_rows[0] - state.coef_rows[0] @ (prior / prior.sum())
    amounts = found.topics[0].toarray()
    assert np.all(amounts * np.sign(above) >= -1e-12) and np.any(np.abs(amounts) > 0.1)
    # The other margin of the same table: tokens of the topic, by their distance from the base.
    seen = model.fitted_.seen(model.fitted_.corpus(reviews.counts)).counts
    tokens = (
        model.transform(reviews.counts) * (size := (prior.sum() + seen @ state.inclusion)[:, None])
        - prior
    )
    np.testing.assert_allclose(amounts, tokens / size * above, rtol=0, atol=1e-9)


def test_words_have_the_sign_of_taking_them_out():
    """Of many classes, too: where the alternatives change on the way from the empty document."""
    news = make_news()
    model = topicfocus.FocusedTopicClassifier(8, random_state=0).fit(news.counts, news.target)
    counts = sparse.csr_array(news.counts[:60])
    found = model.explain(counts)
    odds = logit(np.clip(model.predict_proba(counts), 1e-12, 1 - 1e-12))
    agree, pairs = 0, 0
    for d in range(60):
        c = found.chosen[d, 0]
        row = found.words[c][[d]]
        for v, amount in zip(row.indices, row.data, strict=True):
            if abs(amount) <= 0.1:
                continue
            without = counts[[d]].toarray()
            without[0, v] = 0
            left = logit(np.clip(model.predict_proba(without), 1e-12, 1 - 1e-12))[0, c]
            pairs += 1
            agree += np.sign(odds[d, c] - left) == np.sign(amount)
    assert pairs > 300 and agree >= 0.99 * pairs


def make_news():
    """Eight classes of which each has a theme, beside words of two neighbours'."""
    rng = np.random.default_rng(0)
    n, n_classes, own = 600, 8, 12
    y = np.arange(n) % n_classes
    counts = np.zeros((n, n_classes * own + 40))
    for d, c in enumerate(y):
        themes = rng.dirichlet([3.0, 1.0, 0.5])
        for share, k in zip(themes, (c, (c + 1) % n_classes, (c + 3) % n_classes), strict=True):
            words = k * own + rng.integers(0, own, rng.poisson(20 * share))
            np.add.at(counts[d], words, 1)
        np.add.at(counts[d], n_classes * own + rng.integers(0, 40, 15), 1)
    return SimpleNamespace(counts=sparse.csr_array(counts), target=y)


def test_classes_beside_covariates(reviews):
    rng = np.random.default_rng(0)
    z = rng.normal(50.0, 3.0, (300, 2))
    y = np.digitize(reviews.target + 0.5 * z[:, 0] - 25, [4, 6])
    model = quick("FocusedTopicClassifier").fit(reviews.counts, y, covariates=z)
    explanation = model.explain(reviews.counts, covariates=z)
    check_against_the_rest(explanation, model.predict_proba(reviews.counts, covariates=z))
    # Base and average covariates together are the log odds of a document without words.
    average = z.mean(axis=0, keepdims=True)
    empty = model.predict_proba(np.zeros((1, reviews.counts.shape[1])), covariates=average)
    np.testing.assert_allclose(explanation.before, np.tile(empty, (300, 1)), rtol=0, atol=1e-9)
    start = np.column_stack([explanation.average[l].sum(axis=1) for l in range(3)])
    np.testing.assert_allclose(explanation.base + start, logit(explanation.before), atol=1e-9)
    beside = model.explain(np.zeros((1, reviews.counts.shape[1])), covariates=average)
    np.testing.assert_allclose(beside.predictor, logit(empty), rtol=0, atol=1e-9)


def test_several_targets_of_classes(reviews):
    y = np.column_stack([np.digitize(reviews.target, [4, 7]), reviews.target > 5])
    model = quick("FocusedTopicClassifier").fit(reviews.counts, y)
    explanation = model.explain(reviews.counts)
    three, two = model.predict_proba(reviews.counts)
    check_adds_up(explanation, np.column_stack([logit(three), logit(two[:, 1])]))
    np.testing.assert_allclose(explanation.after, np.column_stack([three, two[:, 1]]), atol=1e-12)
    assert explanation.chosen.shape == (300, 2) and np.all(explanation.chosen[:, 1] == 3)
    assert repr(explanation[0]).count("by topic") == 2


def test_counts_with_exposure_and_covariates(reviews):
    rng = np.random.default_rng(0)
    z = rng.normal(5.0, 3.0, (300, 2))
    exposure = rng.uniform(0.5, 3.0, 300)
    y = rng.poisson(exposure * np.exp(0.3 * reviews.target - 1 + 0.1 * z[:, 0]))
    model = quick("FocusedTopicRegressor", family="poisson")
    model.fit(reviews.counts, y, exposure=exposure, covariates=z)
    extras = {"covariates": z, "exposure": exposure}
    explanation = model.explain(reviews.counts, **extras)
    check_adds_up(explanation, np.log(model.predict(reviews.counts, **extras)))
    assert explanation.covariates[0].shape == (300, 2)
    assert model.covariate_coef_[0] == pytest.approx(0.1, abs=0.05)


def test_text_of_one_document(reviews):

    frame = pd.DataFrame.sparse.from_spmatrix(
        sparse.csr_matrix(reviews.counts), columns=reviews.vocabulary
    )
    frame = frame.sparse.to_dense()
    model = quick("FocusedTopicRegressor").fit(frame, reviews.target)
    explanation = model.explain(frame)
    text = repr(explanation[3])
    word, amount = explanation[3].top_words()[0]
    assert "without words" in text and "by topic" in text
    assert word in text and f"{amount:+.4g}" in text
    assert len(explanation[3]) == 1 and len(explanation[2:7]) == 5
    assert "300 documents" in repr(explanation)
    np.testing.assert_array_equal(explanation[-1].predictor, explanation.predictor[-1:])


@pytest.fixture(scope="module")
def named():
    """Texts, a vectoriser, its counts, and a model of these, which have no names."""
    reviews = make_reviews(300, random_state=0)
    vectoriser = CountVectorizer().fit(reviews.texts)
    counts = vectoriser.transform(reviews.texts)
    return vectoriser, counts, quick("FocusedTopicRegressor").fit(counts, reviews.target)


@pytest.mark.parametrize("form", ["list", "array", "dict", "vectoriser"])
def test_names_in_every_form_that_users_have(form, named):
    vectoriser, counts, model = named
    names = vectoriser.get_feature_names_out()
    given = {
        "list": list(names),
        "array": names,
        "dict": vectoriser.vocabulary_,  # words as they were met, not as the columns are
        "vectoriser": vectoriser,
    }[form]
    explained = model.explain(counts, vocabulary=given)[4]
    row = explained.words[0]
    words = dict(explained.top_words())
    assert words == {names[v]: a for v, a in zip(row.indices, row.data, strict=True)}
    assert max(words, key=lambda w: abs(words[w])) in repr(explained)
    assert model.top_words(3, given) == model.top_words(3, names)
    effects = model.word_effects(counts, vocabulary=given)
    assert list(effects["word"]) == list(names[model.selected_words_])
    first = explained.topics[0].toarray()[0]
    strongest = model.top_words(3, names)[np.argmax(np.abs(first))]
    assert f": {', '.join(strongest)} " in repr(explained)


def test_names_that_are_none(named):
    _, counts, model = named
    assert model.explain(counts[:1]).top_words()[0][0].isdigit()
    with pytest.raises(ValueError, match="vocabulary has 2 words, but the model has"):
        model.explain(counts, vocabulary=["a", "b"])
    with pytest.raises(TypeError, match="got one string"):
        model.explain(counts, vocabulary="words")
