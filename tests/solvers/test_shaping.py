"""Shaping topics: the scaled optimiser, and what a watch makes of it."""

import numpy as np
import pytest

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.families import Gaussian
from topicfocus.inference.state import ModelState, make_problem
from topicfocus.solvers.focus.shape import ShapeSettings, shape_topics
from topicfocus.solvers.focus.stopping import StoppingRule, Watch


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


def trace(case, settings, **arguments):
    values = []
    shaped = shape_topics(*case, settings, lambda value, share: values.append(value), **arguments)
    return shaped, values


@pytest.mark.parametrize("bound", [None, np.full(3, 2.0)], ids=["graded", "free"])
def test_scaling_changes_the_way_not_the_end(case, bound):
    plain, there = trace(case, ShapeSettings(20.0, bound, 400))
    scaled, here = trace(case, ShapeSettings(20.0, bound, 400, scaled=True))
    assert here[-1] == pytest.approx(there[-1], abs=2e-3)
    assert np.all(np.diff(here) > -1e-9)
    assert np.abs(plain.state.topic_word - scaled.state.topic_word).max() < 2e-2


def test_a_bound_on_coefficients_holds(case):
    shaped, _ = trace(case, ShapeSettings(20.0, np.full(3, 1.5), 30, scaled=True))
    assert np.abs(shaped.state.coef).max() <= 1.5
    fixed, _ = trace(case, ShapeSettings(20.0, None, 10))
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
    shaped, values = trace(case, ShapeSettings(20.0, None, 50), watch=watch)
    assert shaped.steps == 6  # three good checks, two steps apart
    assert len(values) == 10  # and two more to be sure
    np.testing.assert_array_equal(shaped.state.topic_word, watch.seen[2].topic_word)


def test_the_last_steps_are_looked_at_too(case):
    watch = Told(worse_from=99, patience=2)
    shaped, values = trace(case, ShapeSettings(20.0, None, 5), watch=watch)
    assert (shaped.steps, len(values), watch.checks) == (5, 5, 3)


def test_a_watch_predicts_as_the_model_will(case):
    problem, start, logits = case
    watch = Watch(problem, problem, start.family, StoppingRule(every=5))
    shares = []
    shape_topics(
        problem,
        start,
        logits,
        ShapeSettings(20.0, None, 10),
        lambda value, share: shares.append(share),
        watch=watch,
    )
    assert np.isfinite(shares).tolist() == [i % 5 == 4 for i in range(10)]
    assert 0.2 < shares[4] <= 1.0
