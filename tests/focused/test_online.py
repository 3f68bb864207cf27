"""Reservoirs, moments of documents that are gone, and what a stream makes of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from topicfocus.corpus import Corpus
from topicfocus.families import Gaussian
from topicfocus.focused.ridge import Signals
from topicfocus.focused.word_statistics import SignalSums
from topicfocus.joint import CoordinateSolver
from topicfocus.joint import online as joint_stream
from topicfocus.joint.initialize import perturbed_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.model import make_problem
from topicfocus.reservoir import Reservoir, add


def problem_of(n, seed=0, n_words=12, **extras):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.0, (n, n_words)).astype(float)
    return make_problem(Corpus(sparse.csr_array(counts)), rng.normal(size=n), **extras)


def filled(problem, size, capacity=30, seed=1):
    reservoir = Reservoir.empty(problem, capacity, seed)
    departed = []
    for a in range(0, problem.n_docs, size):
        added = add(reservoir, problem.rows(np.arange(a, min(a + size, problem.n_docs))))
        reservoir = added.reservoir
        departed.append(added.departed)
    return reservoir, departed


# ---- the reservoir ----------------------------------------------------------------------------


def test_the_sample_does_not_depend_on_batches_or_order():
    problem = problem_of(100)
    first, _ = filled(problem, 100)
    second, _ = filled(problem, 7)
    third, _ = filled(problem.rows(np.arange(100)[::-1]), 13)
    assert first.documents.n_docs == 30
    assert set(first.keys) == set(second.keys) == set(third.keys)
    other, _ = filled(problem, 100, seed=2)
    assert set(other.keys) != set(first.keys)


def test_every_document_is_either_kept_or_departs_once():
    problem = problem_of(100)
    reservoir, departed = filled(problem, 9)
    assert reservoir.documents.n_docs + sum(p.n_docs for p in departed) == 100
    total = reservoir.documents.word_counts + sum(p.word_counts for p in departed if p.n_docs)
    assert np.allclose(total, problem.word_counts)


def test_copies_add_weight_and_take_no_place():
    problem = problem_of(10)
    twice = problem.rows(np.array([0, 0, *range(1, 10)]))
    reservoir, _ = filled(twice, 4)
    assert reservoir.documents.n_docs == 10
    weighted = replace(problem, doc_weight=np.array([2.0, *[1.0] * 9]))
    other, _ = filled(weighted, 3)
    assert np.allclose(
        np.sort(reservoir.documents.doc_weights), np.sort(other.documents.doc_weights)
    )


def test_a_second_pass_over_everything_counts_once():
    problem = problem_of(20)
    reservoir, _ = filled(problem.rows(np.tile(np.arange(20), 2)), 6)
    assert reservoir.passes == 2
    assert reservoir.distinct == 20
    assert reservoir.problem().doc_weight is None


def test_distinct_documents_are_estimated_when_the_sample_is_full():
    problem = problem_of(3000, n_words=30)
    reservoir, _ = filled(problem, 500, capacity=400)
    assert reservoir.distinct == pytest.approx(3000, rel=0.15)  # three standard errors


# ---- sums -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_parts_give_the_statistics_of_all_documents(weighted):
    rng = np.random.default_rng(0)
    x = np.sqrt(rng.poisson(1.0, (50, 8)).astype(float))
    r, ridge = rng.normal(size=(50, 2)) + 0.5, rng.normal(size=(8, 2))
    weight = rng.uniform(0.5, 2, 50) if weighted else None
    parts = [
        Signals(sparse.csr_array(x[p]), r[p], None if weight is None else weight[p])
        for p in (slice(0, 20), slice(20, 50))
    ]
    sums = SignalSums.of(parts[0]) + SignalSums.of(parts[1])
    w = np.ones(50) if weight is None else weight
    mean = np.average(r, axis=0, weights=w)
    away = x - np.average(x, axis=0, weights=w)
    covariance = away.T @ (w[:, None] * (r - mean))
    variance = np.average((r - mean) ** 2, axis=0, weights=w)
    spread = np.average(away**2, axis=0, weights=w)[:, None]
    marginal = covariance**2 / (w.sum() * spread * variance)
    found = sums.statistics(ridge)
    assert np.allclose(found.marginal, marginal)
    joint = np.maximum(ridge * covariance, 0)
    assert np.allclose(found.joint, joint * marginal.sum(axis=0) / joint.sum(axis=0))
    length = (w * x.sum(axis=1))[:, None]
    standard = (r - mean) / np.sqrt(variance)
    standard -= (length * standard).sum(axis=0) / length.sum()
    weighted_words = w[:, None] * x
    rate = (length * standard**2).sum(axis=0) / length.sum()
    slopes = weighted_words.T @ standard / (np.outer(weighted_words.sum(axis=0), rate) + 5.0)
    assert np.allclose(sums.slopes(), slopes)
    assert np.allclose(sums.scale(2.0).statistics(ridge).marginal, 2 * marginal)


# ---- joint models -----------------------------------------------------------------------------


def stream_of(problem, capacity, hyper=None, size=20):
    hyper = hyper or Hyperparameters(n_topics=3, selects=False)
    rng = np.random.default_rng(0)
    first = problem.rows(np.arange(size))
    start = perturbed_start(first, hyper, Gaussian(1.0), np.ones(3), rng)
    stream = joint_stream.begin(CoordinateSolver(), hyper, start, first, capacity, rng)
    for a in range(0, problem.n_docs, size):
        stream, _, _ = joint_stream.advance(stream, problem.rows(np.arange(a, a + size)), 1e-5)
    return stream


def test_counts_of_the_past_are_exact():
    problem = problem_of(100)
    stream = stream_of(problem, 30)
    assert stream.reservoir.documents.n_docs == 30
    assert np.allclose(stream.word_counts, problem.word_counts)
    past = stream.past.total(1)
    assert past.n_docs == pytest.approx(70)
    assert np.allclose(past.word_topic.sum(axis=1), past.word_count)


def test_words_that_come_late_get_into_the_topics():
    early, late = problem_of(20, n_words=12), problem_of(20, seed=1, n_words=12)
    counts = early.corpus.counts.toarray()
    counts[:, 0] = 0
    early = early.with_corpus(Corpus(sparse.csr_array(counts)))
    rows = sparse.vstack([early.corpus.counts, late.corpus.counts], format="csr")
    problem = make_problem(Corpus(sparse.csr_array(rows)), np.r_[early.target, late.target])
    model = stream_of(problem, 100).model()
    share = problem.word_counts[0] / problem.n_tokens
    assert model.topic_word[0].max() > 0.3 * share
    assert np.allclose(model.topic_word.sum(axis=0), 1)


def test_a_failed_call_leaves_the_stream_as_it_was():
    problem = problem_of(40)
    stream = stream_of(problem, 100)
    before = stream.concentration.copy()
    joint_stream.advance(stream, problem_of(20, seed=5), 1e-5)
    assert np.array_equal(stream.concentration, before)
