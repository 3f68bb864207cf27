"""A count matrix with the names of its columns, and with a second matrix of all words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse


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
