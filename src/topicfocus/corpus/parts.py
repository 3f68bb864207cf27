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

from topicfocus.corpus.validation import index_dtype

#: Nonzeros of a chunk of a plain sum, at most: smaller data are one chunk.
LARGEST_SUM = 1 << 22
#: Bytes of a nonzero of a matrix in memory.
_BYTES_A_NONZERO = 12


class Rows(NamedTuple):
    """Documents in a row as kernels take them; `indptr` begins at zero."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[np.float64]

    @property
    def n_docs(self) -> int:
        return len(self.indptr) - 1

    def matrix(self, n_words: int) -> sparse.csr_array:
        """The same as a matrix, without copies."""
        parts = (self.data, self.indices, self.indptr)
        matrix = sparse.csr_array(parts, shape=(self.n_docs, n_words), copy=False)
        matrix.has_canonical_format = True
        return matrix


#: No documents.
NO_ROWS = Rows(np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0))


class PartedCounts(ABC):
    """Documents x words counts that are never all in memory.

    `indptr` (documents + 1) says where each document begins, as in a CSR matrix.
    """

    indptr: NDArray[np.int64]
    shape: tuple[int, int]
    #: Nonzeros read at a time.
    piece: int
    #: Bytes that a matrix of all documents may take in this process.
    most_memory: int = 2 * 10**9

    @property
    def nnz(self) -> int:
        return int(self.indptr[-1])

    @abstractmethod
    def read(self, first: int, last: int) -> Rows:
        """Documents first..last-1."""

    def blocks(self) -> Iterator[sparse.csr_array]:
        """The documents as matrices, some at a time: for what is done document by document.

        Returns
        -------
        iterator of scipy.sparse.csr_array

        Examples
        --------
        >>> import tempfile
        >>> from topicfocus import CountStore
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = CountStore.write(f"{folder.name}/counts", [[[4, 0, 1], [0, 9, 0]]])
        >>> [block.shape for block in store.blocks()]
        [(2, 3)]
        >>> folder.cleanup()
        """
        return (part for _, _, part in pieces(self))

    @abstractmethod
    def sqrt(self) -> PartedCounts:
        """√counts."""

    @abstractmethod
    def build(self) -> Building:
        """Collects documents of the same words: in memory where they fit, else beside these."""

    def rows(self, index: NDArray[np.intp]) -> Counts:
        """Some of the documents, in the order of `index`."""
        ascending = len(index) < 2 or bool(np.all(index[1:] >= index[:-1]))
        order = index if ascending else np.sort(index, kind="stable")
        building = self.build()
        start, end = (int(order[0]), int(order[-1]) + 1) if len(order) else (0, 0)
        for first, last in piece_bounds(self, start, end):
            here = order[np.searchsorted(order, first) : np.searchsorted(order, last)]
            if len(here):
                building.add(chosen_documents(self.read(first, last), here - first))
        found = building.finish()
        if ascending:
            return found
        return in_memory(found)[np.argsort(np.argsort(index, kind="stable"), kind="stable")]

    @abstractmethod
    def columns(self, kept: NDArray[np.intp], weight: NDArray[np.float64] | None = None) -> Counts:
        """Some of the words, in ascending order, each multiplied by its weight."""

    def table(self, width: int, fill: float | NDArray[np.float64] = 0.0) -> NDArray[np.float64]:
        """Numbers of each document, to be worked on in place.

        Parameters
        ----------
        width : int
        fill : float or array
            What is in it at first.

        Returns
        -------
        array (documents, width)

        Examples
        --------
        >>> import tempfile
        >>> from topicfocus import CountStore
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = CountStore.write(f"{folder.name}/counts", [[[4, 0, 1], [0, 9, 0]]])
        >>> store.table(2).shape
        (2, 2)
        >>> folder.cleanup()
        """
        return self.new_table(self.shape[0], width, fill)

    def new_table(
        self, n_docs: int, width: int, fill: float | NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Numbers of any number of documents, to be worked on in place.

        Parameters
        ----------
        n_docs, width : int
        fill : float or array (width,)
            What they are at first.

        Returns
        -------
        array (n_docs, width)

        Examples
        --------
        >>> import tempfile
        >>> from topicfocus import CountStore
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = CountStore.write(f"{folder.name}/counts", [[[4, 0, 1], [0, 9, 0]]])
        >>> store.new_table(3, 1, 0.5)[:, 0].tolist()
        [0.5, 0.5, 0.5]
        >>> folder.cleanup()
        """
        out = np.empty((n_docs, width))
        out[:] = fill
        return out

    def word_sums(self) -> NDArray[np.float64]:
        """Σ_d c_dv of each word.

        Returns
        -------
        array (words,)

        Examples
        --------
        >>> import tempfile
        >>> from topicfocus import CountStore
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = CountStore.write(f"{folder.name}/counts", [[[4, 0, 1], [0, 9, 0]]])
        >>> store.word_sums().tolist()
        [4.0, 9.0, 1.0]
        >>> folder.cleanup()
        """
        total = np.zeros(self.shape[1])
        for first, last in pairwise(sum_bounds(self.indptr).tolist()):
            sums = np.zeros(self.shape[1])
            for a, b in piece_bounds(self, first, last):
                rows = self.read(a, b)
                # Not bincount: what was summed before has to be gone on with.
                np.add.at(sums, rows.indices, rows.data)
            total = sums if first == 0 else total + sums
        return total


