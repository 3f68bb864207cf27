"""Sort and cut: the scalar equation, its limits, and the lift that it sorts by."""

from dataclasses import replace

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import models
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import expit, logit

from topicfocus.joint.settings import INCLUSION_MARGIN
from topicfocus.joint.statistics import collect
from topicfocus.joint.updates import lift, sort_and_cut

scores = hnp.arrays(float, st.integers(2, 30), elements=st.floats(-3, 3))
priors = st.floats(0.02, 0.98)


def counts_for(score, seed=0):
    return np.random.default_rng(seed).integers(1, 50, len(score)).astype(float)


def share(phi, n):
    return np.sum(phi * n) / n.sum()


@settings(deadline=None, derandomize=True)
@given(scores, priors, st.floats(0.05, 3.0))
def test_the_scalar_equation_holds(score, p, temperature):
    """φ = σ((score + c)/T) with c = logit p - logit r: recover c from r and check every word."""
    n = counts_for(score)
    phi = sort_and_cut(score, n, p, temperature)
    c = logit(p) - logit(share(phi, n))
    expected = np.clip(expit((score + c) / temperature), INCLUSION_MARGIN, 1 - INCLUSION_MARGIN)
    # c is bisected to 1e-12; φ moves by at most a quarter of that over T, r back by as much.
    np.testing.assert_allclose(phi, expected, rtol=1e-6, atol=1e-9)


@settings(deadline=None, derandomize=True)
@given(st.integers(0, 10_000), priors)
def test_cold_words_are_sorted_and_cut(seed, p):
    """T → 0: all in, all out, and one word at most in between, where the equation balances."""
    rng = np.random.default_rng(seed)
    score = rng.permutation(20) * 0.1 - 1.0  # distinct
    n = rng.integers(1, 50, 20).astype(float)
    phi = sort_and_cut(score, n, p, 1e-7)
    between = (phi > 1e-6) & (phi < 1 - 1e-6)
    assert between.sum() <= 1
    order = np.argsort(-score)
    assert np.all(np.diff(phi[order]) <= 0)
    # The cut is where score + logit p - logit r changes sign.
    advantage = score + logit(p) - logit(np.clip(share(phi, n), 1e-12, 1 - 1e-12))
    assert np.all(advantage[phi >= 1 - 1e-6] >= -1e-5)
    assert np.all(advantage[phi <= 1e-6] <= 1e-5)
    assert np.all(np.abs(advantage[between]) <= 1e-5)


def test_words_never_seen_are_dropped_and_do_not_move_the_others():
    score, n = np.array([0.5, -0.2, 0.1, 99.0]), np.array([4.0, 2.0, 7.0, 0.0])
    phi = sort_and_cut(score, n, 0.3, 0.2)
    assert phi[3] == INCLUSION_MARGIN
    np.testing.assert_array_equal(phi[:3], sort_and_cut(score[:3], n[:3], 0.3, 0.2))


@pytest.mark.parametrize("temperature", [1.0, 1e-3, 5e-4])
@pytest.mark.parametrize("p", [1e-6, 0.999])
def test_extreme_scores_and_priors_stay_inside_the_margin(temperature, p):
    score = np.array([-1e4, -50.0, 0.0, 50.0, 1e4])
    phi = sort_and_cut(score, np.full(5, 3.0), p, temperature)
    assert np.all((phi >= INCLUSION_MARGIN) & (phi <= 1 - INCLUSION_MARGIN))
    assert phi[0] == INCLUSION_MARGIN and phi[-1] > 1e-3


# ---- lift --------------------------------------------------------------------------------------


def profiles(word_topic, phi):
    """β_vk = S_vk / Σ_u φ_u S_uk, for kept and dropped words alike."""
    return word_topic / (phi @ word_topic)


def lift_at(case, word_topic, phi):
    """The lift of every word at topics made of these profiles; γ stays as it is."""
    state = replace(case.state, topic_word=profiles(word_topic, phi), inclusion=phi)
    stats = collect(case.problem, state, case.hyper, case.gamma.copy(), max_steps=0)
    return lift(stats.word_log_likelihood, stats.word_count, phi)


def test_lift_does_not_depend_on_how_many_words_are_kept():
    """Words with the same profiles, or shares of them, come in: Z_k and Σφn grow together."""
    case = models.draw_case(0, bound="tight", n_words=6)
    counts = case.problem.corpus.counts.toarray()
    counts[:, 3:] = counts[:, :3]  # words 3-5 repeat words 0-2
    case = case._replace(problem=replace(case.problem, corpus=models.make_corpus(counts)))
    profile = np.random.default_rng(1).uniform(0.1, 1.0, (3, 3))
    word_topic = np.vstack([profile, profile])
    half = lift_at(case, word_topic, np.array([1.0, 1, 1, 0, 0, 0]))
    whole = lift_at(case, word_topic, np.ones(6))
    thin = lift_at(case, word_topic, np.full(6, 0.01))
    np.testing.assert_allclose(half, whole, rtol=1e-12)
    np.testing.assert_allclose(thin, whole, rtol=1e-12)
