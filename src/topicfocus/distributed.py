"""Dask: partitions of counts on the workers of a cluster, and passes over them.

Workers load or count a partition themselves, so one that is lost with a worker is made again by
another. A pass (`passes.Task`) is one call per partition; the statistics come back and
are added in the order of the partitions, so the result depends neither on the number of workers
nor on which finishes first. Arrays of one row per document (targets, topic proportions) stay with
the client and travel with the calls; counts and texts never leave the cluster.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topicfocus.corpus import check_counts, read_matrix
from topicfocus.counts import (
    ChunkedCounts,
    Counts,
    MappedCounts,
    Rows,
    chosen_documents,
    chosen_words,
    in_memory,
    joined_rows,
    new_columns,
    open_counts,
    read_rows,
)
from topicfocus.kernels.threads import n_threads
from topicfocus.passes import Task, add_to, transposed_dot
from topicfocus.text.counter import TokenCounter
from topicfocus.text.sequences import TokenizedTexts, joined_texts

#: Nonzeros of a partition, at most: larger ones are cut.
PARTITION = 1 << 21
#: Seconds in which a scheduler must answer.
ANSWER = 20.0
#: Seconds without any worker after which a cluster counts as gone.
PATIENCE = 60.0
#: Seconds between looks at whether there still are workers.
_LOOK = 5.0
#: Partitions of a pass that are under way at a time, at least.
_UNDER_WAY = 32


# ---- the cluster ---------------------------------------------------------------------------------


class ClusterError(OSError):
    """The cluster cannot be reached, or is gone."""


def dask() -> Any:
    """The package `distributed`; an ImportError names what to install."""
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "a cluster needs Dask, which is not installed: pip install 'topicfocus[dask]'"
        ) from None
    return distributed


def default_client() -> Any:
    """The current client."""
    try:
        return dask().get_client()
    except ValueError:
        raise ClusterError(
            "no Dask client: make one first, client = dask.distributed.Client(...), or pass client="
        ) from None


@contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Any]:
    """Connect to a cluster at an address, or to processes of this machine ("local").

    These processes import the program that starts them: in a script call this below
    ``if __name__ == "__main__":``.

    Parameters
    ----------
    address : str
        Of the scheduler, such as "tcp://scheduler:8786", or "local".
    workers : int, optional
        Processes of a local cluster; by default one per core.

    Yields
    ------
    distributed.Client
        Closed at the end of the block, with the local cluster.

    Raises
    ------
    ClusterError
        If nothing answers at the address within 20 seconds.

    Examples
    --------
    With ``address``, that of a running scheduler, or "local" for processes of this machine:

    >>> from topicfocus.distributed import connected
    >>> with connected(address) as client:
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    package = dask()
    cluster = None
    try:
        if address == "local":
            from dask.config import set as setting

            # There is no dashboard to see what Dask's profiler finds, a hundred times a second.
            with setting({"distributed.worker.profile.enabled": False}):
                cluster = package.LocalCluster(
                    n_workers=workers or n_threads(None),
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    # Dask serves its state without one, too: here only, at a free port.
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                    silence_logs=50,
                )
        client = package.Client(cluster or address, timeout=ANSWER)
    except (OSError, ValueError, TimeoutError) as error:
        if cluster is not None:
            cluster.close()
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ClusterError(f"no cluster at {address}: {reason}") from error
    try:
        yield client
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


def result_of(client: Any, future: Any) -> Any:
    """The result of a future; a ClusterError if there is no worker left."""
    package = dask()
    # A client that has lost its scheduler no longer knows the address.
    address = getattr(getattr(client, "scheduler", None), "address", "?")
    alone_since: float | None = None
    while True:
        try:
            return future.result(timeout=_LOOK)
        except package.TimeoutError:
            now = time.monotonic()
            alone_since = None if _n_workers(client) else (alone_since or now)
            if alone_since is not None and now - alone_since > PATIENCE:
                raise _gone(address, f"no worker for {PATIENCE:.0f} s") from None
        except (package.CancelledError, package.client.FutureCancelledError) as error:
            raise _gone(address, "the connection to its scheduler was lost") from error
        except package.KilledWorker as error:
            raise _gone(address, f"a part of the work ended several workers ({error})") from error
        except package.comm.core.CommClosedError as error:
            raise _gone(address, str(error)) from error


def _n_workers(client: Any) -> int:
    try:
        return len(client.scheduler_info(n_workers=-1)["workers"])
    except Exception:  # of a scheduler that is gone, whatever it is called
        return 0


