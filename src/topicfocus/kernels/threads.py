"""Run a kernel over chunks of documents on threads, with the same result for every thread count.

Chunks depend on the data alone, and their statistics are added in the order of the chunks, so that
a sum of floating-point numbers does not depend on which thread finishes first. Kernels release the
GIL. We use a plain thread pool because numba's threading layers abort when several threads call
them. BLAS has one thread while a model is trained (`one_blas_thread`).
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import scipy.linalg  # noqa: F401  (its BLAS must be loaded to be found)
from threadpoolctl import ThreadpoolController

from topicfocus.interrupts import keyboard_interrupts

#: More chunks gain nothing on the machines that we measured, and each has its own statistics.
MOST_CHUNKS = 16
#: Number of nonzeros from which there are more chunks, since a chunk of a file is read into memory.
_HUGE = 1 << 26
#: Smallest number of nonzero counts for which a thread is worth its overhead.
SMALLEST_CHUNK = 8192
#: Nonzeros per word from which the statistics of one more chunk take negligible time.
_MANY = 128

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()
_here = threading.local()


def n_threads(n_jobs: int | None) -> int:
    """Number of threads: None or -1 is every core this process may use, -2 all but one, ...

    Inside one of our threads it is 1, because a pool whose threads all wait for tasks of the same
    pool would never end.
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: give a positive number, or None for all cores.")
    if getattr(_here, "is_ours", False):
        return 1
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    return max(1, _cores() + 1 + (-1 if n_jobs is None else n_jobs))


def _cores() -> int:
    """Number of cores this process may run on, at most $OMP_NUM_THREADS.

    Programs that start many processes on one machine (Dask, joblib, a batch system) set that
    variable to the number of threads of each process.
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        cores = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # of the first level
    return min(cores, int(limit)) if limit.isdecimal() and int(limit) else cores


def chunk_bounds(indptr: np.ndarray, n_words: int, least: int = SMALLEST_CHUNK) -> np.ndarray:
    """Document numbers at which chunks begin and end: equal shares of nonzero counts.

    A chunk has at least `least` nonzeros, and at least as many as there are words, so that clearing
    and adding its statistics takes less time than computing them. There are more than half of
    `MOST_CHUNKS` only where that time is negligible, and more than `MOST_CHUNKS` only for very
    large corpora. The number of chunks is a power of two: equal work for 2, 4, 8 or 16 threads.
    """
    nonzeros = int(indptr[-1] - indptr[0])
    n_docs = len(indptr) - 1
    wanted = nonzeros // max(least, n_words)
    most = MOST_CHUNKS if nonzeros >= _MANY * n_words else MOST_CHUNKS // 2
    most <<= min((nonzeros // max(_HUGE, _MANY * n_words)).bit_length(), 6)
    chunks = 1 << (max(min(wanted, most, n_docs), 1).bit_length() - 1)
    goals = indptr[0] + np.ceil(np.arange(1, chunks) * (nonzeros / chunks))
    goals = goals.astype(indptr.dtype)  # otherwise searchsorted converts all of indptr
    inner = np.searchsorted(indptr, goals)
    return np.concatenate([[0], np.clip(inner, 0, n_docs), [n_docs]]).astype(np.int64)


def _pool(threads: int) -> ThreadPoolExecutor:
    with _lock:
        if threads not in _pools:
            _pools[threads] = ThreadPoolExecutor(
                threads, thread_name_prefix="topicfocus", initializer=_begin_thread
            )
        return _pools[threads]


def _begin_thread() -> None:
    _here.is_ours = True


@contextmanager
def _using(threads: int) -> Iterator[ThreadPoolExecutor]:
    """The pool with this number of threads, which is replaced after a KeyboardInterrupt.

    An interrupt may come after the main thread has acquired a lock of the pool and before `with`
    has registered it, because `threading.Condition.__enter__` is Python code. The lock is then
    never released, and the next pass would wait for ever.
    """
    pool = _pool(threads)
    try:
        yield pool
    except KeyboardInterrupt:
        with _lock:
            if _pools.get(threads) is pool:
                del _pools[threads]
        raise


def _forget_threads() -> None:
    """Make a forked child start new pools: it has none of its parent's threads."""
    global _lock
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def clear(buffer: Any) -> None:
    """Set an array, or every array of a tuple, to zero."""
    for array in buffer if isinstance(buffer, tuple) else (buffer,):
        array.fill(0)


@keyboard_interrupts()
def run_chunks(
    work: Callable[[int, int, Any], None],
    bounds: Sequence[int] | np.ndarray,
    make: Callable[[], Any],
    add: Callable[[Any, Any], None],
    n_jobs: int | None,
    reset: Callable[[Any], None] | None = None,
) -> Any:
    """Sum over chunks of the statistics that ``work(first, last, buffer)`` adds to ``make()``.

    Besides the total there are at most as many buffers as threads, plus one. ``add(total, buffer)``
    is called in the order of the chunks. With `reset` (`clear`, for arrays) buffers are reused,
    because the first access to new memory can take longer than the work of a chunk.
    """
    chunks = [(int(a), int(b)) for a, b in pairwise(bounds)]
    spare: deque[Any] = deque()

    def run(chunk: tuple[int, int]) -> Any:
        try:
            buffer = spare.popleft()  # atomic, so that two threads never get the same buffer
        except IndexError:
            buffer = make()
        else:
            if reset is not None:
                reset(buffer)
        work(chunk[0], chunk[1], buffer)
        return buffer

    total = None
    for buffer in map_in_order(run, chunks, min(n_threads(n_jobs), len(chunks))):
        if total is None:
            total = buffer
            continue
        add(total, buffer)
        if reset is not None:
            spare.append(buffer)
    return total


def map_in_order(
    work: Callable[[_Item], _Result], items: Iterable[_Item], n_jobs: int | None
) -> Iterator[_Result]:
    """``work(item)`` of each item, in the order of the items, on threads.

    The caller's thread takes items from the iterable as they are needed, at most one more than
    there are threads, so that a file can be read while earlier parts of it are processed.
    """
    threads = n_threads(n_jobs)
    if threads <= 1:
        yield from map(work, items)
        return
    waiting: deque = deque()
    with _using(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # after an error, or when the caller stops iterating
            for future in waiting:
                future.cancel()


# ---- BLAS ----------------------------------------------------------------------------------------


@cache
def _libraries() -> ThreadpoolController:
    """The BLAS libraries of this process; finding them takes some milliseconds."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread in this process, as a context manager or a decorator.

    Matrix products are small in training (topics x topics, topics x documents), and our own threads
    need the cores. BLAS threads wait for the next product in a busy loop: with 50 topics this took
    a third of the processor time of a fit. With one thread, sums also do not depend on the number
    of BLAS threads.

    It has an effect in the main thread only: OpenBLAS (0.3.31) ignores calls from other threads,
    and nested blocks in one thread restore the previous number in the right order.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _libraries().limit(limits=1, user_api="blas"):
        yield
