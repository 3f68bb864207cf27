"""A pass over the documents: sums of chunks, added in their order, whoever computes them.

A `Task` is plain data: a function for documents in a row, what all of them need (`shared`), numbers
of each document that are read (`given`) or worked on in place (`changed`), and the statistics to
start from. `run_pass` runs one on threads, over counts in memory or read from disk; counts that are
held by others bring a `run_task` of their own. Kernels, chunks and the order of addition are the
same, and so is the result, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from topicfocus.corpus.parts import Counts, Rows, piece_bounds, read_rows, sum_bounds
from topicfocus.corpus.scratch import let_go
from topicfocus.kernels.products import add_rows, add_words
from topicfocus.kernels.threads import clear, run_chunks

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True, kw_only=True)
class Task:
    """What to do with every document, and what to add up.

    Attributes
    ----------
    kernel : function (rows, shared, given, changed, total)
        Of a module, so that other processes can be told of it.
    make : function
        Makes the statistics of no documents: an array, or a tuple of arrays.
    shared : tuple
        What every document needs: topics, coefficients.
    given, changed : tuples of arrays, one row a document
        The kernel gets the rows of its documents.
    scratch : tuple of int
        Columns of arrays of a chunk's documents that are forgotten after it; after `changed`.
    finish : function (shared, given, changed, total), optional
        Called once the kernel has seen all documents of a chunk.
    """

    kernel: Callable[..., None]
    make: Callable[[], Any]
    shared: tuple = ()
    given: Arrays = ()
    changed: Arrays = ()
    scratch: tuple[int, ...] = ()
    finish: Callable[..., None] | None = None


def zeros(*shapes: int | tuple[int, ...], kind: Callable[..., Any] = tuple) -> Callable[[], Any]:
    """`make` of a task: arrays of zeros, as a tuple or the NamedTuple `kind`."""
    return partial(_zeros, shapes, kind)


def _zeros(shapes: tuple, kind: Callable[..., Any]) -> Any:
    arrays = [np.zeros(shape) for shape in shapes]
    return tuple(arrays) if kind is tuple else kind(*arrays)


def add_to(total: Any, other: Any) -> None:
    """Statistics of a chunk added to those before it."""
    for mine, theirs in zip(total, other, strict=True):
        mine += theirs


#: Who is told that a pass over all documents has ended.
_LISTENER: ContextVar[Callable[[], None] | None] = ContextVar("topicfocus_pass", default=None)


@contextmanager
def telling_passes(listener: Callable[[], None]) -> Iterator[None]:
    """In this block `listener` is called after every pass."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def run_pass(counts: Counts, task: Task, bounds: np.ndarray, n_jobs: int | None) -> Any:
    """The statistics of all documents, chunk by chunk."""
    elsewhere = getattr(counts, "run_task", None)
    total = (elsewhere or partial(_run_here, counts, n_jobs))(task, bounds)
    listener = _LISTENER.get()
    if listener is not None:
        listener()
    return total


def _run_here(counts: Counts, n_jobs: int | None, task: Task, bounds: np.ndarray) -> Any:
    """On threads of this process."""

    def work(first: int, last: int, total: Any) -> None:
        given = tuple(a[first:last] for a in task.given)
        changed = tuple(a[first:last] for a in task.changed)

        def read(a: int, b: int) -> Rows:
            return read_rows(counts, a, b)

        work_on(task, read, list(piece_bounds(counts, first, last)), given, changed, total)
        for table in (*given, *changed):
            let_go(table)

    return run_chunks(work, bounds, task.make, add_to, n_jobs, clear)


def work_on(
    task: Task,
    read: Callable[[int, int], Rows],
    spans: list[tuple[int, int]],
    given: Arrays,
    changed: Arrays,
    total: Any,
) -> None:
    """One chunk, piece by piece; `given` and `changed` are those of its documents."""
    if not spans:
        return
    origin, end = spans[0][0], spans[-1][1]
    changed = (*changed, *(np.empty((end - origin, width)) for width in task.scratch))
    for a, b in spans:
        here = slice(a - origin, b - origin)
        task.kernel(
            read(a, b),
            task.shared,
            tuple(g[here] for g in given),
            tuple(c[here] for c in changed),
            total,
        )
    if task.finish is not None:
        task.finish(task.shared, given, changed, total)


# ---- products ------------------------------------------------------------------------------------


def _rows_kernel(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    add_rows(*rows, shared[0], changed[0])


def _words_kernel(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    add_words(*rows, given[0], total[0])


def _two_powers(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    add_words(*rows, given[0], total[0])
    add_words(rows.indptr, rows.indices, rows.data * rows.data, given[1], total[1])


def dot(counts: Counts, x: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """counts @ x: documents x columns, or a vector of a vector."""
    tall = np.ascontiguousarray(x[:, None] if x.ndim == 1 else x, dtype=np.float64)
    out = np.empty((counts.shape[0], tall.shape[1]))
    task = Task(kernel=_rows_kernel, make=zeros(0), shared=(tall,), changed=(out,))
    run_pass(counts, task, sum_bounds(counts.indptr), n_jobs)
    return out.reshape(-1) if x.ndim == 1 else out


def transposed_dot(counts: Counts, r: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """counts.T @ r: words x columns, or a vector of a vector."""
    tall = np.ascontiguousarray(r[:, None] if r.ndim == 1 else r, dtype=np.float64)
    shape = (counts.shape[1], tall.shape[1])
    task = Task(kernel=_words_kernel, make=zeros(shape), given=(tall,))
    (out,) = run_pass(counts, task, sum_bounds(counts.indptr), n_jobs)
    return out.reshape(-1) if r.ndim == 1 else out


def word_totals(shape: tuple[int, int]) -> Task:
    """Σ_d c_dv, as a task."""
    return Task(kernel=_totals, make=zeros((shape[1], 1)))


def _totals(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    add_words(*rows, np.ones((rows.n_docs, 1)), total[0])


def transposed_dots(
    counts: Counts, r: np.ndarray, of_squares: np.ndarray, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """counts.T @ r and (counts²).T @ of_squares in one pass; both are documents x columns."""
    both = tuple(np.ascontiguousarray(a, dtype=np.float64) for a in (r, of_squares))
    shapes = [(counts.shape[1], a.shape[1]) for a in both]
    task = Task(kernel=_two_powers, make=zeros(*shapes), given=both)
    return run_pass(counts, task, sum_bounds(counts.indptr), n_jobs)


def row_sums(counts: Counts, n_jobs: int | None = None) -> np.ndarray:
    """Σ_v c_dv of each document, rounded as SciPy does it."""
    out = np.empty((counts.shape[0], 1))
    task = Task(kernel=_row_sums, make=zeros(0), shared=(counts.shape[1],), changed=(out,))
    run_pass(counts, task, sum_bounds(counts.indptr), n_jobs)
    return out[:, 0]


def _row_sums(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: Any) -> None:
    changed[0][:, 0] = np.asarray(rows.matrix(shared[0]).sum(axis=1)).ravel()
