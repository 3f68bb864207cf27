"""SufficientStats: a commutative monoid, and what `collect` puts into it."""

from dataclasses import fields, replace

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import models
import numpy as np
import pytest
from hypothesis import given, settings

from topicfocus.joint.statistics import SufficientStats, collect

NAMES = [f.name for f in fields(SufficientStats)]
PER_CORPUS = {"coef_gradient", "covariate_gradient", "free_gradient"}  # zero without a target


def assert_same(a, b, **tolerance):
    for name in NAMES:
        x, y = getattr(a, name), getattr(b, name)
        if tolerance:
            np.testing.assert_allclose(x, y, err_msg=name, **tolerance)
        else:
            np.testing.assert_array_equal(x, y, err_msg=name)


numbers = st.floats(-1e6, 1e6)


@st.composite
def statistics(draw, n_words=3, n_topics=2):
    def array(*shape):
        return draw(hnp.arrays(float, shape, elements=numbers))

    return SufficientStats(
        array(n_words, n_topics),
        array(n_words),
        array(n_words),
        array(n_topics),
        array(n_topics),
        array(2, 1),
        array(1),
        *(draw(numbers) for _ in range(4)),
    )


@settings(deadline=None, max_examples=25, derandomize=True)
@given(statistics(), statistics(), statistics(), st.floats(-4, 4), st.floats(-4, 4))
def test_statistics_are_a_commutative_monoid_with_scaling(a, b, c, x, y):
    state = models.draw_state(np.random.default_rng(0), 3, 2)
    zero = SufficientStats.zero(state, 2)
    assert_same(a + zero, a)
    assert_same(zero + a, a)
    assert_same(a + b, b + a)
    # Sums of numbers up to 1e6: rounding is 1e-10 at most, whatever cancels.
    assert_same((a + b) + c, a + (b + c), rtol=0, atol=1e-9)
    assert_same(a.scale(1.0), a)
    assert_same(a.scale(0.0), zero)
    assert_same(a.scale(x).scale(y), a.scale(x * y), rtol=0, atol=1e-7)
    assert_same((a + b).scale(x), a.scale(x) + b.scale(x), rtol=0, atol=1e-7)
    assert_same(a.scale(2.0), a + a)


def split(case, parts):
    """Statistics of parts of the documents, added; γ is written back as a solver would."""
    gamma = case.gamma.copy()
    zeta = case.state.covariate_coef
    total = SufficientStats.zero(case.state, 0 if zeta is None else len(zeta))
    for index in parts:
        own = gamma[index]
        total = total + collect(case.problem.rows(index), case.state, case.hyper, own, max_steps=7)
        gamma[index] = own
    return total, gamma


@settings(deadline=None, max_examples=25, derandomize=True)
@given(models.cases(max_docs=8), st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_batches_add_up_to_the_whole(case, seed, n_parts):
    order = np.random.default_rng(seed).permutation(case.problem.n_docs)
    parts = [p for p in np.array_split(order, n_parts) if len(p)]
    whole, gamma = split(case, [np.arange(case.problem.n_docs)])
    total, pieces = split(case, parts)
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


def with_copies(case, times):
    """The same documents, weighted and as copies; γ of both."""
    times = np.asarray(times)
    weighted = replace(case.problem, doc_weight=times.astype(float))
    index = np.repeat(np.arange(len(times)), times)
    copies = replace(case.problem, doc_weight=None).rows(index)
    return (weighted, case.gamma.copy()), (copies, case.gamma[index]), index


@pytest.mark.parametrize("bound", models.BOUNDS)
@pytest.mark.parametrize("family", models.FAMILIES)
def test_a_weight_is_a_number_of_copies(bound, family):
    """Weight two is two copies, weight zero is a document left out."""
    case = models.draw_case(6, family, bound, n_docs=7, n_covariates=2)
    (weighted, gamma), (copies, gammas), index = with_copies(case, [2, 1, 2, 0, 3, 1, 0])
    a = collect(weighted, case.state, case.hyper, gamma, max_steps=7)
    b = collect(copies, case.state, case.hyper, gammas, max_steps=7)
    np.testing.assert_array_equal(gamma[index], gammas)  # local inference knows no weights
    assert_same(replace(a, steps=0.0), replace(b, steps=0.0), rtol=1e-11, atol=1e-11)
    assert a.n_docs == 9
    assert np.any(b.coef_gradient) and np.any(b.covariate_gradient)


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
    for name in PER_CORPUS:
        assert not np.any(getattr(stats, name))


def test_single_precision_is_close_to_double():
    case = models.draw_case(5, n_docs=20, n_words=15, n_covariates=1)
    double = collect(*case[:3], case.gamma.copy(), max_steps=30)
    single = collect(*case[:3], case.gamma.copy(), max_steps=30, dtype=np.float32)
    for name in set(NAMES) - {"steps"}:
        a, b = getattr(single, name), getattr(double, name)
        assert np.abs(a - b).max() <= 1e-4 * np.abs(b).max(), name
