"""Local inference of one document and of many, against the plain NumPy twin.

Kernels are given a family as the package gives it, `common(family)`, so that they are compiled once
for all families; the twin is given the family itself.
"""

import kernel_twins as reference
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
    local_stats,
    local_work,
    numerical_gradient,
    random_corpus,
    random_local_target,
    random_rows,
)

from topicfocus.families import Gaussian, Multiple, Poisson, for_kernels
from topicfocus.kernels.compile import kernel
from topicfocus.kernels.local import (
    LocalBudget,
    WordTable,
    document_objective,
    infer_document,
    infer_documents,
    theta_objective,
)
from topicfocus.kernels.target_terms import (
    expected_target,
    has_target,
    target_gradient,
    target_moments,
    target_natural_gradient,
)
from topicfocus.kernels.word_sums import gather_document, mixture, topic_sums

document_objective, theta_objective = entry(document_objective), entry(theta_objective)
infer_document, topic_sums = entry(infer_document), entry(topic_sums)
has_target, target_moments = entry(has_target), entry(target_moments)
gather_document, mixture = entry(gather_document), entry(mixture)

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


@given(documents(supervised=True))
def test_target_moments(document: Document):
    for coef in document.target.coef:
        mean, variance = target_moments(document.start, coef)
        expected = reference.target_moments(document.start, coef)
        scale = 1e-15 + np.abs(coef).max()
        assert abs(mean - expected[0]) < 1e-12 * scale
        assert abs(variance - expected[1]) < 1e-12 * scale**2
        assert variance >= 0.0


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
def test_target_gradient_is_the_numerical_one(group, data, n_topics, size, scale, weight, seed):
    family = EXAMPLES[data.draw(st.sampled_from(group))]
    gamma, target, moments, unit = target_case(family, n_topics, size, scale, weight, seed)
    out, natural = np.empty((2, n_topics))
    target_terms(for_kernels(family), target, gamma, moments, out, natural)

    def value(at):
        return reference.expected_log_likelihood(family, target, at)

    numerical = numerical_gradient(lambda x: value(np.exp(x)), np.log(gamma), 1e-4) / gamma
    assert np.all(np.abs(out - numerical) <= 1e-8 * unit / gamma)


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


def test_a_document_has_a_target_if_one_of_its_targets_is_known():
    assert has_target(np.array([0.0, 0.0, 0.1]))
    assert not has_target(np.zeros(3))


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


def kernel_objective(document: Document, gamma: np.ndarray, dtype=np.float64) -> float:
    rows, weight = document.kernel_rows(dtype)
    return document_objective(
        rows,
        weight,
        document.n,
        document.prior,
        gamma,
        for_kernels(document.family),
        document.target,
        local_work(document.n_topics, document.n + 3, dtype, len(document.target.coef)),
    )


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


@given(documents())
def test_objective_equals_reference(document: Document):
    rng = np.random.default_rng(document.n)
    for gamma in (document.start, document.start * rng.uniform(0.3, 3.0, document.n_topics)):
        error = kernel_objective(document, gamma) - reference_objective(document, gamma)
        assert abs(error) <= 1e-13 * size_of_terms(document, gamma)


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
        local_work(document.n_topics, document.n + 3, dtype, len(document.target.coef)),
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
    """Large coefficients, small noise, targets out of reach: damping or not, L(γ) must not fall."""
    before = kernel_objective(document, document.start)
    gamma, _ = infer(document, steps)
    after = kernel_objective(document, gamma)
    assert np.all(gamma > 0.0)
    assert np.all(np.isfinite(gamma))
    # L is a difference of terms of this size: log Γ of millions, where counts are in the millions.
    total = 1.0 + document.start.sum() + document.weight.sum()
    rounding = 1e-14 * total * (1.0 + np.log(total))
    assert after >= before - 1e-9 * abs(before) - rounding


@given(documents(supervised=False, largest_count=1e3))
def test_fixed_point_without_target(document: Document):
    """At convergence γ = α + Σ c m r, r at that γ."""
    gamma, taken = infer(document, 20_000, tolerance=1e-12)
    assume(taken < 20_000)
    e = np.exp(reference.digamma(gamma))
    expected = document.prior.copy()
    if document.n:
        expected = expected + document.weight @ reference.responsibilities(document.rows, e)
    assert np.abs(gamma - expected).sum() <= 1e-9 * gamma.sum()
    assert gamma.sum() == pytest.approx(document.prior.sum() + document.weight.sum(), rel=1e-9)


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


