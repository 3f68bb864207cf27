"""The estimators as a user meets them: fitting, predicting, attributes, bad input."""

import numpy as np
import pytest
from outside_family import NegativeBinomial

from topicfocus import LDA, PFSLDAClassifier, PFSLDARegressor, SLDAClassifier, SLDARegressor
from topicfocus.datasets import make_reviews
from topicfocus.metrics import rmse, selection_scores

REGRESSORS = (SLDARegressor, PFSLDARegressor)
CLASSIFIERS = (SLDAClassifier, PFSLDAClassifier)
SUPERVISED = REGRESSORS + CLASSIFIERS
ALL = (LDA, *SUPERVISED)


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(900, random_state=1)


def fitted(cls, data, **kwargs):
    model = cls(**{"n_topics": 5, "random_state": 0, **kwargs})
    return model.fit(data.counts[:700], data.target[:700])


@pytest.fixture(scope="module")
def focused(reviews):
    """Not to be changed: several tests look at it."""
    return fitted(PFSLDARegressor, reviews, inclusion_prior=0.25)


@pytest.fixture(scope="module")
def plain(reviews):
    return fitted(SLDARegressor, reviews)


@pytest.mark.parametrize("solver", ["coordinate", "stochastic"])
def test_pfslda_finds_the_words_that_matter_and_predicts(reviews, focused, plain, solver):
    model = focused
    if solver != "coordinate":
        model = fitted(PFSLDARegressor, reviews, inclusion_prior=0.25, solver=solver)
    held_out = reviews.counts[700:], reviews.target[700:]
    error = rmse(held_out[1], model.predict(held_out[0]))
    assert error < 0.4 * np.std(held_out[1])
    assert error < 0.6 * rmse(held_out[1], plain.predict(held_out[0]))
    scores = selection_scores(model.inclusion_, reviews.relevant, threshold=0.5)
    assert scores.precision > 0.95
    assert scores.recall > 0.85


def test_fitted_attributes(reviews, focused):
    model = focused
    n_words = reviews.counts.shape[1]
    assert model.components_.shape == (5, n_words)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.background_.sum(), 1.0)
    assert model.inclusion_.shape == (n_words,)
    np.testing.assert_array_equal(model.selected_words_, model.inclusion_ > 0.5)
    assert model.coef_.shape == (5,)
    assert model.intercept_ == 0.0
    assert model.noise_variance_ > 0
    np.testing.assert_array_equal(model.doc_topic_prior_, np.ones(5))
    assert model.n_features_in_ == n_words
    assert len(model.history_["objective"]) == model.n_iter_
    climbing = fitted(PFSLDARegressor, reviews, solver="coordinate", max_epochs=20)
    assert np.all(np.diff(climbing.history_["objective"]) > -1e-9)
    for cls in (LDA, SLDARegressor):
        plain = fitted(cls, reviews, max_epochs=3)
        assert not hasattr(plain, "inclusion_")


def test_transform_is_a_topic_mix_from_words_alone(reviews, plain):
    model = plain
    mixes = model.transform(reviews.counts[700:])
    assert mixes.shape == (200, 5)
    np.testing.assert_allclose(mixes.sum(axis=1), 1.0)
    assert mixes.min() > 0
    limited = np.clip(mixes @ model.coef_, 1, 10)  # the ends of the scale
    np.testing.assert_allclose(limited, model.predict(reviews.counts[700:]))
    assert list(model.get_feature_names_out()) == [f"topic{k}" for k in range(5)]


def test_warm_start_goes_on_from_the_last_topics(reviews):
    model = fitted(SLDARegressor, reviews, max_epochs=10, warm_start=True, tol=0.0)
    first = model.history_["objective"][-1]
    model.fit(reviews.counts[:700], reviews.target[:700])
    # γ starts anew, so the very first bound of the second fit may be a little lower.
    assert model.history_["objective"][1] > first - 1e-3
    assert model.history_["objective"][-1] > first
    with pytest.raises(ValueError, match="warm_start=True continues from topics of shape"):
        model.set_params(n_topics=4).fit(reviews.counts, reviews.target)


def test_learning_the_prior_raises_the_bound(reviews):
    model = LDA(5, random_state=0, max_epochs=40, warm_start=True).fit(reviews.counts)
    fixed = model.score(reviews.counts)
    model.set_params(doc_topic_prior="learn").fit(reviews.counts)
    assert not np.allclose(model.doc_topic_prior_, 1.0)
    assert model.score(reviews.counts) > fixed


def test_bound_is_below_the_likelihood_and_perplexity_is_its_exponential(reviews, focused):
    model = focused
    X, y = reviews.counts[700:760], reviews.target[700:760]
    terms = model.elbo(X, y, per_document=True)
    assert len(terms) == 9
    likelihood = model.log_likelihood(X, y, n_samples=2000)
    assert np.all(terms["bound"] <= likelihood + 1.0)  # the estimate is noisy, document by document
    assert terms["bound"].sum() < likelihood.sum()
    words_only = model.log_likelihood(X, n_samples=2000)
    assert model.perplexity(X, n_samples=2000) == pytest.approx(np.exp(-words_only.sum() / X.sum()))
    # Better than a model that knows the words' frequencies only.
    frequency = (reviews.counts[:700].sum(axis=0) + 0.1) / (reviews.counts[:700].sum() + 21.8)
    unigram = np.exp(-(X @ np.log(np.asarray(frequency).ravel())).sum() / X.sum())
    assert model.perplexity(X) < unigram


