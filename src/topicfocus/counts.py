"""Documents x words counts: a matrix in memory, or one in files that is read chunk by chunk.

`Counts` is what the package computes with: a SciPy CSR matrix in memory, or `ChunkedCounts`, of
which only `indptr` is in memory. A CSR matrix whose arrays are `numpy.memmap`s is `MappedCounts`;
partitions on a Dask cluster are `DaskCounts` (distributed.py). Every sum over documents is a pass
over the same chunks (passes.py), wherever the counts are.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topicfocus.kernels.threads import chunk_bounds

#: Largest size in bytes at which some of the words become a matrix in memory.
IN_MEMORY = 2 * 10**9
#: Bytes of a nonzero of a matrix in memory.
_NONZERO = 12


class Rows(NamedTuple):
    """Consecutive documents as kernels take them; `indptr` begins at zero."""

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


class ChunkedCounts(ABC):
    """Documents x words counts of which one chunk at a time is in memory."""

    #: Where each document begins, as in a CSR matrix.
    indptr: NDArray[np.int64]
    shape: tuple[int, int]

    @property
    def nnz(self) -> int:
        """Number of nonzero counts."""
        return int(self.indptr[-1])

    @abstractmethod
    def read(self, first: int, last: int) -> Rows:
        """Documents first..last-1."""

    @abstractmethod
    def rows(self, index: NDArray[np.intp]) -> Counts:
        """The documents of `index`, in its order."""

    @abstractmethod
    def columns(self, kept: NDArray[np.intp], weight: NDArray[np.float64] | None = None) -> Counts:
        """The words of `kept`, in ascending order, each multiplied by its weight."""

    @abstractmethod
    def sqrt(self) -> ChunkedCounts:
        """√counts."""

    @abstractmethod
    def joined_with(self, other: Counts) -> Counts:
        """These documents followed by those of `other`."""

    def word_sums(self) -> NDArray[np.float64]:
        """Σ_d c_dv of each word."""
        total = np.zeros(self.shape[1])
        for _, _, part in pieces(self):
            total += np.bincount(part.indices, part.data, minlength=self.shape[1])
        return total


Counts: TypeAlias = "sparse.csr_array | ChunkedCounts"


@dataclass(frozen=True, eq=False)
class MappedCounts(ChunkedCounts):
    """A memory-mapped CSR matrix, or some of its documents and words.

    Attributes
    ----------
    source : csr_array
        The matrix whose arrays are in files.
    indptr : array (documents + 1,)
        Of the documents and words chosen.
    shape : (int, int)
    documents : array, optional
        Rows of `source`; None is all.
    place : array, optional
        The column of each word of `source`, -1 for words left out; None is all words.
    weight : array, optional
        Factor of each column, after the root.
    root : bool
        Whether values are √counts.
    """

    source: Any
    indptr: NDArray[np.int64]
    shape: tuple[int, int]
    documents: NDArray[np.intp] | None = None
    place: NDArray[np.int32] | None = None
    weight: NDArray[np.float64] | None = None
    root: bool = False

    @staticmethod
    def of(matrix: Any) -> MappedCounts:
        """All documents and words of a CSR matrix."""
        return MappedCounts(matrix, np.array(matrix.indptr, dtype=np.int64), matrix.shape)

    def read(self, first: int, last: int) -> Rows:
        source = self.source
        if self.documents is None:
            starts = np.asarray(source.indptr[first : last + 1], dtype=np.int64)
            lo, hi = int(starts[0]), int(starts[-1])
            found = Rows(starts - lo, source.indices[lo:hi], source.data[lo:hi])
        else:
            whole = Rows(source.indptr, source.indices, source.data)
            found = chosen_documents(whole, self.documents[first:last])
        # Copies: for read-only arrays the kernels would be compiled a second time.
        size = index_dtype(max(int(found.indptr[-1]), source.shape[1]))
        data = np.array(found.data, dtype=np.float64)
        if self.root:
            np.sqrt(data, out=data)
        rows = Rows(found.indptr.astype(size), np.array(found.indices, dtype=size), data)
        if self.place is None:
            return rows
        return chosen_words(rows, self.place, self.weight)

    def rows(self, index: NDArray[np.intp]) -> MappedCounts:
        lengths = np.diff(self.indptr)[index]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        documents = index if self.documents is None else self.documents[index]
        shape = (len(index), self.shape[1])
        return replace(self, indptr=indptr, shape=shape, documents=documents)

    def columns(self, kept: NDArray[np.intp], weight: NDArray[np.float64] | None = None) -> Counts:
        place = new_columns(kept, self.shape[1])
        parts: list[Rows] = []
        lengths = [np.zeros(1, np.int64)]
        size = 0
        for first, last in chunks(self):
            part = chosen_words(self.read(first, last), place, weight)
            lengths.append(np.diff(part.indptr))
            size += _NONZERO * len(part.data)
            if size <= IN_MEMORY:
                parts.append(part)
            else:
                parts.clear()
        if size <= IN_MEMORY:
            return joined_rows(parts).matrix(len(kept))
        if self.place is not None:
            place = np.where(self.place >= 0, place[self.place], np.int32(-1))
        if self.weight is not None:
            weight = self.weight[kept] if weight is None else self.weight[kept] * weight
        indptr = np.cumsum(np.concatenate(lengths))
        shape = (self.shape[0], len(kept))
        return replace(self, indptr=indptr, shape=shape, place=place, weight=weight)

    def sqrt(self) -> MappedCounts:
        weight = None if self.weight is None else np.sqrt(self.weight)
        return replace(self, weight=weight, root=True)

    def joined_with(self, other: Counts) -> Counts:
        if not isinstance(other, MappedCounts) or not self._like(other):
            return stacked(in_memory(self), in_memory(other))
        everyone = np.arange(self.source.shape[0])
        documents = np.concatenate(
            [everyone if p.documents is None else p.documents for p in (self, other)]
        )
        indptr = np.concatenate([self.indptr, self.indptr[-1] + other.indptr[1:]])
        shape = (len(documents), self.shape[1])
        return replace(self, indptr=indptr, shape=shape, documents=documents)

    def _like(self, other: MappedCounts) -> bool:
        """Whether both are documents of one file, with the same words."""
        same = self.source is other.source and self.root == other.root
        pairs = ((self.place, other.place), (self.weight, other.weight))
        return same and all(
            a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in pairs
        )


class NamedCounts(sparse.csr_array):
    """A CSR array with `feature_names`, which choices of documents and columns keep.

    `remainder` has the counts of all words and pairs of words in the same documents, or is None
    (`TokenCounter(remainder=True)`).

    scikit-learn takes names of columns from data frames only; estimators of this package take them
    from here, too, so that words have names in a pipeline. Other operations return matrices without
    names.
    """

    feature_names: np.ndarray | None = None
    remainder: NamedCounts | None = None

    @classmethod
    def of(
        cls,
        matrix: sparse.csr_array,
        names: Sequence[str],
        remainder: NamedCounts | None = None,
    ) -> NamedCounts:
        """The same matrix, without a copy, with names."""
        parts = (matrix.data, matrix.indices, matrix.indptr)
        named = cls(parts, shape=matrix.shape, copy=False)
        named.has_canonical_format = matrix.has_canonical_format
        named.feature_names = np.array(names, dtype=object)
        named.remainder = remainder
        return named

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, NamedCounts) and found.ndim == 2:
            names: Any = self.feature_names
            if names is not None and isinstance(key, tuple) and len(key) == 2:
                names = names[key[1]] if not isinstance(key[1], type(Ellipsis)) else names
            if names is not None and np.shape(names) == (found.shape[1],):
                found.feature_names = np.asarray(names, dtype=object)
            if self.remainder is not None:
                rest = self.remainder[key[0] if isinstance(key, tuple) else key]
                found.remainder = rest if rest.shape[0] == found.shape[0] else None
        return found

    def copy(self) -> NamedCounts:
        """A copy with the same names."""
        found = super().copy()
        found.feature_names = self.feature_names
        found.remainder = None if self.remainder is None else self.remainder.copy()
        return found


def is_mapped(X: Any) -> bool:
    """Whether X is a CSR matrix whose counts are in a memory-mapped file."""
    return sparse.issparse(X) and X.format == "csr" and _in_file(X.data) and _in_file(X.indices)


def _in_file(array: Any) -> bool:
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


def is_dask(X: Any) -> bool:
    """Whether X is a collection of Dask."""
    return type(X).__module__.partition(".")[0] == "dask"


def index_dtype(largest: int) -> np.dtype:
    """The type of a sparse matrix's indices: int32 where that is enough."""
    return np.dtype(np.int32 if largest <= np.iinfo(np.int32).max else np.int64)


