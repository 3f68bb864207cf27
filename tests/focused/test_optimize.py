"""The optimisation of topics: its gradient, its end, its bounds."""

from dataclasses import replace

import numpy as np
import pytest

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.families import Gaussian
from topicfocus.focused.optimize import NegativeObjective, optimize_topics
from topicfocus.model import ModelState, make_problem


@pytest.fixture(scope="module")
def case():
    """Reviews, three topics, and logits that lean by a made-up amount."""
    data = make_reviews(400, random_state=1)
    problem = make_problem(make_corpus(data.counts), data.target, 3.0, n_jobs=1)
    rng = np.random.default_rng(0)
    n_words = data.counts.shape[1]
    logits = np.log(problem.corpus.word_counts + 1.0)[:, None] + 0.3 * rng.normal(size=(n_words, 3))
    start = ModelState(
        np.zeros((n_words, 3)),
        np.ones(n_words),
        np.zeros(n_words),
        np.array([-1.0, 0.0, 1.0]),
        Gaussian(1.0),
        np.full(3, 2.0),
        float(data.target.mean()),
    )
    return problem, start, logits


def trace(case, bound, max_steps=30):
    values = []
    return optimize_topics(*case, 20.0, bound, max_steps, values.append)[0], values


@pytest.fixture(scope="module")
def with_covariates(case):
    """The same with a covariate, and a few documents so that differences are quick."""
    problem, start, logits = case
    few = problem.rows(np.arange(60))
    z = np.random.default_rng(3).normal(size=(60, 2))
    return replace(few, covariates=z), replace(start, covariate_coef=np.full((2, 1), 0.1)), logits


@pytest.mark.parametrize(
    ("bound", "precision"),
    [(None, 20.0), (np.full(3, 2.0), 20.0), (None, np.array([10.0, 20.0, 60.0]))],
    ids=["graded", "free", "a precision for each topic"],
)
def test_the_gradient_is_that_of_the_objective(with_covariates, bound, precision):
    logits = with_covariates[2]
    loss = NegativeObjective(*with_covariates, precision, bound)
    rng = np.random.default_rng(4)
    x = loss.pack(logits + 0.2 * rng.normal(size=logits.shape))

    def settled(x):
        loss(x)  # θ̂ is found to a tolerance: from where it was found it is nearly exact
        return loss(x)

    gradient = settled(x)[1]
    # Directions in W alone, and in η, b and ζ; η has no slope where it is held.
    others = np.arange(len(x)) >= logits.size
    if bound is None:
        np.testing.assert_array_equal(gradient[logits.size : logits.size + 3], 0.0)
        others[logits.size : logits.size + 3] = False
    for where in (np.arange(len(x)) < logits.size, others):
        direction = where * rng.normal(size=len(x))
        h = 1e-4
        ahead, behind = (settled(x + s * h * direction)[0] for s in (1, -1))
        assert (ahead - behind) / (2 * h) == pytest.approx(gradient @ direction, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("bound", [None, np.full(3, 2.0)], ids=["graded", "free"])
def test_the_objective_rises_until_no_direction_is_left(case, bound):
    problem, start, logits = case
    end, values = trace(case, bound, 400)
    assert np.all(np.diff(values) > -1e-5) and len(values) < 100  # θ̂ has a tolerance
    loss = NegativeObjective(problem, start, logits, 20.0, bound)
    before = np.abs(loss(loss.pack(logits))[1][: logits.size]).max()
    there = np.log(end.topic_word)
    loss = NegativeObjective(problem, end, logits, 20.0, bound)
    loss(loss.pack(there))
    # W̃ is W minus its mean over topics, so the prior sees no difference between W and log β.
    slope = loss(loss.pack(there))[1][: logits.size].reshape(logits.shape)
    assert np.abs(slope).max() < 0.05 * before


def test_a_bound_on_coefficients_holds(case):
    shaped, _ = trace(case, np.full(3, 1.5))
    assert np.abs(shaped.coef).max() <= 1.5
    fixed, _ = trace(case, None, 10)
    np.testing.assert_array_equal(fixed.coef, case[1].coef)
