"""`DaskCounts`: documents held by the workers of a cluster, as counts in parts.

A part is a future of the rows of some documents. Workers load it themselves (`load_part`), so that
a part that is lost with a worker is loaded again by another one; so are parts that were chosen from
others. A pass (`inference.passes.Task`) is one submitted call a chunk. Statistics of chunks come
back one by one and are added here in the order of the chunks, because a sum of floating-point
numbers depends on its order: so the result is that of one machine, for any number of workers and
any cuts into parts, also when a worker dies. Numbers of documents (targets, topic mixes) stay here
and travel with the calls; words never do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topicfocus.corpus import CountStore
from topicfocus.corpus.parts import (
    NO_ROWS,
    Building,
    Counts,
    PartedCounts,
    Rows,
    chosen_documents,
    in_memory,
    joined_rows,
    piece_bounds,
    sum_bounds,
)
from topicfocus.distributed.cluster import default_client, result_of
from topicfocus.distributed.collections import bag_words, reader, rows_of_matrix
from topicfocus.distributed.work import (
    load_part,
    on_words,
    put_together,
    row_lengths,
    run_chunk,
    same,
    some_rows,
)
from topicfocus.inference.passes import Task, add_to, word_totals

#: Nonzeros of a part that workers load from a store, about.
PART = 1 << 21
_NUMBERS = count()
#: Chunks of a pass that are under way at a time, at least.
_UNDER_WAY = 32


@dataclass(frozen=True)
class Part:
    """Documents first..last-1, and the future of their rows."""

    first: int
    last: int
    rows: Any


class DaskCounts(PartedCounts):
    """Documents x words counts held by the workers of a Dask cluster, to be passed to ``fit`` as X.

    Dask arrays and dataframes may be passed to ``fit`` as they are; this class is for a store on
    disk, which all workers have to see under the same name, and for a client other than the
    current one.

    Parameters
    ----------
    counts : CountStore, dask array or dataframe, dask bag of dicts, or sparse matrix
        Documents x words; each item of a bag has the counts of a document by word.
    client : distributed.Client, optional
        By default that of the store, or the current one.
    partitions : int, optional
        How many parts a store is cut into. It changes nothing in the result.

    Examples
    --------
    With ``client``, a `distributed.Client` (or that of `connected`):

    >>> from topicfocus import CountStore, FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.distributed import DaskCounts
    >>> reviews = make_reviews(100, random_state=0)
    >>> store = CountStore.write("counts", [reviews.counts[:50], reviews.counts[50:]])
    >>> model = FocusedTopicRegressor(2, inclusion_prior=0.2, max_epochs=2, random_state=0)
    >>> there = model.fit(DaskCounts(store, client=client), reviews.target).components_
    >>> here = model.fit(reviews.counts, reviews.target).components_
    >>> bool((there == here).all())
    True
    """

    def __init__(self, counts: Any, client: Any = None, partitions: int | None = None) -> None:
        client = getattr(counts, "client", None) if client is None else client
        self.client = default_client() if client is None else client
        self._root, self.piece, self._shared = False, PART, _Shared()
        if isinstance(counts, CountStore):
            self._from_store(counts, partitions)
        elif sparse.issparse(counts):
            self._from_matrix(sparse.csr_array(counts), partitions)
        else:
            self._from_collection(counts)

    # ---- where parts come from -------------------------------------------------------------------

    def _from_store(self, store: CountStore, partitions: int | None) -> None:
        self.shape, self.indptr, self.vocabulary = store.shape, store.indptr, store.vocabulary
        self.scratch = store.scratch  # its limit is that of the numbers that stay here
        where = str(store.folder.resolve()), store.seal
        self._parts = [
            Part(a, b, self._submit(load_part, *where, a, b)) for a, b in self._spans(partitions)
        ]

    def _from_matrix(self, matrix: sparse.csr_array, partitions: int | None) -> None:
        self.shape, self.indptr = matrix.shape, matrix.indptr.astype(np.int64)
        self.vocabulary = None
        rows = Rows(matrix.indptr, matrix.indices, matrix.data)
        self._parts = [
            Part(a, b, self._submit(same, chosen_documents(rows, np.arange(a, b))))
            for a, b in self._spans(partitions)
        ]

    def _from_collection(self, collection: Any) -> None:
        self.vocabulary, n_words, read = reader(collection, self._words_of)
        blocks = [self._submit(read, d) for d in self._persisted(collection)]
        self._from_rows([self._submit(rows_of_matrix, block) for block in blocks], n_words)

    def _from_rows(self, rows: Sequence[Any], n_words: int) -> None:
        sizes = [self._submit(row_lengths, future) for future in rows]
        lengths = [result_of(self.client, size) for size in sizes]
        self.shape = (sum(map(len, lengths)), int(n_words))
        self.indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
        ends = np.cumsum([0, *map(len, lengths)]).tolist()
        self._parts = [
            Part(a, b, future) for (a, b), future in zip(pairwise(ends), rows, strict=True) if b > a
        ]

    @classmethod
    def of_rows(
        cls, client: Any, rows: Sequence[Any], n_words: int, vocabulary: tuple[str, ...] | None
    ) -> DaskCounts:
        """Counts whose rows workers have already.

        Parameters
        ----------
        client : distributed.Client
        rows : sequence of futures of Rows
            In the order of the documents.
        n_words : int
        vocabulary : tuple of str, optional

        Returns
        -------
        DaskCounts
        """
        new = cls.__new__(cls)
        new.client, new._root, new.piece, new.vocabulary = client, False, PART, vocabulary
        new._shared = _Shared()
        new._from_rows(rows, n_words)
        return new

    def _persisted(self, collection: Any) -> list[Any]:
        """A future for every partition, kept by the workers."""
        delayed = np.asarray(collection.to_delayed(), dtype=object)
        if delayed.ndim == 2 and delayed.shape[1] > 1:
            raise ValueError(
                "the words of a dask array are in several chunks; put them into one: "
                "X.rechunk({1: -1})."
            )
        return self.client.compute(delayed.ravel().tolist())

    def _words_of(self, bag: Any) -> tuple[str, ...]:
        found: set[str] = set()
        for part in self._persisted(bag):
            found |= result_of(self.client, self._submit(bag_words, part))
        return tuple(sorted(found))

    def _spans(self, partitions: int | None) -> list[tuple[int, int]]:
        n_docs, nnz = self.shape[0], int(self.indptr[-1])
        n = partitions or max(1, -(-nnz // PART))
        n = min(n, max(n_docs, 1))
        goals = np.arange(1, n) * (nnz / n)
        inner = np.searchsorted(self.indptr, goals)
        ends = np.unique(np.concatenate([[0], inner, [n_docs]]))
        return list(pairwise(ends.tolist()))

    # ---- counts in parts -------------------------------------------------------------------------

    def _with(self, parts: Sequence[Part], indptr: Any, n_words: int, root: bool) -> DaskCounts:
        new = DaskCounts.__new__(DaskCounts)
        new._shared = _Shared()
        new.client, new.piece, new.vocabulary = self.client, self.piece, None
        new._parts, new._root = list(parts), root
        new.indptr, new.shape = indptr, (len(indptr) - 1, n_words)
        return new

    def _submit(self, function: Callable[..., Any], *args: Any) -> Any:
        # A key of our own: hashing the arguments would cost more than some of the calls.
        key = f"topicfocus-{function.__name__.strip('_')}-{id(self)}-{next(_NUMBERS)}"
        return self.client.submit(function, *args, key=key, pure=False, retries=2)

    def _overlapping(self, first: int, last: int) -> list[tuple[Part, int, int]]:
        """Parts with documents of first..last-1, and which of their own these are."""
        return [
            (part, max(first, part.first) - part.first, min(last, part.last) - part.first)
            for part in self._parts
            if part.first < last and part.last > first
        ]

    def read(self, first: int, last: int) -> Rows:
        """Documents first..last-1, brought here: for few of them.

        Parameters
        ----------
        first, last : int

        Returns
        -------
        Rows
        """
        found = self._overlapping(first, last)
        futures = [self._submit(some_rows, part.rows, a, b, self._root) for part, a, b in found]
        rows = [result_of(self.client, future) for future in futures]
        return joined_rows(rows) if rows else NO_ROWS

    def sqrt(self) -> DaskCounts:
        """√counts, which workers take when they read."""
        roots = self._with(self._parts, self.indptr, self.shape[1], True)
        roots._shared = self._shared
        return roots

    def rows(self, index: NDArray[np.intp]) -> Counts:
        """Some of the documents, in the order of `index`."""
        if len(index) > 1 and np.any(index[1:] < index[:-1]):
            order = np.argsort(index, kind="stable")
            return in_memory(self.rows(index[order]))[np.argsort(order, kind="stable")]
        parts, first = [], 0
        for part in self._parts:
            here = index[np.searchsorted(index, part.first) : np.searchsorted(index, part.last)]
            if len(here):
                chosen = self._submit(chosen_documents, part.rows, here - part.first)
                parts.append(Part(first, first + len(here), chosen))
                first += len(here)
        lengths = np.diff(self.indptr)[index]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return self._with(parts, indptr, self.shape[1], self._root)

    def columns(self, kept: NDArray[np.intp], weight: NDArray[np.float64] | None = None) -> Counts:
        """Some of the words, in ascending order, each multiplied by its weight."""
        parts = [
            replace(
                part,
                rows=self._submit(on_words, part.rows, self.shape[1], kept, weight, self._root),
            )
            for part in self._parts
        ]
        sizes = [self._submit(row_lengths, part.rows) for part in parts]
        lengths = [result_of(self.client, size) for size in sizes]
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
        return self._with(parts, indptr, len(kept), False)

    def joined_with(self, other: Counts) -> DaskCounts:
        """These documents, and then those of another.

        Parameters
        ----------
        other : counts
            Of the same words; a matrix is sent to the workers.

        Returns
        -------
        DaskCounts

        Raises
        ------
        ValueError
            If one of the two has roots of counts and the other counts.

        Examples
        --------
        >>> from scipy import sparse
        >>> from topicfocus.distributed import DaskCounts
        >>> counts = DaskCounts(sparse.csr_array([[2, 0], [0, 1]]), client=client)
        >>> counts.joined_with(counts).shape
        (4, 2)
        """
        if not isinstance(other, DaskCounts):
            other = DaskCounts(other, self.client)
        if other._root != self._root:
            raise ValueError("counts and roots of counts cannot be joined")
        n = self.shape[0]
        moved = [replace(p, first=p.first + n, last=p.last + n) for p in other._parts]
        indptr = np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]])
        return self._with([*self._parts, *moved], indptr, self.shape[1], self._root)

    def build(self) -> Building:
        """Nothing is collected here: documents of a cluster stay with its workers."""
        raise NotImplementedError("documents of a cluster are chosen by its workers")

    def word_sums(self) -> NDArray[np.float64]:
        """Σ_d c_dv of each word."""
        (sums,) = self.run_task(word_totals(self.shape), sum_bounds(self.indptr))
        return sums[:, 0]

    # ---- a pass ----------------------------------------------------------------------------------

    def run_task(self, task: Task, bounds: NDArray[np.int64]) -> Any:
        """The statistics of all documents: a call a chunk, added in the order of the chunks.

        Parameters
        ----------
        task : Task
            What is done with documents in a row (`inference/passes.py`).
        bounds : array of int
            Documents at which chunks begin and end.

        Returns
        -------
        what `task` adds up

        Examples
        --------
        The counts of each word, with a task that adds them up:

        >>> import numpy as np
        >>> from scipy import sparse
        >>> from topicfocus.distributed import DaskCounts
        >>> from topicfocus.inference.passes import word_totals
        >>> counts = DaskCounts(sparse.csr_array([[2, 0], [3, 1]]), client=client)
        >>> (sums,) = counts.run_task(word_totals(counts.shape), np.array([0, 1, 2]))
        >>> sums[:, 0].tolist()
        [5.0, 1.0]
        """
        # What all documents need travels once, and from worker to worker.
        plain = self._submit(same, replace(task, given=(), changed=()))
        spans = [(int(a), int(b)) for a, b in pairwise(bounds)]
        chunks = zip(spans, self._chunks(bounds, spans), strict=True)
        total = None
        # Not all at once: numbers of documents are copied into the calls that are under way.
        calls = ((a, b, self._chunk(plain, task, a, b, found)) for (a, b), found in chunks)
        under_way = deque(islice(calls, self._most_under_way()))
        while under_way:
            first, last, future = under_way.popleft()
            stats, changed = result_of(self.client, future)
            future.release()
            under_way.extend(islice(calls, 1))
            for mine, theirs in zip(task.changed, changed, strict=True):
                mine[first:last] = theirs
            if total is None:
                total = stats
            else:
                add_to(total, stats)
        return total

    def _most_under_way(self) -> int:
        """Chunks that workers have or wait for at a time: enough to keep all threads busy."""
        try:
            threads = sum(self.client.nthreads().values())
        except (OSError, RuntimeError):  # it is gone, which whoever waits for a chunk will tell
            threads = 0
        return max(_UNDER_WAY, 2 * threads)

    def _chunks(
        self, bounds: NDArray[np.int64], spans: list[tuple[int, int]]
    ) -> list[list[tuple[Any, int, int]]]:
        """For every chunk the futures that have its documents, and which of theirs these are.

        Parts are cut where the data came from, chunks by their size. Chunks that are worked on
        again and again are therefore put together once, each by one worker, which has all of it
        from then on: else words would travel in every pass.
        """
        key = bounds.tobytes()
        asked, kept = self._shared.asked, self._shared.kept
        asked[key] = asked.get(key, 0) + 1
        found = [self._overlapping(a, b) for a, b in spans]
        if asked[key] == _OFTEN:
            kept[key] = [
                self._submit(
                    put_together, [part[1:] for part in parts], *(p.rows for p, *_ in parts)
                )
                for parts in found
            ]
        if key not in kept:
            return [[(part.rows, a, b) for part, a, b in parts] for parts in found]
        return [
            [(future, c - a, d - a) for c, d in piece_bounds(self, a, b)]
            for future, (a, b) in zip(kept[key], spans, strict=True)
        ]

    def _chunk(self, plain: Any, task: Task, first: int, last: int, found: list) -> Any:
        given = tuple(a[first:last] for a in task.given)
        changed = tuple(a[first:last] for a in task.changed)
        rows = list(dict.fromkeys(future for future, _, _ in found))
        spans = [(rows.index(future), a, b) for future, a, b in found]
        return self._submit(run_chunk, plain, self._root, spans, given, changed, *rows)


@dataclass(frozen=True)
class _Shared:
    """What views of the same documents (counts, and their roots) have in common."""

    asked: dict[bytes, int] = field(default_factory=dict)
    kept: dict[bytes, list[Any]] = field(default_factory=dict)


#: The pass of the same chunks before which they are put together.
_OFTEN = 2
