"""Measures of predictions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def rmse(target: ArrayLike, prediction: ArrayLike) -> float:
    """Root of the mean squared error, sqrt(mean over d of (y_d - ŷ_d)²).

    Parameters
    ----------
    target, prediction : array-like of shape (n_docs,) or (n_docs, 1)

    Returns
    -------
    float
    """
    y, y_hat = _column("target", target), _column("prediction", prediction)
    if len(y) != len(y_hat):
        raise ValueError(f"target has {len(y)} values but prediction has {len(y_hat)}")
    if len(y) == 0:
        raise ValueError("target and prediction are empty; rmse needs at least one value")
    return float(np.sqrt(np.mean((y - y_hat) ** 2)))


def _column(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    # Otherwise (n, 1) - (n,) would silently be n x n differences.
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must have one value for each document, got shape {array.shape}")
    finite = np.isfinite(array)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(f"{name} must be finite, but row {row} is {array[row]}")
    return array
