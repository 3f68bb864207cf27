"""SufficientStats: a commutative monoid, and what `collect` puts into it."""

from dataclasses import fields, replace

import hypothesis.strategies as st
import models
import numpy as np
import pytest
from hypothesis import given, settings

from topicfocus.joint.statistics import SufficientStats, collect

NAMES = [f.name for f in fields(SufficientStats)]


def assert_same(a, b, **tolerance):
    for name in NAMES:
        x, y = getattr(a, name), getattr(b, name)
        if tolerance:
            np.testing.assert_allclose(x, y, err_msg=name, **tolerance)
        else:
            np.testing.assert_array_equal(x, y, err_msg=name)


@settings(deadline=None, max_examples=25, derandomize=True)
@given(models.cases(max_docs=8), st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_batches_add_up_to_the_whole(case, seed, n_parts):
    order = np.random.default_rng(seed).permutation(case.problem.n_docs)
    parts = [p for p in np.array_split(order, n_parts) if len(p)]
    gamma, pieces = case.gamma.copy(), case.gamma.copy()
    whole = collect(*case[:3], gamma, max_steps=7)
    total = whole.scale(0.0)
    for index in parts:
        own = pieces[index]
        total = total + collect(case.problem.rows(index), *case[1:3], own, max_steps=7)
        pieces[index] = own
    # γ of a document knows nothing of its batch; a product with covariates rounds as it likes.
    if case.problem.covariates is None:
        np.testing.assert_array_equal(pieces, gamma)
    np.testing.assert_allclose(pieces, gamma, rtol=1e-11)
    assert_same(total, whole, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("bound", models.BOUNDS)
@pytest.mark.parametrize("family", models.FAMILIES)
def test_statistics_are_those_of_the_dense_computation(bound, family):
    case = models.draw_case(1, family, bound)
    stats = collect(*case[:3], case.gamma.copy(), max_steps=0)
    counts = case.problem.corpus.counts.toarray()
    r = models.optimal_responsibilities(case.state, case.hyper, case.gamma)
    log_theta = models.expected_log_theta(case.gamma)
    power = case.state.inclusion[:, None] if bound == "paper" else 1.0
    evidence = np.log(np.exp(log_theta) @ (case.state.topic_word**power).T)
    expected = {
        "word_topic": np.einsum("dv,dvk->vk", counts, r),
        "word_log_likelihood": np.sum(counts * evidence, axis=0),
        "word_count": counts.sum(axis=0),
        "log_theta": log_theta.sum(axis=0),
        "mix": np.sum(
            models.dirichlet_log_density(log_theta, case.state.doc_topic_prior)
            - models.dirichlet_log_density(log_theta, case.gamma)
        ),
        "target": models.expected_target(case.problem, case.state, case.gamma).sum(),
        "n_docs": 5,
        "steps": 0,
    }
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(stats, name), value, rtol=1e-11, err_msg=name)


def test_a_dropped_word_keeps_the_statistics_of_weight_one():
    """Weighted by φ, dropping a word would be irreversible."""
    case = models.draw_case(2, bound="tight")
    phi = case.state.inclusion.copy()
    phi[1] = 0.0
    state = replace(case.state, inclusion=phi)
    stats = collect(case.problem, state, case.hyper, case.gamma.copy())
    np.testing.assert_allclose(stats.word_topic.sum(axis=1), stats.word_count, rtol=1e-12)
    assert stats.word_count[1] > 0


@pytest.mark.parametrize("bound", models.BOUNDS)
def test_without_a_target_the_optimal_gamma_is_its_fixed_point(bound):
    case = models.draw_case(4, bound=bound, supervised=False)
    gamma = case.gamma.copy()
    stats = collect(*case[:3], gamma, max_steps=5000, tolerance=1e-14)
    r = models.optimal_responsibilities(case.state, case.hyper, gamma)
    weight = case.problem.corpus.counts.toarray()
    if bound == "tight":
        weight = weight * case.state.inclusion
    expected = case.state.doc_topic_prior + np.einsum("dv,dvk->dk", weight, r)
    np.testing.assert_allclose(gamma, expected, rtol=1e-9)
    assert stats.target == 0.0


def test_single_precision_is_close_to_double():
    case = models.draw_case(5, n_docs=20, n_words=15, n_covariates=1)
    double = collect(*case[:3], case.gamma.copy(), max_steps=30)
    single = collect(*case[:3], case.gamma.copy(), max_steps=30, dtype=np.float32)
    for name in set(NAMES) - {"steps"}:
        a, b = getattr(single, name), getattr(double, name)
        assert np.abs(a - b).max() <= 1e-4 * np.abs(b).max(), name