# ---- reading and choosing ------------------------------------------------------------------------


def chunks(counts: Counts) -> Iterator[tuple[int, int]]:
    """First document and the one after the last of every chunk."""
    return ((int(a), int(b)) for a, b in pairwise(chunk_bounds(counts.indptr, 0)))


def read_rows(counts: Counts, first: int, last: int) -> Rows:
    """Documents first..last-1; views of a matrix in memory."""
    if isinstance(counts, ChunkedCounts):
        return counts.read(first, last)
    lo, hi = int(counts.indptr[first]), int(counts.indptr[last])
    indptr = counts.indptr[first : last + 1]
    return Rows(indptr - lo if lo else indptr, counts.indices[lo:hi], counts.data[lo:hi])


def pieces(counts: Counts) -> Iterator[tuple[int, int, sparse.csr_array]]:
    """(first, last, matrix) of all documents; a matrix in memory is one piece."""
    if not isinstance(counts, ChunkedCounts):
        yield 0, counts.shape[0], counts
        return
    for first, last in chunks(counts):
        yield first, last, counts.read(first, last).matrix(counts.shape[1])


def in_memory(counts: Counts) -> sparse.csr_array:
    """The whole matrix, for few documents or words."""
    if not isinstance(counts, ChunkedCounts):
        return counts
    return counts.read(0, counts.shape[0]).matrix(counts.shape[1])


