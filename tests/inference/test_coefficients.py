"""η and the dispersion: the paper's normal equations, stationarity, weights, degenerate cases."""

from dataclasses import replace

import models
import numpy as np
import pytest
from scipy.optimize import minimize

from topicfocus.families import Gaussian
from topicfocus.inference.coefficients import TargetMoments, coef_statistics, update_coef

every_family = pytest.mark.parametrize("family", models.FAMILIES)


def case_with_weights(family, seed=0, n_docs=40):
    case = models.draw_case(seed, family, n_docs=n_docs)
    weight = np.random.default_rng(seed).uniform(0.2, 3.0, n_docs)
    weight[::7] = 0.0  # documents without a target
    return case._replace(problem=replace(case.problem, target_weight=weight))


def objective(case, coef, penalty, family=None):
    state = replace(case.state, coef=coef, family=family or case.state.family)
    return (
        models.expected_target(case.problem, state, case.gamma).sum() - 0.5 * penalty * coef @ coef
    )


@pytest.mark.parametrize("penalty", [0.0, 1e-3, 0.8])
def test_gaussian_coefficients_solve_the_weighted_normal_equations(penalty):
    case = case_with_weights("gaussian")
    w, y = case.problem.target_weight, case.problem.target
    mean, second = models.second_moments(case.gamma)
    delta = case.state.family.noise_variance
    matrix = np.einsum("d,dkl->kl", w, second) / delta + penalty * np.eye(3)
    expected = np.linalg.solve(matrix, mean.T @ (w * y) / delta)
    coef, family = update_coef(case.problem, case.state, case.gamma, penalty)
    np.testing.assert_allclose(coef, expected, rtol=1e-7)
    # δ = Σ w (y² - 2y η·E[θ] + ηᵀE[θθᵀ]η) / Σ w, with the new η.
    square = np.einsum("dkl,k,l->d", second, coef, coef)
    noise = np.sum(w * (y**2 - 2 * y * (mean @ coef) + square)) / w.sum()
    np.testing.assert_allclose(family.noise_variance, noise, rtol=1e-12)


@pytest.mark.parametrize("penalty", [0.0, 1e-3, 0.8])
@pytest.mark.parametrize("seed", range(4))
def test_bernoulli_coefficients_are_stationary(penalty, seed):
    case = case_with_weights("bernoulli", seed)
    coef, family = update_coef(case.problem, case.state, case.gamma, penalty)
    assert family == case.state.family
    value = objective(case, coef, penalty)
    gradient = models.numerical_gradient(lambda x: objective(case, x, penalty), coef)
    hessian = np.array(
        [
            models.numerical_gradient(
                lambda x, k=k: models.numerical_gradient(
                    lambda z: objective(case, z, penalty), x, 1e-4
                )[k],
                coef,
                1e-4,
            )
            for k in range(3)
        ]
    )
    # What another Newton step would gain; the update stops on gains of 1e-10 of the value.
    assert np.all(np.linalg.eigvalsh(-hessian) > 0)
    assert 0.5 * gradient @ np.linalg.solve(-hessian, gradient) <= 1e-8 * abs(value)
    found = minimize(lambda x: -objective(case, x, penalty), coef, method="BFGS")
    assert -found.fun <= value + 1e-8 * abs(value)


@every_family
def test_the_update_maximises_its_block_and_never_lowers_it(family):
    for seed in range(5):
        case = case_with_weights(family, seed)
        before = objective(case, case.state.coef, 1e-3)
        coef, new = update_coef(case.problem, case.state, case.gamma, 1e-3)
        middle = objective(case, coef, 1e-3)
        after = objective(case, coef, 1e-3, new)
        assert before < middle <= after
        rng = np.random.default_rng(seed)
        for size in (1e-3, 1e-2, 0.3):
            for _ in range(20):
                trial = coef + size * rng.normal(size=3)
                assert objective(case, trial, 1e-3) <= middle + 1e-8 * abs(middle)
        if family == "gaussian":
            for factor in (0.5, 0.99, 1.01, 2.0):
                other = Gaussian(new.noise_variance * factor)
                assert objective(case, coef, 1e-3, other) < after


@every_family
def test_statistics_are_the_derivatives_of_the_expected_log_likelihood(family):
    case = case_with_weights(family)
    gradient, curvature, dispersion = coef_statistics(case.problem, case.state, case.gamma)
    expected = models.numerical_gradient(lambda x: objective(case, x, 0.0), case.state.coef)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-6)
    assert np.all(np.linalg.eigvalsh(curvature) > 0)
    if family == "gaussian":
        _, second = models.second_moments(case.gamma)
        delta = case.state.family.noise_variance
        exact = np.einsum("d,dkl->kl", case.problem.target_weight, second) / delta
        np.testing.assert_allclose(curvature, exact, rtol=1e-10)

        def by_noise(x):
            return objective(case, case.state.coef, 0.0, Gaussian(float(np.exp(x[0]))))

        expected = models.numerical_gradient(by_noise, np.log([delta]))[0]
        np.testing.assert_allclose(dispersion, expected, rtol=1e-7)
    else:
        assert dispersion == 0.0


@every_family
def test_moments_are_those_of_the_documents_with_a_target(family):
    case = case_with_weights(family)
    moments = TargetMoments(case.problem, case.gamma)
    assert len(moments.target) == np.sum(case.problem.target_weight > 0)
    np.testing.assert_allclose(
        moments.value(case.state.family, case.state.coef),
        objective(case, case.state.coef, 0.0),
        rtol=1e-12,
    )


def test_without_a_target_nothing_is_touched():
    case = models.draw_case(1, supervised=False)
    coef, family = update_coef(case.problem, case.state, case.gamma, 1e-3)
    assert coef is case.state.coef and family is case.state.family
    gradient, curvature, dispersion = coef_statistics(case.problem, case.state, case.gamma)
    assert not gradient.any() and not curvature.any() and dispersion == 0.0


@every_family
def test_a_topic_that_no_document_uses_leaves_the_system_solvable(family):
    case = case_with_weights(family)
    gamma = case.gamma.copy()
    gamma[:, 2] = 1e-12
    coef, _ = update_coef(case.problem, case.state, gamma, 0.0)
    assert np.all(np.isfinite(coef)) and np.abs(coef).max() < 1e3


def test_separable_classes_have_an_optimum_because_of_the_penalty():
    case = models.draw_case(2, "bernoulli", n_docs=30, n_topics=2)
    y = np.tile([0.0, 1.0], 15)
    gamma = np.where(y[:, None] == [1.0, 0.0], 40.0, 0.5)
    problem = replace(case.problem, target=y)
    loose, _ = update_coef(problem, case.state, gamma, 1e-3)
    firm, _ = update_coef(problem, case.state, gamma, 1.0)
    assert np.all(np.isfinite(loose)) and np.abs(firm).max() < np.abs(loose).max() < 50
    assert loose[0] * loose[1] < 0 and firm[0] * firm[1] < 0
