"""Learning from batches, as a user meets it."""

import copy
import pickle

import numpy as np
import pytest
from model_files import MODELS
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import NotFittedError

import topicfocus
from topicfocus import (
    LDA,
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PCSLDARegressor,
    PFSLDARegressor,
    SLDAClassifier,
    SLDARegressor,
)
from topicfocus.datasets import make_reviews
from topicfocus.joint import online as joint_stream
from topicfocus.metrics import rmse

ALL = [getattr(topicfocus, name) for name in MODELS]
REGRESSORS = [cls for cls in ALL if issubclass(cls, RegressorMixin)]
CLASSIFIERS = [cls for cls in ALL if issubclass(cls, ClassifierMixin)]
CONSTRAINED = (PCSLDARegressor, FocusedTopicRegressor)


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(900, random_state=1)


@pytest.fixture(autouse=True)
def few_epochs(request, monkeypatch):
    """Most tests are not about how good the model is."""
    if "reach_what_fit_does" not in request.node.name:
        monkeypatch.setattr(joint_stream, "REPLAY", 5.0)
        monkeypatch.setattr(joint_stream, "FRESH", 5.0)


def make(cls, **kwargs):
    settings = {"n_topics": 3, "random_state": 0}
    if cls.__name__.startswith(("PCSLDA", "Focused")):
        settings["max_epochs"] = 6
    if cls.__name__.startswith("Focused"):
        settings["inclusion_prior"] = 0.2  # to choose it is most of a small fit
    return cls(**{**settings, **kwargs})


def targets(cls, data):
    if cls is LDA:
        return None
    if cls in CLASSIFIERS:
        return np.where(data.target > np.median(data.target), "good", "bad")
    return data.target


def stream(model, X, y, size, *, start=0, classes=None, **extras):
    """Feed documents in batches; the classes at the first call only."""
    for a in range(start, X.shape[0], size):
        rows = slice(a, min(a + size, X.shape[0]))
        own = {name: value[rows] for name, value in extras.items()}
        if classes is not None and a == start:
            own["classes"] = classes
        model.partial_fit(X[rows], None if y is None else y[rows], **own)
    return model


def labels(cls):
    return ["bad", "good"] if cls in CLASSIFIERS else None


@pytest.mark.parametrize("cls", [SLDARegressor, PFSLDARegressor, FocusedTopicRegressor])
def test_batches_reach_what_fit_does(cls, reviews):
    X, y = reviews.counts[:500], reviews.target[:500]
    share = {PFSLDARegressor: 0.25, FocusedTopicRegressor: "auto"}.get(cls)
    settings = {} if share is None else {"inclusion_prior": share}
    whole = make(cls, max_epochs=None, **settings).fit(X, y)
    parts = stream(make(cls, max_epochs=None, **settings), X, y, 100)
    held_out = reviews.counts[500:], reviews.target[500:]
    error, best = (rmse(held_out[1], m.predict(held_out[0])) for m in (parts, whole))
    assert error < best + 0.1 * y.std()


@pytest.mark.parametrize("cls", ALL)
def test_the_model_can_be_used_after_every_call(cls, reviews, tmp_path):
    X, y = reviews.counts[:160], targets(cls, reviews)
    model = make(cls)
    with pytest.raises(NotFittedError):
        model.transform(X)
    for call in range(4):
        rows = slice(40 * call, 40 * call + 40)
        first = {"classes": labels(cls)} if cls in CLASSIFIERS and call == 0 else {}
        assert model.partial_fit(X[rows], None if y is None else y[rows], **first) is model
        assert model.n_iter_ == call + 1
        assert all(len(column) == call + 1 for column in model.history_.values())
        assert model.n_samples_seen_ == 40 * (call + 1)
        np.testing.assert_allclose(model.components_.sum(axis=1), 1)
        np.testing.assert_allclose(model.transform(X).sum(axis=1), 1)
        if cls is not LDA:
            assert len(model.predict(X)) == 160
    # A pickle goes on with the stream; a file holds no documents, and goes on as after fit.
    again = pickle.loads(pickle.dumps(model))
    path = tmp_path / "model"
    model.save(path)
    loaded = topicfocus.load(path)
    assert loaded._stream is None
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    rows = slice(160, 200)
    for m in (model, again, loaded):
        m.partial_fit(reviews.counts[rows], None if y is None else y[rows])
    np.testing.assert_array_equal(again.components_, model.components_)
    assert loaded.n_samples_seen_ == 200
    assert not hasattr(clone(model), "components_")


