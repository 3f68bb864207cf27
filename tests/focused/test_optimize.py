"""Shaping topics: the objective, the scaled optimiser, and what a watch makes of it."""

from dataclasses import replace

import numpy as np
import pytest

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.families import Gaussian
from topicfocus.focused.early_stopping import StoppingRule, Watch
from topicfocus.focused.optimize import ShapeSettings, ShapingProblem, shape_topics
from topicfocus.inference.state import ModelState, make_problem


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


def settings(bound, **others):
    return ShapeSettings(prior_precision=20.0, coef_bound=bound, **others)


def trace(case, how, **arguments):
    values = []
    shaped = shape_topics(*case, how, lambda value, share: values.append(value), **arguments)
    return shaped, values


@pytest.fixture(scope="module")
def with_covariates(case):
    """The same with a covariate, and a few documents so that differences are quick."""
    problem, start, logits = case
    few = problem.rows(np.arange(60))
    z = np.random.default_rng(3).normal(size=(60, 2))
    return replace(few, covariates=z), replace(start, covariate_coef=np.full((2, 1), 0.1)), logits


@pytest.mark.parametrize("bound", [None, np.full(3, 2.0)], ids=["graded", "free"])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_gradient_is_that_of_the_objective(with_covariates, bound, scaled):
    logits = with_covariates[2]
    shaping = ShapingProblem(*with_covariates, settings(bound, scaled=scaled))
    rng = np.random.default_rng(4)
    x = shaping.pack(logits + 0.2 * rng.normal(size=logits.shape))

    def settled(x):
        shaping.loss(x)  # θ̂ is found to a tolerance: from where it was found it is nearly exact
        return shaping.loss(x)

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
def test_scaling_changes_the_way_not_the_end(case, bound):
    plain, there = trace(case, settings(bound, max_steps=400))
    scaled, here = trace(case, settings(bound, max_steps=400, scaled=True))
    assert here[-1] == pytest.approx(there[-1], abs=2e-3)
    assert np.all(np.diff(here) > -1e-9)
    assert np.abs(plain.state.topic_word - scaled.state.topic_word).max() < 2e-2


def test_a_bound_on_coefficients_holds(case):
    shaped, _ = trace(
        case,
        settings(np.full(3, 1.5), max_steps=30, scaled=True),
    )
    assert np.abs(shaped.state.coef).max() <= 1.5
    fixed, _ = trace(case, settings(None, max_steps=10))
    np.testing.assert_array_equal(fixed.state.coef, case[1].coef)


class Told(Watch):
    """Says "worse" from a given check on."""

    def __init__(self, worse_from, patience):
        self.rule = StoppingRule(every=2, patience=patience)
        self.worse_from, self.checks, self._worse = worse_from, 0, 0
        self.seen = []

    def check(self, state, mixes):
        self.checks += 1
        self.seen.append(state)
        np.testing.assert_allclose(mixes.sum(axis=1), 1.0)
        worse = self.checks >= self.worse_from
        self._worse += worse
        return 0.5 - 0.1 * worse, worse


def test_the_last_state_that_was_not_worse_is_kept(case):
    watch = Told(worse_from=4, patience=2)
    shaped, values = trace(case, settings(None, max_steps=50), watch=watch)
    assert shaped.steps == 6  # three good checks, two steps apart
    assert len(values) == 10  # and two more to be sure
    np.testing.assert_array_equal(shaped.state.topic_word, watch.seen[2].topic_word)


def test_a_watch_predicts_as_the_model_will(case):
    problem, start, logits = case
    watch = Watch(problem, problem, start.family, StoppingRule(every=5))
    shares = []
    shape_topics(
        problem,
        start,
        logits,
        settings(None, max_steps=10),
        lambda value, share: shares.append(share),
        watch=watch,
    )
    assert np.isfinite(shares).tolist() == [i % 5 == 4 for i in range(10)]
    assert 0.2 < shares[4] <= 1.0
