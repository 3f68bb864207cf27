"""A corpus in parts: counts that are one matrix in memory, or read a piece at a time.

`Counts` is what the rest of the package is given: a SciPy matrix, or `PartedCounts`, of which only
the number of words of each document is at hand and documents are read when they are needed (from
disk, `corpus/store.py`; by the workers of a cluster, `distributed`). Everything that is computed
from counts is a sum over documents. Sums are taken over *chunks* of documents that depend on the
data alone, and the sums of chunks are added in their order. A chunk may be read in several *pieces*
without changing a digit, because within it documents are added one after the other. So the same
numbers come out to the last bit, however the counts are held.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

#: Nonzeros of a chunk of a plain sum, at most: smaller data are one chunk.
LARGEST_SUM = 1 << 22


class Rows(NamedTuple):
    """Documents in a row as kernels take them; `indptr` need not begin at zero."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[np.float64]

    @property
    def n_docs(self) -> int:
        return len(self.indptr) - 1

    def matrix(self, n_words: int) -> sparse.csr_array:
        """The same as a matrix, without copies where `indptr` begins at zero."""
        lo, hi = int(self.indptr[0]), int(self.indptr[-1])
        parts = (self.data[lo:hi], self.indices[lo:hi], self.indptr - lo if lo else self.indptr)
        matrix = sparse.csr_array(parts, shape=(self.n_docs, n_words), copy=False)
        matrix.has_canonical_format = True
        return matrix


class PartedCounts(ABC):
    """Documents x words counts that are never all in memory.

    `indptr` (documents + 1) says where each document begins, as in a CSR matrix.
    """

    indptr: NDArray[np.int64]
    shape: tuple[int, int]
    #: Nonzeros read at a time.
    piece: int

    @property
    def nnz(self) -> int:
        return int(self.indptr[-1])

    @abstractmethod
    def read(self, first: int, last: int) -> Rows:
        """Documents first..last-1."""

    @abstractmethod
    def sqrt(self) -> PartedCounts:
        """√counts."""

    @abstractmethod
    def rows(self, index: NDArray[np.intp]) -> Counts:
        """Some of the documents, in the order of `index`."""

    @abstractmethod
    def columns(self, kept: NDArray[np.intp], weight: NDArray[np.float64] | None = None) -> Counts:
        """Some of the words, in ascending order, each multiplied by its weight."""

    @abstractmethod
    def beside(self, other: Counts) -> PartedCounts:
        """These documents, and then the others."""

    def table(self, width: int, fill: float | NDArray[np.float64] = 0.0) -> NDArray[np.float64]:
        """Documents x width numbers of our own, to be worked on in place."""
        out = np.empty((self.shape[0], width))
        out[:] = fill
        return out

    def word_sums(self) -> NDArray[np.float64]:
        """Σ_d c_dv."""
        total = np.zeros(self.shape[1])
        for first, last in pairwise(sum_bounds(self.indptr).tolist()):
            sums = np.zeros(self.shape[1])
            for a, b in piece_bounds(self, first, last):
                rows = self.read(a, b)
                # Not bincount: what was summed before has to be gone on with.
                np.add.at(sums, rows.indices, rows.data)
            total = sums if first == 0 else total + sums
        return total


Counts: TypeAlias = "sparse.csr_array | PartedCounts"


