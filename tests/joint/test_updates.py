"""Every closed-form update maximises the bound in its block, the responsibilities fixed."""

from dataclasses import replace

import models
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize, minimize_scalar
from scipy.special import softmax

from topicfocus.joint.settings import INCLUSION_MARGIN
from topicfocus.joint.statistics import collect
from topicfocus.joint.updates import (
    SMALLEST_PRIOR,
    log_likelihood_per_token,
    prior_objective,
    update_background,
    update_inclusion,
    update_prior,
    update_topics,
)

every_bound = pytest.mark.parametrize("bound", models.BOUNDS)
SIZES = (1e-4, 1e-2, 0.3, 2.0)


class Fixed:
    """The explicit bound at responsibilities that stay as they are."""

    def __init__(self, case):
        self.case = case
        self.stats = collect(*case[:3], case.gamma.copy(), max_steps=0)
        self.r = models.optimal_responsibilities(case.state, case.hyper, case.gamma)

    def __call__(self, **changes):
        problem, state, hyper, gamma = self.case
        return models.uncollapsed_bound(problem, replace(state, **changes), hyper, gamma, self.r)


def assert_maximum(value, trials):
    """No trial is higher, beyond rounding; some are lower, so that the check means something."""
    trials = np.array(trials)
    assert np.all(trials <= value + 1e-11 * abs(value)), trials.max() - value
    assert trials.min() < value - 1e-6


@every_bound
@pytest.mark.parametrize("seed", range(2))
def test_topics_maximise_the_bound(bound, seed):
    bounded = Fixed(models.draw_case(seed, bound=bound, n_words=8))
    phi = bounded.case.state.inclusion
    topics = update_topics(bounded.stats, phi)
    np.testing.assert_allclose(topics.sum(axis=0), 1, rtol=1e-13)
    rng = np.random.default_rng(seed)
    trials = [
        bounded(topic_word=softmax(np.log(topics) + size * rng.normal(size=topics.shape), axis=0))
        for size in SIZES
        for _ in range(25)
    ]
    assert_maximum(bounded(topic_word=topics), trials)
    assert bounded(topic_word=topics) >= bounded()


@every_bound
def test_inclusion_of_each_word_equals_the_numerical_optimum(bound):
    bounded = Fixed(models.draw_case(3, bound=bound))
    phi = update_inclusion(bounded.stats, bounded.case.state, bounded.case.hyper)
    for v in range(len(phi)):

        def loss(x, v=v):
            trial = phi.copy()
            trial[v] = x
            return -bounded(inclusion=trial)

        found = minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-9})
        # The optimum of a function known to 1e-14 is known to about its square root.
        np.testing.assert_allclose(phi[v], found.x, atol=1e-6)


@every_bound
def test_background_maximises_the_bound(bound):
    bounded = Fixed(models.draw_case(4, bound=bound, n_words=8))
    pi = update_background(bounded.stats.word_count, bounded.case.state.inclusion)
    np.testing.assert_allclose(pi.sum(), 1, rtol=1e-13)
    rng = np.random.default_rng(4)
    trials = [
        bounded(background=softmax(np.log(pi) + size * rng.normal(size=pi.shape)))
        for size in SIZES
        for _ in range(25)
    ]
    assert_maximum(bounded(background=pi), trials)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(models.cases(selects=True))
def test_updates_one_after_the_other_never_lower_the_bound(case):
    """Inclusion, topics, background from one set of statistics, as coordinate ascent does it."""
    bounded = Fixed(case)
    phi = update_inclusion(bounded.stats, case.state, case.hyper)
    topics = update_topics(bounded.stats, phi)
    pi = update_background(bounded.stats.word_count, phi)
    assert np.all((phi >= INCLUSION_MARGIN) & (phi <= 1 - INCLUSION_MARGIN))
    steps = [
        bounded(),
        bounded(inclusion=phi),
        bounded(inclusion=phi, topic_word=topics),
        bounded(inclusion=phi, topic_word=topics, background=pi),
    ]
    assert np.all(np.diff(steps) >= -1e-10 * np.abs(steps[:-1]).max())


def test_words_never_seen_keep_their_inclusion_and_get_no_probability():
    case = models.draw_case(5)
    counts = case.problem.corpus.counts.toarray()
    counts[:, 2] = 0
    problem = replace(case.problem, corpus=models.make_corpus(counts))
    stats = collect(problem, case.state, case.hyper, case.gamma.copy())
    phi = update_inclusion(stats, case.state, case.hyper)
    assert phi[2] == case.state.inclusion[2]
    assert np.all(update_topics(stats, phi)[2] == 0)
    assert update_background(stats.word_count, phi)[2] == 0
    assert np.all(log_likelihood_per_token(stats, case.state, case.hyper)[2] == 0)


def test_a_topic_without_any_tokens_takes_the_words_frequencies():
    case = models.draw_case(7)
    stats = collect(*case[:3], case.gamma.copy())
    word_topic = stats.word_topic.copy()
    word_topic[:, 1] = 0.0
    phi = case.state.inclusion
    topics = update_topics(replace(stats, word_topic=word_topic), phi)
    expected = phi * stats.word_count
    np.testing.assert_allclose(topics[:, 1], expected / expected.sum(), rtol=1e-13)
    np.testing.assert_allclose(topics[:, 0], update_topics(stats, phi)[:, 0], rtol=1e-13)


# ---- α -----------------------------------------------------------------------------------------


def draw_log_theta(seed, alpha, n_docs=400):
    theta = np.random.default_rng(seed).dirichlet(alpha, n_docs)
    return np.log(np.maximum(theta, 1e-300)).sum(axis=0), float(n_docs)


@pytest.mark.parametrize("alpha", [(1.0, 1.0), (0.2, 0.7, 3.0), (30.0, 8.0), (0.05,) * 5])
@pytest.mark.parametrize("start", [0.01, 1.0, 50.0])
def test_the_prior_equals_the_numerical_optimum_from_any_start(alpha, start):
    log_theta, n_docs = draw_log_theta(1, alpha)
    got = update_prior(log_theta, n_docs, np.full(len(alpha), start))
    found = minimize(
        lambda x: -prior_objective(log_theta, n_docs, np.exp(x)) / n_docs,
        np.log(alpha),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    value, best = (prior_objective(log_theta, n_docs, a) for a in (got, np.exp(found.x)))
    assert value >= best - 1e-9 * abs(best)
    # Stops on the objective's relative change of 1e-10, which is its argument's squared.
    np.testing.assert_allclose(got, np.exp(found.x), rtol=2e-4)


def test_the_prior_never_falls_below_its_floor_and_never_lowers_the_objective():
    """Documents of one topic each: the likelihood would like α = 0."""
    log_theta = np.full(3, -2000.0)
    before = prior_objective(log_theta, 10.0, np.ones(3))
    alpha = update_prior(log_theta, 10.0, np.ones(3))
    assert np.all(alpha >= SMALLEST_PRIOR)
    assert prior_objective(log_theta, 10.0, alpha) > before
