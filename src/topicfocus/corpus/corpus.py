"""The corpus: documents x words counts that the rest of the package can trust."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topicfocus.corpus.validation import (
    check_counts,
    check_mapped,
    check_vocabulary,
    column_names,
    read_matrix,
)
from topicfocus.counts import ChunkedCounts, Counts, MappedCounts, is_mapped, pieces, take_rows


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

    Examples
    --------
    >>> from topicfocus.corpus import make_corpus
    >>> make_corpus([[2, 0, 1], [0, 3, 0]])
    Corpus(2 documents, 3 words, 6 tokens)
    """

    counts: Counts
    vocabulary: tuple[str, ...] | None = None

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
        return Corpus(take_rows(self.counts, index), self.vocabulary)

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
    tolerance: float = 1e-6,
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
    tolerance : float, default=1e-6
        A count c is accepted, and rounded, when abs(c - round(c)) <= tolerance.
    allow_empty : bool, default=False
        Accept a corpus in which no document has any words. Useful for prediction, where that means
        "nothing known"; useless for fitting.
    fractions : bool, default=False
        Accept numbers that are not whole, with a warning: they weigh words, but a matrix of
        fractions is more often TF-IDF passed by mistake.

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
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be a number >= 0, got {tolerance!r}")
    if isinstance(counts, ChunkedCounts):  # checked when it was made
        return _chunked_corpus(counts, vocabulary, name, allow_empty)
    if is_mapped(counts):
        check_mapped(counts, vocabulary, name=name, tolerance=tolerance, fractions=fractions)
        return _chunked_corpus(MappedCounts.of(counts), vocabulary, name, allow_empty)
    words = column_names(counts) if vocabulary is None else vocabulary
    matrix = read_matrix(counts, name=name)
    if words is not None:
        words = check_vocabulary(words, matrix.shape[1], name=name)
    matrix = check_counts(matrix, words, name=name, tolerance=tolerance, fractions=fractions)
    _check_words(matrix, name, allow_empty)
    return Corpus(matrix, words)


def _check_words(counts: Counts, name: str, allow_empty: bool) -> None:
    if counts.nnz == 0 and not allow_empty:
        raise ValueError(
            f"every document of {name} is empty: its {counts.shape[0]} rows hold no counts. "
            "Check the vocabulary and the stop words of the vectoriser."
        )


def _chunked_corpus(counts: ChunkedCounts, vocabulary: Any, name: str, allow_empty: bool) -> Corpus:
    """Counts that are read in chunks, with their own vocabulary where they have one."""
    words = getattr(counts, "vocabulary", None) if vocabulary is None else vocabulary
    if words is not None:
        words = check_vocabulary(words, counts.shape[1], name=name)
    _check_words(counts, name, allow_empty)
    return Corpus(counts, words)
