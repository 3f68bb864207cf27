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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topicfocus.corpus import CountStore, StoreError
from topicfocus.corpus.parts import (
    Building,
    Counts,
    PartedCounts,
    Rows,
    chosen_documents,
    chosen_words,
    in_memory,
    joined_rows,
    sum_bounds,
)
from topicfocus.corpus.validation import check_counts, read_matrix
from topicfocus.distributed.cluster import default_client, result_of
from topicfocus.inference.passes import Task, add_to, word_totals, work_on

#: Nonzeros of a part that workers load from a store, about.
PART = 1 << 21
_NUMBERS = count()


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
        By default the current one.
    partitions : int, optional
        How many parts a store is cut into. It changes nothing in the result.

    Examples
    --------
    >>> from topicfocus import CountStore, FocusedTopicRegressor
    >>> from topicfocus.distributed import DaskCounts
    >>> store = CountStore("counts")  # doctest: +SKIP
    >>> FocusedTopicRegressor(5).fit(DaskCounts(store, client=client), y)  # doctest: +SKIP
    """

    def __init__(self, counts: Any, client: Any = None, partitions: int | None = None) -> None:
        self.client = default_client() if client is None else client
        self._root, self.piece = False, PART
        if isinstance(counts, CountStore):
            self._from_store(counts, partitions)
        elif sparse.issparse(counts):
            self._from_matrix(sparse.csr_array(counts), partitions)
        else:
            self._from_collection(counts)

    # ---- where parts come from -------------------------------------------------------------------

    def _from_store(self, store: CountStore, partitions: int | None) -> None:
        self.shape, self.indptr, self.vocabulary = store.shape, store.indptr, store.vocabulary
        where = str(store.folder.resolve()), store.seal
        self._parts = [
            Part(a, b, self._submit(load_part, *where, a, b)) for a, b in self._spans(partitions)
        ]

    def _from_matrix(self, matrix: sparse.csr_array, partitions: int | None) -> None:
        self.shape, self.indptr = matrix.shape, matrix.indptr.astype(np.int64)
        self.vocabulary = None
        rows = Rows(matrix.indptr, matrix.indices, matrix.data)
        self._parts = [
            Part(a, b, self._submit(_same, chosen_documents(rows, np.arange(a, b))))
            for a, b in self._spans(partitions)
        ]

    def _from_collection(self, collection: Any) -> None:
        self.vocabulary, n_words, read = _reader(collection, self._words_of)
        blocks = [self._submit(read, d) for d in self._persisted(collection)]
        lengths = [result_of(self.client, self._submit(_lengths, block)) for block in blocks]
        if n_words is None:
            n_words = result_of(self.client, self._submit(_n_words, blocks[0]))
        self.shape = (sum(map(len, lengths)), int(n_words))
        self.indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
        ends = np.cumsum([0, *map(len, lengths)]).tolist()
        self._parts = [
            Part(a, b, self._submit(_rows_of, block))
            for (a, b), block in zip(pairwise(ends), blocks, strict=True)
        ]

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
            found |= result_of(self.client, self._submit(_bag_words, part))
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
        """Documents first..last-1, brought here: for few of them."""
        found = self._overlapping(first, last)
        futures = [self._submit(_some, part.rows, a, b, self._root) for part, a, b in found]
        rows = [result_of(self.client, future) for future in futures]
        return joined_rows(rows) if rows else Rows(np.zeros(1, np.int32), *_NOTHING)

    def sqrt(self) -> DaskCounts:
        return self._with(self._parts, self.indptr, self.shape[1], True)

    def rows(self, index: NDArray[np.intp]) -> Counts:
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
        parts = [
            replace(
                part,
                rows=self._submit(_on_words, part.rows, self.shape[1], kept, weight, self._root),
            )
            for part in self._parts
        ]
        sizes = [self._submit(_row_lengths, part.rows) for part in parts]
        lengths = [result_of(self.client, size) for size in sizes]
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
        return self._with(parts, indptr, len(kept), False)

    def joined_with(self, other: Counts) -> DaskCounts:
        """These documents, and then those of another."""
        if not isinstance(other, DaskCounts):
            other = DaskCounts(other, self.client)
        if other._root != self._root:
            raise ValueError("counts and roots of counts cannot be joined")
        n = self.shape[0]
        moved = [replace(p, first=p.first + n, last=p.last + n) for p in other._parts]
        indptr = np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]])
        return self._with([*self._parts, *moved], indptr, self.shape[1], self._root)

    def build(self) -> Building:
        raise NotImplementedError("documents of a cluster are chosen by its workers")

    def word_sums(self) -> NDArray[np.float64]:
        (sums,) = self.run_task(word_totals(self.shape), sum_bounds(self.indptr))
        return sums[:, 0]

    # ---- a pass ----------------------------------------------------------------------------------

    def run_task(self, task: Task, bounds: NDArray[np.int64]) -> Any:
        """The statistics of all documents: a call a chunk, added in the order of the chunks."""
        plain = replace(task, given=(), changed=())
        spans = [(int(a), int(b)) for a, b in pairwise(bounds)]
        futures = [self._chunk(plain, task, a, b) for a, b in spans]
        total = None
        for (first, last), future in zip(spans, futures, strict=True):
            stats, changed = result_of(self.client, future)
            future.release()
            for mine, theirs in zip(task.changed, changed, strict=True):
                mine[first:last] = theirs
            if total is None:
                total = stats
            else:
                add_to(total, stats)
        return total

    def _chunk(self, plain: Task, task: Task, first: int, last: int) -> Any:
        found = self._overlapping(first, last)
        given = tuple(a[first:last] for a in task.given)
        changed = tuple(a[first:last] for a in task.changed)
        spans = [(a, b) for _, a, b in found]
        rows = [part.rows for part, _, _ in found]
        return self._submit(run_chunk, plain, self._root, spans, given, changed, *rows)


_NOTHING = (np.zeros(0, np.int32), np.zeros(0))


# ---- what workers do -----------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _opened(folder: str, seal: int) -> CountStore:
    store = CountStore(folder)
    if store.seal != seal:
        raise StoreError(f"{folder} was counted again while it was in use. Run the command again.")
    return store


def load_part(folder: str, seal: int, first: int, last: int) -> Rows:
    """Documents of a store, read by a worker, if it is still the one that was meant."""
    return _opened(folder, seal).read(first, last)


def run_chunk(
    task: Task, root: bool, spans: list[tuple[int, int]], given: Any, changed: Any, *parts: Rows
) -> tuple[Any, tuple]:
    """The statistics of a chunk, and the numbers of its documents that were worked on."""
    # What arrives is read-only, for which kernels would be compiled a second time.
    given = tuple(np.array(a) for a in given)
    changed = tuple(np.array(a) for a in changed)
    task = replace(task, shared=_writeable(task.shared))
    total = task.make()
    starts = np.cumsum([0, *(b - a for a, b in spans)]).tolist()
    where = {start: (part, *span) for start, part, span in zip(starts, parts, spans, strict=False)}

    def read(a: int, b: int) -> Rows:
        return _some(*where[a], root)

    work_on(task, read, list(pairwise(starts)), given, changed, total)
    return total, changed


def _writeable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    if isinstance(value, tuple):
        parts = [_writeable(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _some(rows: Rows, first: int, last: int, root: bool) -> Rows:
    """Some documents of a part, as kernels take them."""
    lo, hi = int(rows.indptr[first]), int(rows.indptr[last])
    data = np.sqrt(rows.data[lo:hi]) if root else np.array(rows.data[lo:hi])
    indptr = np.asarray(rows.indptr[first : last + 1] - lo, dtype=np.int32)
    return Rows(indptr, np.array(rows.indices[lo:hi], dtype=np.int32), data)


def _same(rows: Rows) -> Rows:
    return rows


def _row_lengths(rows: Rows) -> NDArray[np.int64]:
    return np.diff(rows.indptr).astype(np.int64)


def _on_words(rows: Rows, n_words: int, kept: Any, weight: Any, root: bool) -> Rows:
    seen = rows._replace(data=np.sqrt(rows.data)) if root else rows
    return chosen_words(seen, n_words, kept, weight)


# ---- dask's collections --------------------------------------------------------------------------


def _reader(collection: Any, words_of: Callable[[Any], tuple[str, ...]]) -> tuple:
    """The words of a collection, their number, and a function from a partition to its counts."""
    kind = type(collection).__name__
    if hasattr(collection, "columns"):
        words = tuple(map(str, collection.columns))
        return words, len(words), _from_frame
    if kind == "Bag":
        words = words_of(collection)
        return words, len(words), _FromBag(words)
    if getattr(collection, "ndim", None) == 2:
        return None, collection.shape[1], _from_block
    raise TypeError(
        f"X is a {kind} of {type(collection).__module__}: counts on a cluster are a dask array or "
        "dataframe of documents x words, or a bag of dicts {word: count}."
    )


def _from_block(block: Any) -> sparse.csr_array:
    return check_counts(read_matrix(block), fractions=True)


def _from_frame(frame: Any) -> sparse.csr_array:
    return check_counts(read_matrix(frame.to_numpy()), fractions=True)


class _FromBag:
    """Dicts {word: count} to counts of given words."""

    __name__ = "from_bag"

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words

    def __call__(self, items: Any) -> sparse.csr_array:
        place = {word: i for i, word in enumerate(self.words)}
        documents = [sorted((place[str(w)], c) for w, c in item.items()) for item in items]
        indptr = np.cumsum([0, *map(len, documents)])
        flat = [pair for document in documents for pair in document]
        parts = ([c for _, c in flat], [w for w, _ in flat], indptr)
        matrix = sparse.csr_array(parts, shape=(len(documents), len(self.words)), dtype=np.float64)
        return check_counts(read_matrix(matrix), fractions=True)


def _bag_words(items: Any) -> set[str]:
    return {str(word) for item in items for word in item}


def _rows_of(matrix: sparse.csr_array) -> Rows:
    return Rows(matrix.indptr, matrix.indices, matrix.data)


def _lengths(matrix: sparse.csr_array) -> NDArray[np.int64]:
    return np.diff(matrix.indptr).astype(np.int64)


def _n_words(matrix: sparse.csr_array) -> int:
    return matrix.shape[1]
