"""A family's log-likelihood and derivatives over arrays of targets and predictors."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from topicfocus.families.base import (
    derivatives,
    log_likelihood,
    row_expectation,
    row_log_likelihood,
)
from topicfocus.kernels.compile import kernel
from topicfocus.kernels.special import exp_in_place


@kernel
def likelihood_table(family, target, predictor):
    """Rows ℓ, ℓ', ℓ'', ℓ''' at (y_d, f_d), one array each; one predictor."""
    out = np.empty((4, target.shape[0]))
    for d in range(target.shape[0]):
        out[0, d] = log_likelihood(family, target[d], predictor[d])
        out[1, d], out[2, d], out[3, d] = derivatives(family, target[d], predictor[d])
    return out[0], out[1], out[2], out[3]


@kernel
def likelihood_rows(family, target, weight, predictor):
    """Σ_t w_t ℓ_t of every document, and its gradient, documents x predictors."""
    value = np.empty(target.shape[0])
    gradient = np.empty_like(predictor)
    for d in range(target.shape[0]):
        value[d] = row_log_likelihood(family, target[d], weight[d], predictor[d], gradient[d])
    return value, gradient


@kernel
def expectation_rows(family, target, weight, mean, variance):
    """Σ_t w_t E[ℓ_t] of every document and its derivatives in μ and ν."""
    value = np.empty(target.shape[0])
    by_mean = np.empty_like(mean)
    by_variance = np.empty_like(mean)
    for d in range(target.shape[0]):
        value[d] = row_expectation(
            family, target[d], weight[d], mean[d], variance[d], by_mean[d], by_variance[d]
        )
    return value, by_mean, by_variance


@kernel
def class_rows(target, predictor):
    """(log p(y_d | f_d), p) for classes: p_dc ∝ e^{f_dc}, documents x classes.

    It needs one exponential per class, half as many as log-likelihood and gradient separately, and
    the exponentials are vectorised.
    """
    n_docs, n_classes = predictor.shape
    value = np.empty(n_docs)
    p = np.empty((n_docs, n_classes))
    bits = np.empty(n_classes, dtype=np.int64)
    for d in range(n_docs):
        row = p[d]
        largest = predictor[d, 0]
        for c in range(1, n_classes):
            largest = max(largest, predictor[d, c])
        for c in range(n_classes):
            row[c] = predictor[d, c] - largest
        mine = row[int(target[d])]
        exp_in_place(row, n_classes, bits)
        total = 0.0
        for c in range(n_classes):
            total += row[c]
        value[d] = mine - math.log(total)
        for c in range(n_classes):
            row[c] /= total
    return value, p


# ---- in blocks of documents ----------------------------------------------------------------------

#: Documents per block, which limits the memory of temporary arrays.
_BLOCK = 1 << 16


def likelihoods(family: Any, target: np.ndarray, predictor: np.ndarray) -> tuple[np.ndarray, ...]:
    """`likelihood_table` in blocks of documents."""
    return in_blocks(partial(likelihood_table, family), target, predictor)


def in_blocks(rows: Callable[..., Any], *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """A function such as `class_rows` of arrays with one row per document, in blocks."""
    n = len(arrays[0])
    if n <= _BLOCK:
        return rows(*arrays)
    out: list[np.ndarray] = []
    for first in range(0, n, _BLOCK):
        here = slice(first, first + _BLOCK)
        found = rows(*(array[here] for array in arrays))
        if not out:
            out = [np.empty((n, *part.shape[1:])) for part in found]
        for whole, part in zip(out, found, strict=True):
            whole[here] = part
    return tuple(out)