def take_rows(counts: Counts, index: Any) -> Counts:
    """Some of the documents."""
    if not isinstance(counts, ChunkedCounts):
        return counts[index]
    if isinstance(index, slice):
        index = np.arange(counts.shape[0])[index]
    index = np.asarray(index)
    return counts.rows(np.flatnonzero(index) if index.dtype == bool else index)


def take_columns(
    counts: Counts, kept: NDArray[np.intp], weight: NDArray[np.float64] | None = None
) -> Counts:
    """Some of the words, in ascending order, each multiplied by its weight."""
    if isinstance(counts, ChunkedCounts):
        return counts.columns(kept, weight)
    rows = Rows(counts.indptr, counts.indices, counts.data)
    return chosen_words(rows, new_columns(kept, counts.shape[1]), weight).matrix(len(kept))


def weigh_columns(counts: Counts, weight: NDArray[np.float64]) -> Counts:
    """All words, each multiplied by its weight."""
    if isinstance(counts, ChunkedCounts):
        return counts.columns(np.arange(counts.shape[1]), weight)
    rows = Rows(counts.indptr, counts.indices, counts.data * weight[counts.indices])
    return rows.matrix(counts.shape[1])


def stacked(first: Counts, second: Counts) -> Counts:
    """The documents of both."""
    if isinstance(first, ChunkedCounts):
        return first.joined_with(second)
    return sparse.csr_array(sparse.vstack([first, in_memory(second)], format="csr"))


