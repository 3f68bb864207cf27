"""The corpus: documents x words counts that the rest of the package can trust.

Every error message contains what is wrong, where, and what to do.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from topicfocus.counts import (
    ChunkedCounts,
    Counts,
    MappedCounts,
    chunks,
    index_dtype,
    is_mapped,
    pieces,
    take_rows,
)

__all__ = ["Corpus", "FractionWarning", "make_corpus"]

_TEXT_ADVICE = (
    "Count the words first, for example in a pipeline: make_pipeline(topicfocus.TokenCounter(), "
    "model).fit(texts, y), where texts are one string per document (one column of a dataframe)."
)

#: A count is rounded if it differs from a whole number by no more than this.
TOLERANCE = 1e-6
#: Beyond it floats cannot represent all whole numbers.
LARGEST_COUNT = 1e15


@dataclass(frozen=True, eq=False)
class Corpus:
    """Word counts of documents, in canonical CSR form.

    Build one with :func:`make_corpus`, which validates; the constructor trusts its arguments.
    The arrays stay writeable because numba types read-only arrays differently and would compile
    every kernel twice. Do not write to them.

    Parameters
    ----------
    counts : scipy.sparse.csr_array or ChunkedCounts, of shape (n_docs, n_words)
        c_dv, float64 whole numbers > 0; sorted indices, no duplicates, no stored zeros. Indices are
        int32 unless the matrix is too large for that. Counts that are not in memory are read
        chunk by chunk (`topicfocus/counts.py`).
    vocabulary : tuple of str, or None
        The words of the columns.
    remainder : scipy.sparse.csr_array, or None
        Counts of all words and pairs of words of the same documents, for models with a remainder.

    Examples
    --------
    >>> from topicfocus.corpus import make_corpus
    >>> make_corpus([[2, 0, 1], [0, 3, 0]])
    Corpus(2 documents, 3 words, 6 tokens)
    """

    counts: Counts
    vocabulary: tuple[str, ...] | None = None
    remainder: sparse.csr_array | None = None

    def __repr__(self) -> str:
        return f"Corpus({self.n_docs} documents, {self.n_words} words, {self.n_tokens:.0f} tokens)"

    @property
    def n_docs(self) -> int:
        """Number of documents, M."""
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """Number of words in the vocabulary, V (columns, also those that never occur)."""
        return int(self.counts.shape[1])

    @cached_property
    def n_tokens(self) -> float:
        """Number of tokens, sum over d and v of c_dv."""
        return float(self.word_counts.sum())

    @cached_property
    def word_counts(self) -> NDArray[np.float64]:
        """Tokens of each word, n_v = sum over d of c_dv."""
        if isinstance(self.counts, ChunkedCounts):
            return self.counts.word_sums()
        counts = self.counts
        return np.bincount(counts.indices, counts.data, self.n_words).astype(np.float64)

    @cached_property
    def doc_lengths(self) -> NDArray[np.float64]:
        """Tokens of each document, sum over v of c_dv; 0 for a document with no words."""
        sums = [np.asarray(part.sum(axis=1)).ravel() for _, _, part in pieces(self.counts)]
        return np.concatenate(sums).astype(np.float64, copy=False)

    def rows(self, index: ArrayLike | slice) -> Corpus:
        """Take a subset of the documents.

        Parameters
        ----------
        index : int, slice, array of int, or boolean mask
            Documents to take, in this order; a document may be taken more than once.

        Returns
        -------
        Corpus
            The chosen documents with the same columns.

        Examples
        --------
        >>> from topicfocus.corpus import make_corpus
        >>> make_corpus([[2, 0, 1], [0, 3, 0]]).rows([1, 1])
        Corpus(2 documents, 3 words, 6 tokens)
        """
        if not isinstance(index, slice):
            index = np.atleast_1d(np.asarray(index))  # one number would give a vector
        rest = None if self.remainder is None else self.remainder[index]
        return Corpus(take_rows(self.counts, index), self.vocabulary, rest)

    def batches(
        self, batch_size: int, rng: np.random.Generator | None = None
    ) -> Iterator[NDArray[np.intp]]:
        """Split the documents into batches, each document in exactly one.

        Parameters
        ----------
        batch_size : int
            Documents per batch; the last batch may be smaller.
        rng : numpy.random.Generator, optional
            Shuffles the documents first. Without it they come in their own order.

        Returns
        -------
        iterator of arrays of int
            Document indices, for :meth:`rows`.

        Raises
        ------
        TypeError
            If ``batch_size`` is no whole number.
        ValueError
            If it is less than 1.

        Examples
        --------
        >>> from topicfocus.corpus import make_corpus
        >>> [rows.tolist() for rows in make_corpus([[1], [2], [3]]).batches(2)]
        [[0, 1], [2]]
        """
        try:
            size = operator.index(batch_size)
        except TypeError:
            raise TypeError(f"batch_size must be an integer, got {batch_size!r}") from None
        if size < 1:
            raise ValueError(f"batch_size must be at least 1, got {size}")
        order = np.arange(self.n_docs, dtype=np.intp)
        if rng is not None:
            rng.shuffle(order)
        # Not a generator function: a bad batch_size should fail at the call, not later.
        return (order[start : start + size] for start in range(0, self.n_docs, size))


def make_corpus(
    counts: Any,
    vocabulary: Any = None,
    *,
    name: str = "X",
    allow_empty: bool = False,
    fractions: bool = False,
) -> Corpus:
    """Validate a matrix of counts and put it into canonical CSR form.

    The given matrix is never modified. A CSR matrix of float64 that is canonical already is shared,
    not copied; anything else is copied.

    Parameters
    ----------
    counts : scipy sparse matrix or array of any format, dense array, list of lists or dataframe
        Documents x words. Counts are whole numbers >= 0; documents with no words are allowed. A
        CSR matrix whose arrays are memory-mapped is read chunk by chunk (docs/scale.md).
    vocabulary : sequence of str, optional
        The words of the columns. By default the column names of a dataframe, if they are strings.
    name : str, default="X"
        What error messages call the matrix.
    allow_empty : bool, default=False
        Accept a corpus in which no document has any words, for prediction.
    fractions : bool, default=False
        Accept fractions as weights of words, with a warning, because a matrix of fractions is more
        often TF-IDF passed by mistake.

    Returns
    -------
    Corpus

    Raises
    ------
    TypeError
        If text or something else that is not numbers is given instead of counts.
    ValueError
        If the shape, a count or the vocabulary is wrong; the message names row, column and word.

    Examples
    --------
    >>> from topicfocus.corpus import make_corpus
    >>> corpus = make_corpus([[2, 0, 1], [0, 3, 0]], ["good", "bad", "film"])
    >>> corpus.n_docs, corpus.n_words, corpus.n_tokens
    (2, 3, 6.0)
    """
    if isinstance(counts, ChunkedCounts):  # checked when it was made
        return _chunked_corpus(counts, vocabulary, name, allow_empty)
    if is_mapped(counts):
        check_mapped(counts, vocabulary, name=name, fractions=fractions)
        return _chunked_corpus(MappedCounts.of(counts), vocabulary, name, allow_empty)
    words = column_names(counts) if vocabulary is None else vocabulary
    matrix = read_matrix(counts, name=name)
    if words is not None:
        words = check_vocabulary(words, matrix.shape[1], name=name)
    matrix = check_counts(matrix, words, name=name, fractions=fractions)
    _check_words(matrix, name, allow_empty)
    return Corpus(matrix, words, _remainder(counts, matrix.shape[0], name))


def _remainder(counts: Any, n_docs: int, name: str) -> sparse.csr_array | None:
    """The second matrix of `counts.NamedCounts`, if these counts have one."""
    found = getattr(counts, "remainder", None)
    if found is not None and found.shape[0] != n_docs:
        raise ValueError(
            f"{name} has {n_docs} rows, but its matrix of all words has {found.shape[0]}. Count "
            "the texts again."
        )
    return found


def _check_words(counts: Counts, name: str, allow_empty: bool) -> None:
    if counts.nnz == 0 and not allow_empty:
        raise ValueError(
            f"every document of {name} is empty: its {counts.shape[0]} rows hold no counts. "
            "Check the vocabulary and the stop words of the vectoriser."
        )


def _chunked_corpus(counts: ChunkedCounts, vocabulary: Any, name: str, allow_empty: bool) -> Corpus:
    """Counts that are read in chunks, with their own vocabulary if they have one."""
    words = getattr(counts, "vocabulary", None) if vocabulary is None else vocabulary
    if words is not None:
        words = check_vocabulary(words, counts.shape[1], name=name)
    _check_words(counts, name, allow_empty)
    return Corpus(counts, words)


# ---- checks --------------------------------------------------------------------------------------


def column_names(counts: Any) -> list[str] | None:
    """Names of a dataframe's columns; None for anything else or if one is not a string."""
    columns = getattr(counts, "columns", None)
    if columns is None or callable(columns):
        return None
    names = list(columns)
    # Unnamed columns (0, 1, 2, ...) are positions, not words.
    return names if names and all(isinstance(word, str) for word in names) else None


