"""Residuals of targets under a cross-fitted ridge regression on words."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

#: Folds of the cross-fitted regression.
FOLDS = 3
#: Penalty of coefficients of rows of length one, in units of the target's variance.
PENALTY = 1.0
#: Documents the regression is fitted to, at most, times its targets.
MOST_DOCUMENTS = 60_000
_ITERATIONS = 15
#: Whole numbers with at most this many different values are treated as classes, too.
MOST_CLASSES = 20
#: Residuals are clipped at this number of standard deviations.
_LARGEST = 3.0


class Residuals(NamedTuple):
    """Residuals (0 where the target is missing), whether it is known (0 or 1), and variances."""

    values: NDArray[np.float64]
    known: NDArray[np.float64]
    variance: NDArray[np.float64]

    def of(self, first: int, last: int) -> NDArray[np.float64]:
        """Residuals and whether they are known, side by side, of documents first..last-1."""
        return np.hstack([self.values[first:last], self.known[first:last]])


def signals(y: Any) -> NDArray[np.float64] | None:
    """Targets as standardised columns that phrases are tested against; NaN where missing.

    There is one column per number and one per class. Whole numbers with few different values give
    both. The result is None if no target varies.
    """
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    array = np.asarray(y)
    if array.ndim == 1:
        array = array[:, None]
    columns = [c for j in range(array.shape[1]) for c in _columns(array[:, j])]
    out = []
    for column in columns:
        known = np.isfinite(column)
        spread = column[known].std() if known.any() else 0.0
        if spread > 0:
            out.append((column - column[known].mean()) / spread)
    return np.column_stack(out) if out else None


def _columns(values: NDArray[Any]) -> list[NDArray[np.float64]]:
    if values.dtype.kind in "iufb":
        numbers_ = values.astype(np.float64)
        is_whole = values.dtype.kind != "f"
    else:
        missing = np.array([_is_missing(value) for value in values], dtype=bool)
        present = values[~missing]
        if not all(isinstance(value, numbers.Real) for value in present):
            labels = np.array([str(value) for value in values], dtype=object)
            return _indicators(labels, missing)
        numbers_ = np.full(len(values), np.nan)
        numbers_[~missing] = present.astype(np.float64)
        is_whole = all(isinstance(value, numbers.Integral) for value in present)
    known = np.isfinite(numbers_)
    different = np.unique(numbers_[known])
    if is_whole and 2 < len(different) <= MOST_CLASSES:
        return [numbers_, *_indicators(numbers_, ~known)]
    if len(different) > MOST_CLASSES and np.all((different >= 0) & (different % 1 == 0)):
        return [np.sqrt(numbers_)]  # counts: their variance grows with their mean
    return [numbers_]


def _indicators(labels: NDArray[Any], missing: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
    """One column per class: the most frequent ones, and one column only for two classes."""
    names, sizes = np.unique(labels[~missing], return_counts=True)
    names = names[np.argsort(-sizes, kind="stable")][:MOST_CLASSES]
    if len(names) == 2:
        names = names[:1]
    return [np.where(missing, np.nan, (labels == name).astype(np.float64)) for name in names]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def cross_fitted(
    target: NDArray[np.float64],
    lengths: NDArray[np.int64],
    rows: Callable[[NDArray[np.bool_]], sparse.csr_array],
    each: Callable[[Callable[[sparse.csr_array], Any]], Any],
) -> Residuals:
    """Residuals of a cross-fitted ridge regression, for all documents.

    Parameters
    ----------
    target : array (documents, signals)
    lengths : array
        Words of each document. Residuals are adjusted for its logarithm, since long documents have
        more phrases.
    rows : callable
        Features of chosen documents, as a matrix.
    each : callable
        Applies a function to the features of all documents, part by part.
    """
    n, n_signals = target.shape
    step = max(1, -(-n * n_signals // MOST_DOCUMENTS))
    chosen = np.arange(n) % step == 0
    X = rows(chosen)
    fold = np.arange(X.shape[0]) % FOLDS
    y = target[chosen]
    coef = _ridge(X, y, fold)
    predicted = np.concatenate(list(each(lambda part: part @ coef))).reshape(n, FOLDS, n_signals)
    left_out = np.full(n, -1)
    left_out[chosen] = fold
    expected = predicted.mean(axis=1)
    for k in range(FOLDS):
        expected[left_out == k] = predicted[left_out == k, k]
    residual = target - expected
    known = np.isfinite(residual)
    size = np.log1p(lengths)
    design = np.column_stack([np.ones(n), size, size**2])
    for j in range(n_signals):
        here = known[:, j]
        if here.sum() > design.shape[1]:
            found = np.linalg.lstsq(design[here], residual[here, j], rcond=None)[0]
            residual[here, j] -= design[here] @ found
    spread = np.sqrt(np.nanmean(residual**2, axis=0))
    residual = np.clip(np.where(known, residual, 0.0), -_LARGEST * spread, _LARGEST * spread)
    variance = (residual**2).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return Residuals(residual, known.astype(np.float64), variance)


def _ridge(
    X: sparse.csr_array, y: NDArray[np.float64], fold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Coefficients without each fold, (features, folds x targets), by conjugate gradients."""
    weight = np.concatenate(
        [np.isfinite(y) * (fold != k)[:, None].astype(np.float64) for k in range(FOLDS)], axis=1
    )
    y = np.tile(np.nan_to_num(y), (1, FOLDS)) * weight
    Xt = X.T.tocsr()
    residual = Xt @ y
    coef = np.zeros_like(residual)
    direction = residual.copy()
    size = np.sum(residual**2, axis=0)
    first = np.maximum(size, 1e-300)
    for _ in range(_ITERATIONS):
        product = Xt @ (weight * (X @ direction)) + PENALTY * direction
        along = np.sum(direction * product, axis=0)
        step = np.where(size > 1e-10 * first, size / np.maximum(along, 1e-300), 0.0)
        coef += step * direction
        residual -= step * product
        before, size = size, np.sum(residual**2, axis=0)
        direction = (
            residual + np.where(before > 0, size / np.maximum(before, 1e-300), 0) * direction
        )
    return coef
