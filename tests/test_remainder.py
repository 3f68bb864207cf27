"""The remainder's features, its penalised regression, and completeness."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression, Ridge

from topicfocus.families import Bernoulli, Categorical, Gaussian, Ordinal, Poisson
from topicfocus.glm import Column, deviance, level, mean_curvature
from topicfocus.remainder import (
    Remainder,
    choose_penalty,
    completeness,
    explained_gains,
    features,
    fit_terms,
    rarity,
    rounded,
    rows_of,
    terms_likelihood,
)

FAMILIES = (
    Gaussian(1.0),
    Bernoulli(),
    Poisson(),
    Ordinal(np.array([-1.0, 0.5])),
    Categorical(3),
)


def counts(n=60, n_terms=8, seed=0):
    found = np.random.default_rng(seed).poisson(0.7, (n, n_terms)).astype(float)
    found[0] = 0  # a document without terms
    return sparse.csr_array(found)


def column(family, n=60, seed=1):
    rng = np.random.default_rng(seed)
    width = family.n_predictors
    target = rng.integers(0, 3 if family.kind in ("classes", "ordinal") else 2, n)
    if family.kind == "real":
        target = rng.standard_normal(n)
    return Column(
        family,
        np.ones(n, dtype=bool),
        target.astype(float),
        rng.uniform(0.5, 2, n),
        rng.standard_normal((n, width)),
        slice(0, width),
    )


def test_features_are_tf_idf_of_roots():
    X = counts()
    x = features(X, rarity(X, np.ones(60)))
    wanted = TfidfTransformer(smooth_idf=True).fit(X).transform(X.sqrt())
    np.testing.assert_allclose(x.toarray(), wanted.toarray(), rtol=1e-6)


def test_weight_two_is_two_documents():
    X, weight = counts(), np.ones(60)
    weight[5] = 2.0
    twice = sparse.csr_array(sparse.vstack([X, X[[5]]]))
    np.testing.assert_array_equal(rarity(X, weight), rarity(twice, np.ones(61)))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_derivatives(family):
    X, y = counts(), column(family)
    found = terms_likelihood(y, features(X, rarity(X, y.weight)), 0.7)
    here, step = np.random.default_rng(2).standard_normal((2, 9 * y.width))
    error = check_grad(lambda v: found(v)[0], lambda v: found(v)[1], here)
    assert error < 1e-4
    change = found(here + 1e-6 * step)[1] - found(here - 1e-6 * step)[1]
    np.testing.assert_allclose(found(here)[2] @ step, change / 2e-6, rtol=1e-4, atol=1e-6)


def test_numbers_agree_with_ridge_and_classes_with_logistic_regression():
    X = counts()
    y = column(Gaussian(1.0))
    x = features(X, rarity(X, y.weight))
    found = fit_terms(y, x, 2.0)
    ridge = Ridge(2.0, solver="cholesky").fit(
        x.toarray(), y.target - y.offset[:, 0], sample_weight=y.weight
    )
    np.testing.assert_allclose(found[:-1, 0], ridge.coef_, atol=2e-3)
    y = column(Bernoulli())
    y.offset[:] = 0.0
    found = fit_terms(y, x, 2.0)
    logistic = LogisticRegression(C=0.5, tol=1e-8).fit(x, y.target, sample_weight=y.weight)
    np.testing.assert_allclose(found[:-1, 0], logistic.coef_[0], atol=2e-3)


def test_curvature_of_a_number_is_one():
    assert mean_curvature(column(Gaussian(1.0))) == pytest.approx(1.0)
    assert mean_curvature(column(Bernoulli())) < 0.25


def test_amounts_are_sums_of_contributions():
    X = counts()
    rng = np.random.default_rng(3)
    rest = Remainder(rarity(X, np.ones(60)), rng.standard_normal((8, 2)), np.array([0.3, -1.0]))
    amounts = rest.amounts(X)
    parts = rest.contributions(X)
    for l in (0, 1):
        np.testing.assert_allclose(parts[l].sum(axis=1), amounts[:, l], atol=1e-12)
    assert np.all(amounts[0] == 0)  # a document without terms
    np.testing.assert_allclose(rest.times(np.array([2.0, 3.0])).amounts(X), amounts * [2, 3])


def test_a_remainder_that_predicts_gets_a_penalty_and_noise_gets_none():
    X = counts(600, 30)
    x = features(X, rarity(X, np.ones(600)))
    y = column(Gaussian(1.0), 600)
    gamma = 3 * np.random.default_rng(4).standard_normal(30)
    signal = y.offset[:, 0] + x @ gamma + np.random.default_rng(5).standard_normal(600)
    train, held = np.arange(400), np.arange(400, 600)
    for target, useful in ((signal, True), (y.target + y.offset[:, 0], False)):
        every = Column(y.family, y.known, target, y.weight, y.offset, y.where)
        mine, theirs = rows_of(every, train), rows_of(every, held)
        path = choose_penalty(mine, x[train], theirs, x[held])
        assert (path.penalty is not None) == useful
        topics = theirs.offset + level(mine)
        np.testing.assert_allclose(path.topics, deviance(theirs, topics))
        if useful:
            assert np.average(path.both) < 0.8 * np.average(path.topics)
        else:
            np.testing.assert_array_equal(path.both, path.topics)


def test_completeness_is_a_ratio_with_a_standard_error():
    rng = np.random.default_rng(6)
    shares, errors = [], []
    for _ in range(300):
        truth = rng.standard_normal((400, 2))
        y = truth.sum(axis=1) + rng.standard_normal(400)
        one = Column(
            Gaussian(1.0), np.ones(400, dtype=bool), y, np.ones(400), np.zeros((400, 1)), slice(1)
        )
        losses = [deviance(one, f[:, None]) for f in (0 * y, truth[:, 0], truth.sum(axis=1))]
        found = completeness(explained_gains(one, *losses))
        shares.append(found.share)
        errors.append(found.error)
    assert np.mean(shares) == pytest.approx(0.5, abs=0.01)
    assert np.mean(errors) == pytest.approx(np.std(shares), rel=0.15)
    assert np.isnan(completeness(np.zeros((5, 2))).share)


def test_rounding_is_to_whole_steps():
    coef = np.random.default_rng(7).standard_normal((1000, 2)) * [1, 1e-3]
    steps = np.abs(coef).max(axis=0) / 32767
    np.testing.assert_allclose(rounded(coef), np.round(coef / steps) * steps)
    np.testing.assert_array_equal(rounded(np.zeros((3, 1))), 0)
