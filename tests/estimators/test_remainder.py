"""Focused models with a remainder: the same topics, better predictions, exact explanations."""

import io
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

import topicfocus
from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor, TokenCounter
from topicfocus.datasets import make_reviews
from topicfocus.estimators.remainder import held_out_completeness

N = 500


@cache
def data():
    """Reviews whose target also depends on rare words, which topics cannot hold, and on pairs."""
    reviews = make_reviews(N, random_state=0)
    rng = np.random.default_rng(0)
    tone = rng.integers(0, 2, (N, 40))
    texts = [
        text + ". " + ". ".join(f"the q{i}x" if yes else f"a q{i}x" for i, yes in enumerate(row))
        for text, row in zip(reviews.texts, tone, strict=True)
    ]
    effect = (tone - 0.5) @ rng.standard_normal(40)
    return texts, reviews.target + 0.6 * effect


TARGETS = {
    "gaussian": lambda y: y,
    "poisson": lambda y: np.random.default_rng(1).poisson(np.exp(y / 4)),
    "ordinal": lambda y: np.digitize(y, np.quantile(y, [0.3, 0.7])),
    "several": lambda y: np.column_stack([y, (y > np.median(y)).astype(float)]),
    "binary": lambda y: np.where(y > np.median(y), "yes", "no"),
    "classes": lambda y: np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))],
}
SETTINGS = {"max_epochs": 2, "random_state": 0, "inclusion_prior": 0.3}


def estimator(kind, **more):
    if kind in ("binary", "classes"):
        return FocusedTopicClassifier(3, **SETTINGS, **more)
    family = ["gaussian", "bernoulli"] if kind == "several" else kind
    return FocusedTopicRegressor(3, family=family, **SETTINGS, **more)


@cache
def counted():
    texts, y = data()
    counter = TokenCounter(remainder=True).fit(texts[:400], y[:400])
    return counter.transform(texts)


@cache
def fitted(kind, remainder=True):
    y = TARGETS[kind](data()[1])
    return estimator(kind, remainder=remainder).fit(counted()[:400], y[:400])


@pytest.mark.parametrize("kind", TARGETS)
def test_topics_are_the_same_and_explanations_add_up(kind):
    model, alone, Z = fitted(kind), fitted(kind, False), counted()[400:]
    np.testing.assert_array_equal(model.components_, alone.components_)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    np.testing.assert_array_equal(model.intercept_, alone.intercept_)
    assert model.fitted_.remainder is not None and model.completeness_.share < 1
    f = model.fitted_.predictors(model.fitted_.documents(Z))
    explanation = model.explain(Z)
    if kind == "classes":  # log odds of each class against the others
        p = model.predict_proba(Z)
        f = np.log(p / (1 - p))
    np.testing.assert_allclose(explanation.predictor, f, atol=1e-8)
    by_topic = explanation.base + np.column_stack(
        [
            np.asarray(explanation.topics[l].sum(axis=1)).ravel()
            + explanation.covariates[l].sum(axis=1)
            + explanation.remainder_amounts(l)
            for l in range(f.shape[1])
        ]
    )
    np.testing.assert_allclose(by_topic, f, atol=1e-8)
    assert "remainder" in str(explanation[0]) and explanation.top_terms(0)


@pytest.mark.parametrize("kind", ["gaussian", "poisson", "binary", "classes"])
def test_the_mean_of_predictions_is_that_of_the_target(kind):
    model, X = fitted(kind), counted()[:400]
    y = TARGETS[kind](data()[1])[:400]
    if kind in ("gaussian", "poisson"):
        assert model.predict(X).mean() == pytest.approx(y.mean(), rel=1e-6)
    else:
        share = [np.mean(y == label) for label in model.classes_]
        np.testing.assert_allclose(model.predict_proba(X).mean(axis=0), share, atol=1e-4)


def test_predictions_are_better_and_intervals_honest():
    y, Z = data()[1][400:], counted()[400:]
    error = [
        np.mean((m.predict(Z) - y) ** 2) for m in (fitted("gaussian"), fitted("gaussian", False))
    ]
    assert error[0] < 0.85 * error[1]
    low, high = fitted("gaussian").predict_interval(Z)
    assert 0.65 <= np.mean((low <= y) & (y <= high)) <= 0.95
    documents = fitted("gaussian").fitted_.documents(Z, y)
    found = held_out_completeness(fitted("gaussian").fitted_, documents)
    assert found.topics < found.both and 0 < found.share < 1
    assert held_out_completeness(fitted("gaussian", False).fitted_, documents) is None


