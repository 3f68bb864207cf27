"""Which terms have a column of the counts."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicfocus.text.counting import Countable, choose


def given_vocabulary(vocabulary: Any) -> dict[str, int]:
    """A user's vocabulary as a dict of columns, the same rules as scikit-learn's."""
    if isinstance(vocabulary, str):
        raise TypeError(f"vocabulary must hold terms, got one string; pass [{vocabulary!r}].")
    if isinstance(vocabulary, Mapping):
        columns = dict(vocabulary)
        if sorted(columns.values()) != list(range(len(columns))):
            raise ValueError(
                f"the columns of a vocabulary of {len(columns)} terms must be the numbers 0 to "
                f"{len(columns) - 1}, each once."
            )
    else:
        terms = sorted(vocabulary) if isinstance(vocabulary, (set, frozenset)) else list(vocabulary)
        columns = {}
        for i, term in enumerate(terms):
            if columns.setdefault(term, i) != i:
                raise ValueError(f"Duplicate term in vocabulary: {term!r}")
    if not columns:
        raise ValueError("empty vocabulary passed to fit")
    for term in columns:
        if not isinstance(term, str):
            raise TypeError(f"vocabulary must hold strings, but one term is {term!r}.")
    return {term: int(i) for term, i in columns.items()}


def chosen_terms(
    tally: Countable, min_df: float, max_df: float, max_features: int | None
) -> tuple[list[str], NDArray[np.int64]]:
    """Terms that are in neither too few nor too many documents, and the column of each id."""
    least = _documents(min_df, tally.n_docs)
    most = _documents(max_df, tally.n_docs)
    if most < least:
        raise ValueError(
            f"max_df corresponds to < documents than min_df: {most:g} and {least:g} of the "
            f"{tally.n_docs} documents."
        )
    kept, column = choose(tally, least, most, max_features)
    if not kept:
        raise ValueError(
            f"After pruning, no terms remain: none is in {least:g} to {most:g} of the "
            f"{tally.n_docs} documents. Try a lower min_df or a higher max_df."
        )
    return kept, column


def _documents(value: float, n_docs: int) -> float:
    return value if isinstance(value, numbers.Integral) else value * n_docs
