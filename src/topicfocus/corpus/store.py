"""`CountStore`: counts on disk (`store_files.py`) as counts in parts.

Views of the same files may be roots of the counts, or these weighted by words: both are applied
while reading. Documents or words that are chosen from a store are kept in memory while there is
room, and else in a store of their own, which goes when nobody refers to it any more.
"""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topicfocus.corpus.parts import (
    Building,
    Counts,
    PartedCounts,
    Rows,
    chosen_words,
    joined_rows,
    piece_bounds,
)
from topicfocus.corpus.scratch import Scratch, parse_memory
from topicfocus.corpus.store_files import StoreError, StoreFiles, StoreWriter
from topicfocus.corpus.validation import check_counts, check_vocabulary, read_matrix


class CountStore(PartedCounts):
    """Documents x words counts in a folder on disk, to fit models to that memory has no room for.

    ``fit``, ``predict`` and ``transform`` take one as X; what they compute is the same to the last
    bit as with the counts in memory. Make one with `CountStore.write`, or let ``topicfocus fit
    --memory`` make it from files.

    Parameters
    ----------
    folder : path-like
    memory : int or str, default="2GB"
        How much memory a fit may use, as bytes or such as "800MB". What does not fit is kept in
        files that are removed when nobody needs them any more. Targets, and where documents
        begin, have to fit: 40 bytes a document.
    scratch : path-like, optional
        Where such files are; by default beside the store.
    check : bool, default=False
        Compare checksums of all files first.
    client : distributed.Client, optional
        Of a Dask cluster whose workers see the folder under the same name: models are then fitted
        and used there (`topicfocus.distributed.DaskCounts`), to the same result.

    Raises
    ------
    StoreError
        If the folder is no store, or one of another version, or damaged.
    ValueError
        If ``memory`` is too little for so many documents.

    Examples
    --------
    >>> import tempfile
    >>> from topicfocus import CountStore, FocusedTopicRegressor
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> blocks = (reviews.counts[i : i + 100] for i in range(0, 300, 100))
    >>> store = CountStore.write(f"{folder.name}/counts", blocks, reviews.vocabulary)
    >>> model = FocusedTopicRegressor(3, random_state=0).fit(store, reviews.target)
    >>> same = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
    >>> bool((model.components_ == same.components_).all())
    True
    >>> folder.cleanup()
    """

    #: Of the cluster that works with it; views and parts of a store have none.
    client: Any = None

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        memory: int | str = "2GB",
        scratch: str | os.PathLike[str] | None = None,
        check: bool = False,
        client: Any = None,
    ) -> None:
        self.client = client
        place = Path(folder)
        files = StoreFiles(place, check=check)
        beside = Path(scratch) if scratch is not None else place.parent
        room = Scratch(beside, parse_memory(memory), files.shape[0])
        self._set(files, room)

    def _set(
        self, files: Any, scratch: Scratch, root: bool = False, weight: Any = None
    ) -> CountStore:
        self._files, self.scratch, self._root, self._weight = files, scratch, root, weight
        self.shape, self.indptr, self.piece = files.shape, files.indptr, scratch.piece
        self.most_memory = scratch.limit
        return self

    @classmethod
    def _of(
        cls, files: Any, scratch: Scratch, root: bool = False, weight: Any = None
    ) -> CountStore:
        return cls.__new__(cls)._set(files, scratch, root, weight)

    @classmethod
    def write(
        cls,
        folder: str | os.PathLike[str],
        blocks: Iterable[Any],
        vocabulary: Sequence[str] | None = None,
        *,
        memory: int | str = "2GB",
    ) -> CountStore:
        """Write counts that come in blocks of documents, and open them.

        Parameters
        ----------
        folder : path-like
            A new folder.
        blocks : iterable of counts, documents x words
            Matrices of the same words, each checked like the X of a fit.
        vocabulary : sequence of str, optional
        memory : int or str, default="2GB"
            As for CountStore.

        Returns
        -------
        CountStore

        Raises
        ------
        StoreError
            If the folder exists, or cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from topicfocus import CountStore
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     CountStore.write(f"{folder}/counts", [[[2, 0, 1]], [[0, 3, 0]]]).shape
        (2, 3)
        """
        place = Path(folder)
        if os.path.lexists(place):
            raise StoreError(f"{place} exists: name a new folder for the counts.")
        writer: StoreWriter | None = None
        try:
            for block in blocks:
                matrix = check_counts(read_matrix(block, name="a block"), fractions=True)
                if writer is None:
                    writer, n_words = StoreWriter(place, matrix.shape[1]), matrix.shape[1]
                if matrix.shape[1] != n_words:
                    raise ValueError(f"a block has {matrix.shape[1]} words, but others {n_words}.")
                writer.add(Rows(matrix.indptr, matrix.indices, matrix.data))
            if writer is None:
                raise ValueError("there are no blocks: a store needs documents.")
            if vocabulary is not None:
                vocabulary = check_vocabulary(vocabulary, n_words)
            writer.close(vocabulary)
        except BaseException:
            if writer is not None:
                writer.discard()
            raise
        return cls(place, memory=memory)

    def __repr__(self) -> str:
        return f"CountStore({self.shape[0]} documents, {self.shape[1]} words, {self.folder})"

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._files.folder

    @property
    def about(self) -> dict[str, Any]:
        """What was counted and how, as its writer said."""
        return self._files.about

    @property
    def seal(self) -> int:
        """A checksum of the store: that of another one, or of other counts, differs."""
        return self._files.seal

    @property
    def vocabulary(self) -> tuple[str, ...] | None:
        """The words of the columns, where they are known."""
        return self._files.vocabulary

    @property
    def nbytes(self) -> int:
        """Bytes on disk."""
        return sum(f.stat().st_size for f in self.folder.iterdir())

    def read(self, first: int, last: int) -> Rows:
        """Documents first..last-1, as they would be in a matrix in memory.

        Parameters
        ----------
        first, last : int

        Returns
        -------
        Rows
            ``matrix(n_words)`` of it is a SciPy matrix.

        Raises
        ------
        StoreError
            If the files are damaged.

        Examples
        --------
        >>> import tempfile
        >>> from topicfocus import CountStore
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = CountStore.write(f"{folder.name}/counts", [[[4, 0, 1], [0, 9, 0]]])
        >>> store.read(1, 2).matrix(3).toarray().tolist()
        [[0.0, 9.0, 0.0]]
        >>> folder.cleanup()
        """
        lo, hi = int(self.indptr[first]), int(self.indptr[last])
        indices = self._files.read("indices", lo, hi).astype(np.int32)
        raw = self._files.read("counts", lo, hi)
        if self._root and raw.dtype == np.uint8:
            data = _ROOTS[raw]
        else:
            data = raw.astype(np.float64, copy=False)
            data = np.sqrt(data) if self._root else data
        if self._weight is not None:
            data = data * self._weight[indices]
        return Rows((self.indptr[first : last + 1] - lo).astype(np.int32), indices, data)

    def sqrt(self) -> CountStore:
        """√counts, a view of the same files.

        Returns
        -------
        CountStore

        Raises
        ------
        ValueError
            If these are roots, or weighted already.

        Examples
        --------
        >>> import tempfile
        >>> from topicfocus import CountStore
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = CountStore.write(f"{folder.name}/counts", [[[4, 0, 1], [0, 9, 0]]])
        >>> store.sqrt().read(0, 2).data.tolist()
        [2.0, 1.0, 3.0]
        >>> folder.cleanup()
        """
        if self._root or self._weight is not None:
            raise ValueError("these are roots or weighted already")
        return self._of(self._files, self.scratch, True)

    def rows(self, index: NDArray[np.intp]) -> Counts:
        """Some of the documents, in the order of `index`.

        Parameters
        ----------
        index : array of int

        Returns
        -------
        scipy.sparse.csr_array if there is room in memory, else CountStore

        Examples
        --------
        >>> import tempfile
        >>> from topicfocus import CountStore
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = CountStore.write(f"{folder.name}/counts", [[[4, 0, 1], [0, 9, 0]]])
        >>> import numpy as np
        >>> store.rows(np.array([1])).shape
        (1, 3)
        >>> folder.cleanup()
        """
        plain = self._of(self._files, self.scratch)
        if not self._root and self._weight is None:
            return super().rows(index)
        return self._seen(plain.rows(index))

    def columns(self, kept: NDArray[np.intp], weight: NDArray[np.float64] | None = None) -> Counts:
        """Some of the words, in ascending order, each multiplied by its weight.

        Parameters
        ----------
        kept : array of int
        weight : array, one a word that is kept, optional

        Returns
        -------
        scipy.sparse.csr_array if there is room in memory, else CountStore

        Raises
        ------
        ValueError
            If these are weighted already.

        Examples
        --------
        >>> import tempfile
        >>> from topicfocus import CountStore
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = CountStore.write(f"{folder.name}/counts", [[[4, 0, 1], [0, 9, 0]]])
        >>> import numpy as np
        >>> store.columns(np.array([0, 2])).toarray().tolist()
        [[4.0, 1.0], [0.0, 0.0]]
        >>> folder.cleanup()
        """
        if self._weight is not None:
            raise ValueError("these are weighted already")
        building = _Collected(self.scratch, len(kept))
        plain = self._of(self._files, self.scratch)
        for first, last in piece_bounds(plain, 0, self.shape[0]):
            building.add(chosen_words(plain.read(first, last), self.shape[1], kept, None))
        return self._seen(building.finish(), weight)

    def _seen(self, plain: Counts, weight: NDArray[np.float64] | None = None) -> Counts:
        """Counts as these are seen: roots, and weighted."""
        if isinstance(plain, CountStore):
            return self._of(plain._files, self.scratch, self._root, weight)
        seen: Any = plain.sqrt() if self._root else plain
        if weight is not None:
            seen.data *= weight[seen.indices]
        return seen

    def build(self) -> Building:
        """Collects documents of the same words: in memory where they fit, else on disk.

        Returns
        -------
        Building
            With ``add(rows)`` and ``finish()``.

        Examples
        --------
        >>> import tempfile
        >>> from topicfocus import CountStore
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = CountStore.write(f"{folder.name}/counts", [[[4, 0, 1], [0, 9, 0]]])
        >>> building = store.build()
        >>> building.add(store.read(0, 1))
        >>> building.finish().shape
        (1, 3)
        >>> folder.cleanup()
        """
        return _Collected(self.scratch, self.shape[1])

    def new_table(
        self, n_docs: int, width: int, fill: float | NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Numbers of documents, in memory or in a mapped file, as there is room.

        Parameters
        ----------
        n_docs, width : int
        fill : float or array
            What is in it at first.

        Returns
        -------
        array (n_docs, width)

        Examples
        --------
        >>> import tempfile
        >>> from topicfocus import CountStore
        >>> folder = tempfile.TemporaryDirectory()
        >>> store = CountStore.write(f"{folder.name}/counts", [[[4, 0, 1], [0, 9, 0]]])
        >>> float(store.new_table(2, 3, 0.5).sum())
        3.0
        >>> folder.cleanup()
        """
        return self.scratch.table(n_docs, width, fill)


#: √0 … √255: the same as NumPy's root of each, and sooner looked up than computed.
_ROOTS = np.sqrt(np.arange(256, dtype=np.float64))


class _Collected(Building):
    """Documents in memory while they fit; then in a store of their own."""

    def __init__(self, scratch: Scratch, n_words: int) -> None:
        self._scratch, self._n_words = scratch, n_words
        self._held: list[Rows] = []
        self._taken = 0
        self._writer: StoreWriter | None = None

    def add(self, rows: Rows) -> None:
        if self._writer is not None:
            self._writer.add(rows)
            return
        # Twice: they are joined in the end.
        size = 2 * (12 * len(rows.data) + 8 * len(rows.indptr))
        if self._scratch.take(size):
            self._taken += size
            self._held.append(rows)
            return
        self._writer = StoreWriter(self._scratch.new_folder() / "counts", self._n_words)
        for held in (*self._held, rows):
            self._writer.add(held)
        self._held.clear()
        self._give_back()

    def _give_back(self) -> None:
        self._scratch.give(self._taken)
        self._taken = 0

    def finish(self) -> Counts:
        if self._writer is not None:
            return self._stored(self._writer)
        held, taken = self._held, self._taken
        if not held:
            return sparse.csr_array((0, self._n_words))
        matrix = joined_rows(held).matrix(self._n_words)
        self._held = []
        self._scratch.give(taken - taken // 2)
        weakref.finalize(matrix, self._scratch.give, taken // 2)
        return matrix

    def _stored(self, writer: StoreWriter) -> Counts:
        writer.close()
        files = StoreFiles(writer.folder)
        weakref.finalize(files, shutil.rmtree, writer.folder.parent, ignore_errors=True)
        return CountStore._of(files, self._scratch)