@every_group
@given(
    data=st.data(),
    lengths=st.lists(st.integers(0, 8), min_size=1, max_size=6),
    n_words=st.integers(1, 12),
    n_topics=st.integers(1, 6),
    large=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_infer_documents_statistics(group, data, lengths, n_words, n_topics, large, seed):
    family = EXAMPLES[data.draw(st.sampled_from(group))]
    rng = np.random.default_rng(seed)
    case = random_corpus(rng, lengths, n_words, n_topics, family, large)
    corpus = case.corpus
    n_docs = len(lengths)
    gamma = case.start.copy()
    stats = local_stats(n_words, n_topics)
    words = WordTable(case.table, case.multiplicity)
    budget = LocalBudget(6, 1e-6)
    compiled = for_kernels(family)
    infer_documents(0, n_docs, corpus, words, case.prior, case.coef, compiled, gamma, budget, stats)
    word_topic = np.zeros((n_words, n_topics))
    evidence = np.zeros(n_words)
    log_theta = np.zeros(n_topics)
    parts = np.zeros(4)
    whole = tokens = 0.0
    for d in range(n_docs):
        here = slice(corpus.indptr[d], corpus.indptr[d + 1])
        doc_words, counts = corpus.indices[here], corpus.counts[here]
        document = Document(
            case.table[doc_words],
            counts * case.multiplicity[doc_words],
            case.prior,
            case.start[d],
            family,
            case.local_target(d),
        )
        single, taken = infer(document, 6, 1e-6)
        np.testing.assert_allclose(gamma[d], single, rtol=1e-9)
        more = reference.document_statistics(doc_words, counts, case.table, case.prior, gamma[d])
        times = corpus.doc_weight[d]
        word_topic += times * more[0]
        evidence += times * more[1]
        log_theta += times * more[2]
        parts[0] += times * case.multiplicity @ more[1]
        parts[2] += times * reference.expected_log_likelihood(family, document.target, gamma[d])
        parts[3] += taken
        whole += times * reference_objective(document, gamma[d])
        tokens += times * counts.sum()
    scale = 1.0 + corpus.counts.sum() + abs(parts[2])
    np.testing.assert_allclose(stats.word_topic, word_topic, rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_allclose(stats.word_log_likelihood, evidence, rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_allclose(stats.log_theta, log_theta, rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_allclose(stats.parts[[0, 2, 3]], parts[[0, 2, 3]], rtol=1e-9, atol=1e-9)
    # The first three parts are the objective, whatever the multiplicities.
    assert stats.parts[:3].sum() == pytest.approx(whole, rel=1e-9, abs=1e-9 * scale)
    # Every token is assigned once.
    assert stats.word_topic.sum() == pytest.approx(tokens, rel=1e-12)


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_infer_documents_works_on_a_range_and_adds(first, length, seed):
    """Only documents first..last-1 are touched, and statistics are added to what is there."""
    rng = np.random.default_rng(seed)
    case = random_corpus(rng, [3, 0, 5, 1, 4, 2], 9, 3, Gaussian(1.0))
    last = min(first + length, 6)
    words = WordTable(case.table, case.multiplicity)
    budget = LocalBudget(4, 0.0)
    arguments = (case.corpus, words, case.prior, case.coef, for_kernels(case.family))

    def run(*ranges):
        gamma = case.start.copy()
        stats = local_stats(9, 3)
        for a, b in ranges:
            infer_documents(a, b, *arguments, gamma, budget, stats)
        return gamma, stats

    gamma, _ = run((first, last))
    assert np.array_equal(gamma[:first], case.start[:first])
    assert np.array_equal(gamma[last:], case.start[last:])
    whole_gamma, whole = run((0, 6))
    assert np.array_equal(gamma[first:last], whole_gamma[first:last])
    cut_gamma, cut = run((0, first), (first, last), (last, 6))
    assert np.array_equal(cut_gamma, whole_gamma)
    for mine, theirs in zip(cut, whole, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_infer_documents_in_single_precision():
    rng = np.random.default_rng(3)
    case = random_corpus(rng, [40, 0, 25, 1] * 5, 60, 5, Gaussian(1.0))
    family = for_kernels(case.family)
    results = []
    for dtype in (np.float64, np.float32):
        gamma = case.start.copy()
        stats = local_stats(60, 5)
        words = WordTable(case.table.astype(dtype), case.multiplicity)
        budget = LocalBudget(10, 0.0)
        infer_documents(
            0, 20, case.corpus, words, case.prior, case.coef, family, gamma, budget, stats
        )
        results.append((gamma, stats))
    (gamma, stats), (gamma32, stats32) = results
    np.testing.assert_allclose(gamma32, gamma, rtol=1e-4, atol=1e-4)
    assert not np.array_equal(gamma32, gamma)
    stats.parts[3] = stats32.parts[3] = 0.0  # the number of steps may differ
    for mine, theirs in zip(stats32, stats, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("n_topics", [1, 3, 9])
def test_without_a_family_is_without_targets(n_topics):
    """`family` None leaves the targets' part out of the kernel, not out of the numbers."""
    rng = np.random.default_rng(n_topics)
    case = random_corpus(rng, [30, 0, 5, 1], 40, n_topics, Gaussian(1.0))
    corpus = case.corpus._replace(target_weight=np.zeros_like(case.corpus.target_weight))
    words = WordTable(case.table, case.multiplicity)
    results = []
    for family in (for_kernels(case.family), None):
        gamma, stats = case.start.copy(), local_stats(40, n_topics)
        budget = LocalBudget(4, 0.0)
        infer_documents(0, 4, corpus, words, case.prior, case.coef, family, gamma, budget, stats)
        results.append((gamma, *stats))
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-13)
