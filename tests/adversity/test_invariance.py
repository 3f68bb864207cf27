"""What a model must not depend on: units, threads, types, order. See docs/reliability.md.

Copies against weights are in tests/estimators/test_weights.py.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import topicfocus
from topicfocus.datasets import make_reviews

REVIEWS = make_reviews(160, random_state=0)
X, Y = REVIEWS.counts.tocsr(), REVIEWS.target.astype(float)
NEW = make_reviews(30, random_state=1).counts
RNG = np.random.default_rng(0)
COVARIATES = np.column_stack([RNG.normal(size=160), RNG.normal(2000, 10, size=160)])
WEIGHT = RNG.integers(1, 4, size=160).astype(float)
MISSING = np.where(RNG.uniform(size=160) < 0.3, np.nan, Y)
SEVERAL = np.column_stack([Y, -2 * MISSING + RNG.normal(size=160)])

JOINT = ("SLDARegressor", "PFSLDARegressor")
REGRESSORS = ("FocusedTopicRegressor", "PCSLDARegressor", *JOINT)
CLASSIFIERS = tuple(name.replace("Regressor", "Classifier") for name in REGRESSORS)
EVERY = (*REGRESSORS, *CLASSIFIERS, "LDA")
UNITS = ((0.37, 0.0), (1.0, 1e6), (1e150, 0.0))


def make(name, **changed):
    return getattr(topicfocus, name)(
        **{"n_topics": 3, "max_epochs": 8, "random_state": 0, **changed}
    )


def target_of(name):
    return None if name == "LDA" else (Y > 5 if name in CLASSIFIERS else Y)


def fit(name, counts=X, y=None, **changed):
    y = target_of(name) if y is None else y
    return make(name, **changed).fit(*((counts,) if y is None else (counts, y)))


def whole_passes(name):
    """Settings under which no random number depends on the order of documents or columns."""
    return {"solver": "coordinate"} if name.startswith("PFSLDA") else {}


def assert_same_words_and_topics(one, two):
    """To the last bit."""
    assert_array_equal(one.fitted_.state.topic_word, two.fitted_.state.topic_word)
    assert_array_equal(one.fitted_.state.inclusion, two.fitted_.state.inclusion)


def assert_units(one, two, times, plus, extras=None):
    """`two` was fitted to times·y + plus."""
    assert_same_words_and_topics(one, two)
    extras = extras or {}
    (mean, std), (mean2, std2) = (m.predict(NEW, return_std=True, **extras) for m in (one, two))
    assert_allclose((mean2 - plus) / times, mean, rtol=1e-9, atol=1e-8)
    assert_allclose(std2 / times, std, rtol=1e-9)
    assert_allclose(two.noise_variance_ / times / times, one.noise_variance_, rtol=1e-9)
    effects = [m.coef_.T + m.intercept_ for m in (one, two)]
    assert_allclose((effects[1] - plus) / times, effects[0], rtol=1e-9, atol=1e-7)


# ---- units of the target ------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGRESSORS)
def test_units_and_shift_of_the_target(name):
    first = fit(name)
    for times, plus in UNITS:
        model = fit(name, y=times * Y + plus)
        assert_units(first, model, times, plus)
        if name in JOINT:
            # Densities are per unit of the target.
            bounds = [m.elbo(X, y)["bound"] for m, y in ((first, Y), (model, times * Y + plus))]
            assert bounds[1] + len(Y) * np.log(times) == pytest.approx(bounds[0], rel=1e-9)
            values = [
                m.log_likelihood(NEW[:2], y, n_samples=20)
                for m, y in ((first, Y[:2]), (model, times * Y[:2] + plus))
            ]
            assert_allclose(values[1] + np.log(times), values[0], rtol=1e-7)


def test_the_papers_own_units_are_kept_on_request():
    """Then they matter, as they do in the paper."""
    one, two = (
        fit("PFSLDARegressor", y=y, solver="gradient", standardize=False) for y in (Y, 1000 * Y)
    )
    assert one.fitted_.targets.target_scaling is None
    assert np.abs(one.components_ - two.components_).max() > 1e-6
    with pytest.raises(TypeError, match="standardize must be True or False"):
        fit("SLDARegressor", standardize="no")


@pytest.mark.parametrize("name", REGRESSORS)
def test_units_with_covariates_weights_and_missing_targets(name):
    times, plus = 1e-4, 30.0
    extras = {"covariates": COVARIATES, "sample_weight": WEIGHT}
    one = make(name).fit(X, MISSING, **extras)
    two = make(name).fit(X, times * MISSING + plus, **extras)
    assert_units(one, two, times, plus, {"covariates": COVARIATES[:30]})
    assert_allclose(two.covariate_coef_ / times, one.covariate_coef_, rtol=1e-9)


@pytest.mark.parametrize("name", REGRESSORS)
def test_each_of_several_targets_has_its_units(name):
    times, plus = np.array([1000.0, 1e-5]), np.array([-7.0, 1.0])
    one, two = make(name).fit(X, SEVERAL), make(name).fit(X, times * SEVERAL + plus)
    assert_units(one, two, times, plus)


@pytest.mark.parametrize("name", REGRESSORS)
def test_units_of_covariates(name):
    one = make(name).fit(X, Y, covariates=COVARIATES)
    two = make(name).fit(X, Y, covariates=COVARIATES * [1e5, 1e-3])
    assert_same_words_and_topics(one, two)
    assert_allclose(two.covariate_coef_ * [1e5, 1e-3], one.covariate_coef_, rtol=1e-9)


# ---- extremes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGRESSORS)
def test_extremes_are_one_clear_message(name):
    far, counts, exposure = Y.copy(), X.astype(float), np.ones(160)
    far[17], exposure[3] = 1e300, 1e300
    counts.data[5] = 1e300
    whole = np.round(np.abs(Y))
    whole[17] = 1e300
    covariates = COVARIATES.copy()
    covariates[3, 1] = 1e299
    with pytest.raises(ValueError, match="row 17"):
        make(name).fit(X, far)
    with pytest.raises(ValueError, match="too large"):
        make(name).fit(X, 1e200 * Y)
    with pytest.raises(ValueError, match="too small"):
        make(name).fit(X, 1e-200 * Y)
    with pytest.raises(ValueError, match="has a count of 1e"):
        make(name).fit(counts, Y)
    with pytest.raises(ValueError, match="row 17"):
        make(name, family="poisson").fit(X, whole)
    with pytest.raises(ValueError, match="but row 3"):
        make(name, family="poisson").fit(X, np.round(np.abs(Y)), exposure=exposure)
    with pytest.raises(ValueError, match="row 3"):
        make(name).fit(X, Y, covariates=covariates)
    with pytest.raises(ValueError, match="row 3"):
        make(name).fit(X, Y, sample_weight=exposure)
    with pytest.raises(ValueError, match="row 17"):
        make(name).fit(X, Y, X_val=X, y_val=far)
    model = make(name).partial_fit(X, Y)
    with pytest.raises(ValueError, match="row 17"):
        model.partial_fit(X, far)


# ---- threads, types, formats: to the last bit ----------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_threads_types_and_formats(name):
    first = fit(name, n_jobs=1)
    wanted = first.transform(NEW)
    dense = X.toarray()
    for counts, n_jobs in (
        (X, 2),
        (X, 3),
        (dense.astype(np.int64), 1),
        (dense.astype(np.float32), 1),
        (sparse.csc_array(X.astype(np.int32)), 2),
        (sparse.coo_matrix(X.astype(np.uint16)), 1),
        (np.asfortranarray(dense), 1),
    ):
        model = fit(name, counts, n_jobs=n_jobs)
        assert_same_words_and_topics(first, model)
        assert_array_equal(model.transform(NEW.astype(counts.dtype)), wanted)


# ---- order --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_order_of_documents(name):
    """To rounding: sums are added in another order."""
    order, y = np.random.default_rng(2).permutation(160), target_of(name)
    one = fit(name, **whole_passes(name))
    two = fit(name, X[order], None if y is None else y[order], **whole_passes(name))
    assert_allclose(two.components_, one.components_, rtol=1e-5, atol=1e-9)
    assert_allclose(two.transform(NEW), one.transform(NEW), rtol=1e-5)
    # New documents by themselves: to the last bit.
    mixed = np.random.default_rng(3).permutation(30)
    assert_array_equal(one.transform(NEW[mixed]), one.transform(NEW)[mixed])


@pytest.mark.parametrize("name", ["PCSLDARegressor", "PCSLDAClassifier"])
def test_order_of_words_in_a_fit(name):
    """Where no random number of a column decides: documents to choose on are given."""
    order, y = np.random.default_rng(4).permutation(X.shape[1]), target_of(name)
    one = make(name).fit(X, y, X_val=X[100:], y_val=y[100:])
    two = make(name).fit(X[:, order], y, X_val=X[100:][:, order], y_val=y[100:])
    assert_allclose(two.components_, one.components_[:, order], rtol=1e-5, atol=1e-9)
    assert_allclose(two.transform(NEW[:, order]), one.transform(NEW), rtol=1e-5)


# ---- nothing there ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_a_column_of_zeros(name):
    """At the end, after all random numbers of the others; with documents to choose on given."""
    wide = [sparse.csr_array(sparse.hstack([m, np.zeros((m.shape[0], 1))])) for m in (X, NEW)]
    y = target_of(name)
    held = {} if name == "LDA" else {"y_val": y[100:]}
    models = []
    for counts in (X, wide[0]):
        more = {"X_val": counts[100:], **held} if held else {}
        given = (counts,) if y is None else (counts, y)
        models.append(make(name, **whole_passes(name)).fit(*given, **more))
    one, two = models
    assert_allclose(two.components_[:, :-1], one.components_, rtol=1e-6, atol=1e-9)
    assert np.all(two.components_[:, -1] == 0)
    assert_allclose(two.transform(wide[1]), one.transform(NEW), rtol=1e-6)


@pytest.mark.parametrize("name", EVERY)
def test_a_document_without_words(name):
    """Others are predicted as without it; it gets what the prior says. As is one in training."""
    model = fit(name)
    more = sparse.csr_array(sparse.vstack([NEW, sparse.csr_array((1, X.shape[1]))]))
    assert_array_equal(model.transform(more)[:-1], model.transform(NEW))
    prior = model.doc_topic_prior_
    assert_allclose(model.transform(more)[-1], prior / prior.sum())
    wider = sparse.csr_array(sparse.vstack([X, sparse.csr_array((1, X.shape[1]))]))
    y = target_of(name)
    again = fit(name, wider, None if y is None else np.append(y, y[0]))
    assert np.isfinite(again.components_).all()
