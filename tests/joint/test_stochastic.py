"""Minibatches of the collapsed bound: upwards, and to where coordinate ascent ends."""

from dataclasses import replace

import numpy as np
import pytest

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_pfslda
from topicfocus.families import Bernoulli, Gaussian
from topicfocus.joint import CoordinateSolver, StochasticSolver, run
from topicfocus.joint.adam import Adam
from topicfocus.joint.coefficients import coef_gradient
from topicfocus.joint.initialize import perturbed_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.statistics import bound_value, collect
from topicfocus.joint.stochastic import collapsed_gradient
from topicfocus.model import make_problem


def bound_per_token(problem, model, hyper):
    gamma = np.ones((problem.n_docs, hyper.n_topics))
    stats = collect(problem, model, hyper, gamma, max_steps=300, tolerance=1e-8)
    return bound_value(stats, model, hyper) / problem.corpus.n_tokens


def make(family, bound, selects=True, learn_prior=False):
    data = make_pfslda(
        n_docs=400,
        doc_length=60,
        n_topics=3,
        n_relevant=30,
        n_irrelevant=20,
        family=family,
        random_state=0,
    )
    problem = make_problem(make_corpus(data.counts), data.target, n_jobs=1)
    # A firm prior on η keeps a Bernoulli model where the expansion of its target term is good.
    hyper = Hyperparameters(
        n_topics=3,
        selects=selects,
        inclusion_prior=0.25,
        bound=bound,
        learn_prior=learn_prior,
        coef_penalty=1e-3 if family == "gaussian" else 1.0,
    )
    example = Gaussian(1.0) if family == "gaussian" else Bernoulli()
    start = perturbed_start(problem, hyper, example, np.ones(3), np.random.default_rng(1))
    return problem, hyper, start


@pytest.mark.parametrize(
    ("family", "bound", "selects", "learn_prior"),
    [
        ("gaussian", "paper", True, False),
        ("gaussian", "tight", True, True),
        ("gaussian", "paper", False, False),
        ("bernoulli", "paper", True, False),
        ("bernoulli", "tight", True, False),
        ("bernoulli", "paper", False, True),
    ],
)
def test_it_ends_near_coordinate_ascent(family, bound, selects, learn_prior):
    problem, hyper, start = make(family, bound, selects, learn_prior)
    rng = np.random.default_rng(0)
    exact = run(CoordinateSolver(), problem, hyper, start, rng, max_epochs=80, tol=1e-6)
    solver = StochasticSolver(batch_size=50, learning_rate=0.1)
    result = run(solver, problem, hyper, start, rng, max_epochs=40, tol=0.0)
    before, best, reached = (
        bound_per_token(problem, model, hyper) for model in (start, exact.model, result.model)
    )
    assert before < best
    assert reached >= best - 0.05 * (best - before)
    assert np.any(result.model.doc_topic_prior != 1) == learn_prior


def test_the_rule_stops_it():
    problem, hyper, start = make("gaussian", "paper")
    rng = np.random.default_rng(0)
    result = run(StochasticSolver(), problem, hyper, start, rng, max_epochs=300, tol=1e-3)
    assert result.converged and len(result.history) < 100


def record_steps(monkeypatch):
    """Every (gradient, rate) that Adam is given."""
    steps = []
    original = Adam.step

    def step(self, gradients, rate):
        steps.append(({k: np.copy(v) for k, v in gradients.items()}, rate))
        original(self, gradients, rate)

    monkeypatch.setattr(Adam, "step", step)
    return steps


def test_batches_are_unbiased(monkeypatch):
    """At a model that does not move (rate 0), the batches' gradients average to the whole one."""
    problem, hyper, start = make("gaussian", "paper")
    hyper = replace(hyper, coef_penalty=0.4)
    steps = record_steps(monkeypatch)
    solver = StochasticSolver(batch_size=100, learning_rate=0.0)
    state = solver.begin(problem, hyper, start, np.random.default_rng(0))
    gamma = state.concentration.copy()
    _, info = solver.step(state)
    stats = collect(problem, start, hyper, gamma, max_steps=10, tolerance=1e-3, dtype=np.float32)
    expected = collapsed_gradient(stats, start, hyper)
    expected |= coef_gradient(problem, start, gamma, hyper.coef_penalty)
    assert len(steps) == 4
    for name, value in expected.items():
        average = np.mean([gradient[name] for gradient, _ in steps], axis=0)
        np.testing.assert_allclose(average, value, rtol=1e-7, atol=1e-7, err_msg=name)
    value = bound_value(stats, start, hyper) / problem.corpus.n_tokens
    np.testing.assert_allclose(info.objective, value, rtol=1e-10)


@pytest.mark.parametrize("order", ["C", "F"])
def test_adam_is_textbook_adam(order):
    """Also for column-major parameters: topics are often the transpose of something."""
    rng = np.random.default_rng(0)
    start, gradients = rng.normal(size=(3, 2)), rng.normal(size=(20, 3, 2))
    gradients[5:9] = 0.0
    given = np.array(start, order=order)
    adam = Adam({"x": given})
    value, m, v = start.copy(), 0.0, 0.0
    for t, g in enumerate(gradients, start=1):
        adam.step({"x": np.array(g, order=order)}, 0.03)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        value = value + 0.03 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        np.testing.assert_allclose(adam.parameters["x"], value, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(given, start)