def check_vocabulary(vocabulary: Any, n_words: int, *, name: str = "X") -> tuple[str, ...]:
    """The words of the columns as a tuple, one distinct string for each; `name` is for messages."""
    if isinstance(vocabulary, (str, bytes, Mapping, Set)):
        # A mapping or a set iterates in an order that need not be that of the columns.
        raise TypeError(
            f"vocabulary must be a sequence of words in the order of {name}'s columns, got "
            f"{type(vocabulary).__name__}. Pass vectorizer.get_feature_names_out()."
        )
    words = tuple(vocabulary)
    if len(words) != n_words:
        raise ValueError(
            f"vocabulary has {len(words)} words but {name} has {n_words} columns. "
            "Pass one word for each column."
        )
    first_at: dict[str, int] = {}
    for column, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(f"vocabulary must hold strings, but word {column} is {word!r}")
        if word in first_at:
            raise ValueError(
                f"vocabulary has duplicates: columns {first_at[word]} and {column} are both "
                f"{str(word)!r}. Add such columns up or rename one."
            )
        first_at[word] = column
    return tuple(str(word) for word in words)


def read_matrix(counts: Any, *, name: str = "X") -> sparse.csr_array:
    """Numbers of documents x words in any form as canonical CSR of float64.

    Type and shape are checked here, values in `check_counts`. The result shares memory with a
    matrix that is canonical already, and may contain zeros, NaN and negative numbers.
    """
    if sparse.issparse(counts):
        _check_shape(counts.shape, name)
        matrix = _read_sparse(counts, name)
    else:
        dense = _read_dense(counts, name)
        _check_shape(dense.shape, name)
        matrix = sparse.csr_array(dense)  # NaN is stored, as it is not 0
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # sum_duplicates works in place and the arrays may be the user's
        matrix.sum_duplicates()
    return _with_smallest_indices(matrix)


