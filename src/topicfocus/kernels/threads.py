"""Run a kernel over chunks of documents on threads, with the same result for every thread count.

The chunks are fixed by the data. Their statistics are added in the order of the chunks, so a sum
of floating-point numbers never depends on who finished first. Kernels release the GIL; a plain
thread pool is used because numba's own threading layers abort when called from several threads.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice, pairwise
from typing import Any, TypeVar

import numpy as np

#: More chunks than this bring nothing on the machines we know, and each needs its own statistics.
MOST_CHUNKS = 16
#: From so many nonzeros on there are more: a chunk of counts in files is read into memory.
_HUGE = 1 << 26
#: A chunk is worth handing to a thread from about this many nonzero counts.
SMALLEST_CHUNK = 8192
#: From so many nonzeros for every word, the statistics of one more chunk cost nothing beside it.
_MANY = 128

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()
_here = threading.local()


def n_threads(n_jobs: int | None) -> int:
    """Threads to use: None or -1 is every core this process may use, -2 all but one, ...

    Work that is done on one of our threads has that one: a pool whose threads all wait for it would
    wait for ever.
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: give a positive number, or None for all cores.")
    if getattr(_here, "is_ours", False):
        return 1
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    return max(1, _cores() + 1 + (-1 if n_jobs is None else n_jobs))


def _cores() -> int:
    """Cores this process may run on, at most $OMP_NUM_THREADS.

    Programs that start many processes on one machine (Dask's workers, joblib's, a batch system)
    say by that variable how many threads each of them may have.
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        cores = os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()  # one a nested level
    return min(cores, int(limit)) if limit.isdecimal() and int(limit) else cores


def chunk_bounds(indptr: np.ndarray, n_words: int, least: int = SMALLEST_CHUNK) -> np.ndarray:
    """Document numbers at which chunks begin and end: equal shares of nonzero counts.

    Depends on the data alone. A chunk has at least `least` nonzeros, and at least as many as there
    are words, so that clearing and adding its statistics never costs more than computing them. More
    than half of `MOST_CHUNKS` are made only where that cost is nothing beside the documents, and
    more than all of them for very large corpora. Their number is a power of two: equal work for 2,
    4, 8 or 16 threads.
    """
    nonzeros = int(indptr[-1] - indptr[0])
    n_docs = len(indptr) - 1
    wanted = nonzeros // max(least, n_words)
    most = MOST_CHUNKS if nonzeros >= _MANY * n_words else MOST_CHUNKS // 2
    most <<= min((nonzeros // max(_HUGE, _MANY * n_words)).bit_length(), 6)
    chunks = 1 << (max(min(wanted, most, n_docs), 1).bit_length() - 1)
    goals = indptr[0] + np.ceil(np.arange(1, chunks) * (nonzeros / chunks))
    goals = goals.astype(indptr.dtype)  # else all of indptr is converted to search it
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
    """The pool of so many threads; after Ctrl-C the next one to ask gets a new pool.

    Ctrl-C may come when the main thread has taken a lock of the pool, and `with` does not know yet
    (`threading.Condition.__enter__` is Python's): a thread of it would wait for ever, and so would
    the next pass.
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
    """A forked child has none of its parent's threads: it makes pools, and a lock, of its own."""
    global _lock
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def clear(buffer: Any) -> None:
    """Set an array, or every array of a tuple, to zero: a buffer to be used again."""
    for array in buffer if isinstance(buffer, tuple) else (buffer,):
        array.fill(0)


def run_chunks(
    work: Callable[[int, int, Any], None],
    bounds: Sequence[int] | np.ndarray,
    make: Callable[[], Any],
    add: Callable[[Any, Any], None],
    n_jobs: int | None,
    reset: Callable[[Any], None] | None = None,
) -> Any:
    """Σ over chunks of what ``work(first, last, buffer)`` puts into a fresh ``make()``.

    At most one buffer per thread and one more exist besides the total; ``add(total, buffer)`` is
    called in the order of the chunks. With `reset` (`clear`, for arrays) a buffer that was added is
    used again: new memory of some size costs more to touch first than the work of a chunk.
    """
    chunks = [(int(a), int(b)) for a, b in pairwise(bounds)]
    threads = min(n_threads(n_jobs), len(chunks))
    spare: deque[Any] = deque()

    def run(chunk: tuple[int, int]) -> Any:
        try:
            buffer = spare.popleft()  # atomic: two threads never get the same
        except IndexError:
            buffer = make()
        else:
            if reset is not None:
                reset(buffer)
        work(chunk[0], chunk[1], buffer)
        return buffer

    def put(total: Any, buffer: Any) -> Any:
        if total is None:
            return buffer
        add(total, buffer)
        if reset is not None:
            spare.append(buffer)
        return total

    total = None
    if threads <= 1:
        for chunk in chunks:
            total = put(total, run(chunk))
        return total
    # A window of chunks is under way; the oldest is added before a new one is handed out.
    with _using(threads) as pool:
        waiting = deque(pool.submit(run, chunk) for chunk in chunks[: threads + 1])
        later = iter(chunks[threads + 1 :])
        while waiting:
            buffer = waiting.popleft().result()
            waiting.extend(pool.submit(run, chunk) for chunk in islice(later, 1))
            total = put(total, buffer)
    return total


def map_in_order(
    work: Callable[[_Item], _Result], items: Iterable[_Item], n_jobs: int | None
) -> Iterator[_Result]:
    """``work(item)`` of each item, in the order of the items, a window of them under way at a time.

    Items are taken from the iterable as they are needed, by the caller's own thread: one that reads
    a file is read while earlier parts of it are worked on, and never far ahead.
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
        finally:  # an error, or the caller has had enough: what has not begun need not begin
            for future in waiting:
                future.cancel()
