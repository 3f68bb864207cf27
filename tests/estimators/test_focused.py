"""The focused model and pc-sLDA as a user meets them."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from topicfocus import (
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PCSLDAClassifier,
    PCSLDARegressor,
    PFSLDAClassifier,
)
from topicfocus.datasets import make_reviews
from topicfocus.focused import optimize as shaping
from topicfocus.metrics import channel_overlap, rmse, selection_scores, target_agreement

REGRESSORS = (FocusedTopicRegressor, PCSLDARegressor)
CLASSIFIERS = (FocusedTopicClassifier, PCSLDAClassifier, PFSLDAClassifier)


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(1200, random_state=3)


@pytest.fixture(scope="module")
def sentiment():
    return make_reviews(1200, target="sentiment", random_state=3)


@pytest.fixture(scope="module")
def model(reviews):
    return FocusedTopicRegressor(5, random_state=0).fit(reviews.counts[:900], reviews.target[:900])


def test_it_predicts_and_its_topics_mean_what_they_say(reviews, model):
    X, y = reviews.counts[900:], reviews.target[900:]
    assert rmse(y, model.predict(X)) < 0.4 * y.std()
    # Few words are kept here, so the top 20 of a topic would be half of them all.
    assert target_agreement(model.components_, model.coef_, X, y, top_n=6) > 0.85
    assert selection_scores(model.inclusion_, reviews.relevant).precision > 0.95
    best, worst = np.argmax(model.coef_), np.argmin(model.coef_)
    words = model.top_words(8, reviews.vocabulary)
    assert set(words[best]) <= set(reviews.groups["rave"]) | set(reviews.groups["warm"])
    assert set(words[worst]) <= set(reviews.groups["awful"]) | set(reviews.groups["weak"])


def test_channels_are_exactly_disjoint(model):
    assert set(np.unique(model.inclusion_)) <= {0.0, 1.0}
    assert channel_overlap(model.components_, model.background_) == 0.0
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.background_.sum(), 1.0)
    assert np.all(model.components_[:, ~model.selected_words_] == 0)


def test_inclusion_prior_keeps_its_meaning(reviews):
    tokens = np.asarray(reviews.counts.sum(axis=0)).ravel()
    shares, words = [], []
    for p in (0.03, 0.06, 0.12, 0.2):
        fitted = FocusedTopicRegressor(3, inclusion_prior=p, max_epochs=5, random_state=0)
        fitted.fit(reviews.counts, reviews.target)
        kept = fitted.selected_words_
        shares.append(tokens[kept].sum() / tokens.sum())
        words.append(kept.sum())
        assert shares[-1] <= p or words[-1] == 10
        assert fitted.inclusion_prior_ == p
    assert np.all(np.diff(shares) > 0)
    assert np.all(np.diff(words) >= 0)


def test_the_seed_decides_nothing_but_who_is_set_aside(reviews):
    fits = []
    for seed in range(2):
        fitted = FocusedTopicRegressor(4, max_epochs=10, random_state=seed)
        fits.append(fitted.fit(reviews.counts, reviews.target))
    kept = [set(np.flatnonzero(fitted.selected_words_)) for fitted in fits]
    assert len(kept[0] & kept[1]) / len(kept[0] | kept[1]) > 0.9
    again = fits[0]
    once = FocusedTopicRegressor(4, max_epochs=10, random_state=0, n_jobs=1)
    once.fit(reviews.counts, reviews.target)
    np.testing.assert_array_equal(again.components_, once.components_)


def test_keep_and_drop_by_name_and_number(reviews):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(reviews.counts.toarray(), columns=list(reviews.vocabulary))
    column = {w: i for i, w in enumerate(reviews.vocabulary)}
    settings = {"max_epochs": 5, "random_state": 0}
    keep, drop = [column["film"]], [column["awful"]]
    numbered = FocusedTopicRegressor(keep_words=keep, drop_words=drop, **settings)
    numbered.fit(reviews.counts, reviews.target)
    assert numbered.inclusion_[keep] == 1 and numbered.inclusion_[drop] == 0
    for words, message in (
        (["nonsense"], "'nonsense', which is not a column"),
        ([10_000], "has column 10000, but X has columns 0 to"),
        ("film", "got one string"),
        ([1.5], "words or column numbers"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            FocusedTopicRegressor(keep_words=words).fit(frame, reviews.target)
    with pytest.raises(ValueError, match="columns of X have no names"):
        FocusedTopicRegressor(keep_words=["film"]).fit(reviews.counts, reviews.target)
    with pytest.raises(ValueError, match="both in keep_words and in drop_words"):
        FocusedTopicRegressor(keep_words=[3], drop_words=[3]).fit(reviews.counts, reviews.target)


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_two_classes(cls, sentiment):
    names = np.where(sentiment.target > 0, "yes", "no")
    fitted = cls(5, random_state=0).fit(sentiment.counts[:900], names[:900])
    probability = fitted.predict_proba(sentiment.counts[900:])[:, 1]
    assert np.all((probability > 0) & (probability < 1))
    assert roc_auc_score(sentiment.target[900:], probability) > 0.95
    assert abs(probability.mean() - sentiment.target[900:].mean()) < 0.1
    assert list(fitted.classes_) == ["no", "yes"]
    sure = fitted.decision_function(sentiment.counts[900:]) > 0
    np.testing.assert_array_equal(fitted.predict(sentiment.counts[900:]) == "yes", sure)


def test_pcslda_keeps_every_word_and_predicts(reviews):
    fitted = PCSLDARegressor(5, random_state=0).fit(reviews.counts[:900], reviews.target[:900])
    assert not hasattr(fitted, "inclusion_")
    assert np.all(fitted.components_ > 0)
    y = reviews.target[900:]
    assert rmse(y, fitted.predict(reviews.counts[900:])) < 0.6 * y.std()


def test_held_out_documents_of_ones_own(reviews):
    X, y = reviews.counts, reviews.target
    fitted = FocusedTopicRegressor(4, random_state=0).fit(
        X[:700], y[:700], X_val=X[700:900], y_val=y[700:900]
    )
    assert rmse(y[900:], fitted.predict(X[900:])) < 0.5 * y[900:].std()
    with pytest.raises(ValueError, match="both X_val and y_val"):
        FocusedTopicRegressor().fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="X_val has 5 features"):
        FocusedTopicRegressor().fit(X, y, X_val=X[:, :5], y_val=y)


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_interrupt_leaves_fit(wrapped, reviews, monkeypatch):
    """Also one that arrives while compiled code calls Python, which numba wraps."""
    calls = {"n": 0}
    real = shaping.constrained_pass

    def interrupted(*args, **kwargs):
        calls["n"] += 1
        if calls["n"] == 12:
            if wrapped:
                raise SystemError("a result with an exception set") from KeyboardInterrupt()
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    monkeypatch.setattr(shaping, "constrained_pass", interrupted)
    fresh = FocusedTopicRegressor(3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(reviews.counts, reviews.target)
    assert not hasattr(fresh, "fitted_")


def test_a_stable_selection_and_its_share():
    reviews = make_reviews(400, random_state=0)
    model = FocusedTopicRegressor(2, selection="stable", max_epochs=2, random_state=0)
    model.fit(reviews.counts, reviews.target)
    kept = model.selected_words_
    assert selection_scores(model.inclusion_, reviews.relevant, threshold=0.01).precision > 0.75
    tokens = np.asarray(reviews.counts.sum(axis=0)).ravel()
    assert model.inclusion_prior_ == pytest.approx(tokens[kept].sum() / tokens.sum())
    other = FocusedTopicRegressor(2, inclusion_prior=0.5, max_epochs=2, random_state=0)
    other.fit(reviews.counts, reviews.target)
    assert not np.array_equal(model.screening_statistic_, other.screening_statistic_)
    given = FocusedTopicRegressor(
        2, selection="stable", inclusion_prior=0.1, max_epochs=2, random_state=0
    )
    assert given.fit(reviews.counts, reviews.target).inclusion_prior_ == 0.1
