"""Generalised linear models on given columns, beside scikit-learn, scipy and plain formulas."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

from topicfocus.corpus import make_corpus
from topicfocus.families import Bernoulli, Categorical, Gaussian, Multiple, Ordinal, Poisson
from topicfocus.glm import (
    deviance,
    explained_share,
    fit_linear,
    level,
    shrink,
    target_columns,
)
from topicfocus.model import make_problem

N = 400
X = np.random.default_rng(0).normal(size=(N, 3)) + 1.0
SLOPE = np.array([1.0, -0.5, 0.2])


def column_of(y, family, weight=None, offset=None):
    problem = make_problem(
        make_corpus(np.ones((len(y), 1))), y, 3.0, doc_weight=weight, offset=offset
    )
    return target_columns(problem, family)[0]


def some_target(family, rng):
    f = X @ SLOPE
    if isinstance(family, Gaussian):
        return f + rng.normal(size=N)
    if isinstance(family, Bernoulli):
        return (rng.random(N) < 1 / (1 + np.exp(-f))).astype(float)
    if isinstance(family, Poisson):
        return rng.poisson(np.exp(0.5 * f)).astype(float)
    if isinstance(family, Ordinal):
        return np.digitize(f + rng.logistic(size=N), [-1.0, 0.5, 2.0]).astype(float)
    return np.argmax(np.outer(f, [0.0, 1.0, -1.0]) + rng.gumbel(size=(N, 3)), axis=1).astype(float)


FAMILIES = [
    Gaussian(2.0),
    Bernoulli(),
    Poisson(),
    Ordinal(np.array([-1.0, 0.0, 1.0])),
    Categorical(3),
]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda f: type(f).__name__)


def test_ridge_beside_scikit_learn():
    y = some_target(FAMILIES[0], np.random.default_rng(1))
    fit = fit_linear(column_of(y, FAMILIES[0]), X, penalty=3.0)
    peer = Ridge(alpha=3.0).fit(X, y)
    np.testing.assert_allclose(fit.coef[:, 0], peer.coef_, rtol=1e-6)
    assert fit.intercept[0] == pytest.approx(peer.intercept_, rel=1e-6)


def test_classes_beside_scikit_learn():
    rng = np.random.default_rng(1)
    for family in (Bernoulli(), Categorical(3)):
        y = some_target(family, rng)
        fit = fit_linear(column_of(y, family), X, penalty=0.5)
        peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(X, y)
        mine = fit.predictor(X, np.zeros((1, fit.coef.shape[1])))
        if mine.shape[1] == 1:
            p = 1 / (1 + np.exp(-mine))
            mine = np.hstack([1 - p, p])
        else:
            mine = softmax(mine, axis=1)
        np.testing.assert_allclose(mine, peer.predict_proba(X), atol=1e-4)


def test_counts_beside_scikit_learn():
    y = some_target(Poisson(), np.random.default_rng(1))
    fit = fit_linear(column_of(y, Poisson()), X, penalty=1e-6)
    peer = PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(fit.coef[:, 0], peer.coef_, rtol=1e-4)


def test_exposure_is_an_offset():
    rng = np.random.default_rng(2)
    exposure = rng.uniform(0.5, 4.0, N)
    y = rng.poisson(exposure * np.exp(X @ SLOPE)).astype(float)
    offset = np.log(exposure)[:, None]
    fit = fit_linear(column_of(y, Poisson(), offset=offset), X)
    np.testing.assert_allclose(fit.coef[:, 0], SLOPE, atol=0.05)
    assert abs(fit.intercept[0]) < 0.1


@every_family
def test_a_weight_of_two_is_two_copies(family):
    y = some_target(family, np.random.default_rng(4))
    twice = np.arange(N) % 4 == 0
    index = np.concatenate([np.arange(N), np.flatnonzero(twice)])
    weighted = fit_linear(column_of(y, family, 1.0 + twice), X)
    copied = fit_linear(column_of(y[index], family), X[index])
    np.testing.assert_allclose(weighted.coef, copied.coef, rtol=1e-4, atol=1e-5)


@every_family
def test_missing_targets_are_left_out(family):
    y = some_target(family, np.random.default_rng(5))
    some = y.copy()
    some[::3] = np.nan
    column = column_of(some, family)
    known = np.isfinite(some)
    assert column.known.tolist() == known.tolist()
    fit = fit_linear(column, column.of(X))
    same = fit_linear(column_of(y[known], family), X[known])
    np.testing.assert_allclose(fit.coef, same.coef, rtol=1e-6, atol=1e-8)


@every_family
def test_the_level_is_the_best_constant(family):
    column = column_of(some_target(family, np.random.default_rng(6)), family)
    best = deviance(column, column.offset + level(column)).sum()
    for move in np.vstack([0.1 * np.eye(column.width), -0.1 * np.eye(column.width)]):
        assert deviance(column, column.offset + level(column) + move).sum() > best


@every_family
def test_a_predictor_too_sure_of_itself_is_shrunken(family):
    y = some_target(family, np.random.default_rng(9))
    column = column_of(y, family)
    fit = fit_linear(column, X)
    column = replace(column, family=fit.family)
    good = fit.predictor(X, np.zeros_like(column.offset))
    shift, factor = shrink(column, 2.0 * good)
    assert factor == pytest.approx(0.5, abs=0.02)
    better, error = explained_share(column, column.offset + shift + factor * 2.0 * good)
    assert better > explained_share(column, column.offset + 2.0 * good)[0]
    assert 0 < error < 1
    _, timid = shrink(column, 0.5 * good)
    assert timid == 1.0  # never stretched


@pytest.mark.parametrize("absent", [False, True])
def test_classes_are_shrunken_to_the_optimum(absent):
    """No other factor and constants explain more; a class that nobody has changes nothing."""
    rng = np.random.default_rng(11)
    f = 3 * rng.normal(size=(N, 4))
    y = (0.5 * f + rng.gumbel(size=f.shape)).argmax(axis=1).astype(float)
    y[(y == 3) & absent] = 0.0
    column = column_of(y, Categorical(4), weight=rng.integers(1, 4, N).astype(float))
    shift, factor = shrink(column, f)
    p = softmax(shift + factor * f, axis=1)
    seen = np.eye(4)[y.astype(int)]
    assert 0.1 < factor < 1
    assert abs(column.weight @ np.sum((seen - p) * f, axis=1)) < 1e-2 * absent + 1e-6
    np.testing.assert_allclose(column.weight @ p, column.weight @ seen, atol=1e-2)


def test_several_targets_one_by_one():
    rng = np.random.default_rng(3)
    families = [Gaussian(2.0), Categorical(3), Poisson()]
    y = np.column_stack([some_target(f, rng) for f in families])
    y[:50, 1] = np.nan
    problem = make_problem(make_corpus(np.ones((N, 1))), y)
    columns = target_columns(problem, Multiple.of(families))
    assert [c.where for c in columns] == [slice(0, 1), slice(1, 4), slice(4, 5)]
    assert [len(c.target) for c in columns] == [N, N - 50, N]
    assert columns[0].family == Gaussian(1.0)  # δ does not change where the optimum is


@pytest.mark.parametrize("n_columns", [10, 35])
def test_many_classes_reach_the_optimum(n_columns):
    rng = np.random.default_rng(3)
    design = rng.normal(size=(3000, n_columns))  # more than one block of documents
    f = design @ rng.normal(size=(n_columns, 20)) * 0.3
    y = np.argmax(f + rng.gumbel(size=f.shape), axis=1).astype(float)
    weight = rng.uniform(0.5, 2.0, len(y))
    column = column_of(y, Categorical(20), weight)
    fit = fit_linear(column, design)
    p = softmax(fit.predictor(design, column.offset), axis=1)
    centred = design - np.average(design, axis=0, weights=weight)
    slope = centred.T @ (weight[:, None] * (np.eye(20)[y.astype(int)] - p)) - 1e-2 * fit.coef
    assert np.abs(slope).max() < 1e-6
    np.testing.assert_allclose(fit.coef.sum(axis=1), 0.0, atol=1e-9)


def test_levels_on_columns_of_a_few_hundredths_reach_the_optimum():
    """Topic mixes: small, correlated, of sum one. L-BFGS on them as they are gave up."""
    rng = np.random.default_rng(5)
    mixes = rng.dirichlet(np.full(6, 8.0), 700)
    f = mixes @ np.array([30.0, 20.0, 5.0, -5.0, -20.0, -30.0])
    y = np.digitize(f + rng.logistic(size=700), [-4.0, -1.0, 4.0]).astype(float)
    column = column_of(y, Ordinal(np.array([-1.0, 0.0, 1.0])))
    fit = fit_linear(column, column.of(mixes))

    def loss(coef, family):
        column_now = replace(column, family=family)
        predictor = (mixes - mixes.mean(axis=0)) @ coef
        return deviance(column_now, predictor).sum() + 0.5e-2 * np.sum(coef**2)

    best = loss(fit.coef, fit.family)
    for i in range(6):
        for step in (-0.05, 0.05):
            coef = fit.coef.copy()
            coef[i] += step
            assert loss(coef, fit.family) > best
    for i in range(3):
        for step in (-0.01, 0.01):
            thresholds = np.array(fit.family.thresholds)
            thresholds[i] += step
            assert loss(fit.coef, Ordinal(thresholds)) > best
