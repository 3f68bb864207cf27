"""Chunks, threads, forks: the same numbers whoever computes them."""

import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import models
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import run_script
from threadpoolctl import threadpool_info, threadpool_limits

from topicfocus.joint.statistics import collect
from topicfocus.kernels.threads import (
    MOST_CHUNKS,
    SMALLEST_CHUNK,
    chunk_bounds,
    clear,
    map_in_order,
    n_threads,
    one_blas_thread,
    run_chunks,
)
from topicfocus.proportions import topic_proportions

# ---- chunks -----------------------------------------------------------------------------------


@given(
    lengths=st.lists(
        st.one_of(st.integers(0, 50), st.integers(0, 20_000), st.just(0)), max_size=60
    ),
    n_words=st.sampled_from([0, 1, 500, 30_000]),
    offset=st.sampled_from([0, 12_345]),
    dtype=st.sampled_from([np.int32, np.int64]),
)
def test_chunks_cover_every_document_once(lengths, n_words, offset, dtype):
    indptr = (offset + np.concatenate([[0], np.cumsum(lengths)])).astype(dtype)
    bounds = chunk_bounds(indptr, n_words)
    n_docs = len(lengths)
    assert bounds[0] == 0
    assert bounds[-1] == n_docs
    assert np.all(np.diff(bounds) >= 0)
    covered = [d for a, b in itertools.pairwise(bounds) for d in range(a, b)]
    assert covered == list(range(n_docs))
    chunks = len(bounds) - 1
    assert 1 <= chunks <= MOST_CHUNKS
    # Chunks are worth their while: as many nonzeros as words on average, and not tiny.
    if chunks > 1:
        assert sum(lengths) / chunks >= max(SMALLEST_CHUNK, n_words)
    # A chunk exceeds its fair share by less than one document.
    if lengths and max(lengths):
        loads = np.diff((indptr - offset)[bounds])
        assert loads.max() <= sum(lengths) / chunks + max(lengths)


# ---- threads ----------------------------------------------------------------------------------


def test_n_threads(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = n_threads(None)
    assert cores >= 1
    if hasattr(os, "sched_getaffinity"):
        assert cores == len(os.sched_getaffinity(0))
    assert n_threads(-1) == cores
    assert n_threads(-2) == max(1, cores - 1)
    assert n_threads(-1000) == 1
    assert n_threads(1) == 1
    assert n_threads(7) == 7
    for limit, found in {"1": 1, "1,4": 1, "1000": cores, "0": cores, "no": cores}.items():
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
        assert n_threads(None) == n_threads(-1) == found
    assert n_threads(7) == 7


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5, 40, None, -1])
@settings(max_examples=40)
@given(cuts=st.lists(st.integers(0, 100), min_size=2, max_size=12).map(sorted))
def test_run_chunks_adds_in_order(n_jobs, cuts):
    """Every chunk once, added left to right, whatever finishes first."""

    def work(first, last, out):
        # Later chunks finish first.
        threading.Event().wait(0.0005 / (1 + first))
        out.append((first, last))

    def add(total, other):
        total.extend(other)

    result = run_chunks(work, cuts, list, add, n_jobs)
    assert result == list(itertools.pairwise(cuts))


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_run_chunks_clears_what_it_uses_again(n_jobs):
    made = []

    def make():
        made.append(1)
        return np.zeros(3), np.zeros(1)

    def work(first, last, out):
        out[0][:] += first
        out[1][0] += 1

    def add(total, other):
        for mine, theirs in zip(total, other, strict=True):
            mine += theirs

    total = run_chunks(work, range(33), make, add, n_jobs, clear)
    assert total[0].tolist() == [sum(range(32))] * 3
    assert total[1][0] == 32
    assert len(made) <= n_jobs + 3


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_errors_reach_the_caller(n_jobs):
    def work(first, last, out):
        if first == 3:
            raise RuntimeError("chunk three")

    with pytest.raises(RuntimeError, match="chunk three"):
        run_chunks(work, range(6), list, lambda a, b: None, n_jobs)
    assert run_chunks(lambda a, b, out: None, range(6), list, lambda a, b: None, n_jobs) == []


# ---- BLAS --------------------------------------------------------------------------------------


