"""Local inference of one document and of many, against the plain NumPy twin.

Kernels get `for_kernels(family)`, so that they are compiled once for all families;
the twin is given the family itself.
"""

import kernel_twins as reference
import models
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kernel_cases import (
    EXAMPLES,
    FAMILY_NAMES,
    Document,
    documents,
    entry,
    numerical_gradient,
    random_local_target,
    random_rows,
)

from topicfocus.counts import read_rows
from topicfocus.families import Multiple, Poisson, for_kernels
from topicfocus.kernels.compile import kernel
from topicfocus.kernels.local import (
    LocalBudget,
    LocalCorpus,
    LocalStats,
    WordTable,
    expected_target,
    infer_document,
    infer_documents,
    local_work,
    target_gradient,
    target_natural_gradient,
)
from topicfocus.kernels.word_sums import mixture, topic_sums

infer_document, topic_sums, mixture = entry(infer_document), entry(topic_sums), entry(mixture)

every_family = pytest.mark.parametrize("family", EXAMPLES.values(), ids=EXAMPLES.keys())
#: The families of a test's examples: the two that most is made of, and the others in turn.
GROUPS = {"gaussian": FAMILY_NAMES[:1], "bernoulli": FAMILY_NAMES[1:2], "others": FAMILY_NAMES[2:]}
every_group = pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS.keys())


def concentrations(rng, n_topics, size):
    return size * rng.gamma(1.0, size=n_topics) + 0.02


# ---- the target's part ------------------------------------------------------------------------


target_cases = given(
    data=st.data(),
    n_topics=st.integers(1, 9),
    size=st.sampled_from([0.1, 1.0, 30.0, 1e3]),
    scale=st.floats(0.0, 5.0),
    weight=st.floats(0.1, 20.0),
    seed=st.integers(0, 2**32 - 1),
)


@kernel
def target_terms(family, target, gamma, moments, gradient, natural):
    """The target's part and its gradients as other kernels call them.

    One entry from Python, which is given what is compiled already: an entry of `expected_target`
    alone is all families compiled once more, for seconds.
    """
    target_gradient(family, target, gamma, moments, gradient)
    target_natural_gradient(family, target, gamma, moments, natural)
    moments[:] = np.nan
    return expected_target(family, target, gamma, moments)


def target_case(family, n_topics, size, scale, weight, seed):
    """γ, targets with coefficients, the scratch of moments, and the size of the target's part."""
    rng = np.random.default_rng(seed)
    gamma = concentrations(rng, n_topics, size)
    # A rate of e^(5·3) has no derivative to eight digits.
    scale = min(scale, 2.0) if isinstance(family, (Poisson, Multiple)) else scale
    target = random_local_target(rng, family, n_topics, scale, weight)
    value = np.where(np.abs(target.value) > 9, np.sign(target.value) * 9, target.value)
    target = target._replace(value=value)
    mean, variance = reference.predictor_moments(target, gamma)
    unit = weight * (1.0 + scale**2 + np.abs(value).max())
    if isinstance(family, (Poisson, Multiple)):
        unit += weight * np.exp((mean + variance / 2).max())
    return gamma, target, np.full((4, len(target.coef)), np.nan), unit


@every_group
@target_cases
def test_target_gradients_equal_reference(group, data, n_topics, size, scale, weight, seed):
    family = EXAMPLES[data.draw(st.sampled_from(group))]
    gamma, target, moments, unit = target_case(family, n_topics, size, scale, weight, seed)
    out, steps = np.empty((2, n_topics))
    value = target_terms(for_kernels(family), target, gamma, moments, out, steps)
    exact = reference.expected_log_likelihood(family, target, gamma)
    assert value == pytest.approx(exact, rel=1e-11, abs=1e-12 * unit)
    mean, variance = reference.predictor_moments(target, gamma)
    np.testing.assert_allclose(moments[0], mean, rtol=1e-11, atol=1e-12 * (1 + scale))
    np.testing.assert_allclose(moments[1], variance, rtol=1e-9, atol=1e-12 * (1 + scale**2))
    expected = reference.target_gradient(family, target, gamma)
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-12 * unit / gamma.sum())

    def value_at(log_gamma):
        return reference.expected_log_likelihood(family, target, np.exp(log_gamma))

    numerical = numerical_gradient(value_at, np.log(gamma), 1e-4) / gamma
    assert np.all(np.abs(out - numerical) <= 1e-8 * unit / gamma)
    natural = reference.natural(expected, gamma)
    # F is nearly singular along γ: its condition number is of the order of γ₀ and 1/γ.
    loss = 1e-10 * (1.0 + gamma.sum()) * (1.0 + 1.0 / gamma.min())
    assert np.abs(steps - natural).max() <= loss * (np.abs(natural).max() + unit * 1e-3)