@pytest.mark.parametrize("cls", CONSTRAINED)
def test_documents_that_doubled_give_the_very_model_of_fit(cls, reviews):
    X, y = reviews.counts[:200], reviews.target[:200].astype(float)
    # Fitting goes on in the units of the first batch: here those of all, which has its values.
    y[100:][np.argsort(y[100:], kind="stable")] = np.sort(y[:100])
    # The share of words is chosen again, too.
    settings = {"inclusion_prior": "auto"} if cls is FocusedTopicRegressor else {}
    streamed = stream(make(cls, **settings), X, y, 100)
    fitted = make(cls, **settings).fit(X, y)
    np.testing.assert_allclose(streamed.components_, fitted.components_, atol=1e-9)
    np.testing.assert_allclose(streamed.coef_, fitted.coef_)
    np.testing.assert_allclose(streamed.noise_variance_, fitted.noise_variance_)


@pytest.mark.parametrize("cls", [LDA, SLDARegressor, PFSLDARegressor, FocusedTopicRegressor])
def test_memory_does_not_grow_with_the_documents_seen(cls, reviews):
    X, y = reviews.counts, targets(cls, reviews)
    model = make(cls)
    model.reservoir_size = 60
    sizes = []
    for call in range(9):
        rows = slice(100 * call, 100 * call + 100)
        model.partial_fit(X[rows], None if y is None else y[rows])
        sizes.append(len(pickle.dumps(model)))
        kept = model._stream.reservoir.documents
        assert kept.n_docs == 60
    # Two batches to fill everything that has a place; a line of history a call after that.
    assert max(sizes[2:]) < 1.15 * sizes[2]
    assert model.n_samples_seen_ == 900


# ---- fit and partial_fit ----------------------------------------------------------------------


@pytest.mark.parametrize("cls", [LDA, *REGRESSORS])
def test_fit_starts_anew_and_partial_fit_goes_on_from_fit(cls, reviews):
    X, y = reviews.counts, targets(cls, reviews)
    first = slice(0, 200)
    fitted = make(cls).fit(X[first], None if y is None else y[first])
    model = make(cls)
    stream(model, X[400:500], None if y is None else y[400:500], 50)
    model.fit(X[first], None if y is None else y[first])
    np.testing.assert_array_equal(model.components_, fitted.components_)
    assert model._stream is None
    assert model.n_samples_seen_ == 200
    n_iter = model.n_iter_
    model.partial_fit(X[200:240], None if y is None else y[200:240])
    assert model.n_iter_ == n_iter + 1
    assert len(model.history_["epoch"]) == n_iter + 1
    assert model.n_samples_seen_ == 240
    # A little new is learned, and what was there is not lost.
    change = np.abs(model.components_ - fitted.components_).sum(axis=1).max()
    assert change < 1.0
    if cls is not LDA:
        assert not np.array_equal(model.coef_, fitted.coef_)
        before, after = (rmse(y[500:], m.predict(X[500:])) for m in (fitted, model))
        assert after < 1.1 * before


# ---- weights and targets ----------------------------------------------------------------------


@pytest.mark.parametrize("cls", CONSTRAINED)
def test_a_weight_of_two_is_two_copies(cls, reviews):
    X, y = reviews.counts[:80], reviews.target[:80]
    weight = np.ones(80)
    weight[:10], weight[-5:] = 2.0, 0.0
    rows = np.r_[np.arange(10), np.arange(75)]
    weighted = make(cls).partial_fit(X, y, sample_weight=weight)
    copied = make(cls).partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.components_, copied.components_, atol=1e-6)
    assert weighted.n_samples_seen_ == copied.n_samples_seen_ == 85


@pytest.mark.parametrize("cls", [SLDARegressor, FocusedTopicRegressor])
def test_a_batch_may_have_no_targets_after_the_first(cls, reviews):
    X, y = reviews.counts[:200], reviews.target[:200].copy()
    y[50:60] = np.nan
    y[100:150] = np.nan
    model = stream(make(cls), X, y, 50)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("cls", [SLDARegressor, FocusedTopicRegressor])