def test_a_pipeline_with_its_texts_is_saved_and_sliced():
    texts, y = data()
    pipeline = make_pipeline(
        TokenCounter(remainder=True), FocusedTopicRegressor(3, remainder=True, **SETTINGS)
    ).fit(texts[:400], y[:400])
    file = io.BytesIO()
    topicfocus.save(pipeline, file)
    again = topicfocus.load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(again.predict(texts[400:]), pipeline.predict(texts[400:]))
    assert again[-1].completeness_ == pipeline[-1].completeness_
    names = pipeline[-1].fitted_.remainder.names
    assert {"the", "the q0x", "a q0x"} <= set(names)
    X = pipeline[0].transform(texts)
    assert X[5:9].remainder.shape == (4, len(names)) == X[5:9].copy().remainder.shape
    np.testing.assert_array_equal(
        pipeline[-1].predict(X[np.arange(500) % 2 == 0]), pipeline.predict(texts[::2])
    )
    few = cross_val_predict(pipeline[-1], X[:200], y[:200], cv=2)
    assert few.shape == (200,)


def test_counts_without_the_terms_are_an_error():
    model, X = fitted("gaussian"), counted()[:5]
    with pytest.raises(ValueError, match="all words and pairs of words"):
        model.predict(sparse.csr_array(X))
    other = X.copy()
    other.remainder = other.remainder[:, :50]
    with pytest.raises(ValueError, match="other words than at fit"):
        model.predict(other)


def test_plain_counts_use_their_own_columns():
    y, X = data()[1], sparse.csr_array(counted())
    model = estimator("gaussian", remainder=True).fit(X[:400], y[:400])
    assert model.fitted_.remainder is None or model.fitted_.remainder.names is None
    assert np.isfinite(model.completeness_.both)
    assert model.predict(X[400:]).shape == (100,)


def test_reviews_that_are_topics_need_none():
    reviews = make_reviews(600, random_state=0)
    X, y = reviews.counts[:500], reviews.target[:500]
    model = FocusedTopicRegressor(3, random_state=0, remainder=True).fit(X, y)
    alone = FocusedTopicRegressor(3, random_state=0).fit(X, y)
    assert model.fitted_.remainder is None and model.completeness_.share == 1.0
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    assert model.noise_variance_ == alone.noise_variance_
    assert not hasattr(alone, "completeness_")


def test_weights_covariates_exposure_groups_and_missing_targets():
    y = data()[1]
    rng = np.random.default_rng(2)
    days, z = rng.uniform(0.5, 2, N), rng.standard_normal((N, 2))
    target = rng.poisson(days * np.exp(y / 4 + 0.3 * z[:, 0])).astype(float)
    target[:20] = np.nan
    more = {"exposure": days, "covariates": z}
    some = {name: values[:400] for name, values in more.items()}
    model = estimator("poisson", remainder=True)
    model.fit(
        counted()[:400],
        target[:400],
        sample_weight=rng.uniform(0.5, 2, 400),
        groups=np.arange(400) // 4,
        **some,
    )
    late = {name: values[400:] for name, values in more.items()}
    mean = model.predict(counted()[400:], **late)
    twice = model.predict(counted()[400:], **{**late, "exposure": 2 * days[400:]})
    np.testing.assert_allclose(twice, 2 * mean)
    explanation = model.explain(counted()[400:], **late)
    np.testing.assert_allclose(np.exp(explanation.predictor[:, 0]), mean)


def test_what_has_no_remainder_says_so():
    y, X = data()[1], sparse.csr_array(counted())
    model = estimator("gaussian", remainder=True)
    with pytest.raises(ValueError, match="remainder=True is for fit"):
        model.partial_fit(X[:100], y[:100])
    with pytest.raises(TypeError, match="remainder must be True or False"):
        estimator("gaussian", remainder=None).fit(X, y)
    with pytest.warns(UserWarning, match="too few to choose it"):
        model.set_params(n_topics=2).fit(X[:6], y[:6])
    assert model.fitted_.remainder is None


def test_a_damaged_remainder_is_not_loaded():
    model = fitted("gaussian")
    broken = estimator("gaussian", remainder=True)
    broken.__dict__.update(vars(model))
    rest = model.fitted_.remainder
    broken.fitted_ = replace(model.fitted_, remainder=replace(rest, coef=rest.coef[:-1]))
    with pytest.raises(ValueError, match=r"remainder\.coef"):
        broken.save(io.BytesIO())


def test_dropped_words_are_in_no_term_of_the_remainder():
    word = counted().feature_names[0]
    model = estimator("gaussian", remainder=True, drop_words=[word]).fit(counted(), data()[1])
    rest = model.fitted_.remainder
    banned = np.array([word in str(name).split() for name in rest.names])
    assert banned.sum() > 1
    assert not rest.features(counted().remainder)[:, np.flatnonzero(banned)].count_nonzero()
    explanation = model.explain(counted()[:5])
    assert all(word not in term.split() for term, _ in explanation.top_terms())
    np.testing.assert_allclose(explanation.predictor[:, 0], model.predict(counted()[:5]))


def test_dropped_columns_are_not_in_a_remainder_of_columns():
    plain = sparse.csr_array(counted())
    model = estimator("gaussian", remainder=True, drop_words=[3, 5]).fit(plain, data()[1])
    rest = model.fitted_.remainder
    assert rest is None or (rest.names is None and not rest.rarity[[3, 5]].any())