@every_family
def test_natural_gradient_of_one_topic_is_nothing(family):
    """θ = 1 for certain: rounding errors must not be divided by a zero Fisher information."""
    for seed in range(3):
        target = random_local_target(np.random.default_rng(seed), family, 1, 3.0, 1.0)
        out, natural = np.full((2, 1), np.nan)
        moments = np.empty((4, len(target.coef)))
        target_terms(for_kernels(family), target, np.array([3.3]), moments, out, natural)
        assert natural[0] == 0.0


@every_family
def test_coefficients_of_an_unknown_target_play_no_part(family):
    """The gradient of several targets is that of the known ones."""
    rng = np.random.default_rng(2)
    gamma = concentrations(rng, 4, 2.0)
    target = random_local_target(rng, family, 4, 1.0, 1.0)
    target.weight[:] = 0.0
    moments, (out, natural) = np.empty((4, len(target.coef))), np.full((2, 4), np.nan)
    assert target_terms(for_kernels(family), target, gamma, moments, out, natural) == 0.0
    assert not np.any(out)


# ---- mixtures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_topics", range(1, 10))
@pytest.mark.parametrize("n", [0, 1, 2, 7, 33])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-13), (np.float32, 3e-6)])
def test_mixture_and_topic_sums(n_topics, n, dtype, rtol):
    rng = np.random.default_rng(100 * n_topics + n)
    rows = random_rows(rng, n, n_topics, 0.3).astype(dtype)
    weight = rng.exponential(10.0, size=n).astype(dtype)
    e = np.exp(-3.0 * rng.exponential(size=n_topics)).astype(dtype)
    # Room beyond the document holds NaN: nothing there may be read or written.
    kernel_rows = np.full((n_topics, n + 2), np.nan, dtype=dtype)
    kernel_rows[:, :n] = rows.T
    kernel_weight = np.full(n + 2, np.nan, dtype=dtype)
    kernel_weight[:n] = weight
    norm = np.full(n + 2, 5.0, dtype=dtype)
    mixture(kernel_rows, n, e, norm)
    np.testing.assert_allclose(norm[:n], rows.astype(float) @ e.astype(float), rtol=rtol)
    assert np.all(norm[n:] == 5.0)
    sums = np.full(n_topics, np.nan)
    topic_sums(kernel_rows, kernel_weight, n, e, norm, sums)
    expected = np.zeros(n_topics)
    if n:
        expected = weight.astype(float) @ reference.responsibilities(rows.astype(float), e)
    np.testing.assert_allclose(sums, expected, rtol=10 * rtol, atol=rtol * (1 + weight.sum()))
    assert sums.sum() == pytest.approx(weight.sum(), rel=10 * rtol)


def test_a_word_that_no_topic_explains_is_harmless():
    rows = np.zeros((3, 2))
    rows[:, 1] = 1.0
    sums = np.empty(3)
    topic_sums(rows, np.array([4.0, 6.0]), 2, np.array([1.0, 2.0, 3.0]), np.empty(2), sums)
    np.testing.assert_allclose(sums, [1.0, 2.0, 3.0])


# ---- the objective ----------------------------------------------------------------------------


def reference_objective(document: Document, gamma: np.ndarray) -> float:
    return reference.document_objective(
        document.rows,
        document.weight,
        document.prior,
        gamma,
        document.family,
        document.target,
    )


def size_of_terms(document: Document, gamma: np.ndarray) -> float:
    """The objective is a difference of terms of this size; rounding is relative to it."""
    total = gamma.sum() + document.weight.sum()
    return 1.0 + total * (1.0 + abs(np.log(total))) + abs(reference_objective(document, gamma))