def new_columns(kept: NDArray[np.intp], n_words: int) -> NDArray[np.int32]:
    """The new column of each word, -1 for words that are not kept."""
    place = np.full(n_words, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    return place


def chosen_words(
    rows: Rows, place: NDArray[np.int32], weight: NDArray[np.float64] | None = None
) -> Rows:
    """The counts of the words that have a new column."""
    new = place[rows.indices]
    inside = new >= 0
    before = np.zeros(len(new) + 1, dtype=np.int64)
    np.cumsum(inside, out=before[1:])
    data, indices = rows.data[inside], new[inside]
    if weight is not None:
        data = data * weight[indices]
    return Rows(before[rows.indptr].astype(rows.indptr.dtype), indices, data)


def chosen_documents(rows: Rows, index: NDArray[np.intp]) -> Rows:
    """Some documents, in the order of `index`."""
    starts = np.asarray(rows.indptr)[index].astype(np.int64)
    lengths = np.asarray(rows.indptr)[index + 1].astype(np.int64) - starts
    ends = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
    return Rows(ends, rows.indices[places], rows.data[places])


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """The documents of several parts in one."""
    starts = np.cumsum([0, *(len(p.indices) for p in parts)])
    indptr = [p.indptr[:-1] + start for p, start in zip(parts, starts[:-1], strict=True)]
    return Rows(
        np.concatenate([*indptr, starts[-1:]]).astype(index_dtype(int(starts[-1]))),
        np.concatenate([np.zeros(0, np.int32), *(p.indices for p in parts)]),
        np.concatenate([np.zeros(0), *(p.data for p in parts)]),
    )


# ---- counts in a folder --------------------------------------------------------------------------

#: What the description of a folder begins with.
_FORMAT = "topicfocus counts 1"
#: Types of the values, from narrow to wide; a file has the first type that holds its values.
_VALUES = (np.dtype(np.uint8), np.dtype(np.int32), np.dtype(np.float64))
_FILES = ("indptr.bin", "indices.bin", "data.bin")


def write_counts(
    folder: str | os.PathLike[str], blocks: Iterable[Any], vocabulary: Sequence[str] | None = None
) -> None:
    """Write counts into a folder, block by block, for `open_counts`.

    Parameters
    ----------
    folder : path-like
        A new folder. It appears when everything is written.
    blocks : iterable of matrices
        Documents x words, sparse or dense, all of the same words. One is in memory at a time.
    vocabulary : sequence of str, optional
        The words of the columns.

    Raises
    ------
    FileExistsError
        If there is something at `folder`.
    ValueError
        If the blocks have different numbers of words, or none is given.
    OSError
        If the disk is full, or the folder cannot be written.

    See Also
    --------
    TokenCounter.fit_transform : counts texts into such a folder.

    Examples
    --------
    >>> import tempfile
    >>> from topicfocus import open_counts, write_counts
    >>> folder = tempfile.TemporaryDirectory()
    >>> write_counts(f"{folder.name}/counts", [[[4, 0, 1]], [[0, 9, 0]]], ["a", "b", "c"])
    >>> counts, words = open_counts(f"{folder.name}/counts")
    >>> counts.toarray().tolist(), words
    ([[4, 0, 1], [0, 9, 0]], ('a', 'b', 'c'))
    >>> folder.cleanup()
    """
    with counts_writer(folder) as writer:
        for block in blocks:
            matrix = sparse.csr_array(block)
            if not matrix.has_canonical_format:
                matrix = matrix.copy()
                matrix.sum_duplicates()
            writer.add(Rows(matrix.indptr, matrix.indices, matrix.data), matrix.shape[1])
        writer.finish(vocabulary)


class CountsWriter:
    """Writes documents to the files of a folder; the type of the values widens as needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._indices, self._data = ((folder / name).open("wb") for name in _FILES[1:])
        self._lengths = [np.zeros(1, np.int64)]
        self._dtype: np.dtype = _VALUES[0]
        self._n_words: int | None = None

    def add(self, rows: Rows, n_words: int) -> None:
        """More documents."""
        if self._n_words not in (None, n_words):
            raise ValueError(f"a block has {n_words} words, those before it {self._n_words}.")
        self._n_words = n_words
        self._widen(rows.data)
        self._lengths.append(np.diff(rows.indptr).astype(np.int64))
        rows.indices.astype(index_dtype(n_words), copy=False).tofile(self._indices)
        rows.data.astype(self._dtype).tofile(self._data)

    def _widen(self, values: NDArray[Any]) -> None:
        """Rewrite the values so far if their type does not hold these."""
        old = self._dtype
        while self._dtype != _VALUES[-1] and not _holds(self._dtype, values):
            self._dtype = _VALUES[_VALUES.index(self._dtype) + 1]
        if self._dtype == old:
            return
        self._data.close()
        wide = self._folder / "wide.bin"
        with open(self._data.name, "rb") as narrow, wide.open("wb") as stream:
            while len(part := np.fromfile(narrow, old, 1 << 20)):
                part.astype(self._dtype).tofile(stream)
        os.replace(wide, self._data.name)
        self._data = Path(self._data.name).open("ab")  # noqa: SIM115 - closed by `close`

    def finish(self, vocabulary: Sequence[str] | None) -> None:
        """Write the description of the files."""
        if self._n_words is None:
            raise ValueError("there are no documents to write.")
        if vocabulary is not None and len(vocabulary) != self._n_words:
            raise ValueError(f"{len(vocabulary)} words for {self._n_words} columns.")
        self.close()
        indptr = np.cumsum(np.concatenate(self._lengths))
        indptr.tofile(self._folder / _FILES[0])
        about = {
            "format": _FORMAT,
            "documents": len(indptr) - 1,
            "words": self._n_words,
            "nonzeros": int(indptr[-1]),
            "values": self._dtype.name,
            "vocabulary": None if vocabulary is None else [str(word) for word in vocabulary],
        }
        (self._folder / "counts.json").write_text(json.dumps(about), encoding="utf-8")

    def close(self) -> None:
        """Close the files."""
        self._indices.close()
        self._data.close()


def _holds(dtype: np.dtype, values: NDArray[Any]) -> bool:
    limits = np.iinfo(dtype)
    if not len(values):
        return True
    inside = values.min() >= limits.min and values.max() <= limits.max
    return bool(inside) and (values.dtype.kind in "iub" or np.array_equal(values, np.rint(values)))


@contextmanager
def counts_writer(folder: str | os.PathLike[str]) -> Iterator[CountsWriter]:
    """A writer whose files appear at `folder` if the block ends without an error."""
    place = Path(folder)
    if os.path.lexists(place):
        raise FileExistsError(f"{place} exists already. Name a new folder, or remove it first.")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
        try:
            writer = CountsWriter(made)
            try:
                yield writer
            finally:
                writer.close()
            made.chmod(0o755)
            os.rename(made, place)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    except OSError as error:
        if isinstance(error, FileNotFoundError) or error.filename is not None:
            raise
        raise OSError(
            error.errno,
            f"counts cannot be written to {place}: {error.strerror or error}. Make room on the "
            "disk, or name a folder on another one",
        ) from error


def open_counts(
    folder: str | os.PathLike[str],
) -> tuple[sparse.csr_array, tuple[str, ...] | None]:
    """Open counts that were written into a folder, without reading them.

    Parameters
    ----------
    folder : path-like
        Written by `write_counts` or ``TokenCounter.fit_transform(texts, folder=...)``.

    Returns
    -------
    counts : scipy.sparse.csr_array of shape (n_docs, n_words)
        Its arrays are memory-mapped. Pass it to ``fit`` and ``predict`` as it is: they read it
        chunk by chunk.
    vocabulary : tuple of str, or None
        The words of the columns.

    Raises
    ------
    OSError
        If there is no such folder.
    ValueError
        If it is not one of counts, or a file in it is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from topicfocus import TokenCounter, open_counts
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = TokenCounter().fit_transform(["good film", "bad film"], folder=f"{folder.name}/counts")
    >>> counts, words = open_counts(f"{folder.name}/counts")
    >>> counts.shape, words
    ((2, 3), ('bad', 'film', 'good'))
    >>> folder.cleanup()
    """
    place = Path(folder)
    try:
        about = json.loads((place / "counts.json").read_text(encoding="utf-8"))
        known = about["format"] == _FORMAT
        n_docs, n_words, nnz = (int(about[key]) for key in ("documents", "words", "nonzeros"))
        values, words = np.dtype(str(about["values"])), about["vocabulary"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{place} has no readable description of counts: {error!r}.") from error
    if not known or values not in _VALUES:
        raise ValueError(f"{place} has counts of a format that this version does not know.")
    kinds = (np.dtype(np.int64), index_dtype(n_words), values)
    sizes = (n_docs + 1, nnz, nnz)
    indptr, indices, data = (
        _mapped(place / name, dtype, size)
        for name, dtype, size in zip(_FILES, kinds, sizes, strict=True)
    )
    if indptr[0] != 0 or indptr[-1] != nnz or np.any(np.diff(indptr) < 0):
        raise ValueError(f"{place / _FILES[0]} is damaged. Count again.")
    matrix = sparse.csr_array((n_docs, n_words), dtype=values)
    # Not by the constructor, which copies indices of more than 2^31 counts into wider ones.
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    if words is not None and (len(words) != n_words or not all(isinstance(w, str) for w in words)):
        raise ValueError(f"{place} has {len(words)} words for {n_words} columns. Count again.")
    return matrix, None if words is None else tuple(words)


def _mapped(path: Path, dtype: np.dtype, size: int) -> NDArray[Any]:
    found = path.stat().st_size
    if found != size * dtype.itemsize:
        raise ValueError(
            f"{path} is damaged: it has {found:,} bytes instead of {size * dtype.itemsize:,}. "
            "Count again."
        )
    if size == 0:  # an empty file cannot be mapped
        return np.zeros(0, dtype)
    return np.memmap(path, dtype, "r", shape=(size,))


def counts_folder_needed(paths: Sequence[str | os.PathLike[str]]) -> bool:
    """Whether counts of files should go to a folder, because they may not fit into memory.

    Counting and fitting take about five times the size of the texts; compressed files and Parquet
    are taken to be a quarter of their texts.
    """
    size = 0.0
    for path in map(Path, paths):
        files = path.rglob("*") if path.is_dir() else [path]
        for file in files:
            if file.is_file():
                packed = file.suffix.lower() in _PACKED
                size += file.stat().st_size * (4 if packed else 1)
    free = available_memory()
    return free is not None and 5 * size > free


_PACKED = {".gz", ".bz2", ".xz", ".zip", ".zst", ".parquet"}


def available_memory() -> float | None:
    """Bytes that this process can still use, by the machine and its container; None if unknown."""
    try:
        found = [float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES"))]
    except (AttributeError, OSError, ValueError):  # not on macOS and Windows
        return None
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable"):
                found = [float(line.split()[1]) * 1024]
        found.append(float(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    except (OSError, ValueError):  # no such file, or "max"
        pass
    return min(found)
