"""Early stopping on held-out documents."""

import math

import numpy as np

from topicfocus.focused.early_stopping import StoppingRule, Watch
from topicfocus.glm import significantly_more


class Scripted(Watch):
    """A watch that is told what the held-out documents are predicted to be."""

    def __init__(self, target, predictors, rule):
        self.rule = rule
        self._best, self._best_share, self._worse = None, -math.inf, 0
        self._weight = np.ones(len(target))
        self.told = iter([((target - p) ** 2 / target.var()) for p in predictors])

    def losses(self, state, mixes):
        loss = next(self.told)
        return loss, 1.0 - float(loss.mean())


def follow(noise, rule):
    """Checks of predictors with errors of these sizes: (worse, stop) each time."""
    rng = np.random.default_rng(0)
    target = rng.normal(size=400)
    error = rng.normal(size=400)
    watch = Scripted(target, [target + size * error for size in noise], rule)
    return [(watch.check(None, None)[1], watch.stop) for _ in noise]


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
    one = np.ones(200)
    assert not significantly_more(best + rng.normal(size=200), best, one, 2.5)
    assert significantly_more(best + 0.5 + rng.normal(size=200), best, one, 2.5)
    assert significantly_more(np.array([2.0]), np.array([1.0]), np.ones(1), 2.0)