def test_blas_has_one_thread_while_a_model_is_trained():
    """Then as many as before, also after an error; another thread changes nothing."""

    def threads():
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}

    def elsewhere():
        with one_blas_thread():
            return threads()

    with threadpool_limits(3, user_api="blas"), ThreadPoolExecutor(1) as other:
        with one_blas_thread():
            with one_blas_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == {3}
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            1 / 0  # noqa: B018
        assert threads() == {3}
        assert other.submit(elsewhere).result() == {3}


# ---- statistics -------------------------------------------------------------------------------

N_WORDS = 700


def large_case(family):
    """Enough nonzero counts for four chunks."""
    return models.draw_case(
        9, family, n_docs=1500, n_words=N_WORDS, n_topics=5, mean_count=0.06, n_covariates=1
    )


def statistics_of(case, n_jobs, dtype=np.float64):
    gamma = case.gamma.copy()
    problem = replace(case.problem, n_jobs=n_jobs)
    return gamma, collect(problem, case.state, case.hyper, gamma, max_steps=5, dtype=dtype)


def assert_identical(one, other):
    assert np.array_equal(one[0], other[0])
    for field in fields(one[1]):
        mine, theirs = getattr(one[1], field.name), getattr(other[1], field.name)
        assert np.array_equal(mine, theirs), field.name


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("family", models.FEW)
def test_statistics_are_bit_identical_for_every_thread_count(family, dtype):
    case = large_case(family)
    assert len(chunk_bounds(case.problem.corpus.counts.indptr, N_WORDS)) - 1 >= 4
    one = statistics_of(case, 1, dtype)
    for n_jobs in (2, 3, 5, None):
        assert_identical(statistics_of(case, n_jobs, dtype), one)


def test_several_threads_may_call_at_once():
    """As a Dask worker does: all share the pools, none waits for ever, results as if alone."""
    case = large_case("gaussian")
    expected = {n_jobs: statistics_of(case, n_jobs) for n_jobs in (1, 2, 3)}
    with ThreadPoolExecutor(4) as callers:
        jobs = [
            (n_jobs, callers.submit(statistics_of, case, n_jobs))
            for n_jobs in (1, 2, 3, 2, 3, 2, 1, 2)
        ]
        for n_jobs, job in jobs:
            assert_identical(job.result(timeout=120), expected[n_jobs])


# ---- forks ------------------------------------------------------------------------------------

FORK = """
import os, signal
import numpy as np
from topicfocus.kernels import threads
from topicfocus.kernels.uncollapsed import log_softmax_columns

x = np.linspace(0.5, 9.0, 64)

def work(first, last, out):
    column, p = x[first:last, None], np.empty((last - first, 1))
    log_softmax_columns(column, out[first:last, None], p)

def add(total, other):
    total += other

def run():
    return threads.run_chunks(work, range(0, 65, 8), lambda: np.zeros(64), add, 2)

expected = run()
for when in ("quiet", "locked"):
    assert threads._pools, "no pool was made: this tests nothing"
    if when == "locked":
        # Another thread is inside _pool() at the moment of the fork.
        threads._lock.acquire()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        ok = not threads._pools and np.array_equal(run(), expected)
        os._exit(0 if ok else 3)
    if when == "locked":
        threads._lock.release()
    _, status = os.waitpid(child, 0)
    assert status == 0, f"{when}: the child ended with status {status}"
    assert np.array_equal(run(), expected)
    print("both fine when", when)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_works_in_a_forked_child():
    printed = run_script(FORK, timeout=180)
    assert printed.splitlines() == ["both fine when quiet", "both fine when locked"]


def test_work_on_our_threads_does_not_wait_for_them():
    """As many pieces as threads, each with pieces of its own: nobody would be left to do these."""

    def outer(i):
        return sum(map_in_order(lambda j: 10 * i + j, range(4), 2)), n_threads(None), n_threads(2)

    found = list(map_in_order(outer, range(6), 2))
    assert found == [(40 * i + 6, 1, 1) for i in range(6)]
    assert n_threads(2) == 2


def test_mixes_are_bit_identical_for_every_thread_count():
    case = large_case("gaussian")
    corpus, state = case.problem.corpus, case.state
    one = topic_proportions(corpus, state, n_jobs=1)
    np.testing.assert_allclose(one.sum(axis=1), 1.0, rtol=1e-12)
    for n_jobs in (2, 3, 5):
        assert np.array_equal(topic_proportions(corpus, state, n_jobs=n_jobs), one)