class FractionWarning(UserWarning):
    """Counts are not whole numbers. They are used as they are, as weights of words."""


def check_counts(
    matrix: sparse.csr_array,
    vocabulary: tuple[str, ...] | None = None,
    *,
    name: str = "X",
    fractions: bool = False,
    first_row: int = 0,
) -> sparse.csr_array:
    """The matrix with checked values: finite, not negative, and whole numbers up to a tolerance.

    A number c is whole if abs(c - round(c)) <= TOLERANCE. With `fractions`, others are kept with a
    warning instead of an error. The result is `matrix` itself, or rounded counts without stored
    zeros. `vocabulary`, `name` and `first_row` are for messages.
    """
    data = matrix.data
    if data.size == 0:
        return matrix
    where = partial(_where, matrix, vocabulary, first_row)
    finite = np.isfinite(data)
    if not finite.all():
        position = int(np.argmin(finite))
        kind, advice = (
            ("NaN", "Replace missing counts by 0.")
            if np.isnan(data[position])
            else ("infinity", "Counts must be finite.")
        )
        raise ValueError(f"{name} contains {kind} at {where(position)}. {advice}")
    if data.min() < -TOLERANCE:
        position = int(np.argmax(data < -TOLERANCE))
        raise ValueError(
            f"Negative values in data passed to {name}: {where(position)} is "
            f"{data[position]:g}. Counts say how often a word occurs and cannot be negative; pass "
            "them without centring or scaling."
        )
    if data.max() > LARGEST_COUNT:
        position = int(np.argmax(data))
        raise ValueError(
            f"{name} has a count of {data[position]:g}: {where(position)}. "
            f"Counts say how often a word occurs and are at most {LARGEST_COUNT:g}."
        )
    rounded = np.rint(data)
    deviation = np.abs(data - rounded)
    if deviation.max() > TOLERANCE:
        position = int(np.argmax(deviation > TOLERANCE))
        message = (
            f"{name} has counts that are not whole numbers: {where(position)} "
            f"is {data[position]:g}. Use TokenCounter instead of TfidfVectorizer, unscaled."
        )
        if not fractions:
            raise ValueError(message)
        warnings.warn(message, FractionWarning, stacklevel=5)
        rounded = np.maximum(data, 0.0)
        deviation = np.abs(data - rounded)
    if deviation.max() == 0 and data.min() > 0:
        return matrix
    clean = sparse.csr_array(
        (rounded, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True
    )
    clean.eliminate_zeros()
    return clean


def check_mapped(
    matrix: Any,
    vocabulary: Any = None,
    *,
    name: str = "X",
    fractions: bool = False,
) -> None:
    """Check a memory-mapped CSR matrix chunk by chunk; unlike others it has to be canonical."""
    _check_shape(matrix.shape, name)
    indptr, nnz = np.asarray(matrix.indptr), len(matrix.data)
    if (
        indptr[0] != 0
        or np.any(np.diff(indptr) < 0)
        or not indptr[-1] == nnz == len(matrix.indices)
    ):
        raise ValueError(f"{name} is not a valid csr matrix: its indptr does not match its data.")
    _as_float(matrix.data[:1], name)
    words = None if vocabulary is None else check_vocabulary(vocabulary, matrix.shape[1], name=name)
    counts = MappedCounts.of(matrix)
    for first, last in chunks(counts):
        rows = counts.read(first, last)
        if (
            len(rows.indices)
            and not 0 <= rows.indices.min() <= rows.indices.max() < matrix.shape[1]
        ):
            raise ValueError(f"{name} is not a valid csr matrix: indices outside its columns.")
        part = sparse.csr_array(
            (rows.data, rows.indices, rows.indptr), (last - first, matrix.shape[1])
        )
        clean = check_counts(part, words, name=name, fractions=fractions, first_row=first)
        if not part.has_canonical_format or clean.nnz < part.nnz:
            raise ValueError(
                f"{name} is memory-mapped and has unsorted, repeated or zero entries in rows "
                f"{first} to {last - 1}. Write it with sorted columns, each once, and without "
                "zeros (topicfocus.write_counts does)."
            )


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"{name} has {len(shape)} dimension(s), shape {shape}, but counts are documents x "
            "words. Reshape your data: reshape(1, -1) makes a single document of one row of counts."
        )
    if shape[0] == 0:
        raise ValueError(f"{name} has no documents: 0 sample(s) (shape={shape}); at least 1 needed")
    if shape[1] == 0:
        raise ValueError(
            f"{name} has no words: 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )


def _read_sparse(counts: Any, name: str) -> sparse.csr_array:
    """CSR of float64, possibly a view of the user's arrays, duplicates perhaps not yet summed."""
    # To float before duplicates are summed: 200 + 200 overflows in uint8.
    compressed = {"csr": sparse.csr_array, "csc": sparse.csc_array}.get(counts.format)
    if compressed is None:
        entries = counts.tocoo()
        data = _as_float(entries.data, name)
        return sparse.coo_array((data, (entries.row, entries.col)), shape=counts.shape).tocsr()
    parts = (_as_float(counts.data, name), counts.indices, counts.indptr)
    try:
        # A view of our own, as checking changes attributes of what it checks. The full check
        # matters: an index out of range would corrupt memory in compiled code.
        view = compressed(parts, shape=counts.shape)
        view.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"{name} is not a valid {counts.format} matrix: {error}") from error
    return view.tocsr()


