"""Early stopping on held-out documents."""

import math

import numpy as np
import pytest

from topicfocus.families import Bernoulli, Gaussian
from topicfocus.solvers.refit import explained_share, pointwise_deviance
from topicfocus.solvers.stopping import StoppingRule, Watch, significantly_more


class Scripted(Watch):
    """A watch that is told what the held-out documents are predicted to be."""

    def __init__(self, target, predictors, rule):
        self.rule = rule
        self._target = target
        self._best, self._best_share, self._worse = None, -math.inf, 0
        self.predictors = iter(predictors)

    def predictor(self, state, mixes):
        return next(self.predictors)


class State:
    family = Gaussian(1.0)


def follow(noise, rule):
    """Checks of predictors with errors of these sizes: (worse, stop) each time."""
    rng = np.random.default_rng(0)
    target = rng.normal(size=400)
    error = rng.normal(size=400)
    watch = Scripted(target, [target + size * error for size in noise], rule)
    return [(watch.check(State, None)[1], watch.stop) for _ in noise]


def test_stops_after_patience_and_not_before():
    rule = StoppingRule(patience=2)
    assert follow([0.8, 0.5, 0.6, 0.6], rule) == [
        (False, False),
        (False, False),
        (True, False),
        (True, True),
    ]
    # One good check in between starts the count anew.
    assert not any(stop for _, stop in follow([0.5, 0.6, 0.5, 0.6], rule))


def test_slack_lets_a_little_go():
    assert follow([0.3, 0.35], StoppingRule())[1][0]
    assert not follow([0.3, 0.35], StoppingRule(slack=0.05))[1][0]
    assert follow([0.3, 0.5], StoppingRule(slack=0.05))[1][0]


def test_chance_is_not_worse():
    rng = np.random.default_rng(1)
    best = rng.exponential(size=200)
    assert not significantly_more(best + rng.normal(size=200), best, 2.5)
    assert significantly_more(best + 0.5 + rng.normal(size=200), best, 2.5)
    assert significantly_more(np.array([2.0]), np.array([1.0]), 2.0)


@pytest.mark.parametrize("family", [Gaussian(0.3), Bernoulli()], ids=["gaussian", "bernoulli"])
def test_explained_share_is_the_deviance_against_a_constant(family):
    rng = np.random.default_rng(2)
    predictor = rng.normal(size=50)
    if isinstance(family, Gaussian):
        target = predictor + 0.5 * rng.normal(size=50)
        expected = 1 - np.sum((target - predictor) ** 2) / np.sum((target - target.mean()) ** 2)
    else:
        target = (rng.random(50) < 1 / (1 + np.exp(-predictor))).astype(float)
        p, q = 1 / (1 + np.exp(-predictor)), target.mean()
        fit = np.sum(target * np.log(p) + (1 - target) * np.log(1 - p))
        expected = 1 - fit / np.sum(target * np.log(q) + (1 - target) * np.log(1 - q))
    assert explained_share(target, predictor, family) == pytest.approx(expected)
    assert pointwise_deviance(target, predictor, family).shape == (50,)