def _gone(address: str, why: str) -> ClusterError:
    return ClusterError(f"the cluster at {address} is gone: {why}.")


def _submit(client: Any, function: Callable[..., Any], *args: Any) -> Any:
    """A future; not pure, because hashing the arguments costs more than some calls."""
    return client.submit(function, *args, pure=False, retries=2)


# ---- counts --------------------------------------------------------------------------------------


class DaskCounts(ChunkedCounts):
    """Documents x words counts held by the workers of a Dask cluster, to be passed to ``fit`` as X.

    Dask arrays, dataframes and bags may be passed to ``fit`` as they are; this class is for counts
    in a folder, and for a client other than the current one.

    Parameters
    ----------
    counts : path-like, dask array or dataframe, dask bag of dicts, or sparse matrix
        Documents x words. A path is a folder of `topicfocus.write_counts` that every worker finds
        under the same name; each item of a bag has the counts of a document by word.
    client : distributed.Client, optional
        By default the current one.

    Attributes
    ----------
    shape : (int, int)
    vocabulary : tuple of str, or None
        The words of the columns.

    Examples
    --------
    With ``client``, a `distributed.Client` (or that of `connected`):

    >>> import numpy as np
    >>> from topicfocus import FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> from topicfocus.distributed import DaskCounts
    >>> reviews = make_reviews(100, random_state=0)
    >>> model = FocusedTopicRegressor(2, inclusion_prior=0.2, max_epochs=2, random_state=0)
    >>> there = model.fit(DaskCounts(reviews.counts, client), reviews.target).components_
    >>> here = model.fit(reviews.counts, reviews.target).components_
    >>> np.allclose(there, here, rtol=1e-8)
    True
    """

    def __init__(self, counts: Any, client: Any = None) -> None:
        self.client = default_client() if client is None else client
        self.vocabulary: tuple[str, ...] | None = None
        self._root = False
        if isinstance(counts, (str, Path)):
            matrix, self.vocabulary = open_counts(counts)
            place, n_words = str(Path(counts).resolve()), matrix.shape[1]
            rows = [self._submit(_load, place, a, b) for a, b in _cuts(matrix.indptr)]
        elif sparse.issparse(counts):
            matrix = check_counts(read_matrix(counts), fractions=True)
            n_words, cuts = matrix.shape[1], _cuts(matrix.indptr)
            rows = [self._submit(_packed, read_rows(matrix, a, b)) for a, b in cuts]
        else:
            self.vocabulary, n_words, read = self._reader(counts)
            rows = [self._submit(read, part) for part in self._partitions(counts)]
        self._set(rows, n_words)

    def _set(self, rows: Sequence[Any], n_words: int) -> None:
        """Set partitions: futures of rows, in the order of the documents; large ones are cut."""
        asked = [self._submit(_row_lengths, future) for future in rows]
        self._parts: list[Any] = []
        sizes: list[int] = []
        lengths = [np.zeros(0, np.int64)]
        for future, size in zip(rows, asked, strict=True):
            found = result_of(self.client, size)
            lengths.append(found)
            cuts = _cuts(np.concatenate([[0], np.cumsum(found)])) if len(found) else []
            for a, b in cuts:
                whole = len(cuts) == 1
                self._parts.append(future if whole else self._submit(_cut, future, a, b))
                sizes.append(b - a)
        self._ends = np.cumsum([0, *sizes]).astype(np.int64)
        self.indptr = np.cumsum(np.concatenate([[0], *lengths])).astype(np.int64)
        self.shape = (len(self.indptr) - 1, int(n_words))

    @classmethod
    def _of_rows(
        cls, client: Any, rows: Sequence[Any], n_words: int, vocabulary: tuple[str, ...] | None
    ) -> DaskCounts:
        """Counts whose rows are futures."""
        new = cls.__new__(cls)
        new.client, new.vocabulary, new._root = client, vocabulary, False
        new._set(rows, n_words)
        return new

    def _with(self, rows: Sequence[Any], n_words: int, root: bool) -> DaskCounts:
        new = copy(self)
        new.vocabulary, new._root = None, root
        new._set(rows, n_words)
        return new

    def _partitions(self, collection: Any) -> list[Any]:
        """A future for every partition of a collection."""
        delayed = np.asarray(collection.to_delayed(), dtype=object)
        if delayed.ndim == 2 and delayed.shape[1] > 1:
            raise ValueError(
                "the words of a dask array are in several chunks; put them into one: "
                "X.rechunk({1: -1})."
            )
        return self.client.compute(delayed.ravel().tolist())

    def _reader(self, collection: Any) -> tuple[Any, int, Callable[[Any], Rows]]:
        """The words of a collection, their number, and a function from a partition to its rows."""
        kind = type(collection).__name__
        if hasattr(collection, "columns"):
            words = tuple(map(str, collection.columns))
            return words, len(words), _rows_of_block
        if kind == "Bag":
            found: set[str] = set()
            for part in self._partitions(collection):
                found |= result_of(self.client, self._submit(_words_of_bag, part))
            words = tuple(sorted(found))
            return words, len(words), partial(_rows_of_bag, words=words)
        if getattr(collection, "ndim", None) == 2:
            return None, collection.shape[1], _rows_of_block
        raise TypeError(
            f"X is a {kind} of {type(collection).__module__}: counts on a cluster are a dask array "
            "or dataframe of documents x words, or a bag of dicts {word: count}. Texts are counted "
            "first, by TokenCounter."
        )

    def _submit(self, function: Callable[..., Any], *args: Any) -> Any:
        return _submit(self.client, function, *args)

    def read(self, first: int, last: int) -> Rows:
        """Documents first..last-1, brought here: for few of them.

        Parameters
        ----------
        first, last : int

        Returns
        -------
        Rows
        """
        futures = [
            self._submit(_cut, part, max(first, a) - a, min(last, b) - a)
            for part, (a, b) in zip(self._parts, pairwise(self._ends.tolist()), strict=True)
            if a < last and b > first
        ]
        found = [_for_kernels(result_of(self.client, f), self._root) for f in futures]
        return joined_rows(found)

    def rows(self, index: NDArray[np.intp]) -> Counts:
        """Some of the documents; in another order than theirs they are brought here.

        Parameters
        ----------
        index : array of int

        Returns
        -------
        DaskCounts, or a matrix
        """
        if len(index) > 1 and np.any(index[1:] < index[:-1]):
            order = np.argsort(index, kind="stable")
            return in_memory(self.rows(index[order]))[np.argsort(order, kind="stable")]
        parts = []
        for part, (a, b) in zip(self._parts, pairwise(self._ends.tolist()), strict=True):
            here = index[np.searchsorted(index, a) : np.searchsorted(index, b)] - a
            if len(here):
                parts.append(self._submit(chosen_documents, part, here))
        return self._with(parts, self.shape[1], self._root)

    def columns(self, kept: NDArray[np.intp], weight: NDArray[np.float64] | None = None) -> Counts:
        """Some of the words, in ascending order, each multiplied by its weight.

        Parameters
        ----------
        kept : array of int
        weight : array, optional

        Returns
        -------
        DaskCounts
        """
        place = new_columns(kept, self.shape[1])
        how = (place, weight, self._root)
        parts = [self._submit(_on_words, part, *how) for part in self._parts]
        return self._with(parts, len(kept), root=False)

    def sqrt(self) -> DaskCounts:
        """√counts, which workers compute as they read.

        Returns
        -------
        DaskCounts
        """
        new = copy(self)
        new._root = True
        return new

    def joined_with(self, other: Counts) -> DaskCounts:
        """These documents followed by those of another; a matrix is sent to the workers.

        Parameters
        ----------
        other : DaskCounts or matrix

        Returns
        -------
        DaskCounts
        """
        if not isinstance(other, DaskCounts):
            other = DaskCounts(in_memory(other), self.client)
        assert other._root == self._root
        return self._with([*self._parts, *other._parts], self.shape[1], self._root)

    def word_sums(self) -> NDArray[np.float64]:
        """Σ_d c_dv of each word.

        Returns
        -------
        array (words,)
        """
        return transposed_dot(self, np.ones(self.shape[0]))

    def run_task(self, task: Task) -> Any:
        """The statistics of all documents: one call per partition, added in their order.

        Parameters
        ----------
        task : Task
            What is computed of a partition (`passes.py`).

        Returns
        -------
        what `task` adds up

        Examples
        --------
        >>> from scipy import sparse
        >>> from topicfocus.distributed import DaskCounts
        >>> from topicfocus.passes import transposed_dot
        >>> counts = DaskCounts(sparse.csr_array([[2, 0], [3, 1]]), client)
        >>> transposed_dot(counts, counts.indptr[1:]).tolist()  # a task that adds products up
        [11.0, 3.0]
        """
        # What all documents need travels once, and from worker to worker.
        plain = self._submit(_same, replace(task, given=(), changed=()))
        spans = pairwise(self._ends.tolist())
        # Not all at once: arrays of documents are copied into the calls that are under way.
        calls = (
            (a, b, self._submit(_run, plain, self._root, *_beside(task, a, b), part))
            for part, (a, b) in zip(self._parts, spans, strict=True)
        )
        under_way = deque(islice(calls, self._most_under_way()))
        total = task.make()
        while under_way:
            first, last, future = under_way.popleft()
            stats, changed = result_of(self.client, future)
            future.release()
            under_way.extend(islice(calls, 1))
            for mine, theirs in zip(task.changed, changed, strict=True):
                mine[first:last] = theirs
            add_to(total, stats)
        return total

    def _most_under_way(self) -> int:
        """Enough partitions to keep all threads of the workers busy."""
        try:
            threads = sum(self.client.nthreads().values())
        except (OSError, RuntimeError):  # it is gone, as waiting for a result will show
            threads = 0
        return max(_UNDER_WAY, 2 * threads)