def sum_bounds(indptr: NDArray[Any]) -> NDArray[np.int64]:
    """Documents at which the chunks of a plain sum begin and end: equal shares of the nonzeros."""
    nonzeros, n_docs = int(indptr[-1] - indptr[0]), len(indptr) - 1
    chunks = max(1, min(-(-nonzeros // LARGEST_SUM), n_docs))
    goals = indptr[0] + np.ceil(np.arange(1, chunks) * (nonzeros / chunks)).astype(indptr.dtype)
    inner = np.clip(np.searchsorted(indptr, goals), 0, n_docs)
    return np.concatenate([[0], inner, [n_docs]]).astype(np.int64)


def piece_bounds(counts: Counts, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Documents first..last-1 in pieces that may be in memory; a matrix is one piece."""
    if not isinstance(counts, PartedCounts):
        yield first, last
        return
    indptr = counts.indptr
    while first < last:
        end = int(np.searchsorted(indptr, indptr[first] + counts.piece, side="right")) - 1
        end = min(max(end, first + 1), last)
        yield first, end
        first = end


def read_rows(counts: Counts, first: int, last: int) -> Rows:
    """Documents first..last-1, where they are in memory without copying anything."""
    if isinstance(counts, PartedCounts):
        return counts.read(first, last)
    return Rows(counts.indptr[first : last + 1], counts.indices, counts.data)


def pieces(counts: Counts) -> Iterator[tuple[int, int, sparse.csr_array]]:
    """(first, last, matrix) of all documents, a piece at a time."""
    for first, last in piece_bounds(counts, 0, counts.shape[0]):
        yield first, last, read_rows(counts, first, last).matrix(counts.shape[1])


def in_memory(counts: Counts) -> sparse.csr_array:
    """The whole matrix: for few documents."""
    if not isinstance(counts, PartedCounts):
        return counts
    return counts.read(0, counts.shape[0]).matrix(counts.shape[1])


def take_rows(counts: Counts, index: Any) -> Counts:
    """Some of the documents."""
    if not isinstance(counts, PartedCounts):
        return counts[index]
    if isinstance(index, slice):
        index = np.arange(counts.shape[0])[index]
    index = np.asarray(index)
    return counts.rows(np.flatnonzero(index) if index.dtype == bool else index)


def take_columns(
    counts: Counts, kept: NDArray[np.intp], weight: NDArray[np.float64] | None = None
) -> Counts:
    """Some of the words, in ascending order, each multiplied by its weight."""
    if isinstance(counts, PartedCounts):
        return counts.columns(kept, weight)
    rows = Rows(counts.indptr, counts.indices, counts.data)
    return chosen_words(rows, counts.shape[1], kept, weight).matrix(len(kept))


def chosen_words(
    rows: Rows, n_words: int, kept: NDArray[np.intp], weight: NDArray[np.float64] | None
) -> Rows:
    """The entries of some words, numbered anew; `indptr` begins at zero."""
    place = np.full(n_words, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    lo, hi = int(rows.indptr[0]), int(rows.indptr[-1])
    new = place[rows.indices[lo:hi]]
    inside = new >= 0
    before = np.zeros(hi - lo + 1, dtype=np.int64)
    np.cumsum(inside, out=before[1:])
    data, indices = rows.data[lo:hi][inside], new[inside]
    if weight is not None:
        data = data * weight[indices]
    return Rows(before[rows.indptr - lo].astype(rows.indptr.dtype), indices, data)


def stacked(first: Counts, second: Counts) -> Counts:
    """The documents of both."""
    if isinstance(first, PartedCounts):
        return first.beside(second)
    if isinstance(second, PartedCounts):
        raise TypeError("documents in memory cannot be joined with documents on disk")
    return sparse.csr_array(sparse.vstack([first, second], format="csr"))


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """Documents of several pieces in one; `indptr` begins at zero."""
    spans = [(int(p.indptr[0]), int(p.indptr[-1])) for p in parts]
    starts = np.cumsum([0, *(hi - lo for lo, hi in spans)])
    shifts = [start - lo for start, (lo, _) in zip(starts[:-1], spans, strict=True)]
    indptr = [p.indptr[:-1] + shift for p, shift in zip(parts, shifts, strict=True)]
    return Rows(
        np.concatenate([*indptr, starts[-1:]]).astype(parts[0].indptr.dtype),
        np.concatenate([p.indices[lo:hi] for p, (lo, hi) in zip(parts, spans, strict=True)]),
        np.concatenate([p.data[lo:hi] for p, (lo, hi) in zip(parts, spans, strict=True)]),
    )


def document_table(
    counts: Counts, width: int, fill: float | NDArray[np.float64]
) -> NDArray[np.float64]:
    """Documents x width numbers, to be worked on in place; on disk where they are many."""
    if isinstance(counts, PartedCounts):
        return counts.table(width, fill)
    out = np.empty((counts.shape[0], width))
    out[:] = fill
    return out
