"""Coefficients on topic proportions that are shrunk toward the signs of the topics."""

import numpy as np
import pytest

from topicfocus.families import Bernoulli, Gaussian, Poisson
from topicfocus.focused.refit import TOWARD_SIGNS, best_toward_signs, fit_toward_signs
from topicfocus.glm import Column, fit_linear

SIGNS = np.array([[1.0], [0.9], [-1.0], [-0.8]])


def documents(family, n=600, seed=0, spread=0.0):
    """Mixes of four topics, a covariate, and targets whose coefficients differ by `spread`."""
    rng = np.random.default_rng(seed)
    mixes = rng.dirichlet(np.full(4, 5.0), n)
    design = np.column_stack([mixes, rng.standard_normal(n)])
    coef = np.append(4 * SIGNS[:, 0] + spread * np.array([1, -1, 1, -1]), 0.5)
    f = design @ coef
    if isinstance(family, Gaussian):
        target = f + rng.standard_normal(n)
    elif isinstance(family, Bernoulli):
        target = (rng.random(n) < 1 / (1 + np.exp(-f))).astype(float)
    else:
        target = rng.poisson(np.exp(0.3 * f)).astype(float)
    every = np.ones(n)
    return Column(family, every > 0, target, every, np.zeros((n, 1)), slice(0, 1)), design


FAMILIES = [Gaussian(1.0), Bernoulli(), Poisson()]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: type(f).__name__)
def test_no_penalty_and_a_large_one(family):
    column, design = documents(family)
    plain = fit_linear(column, design)
    free = fit_toward_signs(column, design, SIGNS, 0.0)
    np.testing.assert_array_equal(free.coef, plain.coef)
    held = fit_toward_signs(column, design, SIGNS, 1e6)
    ratio = held.coef[:4, 0] / SIGNS[:, 0]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-3)
    assert ratio[0] > 0 and abs(held.coef[4, 0] - plain.coef[4, 0]) < 0.05


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: type(f).__name__)
def test_the_optimum_in_every_direction(family):
    """η = c·η⁰ + Δ with a penalty of ½P|Δ|²: no other η, with its best c, is better."""
    from topicfocus.kernels.likelihood import likelihoods

    column, design = documents(family, n=300)
    rho = 0.3
    fit = fit_toward_signs(column, design, SIGNS, rho)
    mixes = design[:, :4]
    penalty = rho * len(design) * np.var(mixes, axis=0).mean()

    def objective(coef, intercept):
        f = intercept + design @ coef
        value = likelihoods(column.family, column.target, f)[0].sum()
        away = SIGNS[:, 0]
        c = away @ coef[:4] / (away @ away)  # the c that leaves the least |Δ|²
        rest = coef[:4] - c * away
        return value - 0.5 * penalty * rest @ rest - 0.5 * 1e-2 * coef @ coef

    best = objective(fit.coef[:, 0], fit.intercept[0])
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = 1e-2 * rng.standard_normal(5)
        for sign in (1, -1):
            assert objective(fit.coef[:, 0] + sign * step, fit.intercept[0]) < best + 1e-6


@pytest.mark.parametrize(("spread", "least", "most"), [(0.0, 0.1, 10.0), (3.0, 0.0, 0.1)])
def test_validation_documents_choose_the_penalty(spread, least, most):
    column, design = documents(Gaussian(1.0), 200, 1, spread)
    held, held_design = documents(Gaussian(1.0), 2000, 2, spread)
    chosen, losses = best_toward_signs(column, design, held, held_design, SIGNS)
    assert chosen in TOWARD_SIGNS and least <= chosen <= most and losses.shape == (2000,)