def _beside(task: Task, first: int, last: int) -> tuple[tuple, tuple]:
    return tuple(a[first:last] for a in task.given), tuple(a[first:last] for a in task.changed)


def _cuts(indptr: NDArray[Any]) -> list[tuple[int, int]]:
    """Documents as partitions of equal nonzeros, at most `PARTITION` each."""
    n_docs, nnz = len(indptr) - 1, int(indptr[-1])
    n = min(max(1, -(-nnz // PARTITION)), max(n_docs, 1))
    inner = np.searchsorted(indptr, np.arange(1, n) * (nnz / n))
    ends = np.unique(np.concatenate([[0], np.clip(inner, 0, n_docs), [n_docs]]))
    return list(pairwise(ends.tolist()))


# ---- texts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DaskTexts(TokenizedTexts):
    """Texts of a cluster as sequences of word ids, which workers count.

    A copy of the ids is here (4 bytes for each word, in a temporary file where they are large), so
    that terms are chosen as for texts of this machine. `partitions` are futures of the sequences,
    `documents` those that are counted, all of them by default.
    """

    partitions: tuple[Any, ...] = ()
    client: Any = None
    documents: NDArray[np.intp] | None = None

    def without(self, rows: NDArray[np.intp]) -> DaskTexts:
        """All documents but some.

        Parameters
        ----------
        rows : array of int
            The documents that are left out.

        Returns
        -------
        DaskTexts
        """
        everyone = np.arange(self.n_docs) if self.documents is None else self.documents
        return replace(super().without(rows), documents=np.delete(everyone, rows))

    def count(self, counter: TokenCounter) -> Counts:
        """Counts of the counter's terms, made by the workers.

        Parameters
        ----------
        counter : TokenCounter
            With its vocabulary.

        Returns
        -------
        DaskCounts
        """
        alone = copy(counter)
        alone.n_jobs = 1
        shared = _submit(self.client, _same, alone)
        counted = [_submit(self.client, _count, one, shared) for one in self.partitions]
        words = tuple(counter.get_feature_names_out())
        counts = DaskCounts._of_rows(self.client, counted, len(words), words)
        return counts if self.documents is None else counts.rows(self.documents)


def tokenize_texts(counter: TokenCounter, texts: Any, client: Any = None) -> DaskTexts:
    """Tokenize the texts of a bag, or of a dataframe's column, where they are."""
    client = default_client() if client is None else client
    partitions = _on_texts(_tokenize, counter, texts, client)
    joined = joined_texts((result_of(client, one) for one in partitions), counter.n_jobs)
    fields = {name: getattr(joined, name) for name in joined.__dataclass_fields__}
    return DaskTexts(**fields, partitions=tuple(partitions), client=client)


def count_known(counter: TokenCounter, texts: Any, client: Any = None) -> DaskCounts:
    """Count the terms that a counter has in the texts of a bag or of a dataframe's column."""
    client = default_client() if client is None else client
    counted = _on_texts(_known, counter, texts, client)
    words = tuple(counter.get_feature_names_out())
    return DaskCounts._of_rows(client, counted, len(words), words)


def _on_texts(work: Callable[..., Any], counter: TokenCounter, texts: Any, client: Any) -> Any:
    """Futures of ``work(partition, counter)``, which uses one thread."""
    kind = type(texts)
    if getattr(texts, "ndim", 1) != 1:
        raise TypeError(
            f"texts on a cluster are a dask bag of strings or one column of a dask dataframe, not "
            f"{kind.__name__} of {kind.__module__}."
        )
    from dask import delayed

    alone = copy(counter)
    alone.n_jobs = 1
    # In one graph with the texts, so that these are released once they are counted.
    call = delayed(work, pure=False, traverse=False)
    return client.compute([call(part, alone) for part in texts.to_delayed()], retries=2)


# ---- what workers do -----------------------------------------------------------------------------


def _load(folder: str, first: int, last: int) -> Rows:
    counts = MappedCounts.of(open_counts(folder)[0])
    rows = counts.read(first, last)
    shape = (rows.n_docs, counts.shape[1])
    return _rows_of_block(sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=shape))


def _packed(rows: Rows) -> Rows:
    """The same with integers no wider than they need to be, as workers keep them."""
    largest = rows.data.max(initial=0.0)
    if largest < 256 and np.array_equal(rows.data, small := rows.data.astype(np.uint8)):
        rows = rows._replace(data=small)  # type: ignore[arg-type]
    if rows.indices.max(initial=0) < 1 << 16:
        rows = rows._replace(indices=rows.indices.astype(np.uint16))
    return rows


def _for_kernels(rows: Rows, root: bool) -> Rows:
    data = rows.data.astype(np.float64)
    if root:
        np.sqrt(data, out=data)
    return Rows(rows.indptr.astype(np.int32), rows.indices.astype(np.int32), data)


def _run(task: Task, root: bool, given: tuple, changed: tuple, rows: Rows) -> tuple[Any, tuple]:
    """The statistics of a partition, and the arrays of its documents that were changed."""
    # Arguments arrive read-only, and kernels would be compiled a second time for such arrays.
    given, changed = _writeable(given), tuple(np.array(a) for a in changed)
    total = task.make()
    task.kernel(_for_kernels(rows, root), _writeable(task.shared), given, changed, total)
    return total, changed


def _writeable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    if isinstance(value, tuple):
        parts = [_writeable(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _same(value: Any) -> Any:
    return value


def _cut(rows: Rows, first: int, last: int) -> Rows:
    lo, hi = int(rows.indptr[first]), int(rows.indptr[last])
    # Copies, so that the whole partition can be released.
    return Rows(rows.indptr[first : last + 1] - lo, *(a[lo:hi].copy() for a in rows[1:]))


def _row_lengths(rows: Rows) -> NDArray[np.int64]:
    return np.diff(rows.indptr).astype(np.int64)


def _on_words(rows: Rows, place: Any, weight: Any, root: bool) -> Rows:
    found = chosen_words(rows, place)
    if not root and weight is None:
        return found
    data = np.sqrt(found.data, dtype=np.float64) if root else found.data
    return found._replace(data=data if weight is None else data * weight[found.indices])


def _rows_of_block(block: Any) -> Rows:
    matrix = check_counts(
        read_matrix(block.to_numpy() if hasattr(block, "columns") else block), fractions=True
    )
    return _packed(read_rows(matrix, 0, matrix.shape[0]))


def _rows_of_bag(items: Any, words: tuple[str, ...]) -> Rows:
    """Dicts {word: count} to counts of the given words."""
    place = {word: i for i, word in enumerate(words)}
    documents = [sorted((place[str(w)], c) for w, c in item.items()) for item in items]
    indptr = np.cumsum([0, *map(len, documents)])
    flat = [pair for document in documents for pair in document]
    parts = ([c for _, c in flat], [w for w, _ in flat], indptr)
    shape = (len(documents), len(words))
    return _rows_of_block(sparse.csr_array(parts, shape=shape, dtype=np.float64))


def _words_of_bag(items: Any) -> set[str]:
    found: set[str] = set()
    for item in items:
        if not hasattr(item, "items"):
            raise TypeError(
                f"an item of the bag is {item!r:.40}, not a dict {{word: count}}. Count texts "
                "first, by TokenCounter."
            )
        found.update(map(str, item))
    return found


def _texts(items: Any) -> Iterator[Any]:
    """A partition as one block of texts."""
    return iter([items if hasattr(items, "to_numpy") else list(items)])


def _tokenize(items: Any, counter: TokenCounter) -> TokenizedTexts:
    found = counter.tokenize(_texts(items), empty=True)
    return replace(found, parts=list(found.parts))  # a temporary file would stay with the worker


def _known(items: Any, counter: TokenCounter) -> Rows:
    matrix = counter.transform(_texts(items))
    return _packed(read_rows(matrix, 0, matrix.shape[0]))


def _count(texts: Any, counter: TokenCounter) -> Rows:
    matrix = counter.count(texts)
    return _packed(read_rows(matrix, 0, matrix.shape[0]))


__all__ = ["ClusterError", "DaskCounts", "connected"]
