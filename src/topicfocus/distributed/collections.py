"""Counts that are a collection of Dask: arrays, dataframes, and bags of {word: count}."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.corpus.parts import Rows
from topicfocus.corpus.validation import check_counts, read_matrix
from topicfocus.distributed.work import packed


def reader(collection: Any, words_of: Callable[[Any], tuple[str, ...]]) -> tuple:
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


def bag_words(items: Any) -> set[str]:
    return {str(word) for item in items for word in item}


def rows_of_matrix(matrix: sparse.csr_array) -> Rows:
    return packed(Rows(matrix.indptr, matrix.indices, matrix.data))
