"""η and the dispersion: the paper's normal equations, stationarity, weights, degenerate cases."""

from dataclasses import replace

import models
import numpy as np
import pytest

from topicfocus.families import Gaussian
from topicfocus.joint.coefficients import (
    coef_gradient,
    update_coef,
)

every_family = pytest.mark.parametrize("family", models.FAMILIES)


def case_with_weights(family, seed=0, n_docs=40, n_covariates=0):
    case = models.draw_case(seed, family, n_docs=n_docs, n_covariates=n_covariates)
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.2, 3.0, case.problem.target.shape)
    weight[::7] = 0.0  # documents without a target
    if weight.ndim > 1:
        weight *= rng.random(weight.shape) < 0.8
    return case._replace(problem=replace(case.problem, target_weight=weight))


def objective(case, coef, penalty, family=None, covariate_coef=None):
    if covariate_coef is None:
        covariate_coef = case.state.covariate_coef
    state = replace(
        case.state,
        coef=coef,
        family=family or case.state.family,
        covariate_coef=covariate_coef,
    )
    values = models.expected_target(case.problem, state, case.gamma)
    return case.problem.doc_weights @ values - models.penalty(state, penalty)


@pytest.mark.parametrize("penalty", [0.0, 1e-3, 0.8])
def test_gaussian_coefficients_solve_the_weighted_normal_equations(penalty):
    case = case_with_weights("gaussian")
    w, y = case.problem.target_weight, case.problem.target
    mean, second = models.second_moments(case.gamma)
    delta = case.state.family.noise_variance
    matrix = np.einsum("d,dkl->kl", w, second) / delta + penalty * np.eye(3)
    expected = np.linalg.solve(matrix, mean.T @ (w * y) / delta)
    coef, _, family = update_coef(case.problem, case.state, case.gamma, penalty)
    np.testing.assert_allclose(coef, expected, rtol=1e-7)
    # δ = Σ w (y² - 2y η·E[θ] + ηᵀE[θθᵀ]η) / Σ w, with the new η.
    square = np.einsum("dkl,k,l->d", second, coef, coef)
    noise = np.sum(w * (y**2 - 2 * y * (mean @ coef) + square)) / w.sum()
    np.testing.assert_allclose(family.noise_variance, noise, rtol=1e-12)


@every_family
@pytest.mark.parametrize("n_covariates", [0, 2])
def test_the_update_maximises_its_block_and_never_lowers_it(family, n_covariates):
    for seed in range(4):
        case = case_with_weights(family, seed, n_covariates=n_covariates)
        before = objective(case, case.state.coef, 1e-3)
        coef, zeta, new = update_coef(case.problem, case.state, case.gamma, 1e-3)
        middle = objective(case, coef, 1e-3, covariate_coef=zeta)
        after = objective(case, coef, 1e-3, new, zeta)
        # Thresholds are compared by another formula of the same likelihood.
        rounding = 1e-12 if family in ("ordinal", "several") else 0.0
        assert before < middle <= after + rounding * abs(after)
        # Newton stops on its gain, and takes small steps where it has a bound of the curvature.
        slack = 1e-8 if family in ("gaussian", "bernoulli", "poisson") else 1e-6
        slack = 1e-5 if n_covariates else slack
        rng = np.random.default_rng(seed)
        for size in np.repeat([1e-3, 1e-2, 0.3], 15):
            near = coef + size * rng.normal(size=coef.shape)
            beside = None if zeta is None else zeta + size * rng.normal(size=zeta.shape)
            trial = objective(case, near, 1e-3, covariate_coef=beside)
            assert trial <= middle + slack * abs(middle)
        if family == "gaussian":
            for factor in (0.5, 0.99, 1.01, 2.0):
                other = Gaussian(new.noise_variance * factor)
                assert objective(case, coef, 1e-3, other, zeta) < after


@every_family
@pytest.mark.parametrize("n_covariates", [0, 2])
def test_gradients_are_those_of_the_expected_log_likelihood(family, n_covariates):
    case = case_with_weights(family, n_covariates=n_covariates)
    state = case.state
    found = coef_gradient(case.problem, state, case.gamma)
    expected = models.numerical_gradient(lambda x: objective(case, x, 0.0), state.coef)
    size = np.abs(expected).max()
    np.testing.assert_allclose(found["coef"], expected, rtol=1e-6, atol=1e-6 * (1 + size / 100))
    assert ("covariate_coef" in found) == (n_covariates > 0)
    if n_covariates:
        expected = models.numerical_gradient(
            lambda x: objective(case, state.coef, 0.0, covariate_coef=x), state.covariate_coef
        )
        size = np.abs(expected).max()
        np.testing.assert_allclose(
            found["covariate_coef"], expected, rtol=1e-6, atol=1e-6 * (1 + size / 100)
        )
    free = state.family.free_parameters()
    expected = models.numerical_gradient(
        lambda x: objective(case, state.coef, 0.0, state.family.with_free_parameters(x)), free
    )
    np.testing.assert_allclose(found.get("family", free), expected, rtol=1e-6, atol=1e-6)


@every_family
def test_without_a_target_nothing_is_touched(family):
    case = models.draw_case(1, family, supervised=False, n_covariates=2)
    coef, zeta, new = update_coef(case.problem, case.state, case.gamma, 1e-3)
    assert coef is case.state.coef and new is case.state.family
    assert zeta is case.state.covariate_coef
    found = coef_gradient(case.problem, case.state, case.gamma)
    assert found["coef"].shape == coef.shape and found["covariate_coef"].shape == zeta.shape
    assert not any(part.any() for part in found.values())


def test_targets_of_documents_that_stand_for_none_are_no_targets():
    case = models.draw_case(1)
    target = np.array([1.0, 2.0, np.nan, np.nan, np.nan])
    weight = np.array([0.0, 0.0, 1.0, 2.0, 1.0])
    problem = models.make_problem(case.problem.corpus, target, doc_weight=weight)
    coef, _, family = update_coef(problem, case.state, case.gamma, 0.0)
    assert coef is case.state.coef and family is case.state.family


@every_family
def test_a_topic_that_no_document_uses_leaves_the_system_solvable(family):
    case = case_with_weights(family)
    gamma = case.gamma.copy()
    gamma[:, 2] = 1e-12
    coef, _, _ = update_coef(case.problem, case.state, gamma, 0.0)
    assert np.all(np.isfinite(coef)) and np.abs(coef).max() < 1e3