class Building(ABC):
    """Documents on their way to counts of their own."""

    @abstractmethod
    def add(self, rows: Rows) -> None:
        """Some more documents."""

    @abstractmethod
    def finish(self) -> Counts:
        """All that were added."""


class Joined(PartedCounts):
    """Documents of one corpus, and then those of another; at least one of them is in parts."""

    def __init__(self, first: Counts, second: Counts) -> None:
        self._parts = (first, second)
        self._from = first if isinstance(first, PartedCounts) else second
        assert isinstance(self._from, PartedCounts)
        self.piece, self.most_memory = self._from.piece, self._from.most_memory
        self.shape = (first.shape[0] + second.shape[0], first.shape[1])
        begin = first.indptr.astype(np.int64)
        self.indptr = np.concatenate([begin, begin[-1] + second.indptr[1:].astype(np.int64)])

    def read(self, first: int, last: int) -> Rows:
        middle = self._parts[0].shape[0]
        found = []
        if first < middle:
            found.append(read_rows(self._parts[0], first, min(last, middle)))
        if last > middle:
            found.append(read_rows(self._parts[1], max(first, middle) - middle, last - middle))
        return found[0] if len(found) == 1 else joined_rows(found)

    def sqrt(self) -> PartedCounts:
        return Joined(*(part.sqrt() for part in self._parts))

    def columns(self, kept: NDArray[np.intp], weight: NDArray[np.float64] | None = None) -> Counts:
        return stacked(*(take_columns(part, kept, weight) for part in self._parts))

    def build(self) -> Building:
        return self._from.build()

    def table(self, width: int, fill: float | NDArray[np.float64] = 0.0) -> NDArray[np.float64]:
        return self._from.new_table(self.shape[0], width, fill)


Counts: TypeAlias = "sparse.csr_array | PartedCounts"


def is_for_cluster(X: Any) -> bool:
    """Whether documents are a collection of dask, or a store that a cluster is to work with."""
    if isinstance(X, PartedCounts):
        return getattr(X, "client", None) is not None and not hasattr(X, "run_task")
    return type(X).__module__.partition(".")[0] == "dask"


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
    """Documents first..last-1; where they are in memory, views of these."""
    if isinstance(counts, PartedCounts):
        return counts.read(first, last)
    lo, hi = int(counts.indptr[first]), int(counts.indptr[last])
    indptr = counts.indptr[first : last + 1]
    return Rows(indptr - lo if lo else indptr, counts.indices[lo:hi], counts.data[lo:hi])


def pieces(counts: Counts) -> Iterator[tuple[int, int, sparse.csr_array]]:
    """(first, last, matrix) of all documents, a piece at a time."""
    for first, last in piece_bounds(counts, 0, counts.shape[0]):
        yield first, last, read_rows(counts, first, last).matrix(counts.shape[1])


def in_memory(counts: Counts) -> sparse.csr_array:
    """The whole matrix: for few documents; ValueError if it takes more memory than there may be."""
    if not isinstance(counts, PartedCounts):
        return counts
    need = _BYTES_A_NONZERO * counts.nnz + 8 * counts.shape[0]
    if need > counts.most_memory:
        raise ValueError(
            f"this needs the counts of all {counts.shape[0]:,} documents in memory at once, some "
            f"{need / 1e6:,.0f} MB, and at most {counts.most_memory / 1e6:,.0f} MB may be used. "
            "Give it fewer documents, X.rows(...), or one block after the other: for block in "
            "X.blocks()."
        )
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


def weigh_columns(counts: Counts, weight: NDArray[np.float64]) -> Counts:
    """All of the words, each multiplied by its weight; where they are is not copied."""
    if isinstance(counts, PartedCounts):
        return counts.columns(np.arange(counts.shape[1]), weight)
    rows = Rows(counts.indptr, counts.indices, counts.data * weight[counts.indices])
    return rows.matrix(counts.shape[1])


def chosen_words(
    rows: Rows, n_words: int, kept: NDArray[np.intp], weight: NDArray[np.float64] | None
) -> Rows:
    """The entries of some words, numbered anew."""
    place = np.full(n_words, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    new = place[rows.indices]
    inside = new >= 0
    before = np.zeros(len(new) + 1, dtype=np.int64)
    np.cumsum(inside, out=before[1:])
    data, indices = rows.data[inside], new[inside]
    if weight is not None:
        data = data * weight[indices]
    return Rows(before[rows.indptr].astype(rows.indptr.dtype), indices, data)


def stacked(first: Counts, second: Counts) -> Counts:
    """The documents of both."""
    together = getattr(first, "joined_with", None)
    if together is not None:
        return together(second)
    if isinstance(first, PartedCounts) or isinstance(second, PartedCounts):
        return Joined(first, second)
    return sparse.csr_array(sparse.vstack([first, second], format="csr"))


def chosen_documents(rows: Rows, index: NDArray[np.intp]) -> Rows:
    """Some documents of a piece, in the order of `index`."""
    starts = rows.indptr[:-1][index].astype(np.int64)
    lengths = rows.indptr[1:][index].astype(np.int64) - starts
    ends = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
    return Rows(ends, rows.indices[places], rows.data[places])


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """Documents of several pieces in one."""
    starts = np.cumsum([0, *(len(p.indices) for p in parts)])
    indptr = [p.indptr[:-1] + start for p, start in zip(parts, starts[:-1], strict=True)]
    return Rows(
        np.concatenate([*indptr, starts[-1:]]).astype(index_dtype(int(starts[-1]))),
        np.concatenate([p.indices for p in parts]),
        np.concatenate([p.data for p in parts]),
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