def test_counts_with_exposure_beside_covariates(cls, reviews):
    X, n = reviews.counts[:240], 240
    rng = np.random.default_rng(0)
    exposure, covariates = rng.uniform(0.5, 2, n), rng.normal(5, 3, (n, 1))
    rate = np.exp(0.2 * (reviews.target[:n] - 5) + 0.1 * covariates[:, 0])
    y = rng.poisson(exposure * rate).astype(float)
    model = make(cls, family="poisson")
    stream(model, X, y, 80, exposure=exposure, covariates=covariates)
    assert model.covariate_coef_[0] == pytest.approx(0.1, abs=0.05)
    with pytest.raises(ValueError, match="0 or more"):
        model.partial_fit(X[:5], -y[:5] - 1, covariates=covariates[:5])
    with pytest.raises(ValueError, match="covariates"):
        model.partial_fit(X[:5], y[:5])


def test_levels_are_those_of_the_first_batch_or_given(reviews):
    X = reviews.counts[:120]
    y = np.digitize(reviews.target[:120], np.quantile(reviews.target[:120], [0.3, 0.6])) + 1.0
    some = np.flatnonzero(y < 3)[:40]
    model = make(FocusedTopicRegressor, family="ordinal").partial_fit(X[some], y[some])
    with pytest.raises(ValueError, match=r"levels=\[...\]"):
        model.partial_fit(X, y)
    model = make(FocusedTopicRegressor, family="ordinal")
    model.partial_fit(X[some], y[some], levels=[1, 2, 3])
    assert model.predict_proba(X)[:, 2].max() < 0.2
    model.partial_fit(X, y)
    assert model.levels_.tolist() == [1, 2, 3]
    assert model.predict_proba(X)[:, 2].max() > 0.2
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(X, y, levels=[1, 2])
    with pytest.raises(ValueError, match="ordinal"):
        make(SLDARegressor).partial_fit(X, y, levels=[1, 2, 3])


@pytest.mark.parametrize("cls", [SLDAClassifier, FocusedTopicClassifier])
def test_classes_are_given_at_the_first_call(cls, reviews):
    X = reviews.counts[:150]
    y = np.array(["bad", "fair", "good"])[
        np.digitize(reviews.target[:150], np.quantile(reviews.target[:150], [0.3, 0.6]))
    ]
    model = make(cls)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y)
    two = np.flatnonzero(y != "good")[:50]
    with pytest.raises(ValueError, match="two or more classes"):
        model.partial_fit(X[y == "bad"], y[y == "bad"], classes=["bad", "fair", "good"])
    model.partial_fit(X[two], y[two], classes=["good", "fair", "bad"])
    assert model.classes_.tolist() == ["bad", "fair", "good"]
    assert model.predict_proba(X).shape == (150, 3)
    model.partial_fit(X, y)
    assert "good" in model.predict(X)
    with pytest.raises(ValueError, match="n_topics is now 4"):
        copy.copy(model).set_params(n_topics=4).partial_fit(X, y)
    with pytest.raises(ValueError, match="never seen"):
        model.partial_fit(X[:1], ["ugly"])
    with pytest.raises(ValueError, match="is not the same as on last call"):
        model.partial_fit(X, y, classes=["bad", "good"])


def test_targets_of_the_first_batch_must_differ(reviews):
    with pytest.raises(ValueError, match="make it larger, or shuffle"):
        make(SLDARegressor).partial_fit(reviews.counts[:20], np.ones(20))
    with pytest.raises(ValueError, match="make it larger, or shuffle"):
        make(FocusedTopicRegressor).partial_fit(reviews.counts[:20], np.full(20, np.nan))


def test_sort_and_cut_selects_anew_as_documents_double(reviews):
    X, y = reviews.counts[:240], reviews.target[:240]
    model = stream(make(PFSLDARegressor, bound="tight", inclusion_prior=0.25), X, y, 80)
    assert set(np.unique(model.inclusion_)) <= {0.0, 1.0}
    assert 0 < model.selected_words_.sum() < X.shape[1]