# ---- one document -----------------------------------------------------------------------------


def infer(document: Document, steps: int, tolerance: float = 0.0, dtype=np.float64):
    rows, weight = document.kernel_rows(dtype)
    gamma = document.start.copy()
    taken = infer_document(
        rows,
        weight,
        document.n,
        document.prior,
        for_kernels(document.family),
        document.target,
        gamma,
        LocalBudget(steps, tolerance),
        local_work(document.n_topics, document.n + 3, len(document.target.coef), dtype),
    )
    return gamma, taken


def infer_reference(document: Document, steps: int) -> np.ndarray:
    return reference.infer_document(
        document.rows,
        document.weight,
        document.prior,
        document.start,
        document.family,
        document.target,
        steps,
    )


@every_group
@pytest.mark.parametrize("supervised", [False, True], ids=["words", "words and target"])
@given(st.data())
def test_infer_document_equals_reference(group, supervised, data):
    document = data.draw(
        documents(families=group, supervised=supervised, largest_count=200.0, coef_scale=1.0)
    )
    gamma, taken = infer(document, 5)
    expected = infer_reference(document, 5)
    if supervised and document.n_topics > 1:
        # Where full steps lower the objective the kernel goes another way, tested below.
        rise = reference_objective(document, expected) - reference_objective(
            document, document.start
        )
        assume(rise > 1e-12 * size_of_terms(document, document.start))
        # Once a γ_k is tiny the kernel's guard against 0/0 shows.
        assume(expected.min() > 0.02)
    assert 1 <= taken <= 5
    np.testing.assert_allclose(gamma, expected, rtol=1e-9 if not supervised else 1e-8)


@settings(max_examples=100)
@given(
    documents(
        largest_count=1e6,
        coef_scale=300.0,
        smallest_prior=1e-3,
        smallest_noise=1e-3,
    ),
    st.integers(1, 15),
)
def test_objective_never_falls(document: Document, steps: int):
    """Large coefficients, small noise, targets out of reach: L(γ) must not fall."""
    before = reference_objective(document, document.start)
    gamma, _ = infer(document, steps)
    after = reference_objective(document, gamma)
    assert np.all(gamma > 0.0)
    assert np.all(np.isfinite(gamma))
    # L is a difference of terms of this size: log Γ of millions, where counts are in the millions.
    total = 1.0 + document.start.sum() + document.weight.sum()
    rounding = 1e-14 * total * (1.0 + np.log(total))
    assert after >= before - 1e-9 * abs(before) - rounding


@given(documents(supervised=True, largest_count=50.0, coef_scale=1.0, smallest_prior=0.3))
def test_stationary_point_with_target(document: Document):
    """Where inference with a target converges, the gradient of the reference objective is zero."""
    gamma, taken = infer(document, 3_000, tolerance=1e-13)
    assume(taken < 3_000 and gamma.min() > 0.05)
    gradient = numerical_gradient(
        lambda x: reference_objective(document, np.exp(x)), np.log(gamma), 1e-4
    )
    assert np.abs(gradient).max() <= 1e-6 * size_of_terms(document, gamma)


# ---- many documents ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_topics", [1, 3, 9])
def test_without_a_family_is_without_targets(n_topics):
    """`family` None leaves the targets' part out of the kernel, not out of the numbers."""
    case = models.draw_case(
        n_topics, n_docs=4, n_words=40, n_topics=n_topics, supervised=False, n_covariates=1
    )
    state, gammas, every = case.state, [], []
    corpus = LocalCorpus(*read_rows(case.problem.corpus.counts, 0, 4), *case.problem.given(state))
    words = WordTable(np.ascontiguousarray(state.topic_word), state.inclusion)
    for family in (for_kernels(state.family), None):
        gamma = case.gamma.copy()
        stats = LocalStats(np.zeros((40, n_topics)), np.zeros(40), np.zeros(n_topics), np.zeros(4))
        budget = LocalBudget(4, 0.0)
        infer_documents(
            corpus, words, state.doc_topic_prior, state.coef_rows, family, gamma, budget, stats
        )
        gammas.append(gamma)
        every.append(stats)
    np.testing.assert_allclose(*gammas, rtol=1e-13)
    for mine, theirs in zip(*every, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-13)
