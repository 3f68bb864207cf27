"""Topic proportions by Newton's method, against the fixed point run to the end."""

import kernel_twins as reference
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Document, documents, entry, random_rows

from topicfocus.counts import Rows
from topicfocus.kernels.constrained import map_documents
from topicfocus.kernels.curvature import FEW_TOPICS, newton_work, words_to_solve
from topicfocus.kernels.local import LocalBudget, WordTable
from topicfocus.kernels.proportions import map_document

map_document, words_to_solve = entry(map_document), entry(words_to_solve)

BUDGET = LocalBudget(50, 1e-8)

mix_documents = documents(supervised=False, largest_count=1e4)


def solve(document: Document, start=None, budget=BUDGET):
    rows, weight = document.kernel_rows()
    theta = document.prior / document.prior.sum() if start is None else start.copy()
    work = newton_work(document.n_topics, document.n + 3)
    over = None
    if document.n_topics >= FEW_TOPICS:
        over = words_to_solve(rows, weight, document.n, document.prior, work.by_word)
    steps = map_document(rows, weight, document.n, document.prior, theta, budget, over, work)
    return theta, steps


def kkt_residual(document: Document, theta: np.ndarray) -> float:
    """How far θ is from its own fixed point θ = (a + Σ c m r)/(Σ a + Σ c m)."""
    new = document.prior.copy()
    if document.n:
        new = new + document.weight @ reference.responsibilities(document.rows, theta)
    return float(np.abs(new / new.sum() - theta).max())


@given(documents(supervised=False, largest_count=100.0, smallest_prior=0.2, most_topics=6))
def test_equals_the_long_fixed_point(document: Document):
    theta, _ = solve(document)
    expected = reference.map_document(document.rows, document.weight, document.prior)
    np.testing.assert_allclose(theta, expected, atol=1e-6)
    # Where the fixed point has not arrived, Newton must be at least as high.
    here = reference.log_posterior(document.rows, document.weight, document.prior, theta)
    there = reference.log_posterior(document.rows, document.weight, document.prior, expected)
    assert here >= there - 1e-12 * (1.0 + abs(there))


larger_documents = documents(supervised=False, largest_count=100.0, least_topics=12, most_topics=40)


@given(larger_documents)
def test_many_topics(document: Document):
    """More topics than words: curvature is factorised over the words."""
    theta, steps = solve(document)
    assert theta.sum() == pytest.approx(1.0, abs=1e-12)
    assert kkt_residual(document, theta) <= 1e-10
    assert 1 <= steps <= 25


@given(mix_documents, st.integers(0, 2**32 - 1))
def test_any_start_gives_the_same_mix(document: Document, seed):
    """Strictly concave: one optimum, found from anywhere inside."""
    start = np.random.default_rng(seed).dirichlet(np.ones(document.n_topics)) + 1e-3
    theta, _ = solve(document)
    other, _ = solve(document, start / start.sum())
    np.testing.assert_allclose(other, theta, atol=1e-9)


@given(mix_documents, st.integers(1, 6))
def test_every_step_rises(document: Document, steps):
    values = []
    for budget in range(steps + 1):
        theta, taken = solve(document, budget=LocalBudget(budget, 1e-8))
        assert taken <= max(budget, 1)
        values.append(
            reference.log_posterior(document.rows, document.weight, document.prior, theta)
        )
    slack = 1e-12 * (1.0 + np.abs(values).max())
    assert np.all(np.diff(values) >= -slack)


@given(documents(supervised=False, most_topics=1))
def test_one_topic(document: Document):
    theta, steps = solve(document)
    assert theta == pytest.approx([1.0], abs=1e-15)
    assert steps == 1


@given(
    lengths=st.lists(st.integers(0, 8), min_size=1, max_size=6),
    n_topics=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
)
def test_map_documents(lengths, n_topics, seed):
    """All documents at once are the same as each by itself."""
    rng = np.random.default_rng(seed)
    n_words = 10
    words = [rng.choice(n_words, size=length, replace=False) for length in lengths]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    indices = np.concatenate([*words, np.empty(0, dtype=int)]).astype(np.int32)
    counts = rng.integers(1, 50, size=len(indices)).astype(float)
    table = random_rows(rng, n_words, n_topics, 0.3)
    multiplicity = rng.choice([0.0, 0.4, 1.0], size=n_words)
    prior = rng.uniform(0.2, 2.0, size=n_topics)
    start = np.tile(prior / prior.sum(), (len(lengths), 1))
    theta = start.copy()
    arguments = WordTable(table, multiplicity), prior
    map_documents(Rows(indptr, indices, counts), *arguments, theta, BUDGET)
    for d in range(len(lengths)):
        here = slice(indptr[d], indptr[d + 1])
        alone = Rows(indptr[d : d + 2] - indptr[d], indices[here], counts[here])
        map_documents(alone, *arguments, start[d : d + 1], BUDGET)
        document = Document(
            table[indices[here]],
            counts[here] * multiplicity[indices[here]],
            prior,
            prior,
            None,
            None,
        )
        expected, _ = solve(document)
        np.testing.assert_allclose(theta[d], expected, rtol=1e-12)
    assert np.array_equal(theta, start)