def _read_dense(values: Any, name: str) -> NDArray[np.float64]:
    """An array of numbers, of whatever was given; text and rows of different lengths are errors."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; fill it first, e.g. {name}.filled(0)")
    try:
        array = np.asarray(values)
    except ValueError as error:  # NumPy's message for rows of different lengths
        if any(isinstance(value, (str, bytes)) for row in values for value in np.ravel(row)):
            raise TypeError(f"{name} holds text instead of counts. {_TEXT_ADVICE}") from error
        raise ValueError(
            f"the rows of {name} have different lengths; every row needs one number for each column"
        ) from error
    return _as_float(array, name)


def _as_float(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers")
    if values.dtype.kind in "biuf":
        return values.astype(np.float64, copy=False)
    for place, value in np.ndenumerate(values):
        if isinstance(value, (str, bytes)):
            where = (
                f": row {place[0]}, column {place[1]} is {str(value)!r:.80}"
                if len(place) == 2
                else ""
            )
            raise TypeError(f"{name} holds text instead of counts{where}. {_TEXT_ADVICE}")
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must hold numbers: {error}") from error


def _with_smallest_indices(matrix: sparse.csr_array) -> sparse.csr_array:
    """Indices of int32 where rows, columns and number of entries allow it, else of int64."""
    dtype = index_dtype(max(matrix.nnz, *matrix.shape))
    if matrix.indices.dtype == dtype and matrix.indptr.dtype == dtype:
        return matrix
    indices, indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    return sparse.csr_array((matrix.data, indices, indptr), shape=matrix.shape)


def _where(
    matrix: sparse.csr_array, vocabulary: tuple[str, ...] | None, first_row: int, position: int
) -> str:
    """Row, column and word of the entry at a position of ``matrix.data``."""
    row = int(np.searchsorted(matrix.indptr, position, side="right")) - 1
    column = int(matrix.indices[position])
    word = "" if vocabulary is None else f" (word {vocabulary[column]!r})"
    return f"row {first_row + row}, column {column}{word}"
