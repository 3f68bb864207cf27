"""A family that the package does not know goes through every solver by its registrations alone."""

import numpy as np
import pytest
from outside_family import NegativeBinomial

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.families import (
    carries_intercept,
    coef_shape,
    is_quadratic,
    is_ranking,
    noise_variance,
    predictor_spread,
    rejoined,
    split,
    with_noise_variance,
)
from topicfocus.focused import FocusSettings, damp, fit_focused
from topicfocus.glm import fit_linear, target_columns
from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.state import Hyperparameters, make_problem
from topicfocus.joint import CoordinateSolver, StochasticSolver, run
from topicfocus.joint.initialize import perturbed_start

SIZE = 3.0


@pytest.fixture(scope="module")
def problem():
    """Reviews with counts that follow the rating, and vary more than a Poisson's."""
    data = make_reviews(500, random_state=2)
    rng = np.random.default_rng(0)
    rate = np.exp(0.5 * (data.target - data.target.mean()))
    y = rng.negative_binomial(SIZE, SIZE / (SIZE + rate)).astype(float)
    return make_problem(make_corpus(data.counts), y, n_jobs=1)


def test_what_a_family_need_not_register():
    family = NegativeBinomial(2.0)
    assert noise_variance(family) is None
    assert with_noise_variance(family, 3.0) is family
    assert not (is_quadratic(family) or is_ranking(family) or carries_intercept(family))
    assert coef_shape(family, 4) == (4,)
    assert predictor_spread(family, np.zeros(2), np.ones(2)) == 2.0
    assert rejoined(family, [own for own, _ in split(family)]) is family


def test_a_regression_finds_slopes_and_dispersion(problem):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 2))
    rate = np.exp(0.3 + x @ [0.8, -0.4])
    y = rng.negative_binomial(SIZE, SIZE / (SIZE + rate)).astype(float)
    many = make_problem(make_corpus(np.ones((4000, 1))), y, n_jobs=1)
    column = target_columns(many, NegativeBinomial(0.5))[0]
    fit = fit_linear(column, x)
    np.testing.assert_allclose(fit.coef[:, 0], [0.8, -0.4], atol=0.06)
    np.testing.assert_allclose(fit.intercept, 0.3, atol=0.06)
    assert fit.family.size == pytest.approx(SIZE, rel=0.15)


def test_the_focused_model(problem):
    train, held_out = problem.rows(np.arange(400)), problem.rows(np.arange(400, 500))
    result = fit_focused(train, held_out, NegativeBinomial(1.0), FocusSettings(n_topics=3))
    assert result.explained > 0.03
    assert isinstance(result.state.family, NegativeBinomial)
    assert result.state.coef.shape == (3,)
    mixes = topic_mixes(damp(problem.corpus), result.state, n_jobs=1)
    predictor = (problem.offsets(result.state) + mixes @ result.state.coef_rows.T)[:, 0]
    assert np.corrcoef(predictor, problem.target)[0, 1] > 0.4


@pytest.mark.parametrize("solver", [CoordinateSolver(), StochasticSolver()])
def test_the_joint_solvers(problem, solver):
    hyper = Hyperparameters(n_topics=3, selects=False)
    rng = np.random.default_rng(0)
    start = perturbed_start(problem, hyper, NegativeBinomial(1.0), np.ones(3), rng)
    result = run(solver, problem, hyper, start, rng, max_epochs=8, tol=0.0)
    assert isinstance(result.model.family, NegativeBinomial)
    objective = [info.objective for info in result.history]
    assert objective[-1] > objective[0]
    if isinstance(solver, CoordinateSolver):
        assert np.all(np.diff(objective) > -1e-9)
