"""Passes over documents: a `Task` runs on chunks of documents, and its sums are added in order.

Chunks depend on the data alone, so that the result is the same for every number of threads. Counts
on a cluster have their own `run_task` (distributed.py), in which a chunk is a partition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from topicfocus.counts import Counts, Rows, read_rows
from topicfocus.kernels.products import add_rows, add_words
from topicfocus.kernels.threads import SMALLEST_CHUNK, chunk_bounds, clear, run_chunks

Arrays = tuple[np.ndarray, ...]

#: Smallest number of nonzeros of a chunk in a product, so that a thread is worth its overhead.
LIGHT_CHUNK = 1 << 17


@dataclass(frozen=True, kw_only=True)
class Task:
    """A computation on each chunk of documents, with statistics that are added over the chunks.

    Attributes
    ----------
    kernel : function (rows, shared, given, changed, total)
        A module-level function, so that it can be sent to other processes.
    make : function
        Returns the statistics of no documents, a tuple of arrays.
    shared : tuple
        Arguments for all documents, such as topics and coefficients.
    given, changed : tuples of arrays, one row per document
        Read, and changed in place; the kernel gets the rows of its documents.
    by_word : bool
        Whether statistics have one row per word, so that clearing and adding them takes time and
        there should be fewer chunks.
    light : bool
        Whether a nonzero count takes one or two multiplications, so that chunks should be larger.
    """

    kernel: Callable[..., None]
    make: Callable[[], Any]
    shared: tuple = ()
    given: Arrays = ()
    changed: Arrays = ()
    by_word: bool = False
    light: bool = False


def zeros(*shapes: int | tuple[int, ...], kind: Callable[..., Any] = tuple) -> Callable[[], Any]:
    """`make` of a task: arrays of zeros, as a tuple or the NamedTuple `kind`."""
    return partial(_zeros, shapes, kind)


def _zeros(shapes: tuple, kind: Callable[..., Any]) -> Any:
    arrays = [np.zeros(shape) for shape in shapes]
    return tuple(arrays) if kind is tuple else kind(*arrays)


def add_to(total: Any, other: Any) -> None:
    """Add the statistics of a chunk to the total."""
    for mine, theirs in zip(total, other, strict=True):
        mine += theirs


def run_pass(
    counts: Counts, task: Task, n_jobs: int | None, bounds: np.ndarray | None = None
) -> Any:
    """The statistics of all documents; by default chunks (`bounds`) have equal nonzero counts."""
    if hasattr(counts, "run_task"):
        return counts.run_task(task)
    if bounds is None:
        least = LIGHT_CHUNK if task.light else SMALLEST_CHUNK
        bounds = chunk_bounds(counts.indptr, counts.shape[1] if task.by_word else 0, least)

    def work(first: int, last: int, total: Any) -> None:
        given = tuple(a[first:last] for a in task.given)
        changed = tuple(a[first:last] for a in task.changed)
        task.kernel(read_rows(counts, first, last), task.shared, given, changed, total)

    return run_chunks(work, bounds, task.make, add_to, n_jobs, clear)


# ---- products ------------------------------------------------------------------------------------


def _rows_kernel(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    add_rows(*rows, shared[0], changed[0])


def _words_kernel(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    add_words(*rows, given[0], total[0])


def _two_powers(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    add_words(*rows, given[0], total[0])
    add_words(rows.indptr, rows.indices, rows.data * rows.data, given[1], total[1])


def dot(counts: Counts, x: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """counts @ x for a vector or a matrix x."""
    tall = np.ascontiguousarray(x[:, None] if x.ndim == 1 else x, dtype=np.float64)
    out = np.empty((counts.shape[0], tall.shape[1]))
    task = Task(kernel=_rows_kernel, make=zeros(0), shared=(tall,), changed=(out,), light=True)
    run_pass(counts, task, n_jobs)
    return out.reshape(-1) if x.ndim == 1 else out


def transposed_dot(counts: Counts, r: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """counts.T @ r for a vector or a matrix r."""
    tall = np.ascontiguousarray(r[:, None] if r.ndim == 1 else r, dtype=np.float64)
    shape = (counts.shape[1], tall.shape[1])
    task = Task(kernel=_words_kernel, make=zeros(shape), given=(tall,), by_word=True, light=True)
    (out,) = run_pass(counts, task, n_jobs)
    return out.reshape(-1) if r.ndim == 1 else out


def transposed_dots(
    counts: Counts, r: np.ndarray, of_squares: np.ndarray, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """counts.T @ r and (counts²).T @ of_squares in one pass; both are documents x columns."""
    both = tuple(np.ascontiguousarray(a, dtype=np.float64) for a in (r, of_squares))
    shapes = [(counts.shape[1], a.shape[1]) for a in both]
    task = Task(kernel=_two_powers, make=zeros(*shapes), given=both, by_word=True, light=True)
    return run_pass(counts, task, n_jobs)


def row_sums(counts: Counts, n_jobs: int | None = None) -> np.ndarray:
    """Σ_v c_dv of each document."""
    return dot(counts, np.ones(counts.shape[1]), n_jobs)


def row_hashes(counts: Counts, seed: int = 0) -> list[np.ndarray]:
    """Two hashes of each row of a count matrix; two different rows hardly ever share both."""
    rng = np.random.default_rng(seed)
    out = [np.empty((counts.shape[0], 1), dtype=np.uint64) for _ in range(2)]
    keys = [rng.integers(2**64, size=counts.shape[1], dtype=np.uint64) for _ in range(2)]
    task = Task(kernel=_hash_rows, make=zeros(0), shared=tuple(keys), changed=tuple(out))
    run_pass(counts, task, 1)
    return [hashes[:, 0] for hashes in out]


def _hash_rows(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    data, indptr = rows.data.astype(np.float64).view(np.uint64), rows.indptr
    for hashes, key in zip(changed, shared, strict=True):
        # A product with an odd number can be inverted; sums wrap around.
        mixed = (key[rows.indices] | np.uint64(1)) * (data ^ key[rows.indices])
        mixed ^= mixed >> np.uint64(29)
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        hashes[:, 0] = ends[indptr[1:]] - ends[indptr[:-1]]