@pytest.mark.parametrize("cls", SUPERVISED)
def test_bad_targets(cls, reviews):
    X = reviews.counts[:20]
    regression = cls in REGRESSORS
    with pytest.raises(ValueError, match="y has 19 values but X has 20 documents"):
        cls().fit(X, np.arange(19) % 2)
    with pytest.raises(ValueError, match="constant" if regression else "one class only"):
        cls().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="y contains NaN only"):
        cls().fit(X, np.full(20, np.nan))
    endless = (np.arange(20) % 2).astype(float)
    endless[3] = np.inf
    with pytest.raises(ValueError, match="y contains infinity"):
        cls().fit(X, endless)
    with pytest.raises(ValueError, match="requires y to be passed"):
        cls().fit(X, None)
    with pytest.raises(ValueError, match="Complex data not supported"):
        cls().fit(X, np.arange(20) * 1j)


def test_targets_of_the_wrong_kind(reviews):
    X = reviews.counts[:20]
    with pytest.raises(ValueError, match=r"row 0 is 'a'\. For labels use a classifier"):
        SLDARegressor().fit(X, ["a", "b"] * 10)
    with pytest.raises(ValueError, match=r"Unknown label type: continuous.*Use a regressor"):
        SLDAClassifier().fit(X, np.arange(20) / 3)
    with pytest.raises(ValueError, match=r"one class only \('a'\)"):
        SLDAClassifier().fit(X, ["a"] * 20)
    with pytest.raises(ValueError, match=r"types: int, str"):
        SLDAClassifier().fit(X, np.array([1, "a"] * 10, dtype=object))
    tuples = np.empty(20, dtype=object)
    tuples[:] = [(1, 2), (3, 4)] * 10
    with pytest.raises(ValueError, match="Labels must be all text"):
        SLDAClassifier().fit(X, tuples)


@pytest.mark.parametrize(
    "family, message",
    [
        ("normal", "family must be one of"),
        (3, "family must be one of"),
        (["gaussian"], "family names 1 targets, but y has 2"),
        (NegativeBinomial(1.0), "cannot be one of several targets"),
    ],
)
def test_families_that_there_are_not(reviews, family, message):
    both = np.column_stack([reviews.target, reviews.target])
    with pytest.raises(ValueError, match=message):
        SLDARegressor(family=family).fit(reviews.counts, both)


def test_a_level_that_the_model_has_not_seen(reviews):
    model = SLDARegressor(2, family="ordinal", max_epochs=1, random_state=0)
    model.fit(reviews.counts, np.digitize(reviews.target, [4, 7]) * 2)
    with pytest.raises(ValueError, match="a level never seen in fit at row 1: 3"):
        model.elbo(reviews.counts[:2], [2, 3])


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -1]),
        np.array([2**60, 2**60 + 1]),  # not the same number, but the same float
        np.array([0.0, 2.0]),
        np.array([True, False]),
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([5, 6], dtype=object),
        np.array(["a", "bb", "ccc"]),
        np.array([10, 30, 20, -5]),
    ],
    ids=lambda labels: f"{labels.dtype}{len(labels)}",
)
def test_labels_keep_their_type_and_value(labels, reviews):
    counts, rating = reviews.counts[:300], reviews.target[:300]
    y = labels[np.digitize(rating, np.quantile(rating, [0.3, 0.6, 0.8])) % len(labels)]
    model = SLDAClassifier(3, random_state=0, max_epochs=15).fit(counts, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    predicted = model.predict(counts)
    assert set(predicted) <= set(labels)
    assert len(set(predicted)) > 1
    assert model.score(counts, y) == np.mean(predicted == y)
    assert {type(v) for v in predicted.tolist()} == {type(v) for v in labels.tolist()}


@pytest.mark.parametrize("cls", ALL)
def test_bad_counts(cls):
    y = np.arange(4) % 2
    with pytest.raises(TypeError, match="TokenCounter"):
        cls().fit(["some text", "more text", "and more", "words"], y)
    with pytest.raises(ValueError, match="row 1, column 2"):
        cls().fit([[1, 1, 0], [1, 1, -1], [1, 0, 1], [1, 0, 1]], y)
    with pytest.raises(ValueError, match="every document of X is empty"):
        cls().fit(np.zeros((4, 3)), y)
    with pytest.raises(ValueError, match="no documents"):
        cls().fit(np.zeros((0, 3)), y[:0])


def test_one_word_vocabulary():
    X, y = np.ones((6, 1)), np.arange(6) % 2
    with pytest.raises(ValueError, match="n_features=1"):
        PFSLDARegressor().fit(X, y)
    # Nothing to choose between, but topics of one word are a model: it predicts the mean.
    model = SLDARegressor(2, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), 0.5, atol=1e-3)


def test_the_papers_own_algorithm_gets_there_too(reviews):
    # It needs thousands of steps for the target to break the symmetry of the start: small batches,
    # and steps of twice the usual length, or it would be twice as many.
    settings = {"solver": "gradient", "batch_size": 20, "max_epochs": 250, "learning_rate": 0.05}
    model = PFSLDARegressor(5, inclusion_prior=0.25, random_state=0, **settings)
    model.fit(reviews.counts[:350], reviews.target[:350])
    assert model.n_iter_ == 250
    error = rmse(reviews.target[700:], model.predict(reviews.counts[700:]))
    assert error < 0.45 * np.std(reviews.target[700:])
    assert selection_scores(model.inclusion_, reviews.relevant, threshold=0.5).precision > 0.9
    assert model.history_["objective"][-1] > model.history_["objective"][0]
