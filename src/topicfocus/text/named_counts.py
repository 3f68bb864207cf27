"""A count matrix that knows the names of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse


class NamedCounts(sparse.csr_array):
    """A CSR array with `feature_names`, which choices of documents and columns keep.

    scikit-learn takes names of columns from data frames only; estimators of this package take them
    from here, too, so that words have names in a pipeline. Other operations return matrices without
    names.
    """

    feature_names: np.ndarray | None = None

    @classmethod
    def of(cls, matrix: sparse.csr_array, names: Sequence[str]) -> NamedCounts:
        """The same matrix, without a copy, with names."""
        parts = (matrix.data, matrix.indices, matrix.indptr)
        named = cls(parts, shape=matrix.shape, copy=False)
        named.has_canonical_format = matrix.has_canonical_format
        named.feature_names = np.array(names, dtype=object)
        return named

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, NamedCounts) and self.feature_names is not None and found.ndim == 2:
            names: Any = self.feature_names
            if isinstance(key, tuple) and len(key) == 2:
                names = names[key[1]] if not isinstance(key[1], type(Ellipsis)) else names
            if np.shape(names) == (found.shape[1],):
                found.feature_names = np.asarray(names, dtype=object)
        return found

    def copy(self) -> NamedCounts:
        """A copy with the same names."""
        found = super().copy()
        found.feature_names = self.feature_names
        return found
