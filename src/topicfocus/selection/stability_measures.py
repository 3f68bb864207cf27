"""Overlap of selected words between samples, and interchangeable words.

Which of several collinear words is kept depends on the sample. For every word v that a model keeps,
its substitutes are words u that the model drops, that some half keeps, and that occur in the same
documents as v: the largest correlations of √c_du and √c_dv over documents, at least 0.15. That u is
kept exactly where v is not is no sufficient sign: with 50 halves and thousands of pairs of words,
the strongest such patterns are due to chance.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.utils import gen_batches
from sklearn.utils.sparsefuncs import mean_variance_axis

from topicfocus.counts import Counts, in_memory, take_columns

#: Largest number of substitutes per word, and their least correlation with it.
MOST, LEAST_CORRELATION = 5, 0.15
#: Number of words that are correlated with all others at a time.
_BLOCK = 256


def mean_jaccard(chosen: np.ndarray) -> float:
    """|A ∩ B| / |A ∪ B|, 1 for two empty sets: mean over pairs of rows, NaN for a single row."""
    if len(chosen) < 2:
        return math.nan
    return float(1 - pdist(np.asarray(chosen, dtype=bool), "jaccard").mean())


def nogueira_index(chosen: Any) -> float:
    """Stability of a selection over M samples (Nogueira, Sechidis and Brown, 2018).

    Φ = 1 - mean_v s_v² / (k̄/V (1 - k̄/V)), with s_v² = M/(M-1) p_v (1 - p_v), p_v the fraction
    of samples in which word v is chosen, k̄ the mean number of words chosen and V that of all
    words. It is 1 if all samples choose the same words, and 0 in expectation if they choose at
    random.

    Parameters
    ----------
    chosen : array of bool (samples, words)

    Returns
    -------
    float
        NaN with one sample, or if all or no words are chosen.

    Examples
    --------
    >>> from topicfocus.selection import nogueira_index
    >>> round(nogueira_index([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]), 3)
    0.333
    """
    often = np.asarray(chosen, dtype=float)
    share = often.mean()
    if len(often) < 2 or share in (0.0, 1.0):
        return math.nan
    return float(1 - often.var(axis=0, ddof=1).mean() / (share * (1 - share)))


class Substitute(NamedTuple):
    """A word that is interchangeable with a kept one.

    Attributes
    ----------
    word, other : int
        Columns of the kept word and of its substitute.
    correlation : float
    either : float
        Fraction of the halves that keep one of the two.
    """

    word: int
    other: int
    correlation: float
    either: float


def find_substitutes(kept: np.ndarray, halves: np.ndarray, roots: Counts) -> tuple[Substitute, ...]:
    """Substitutes of the kept words, most correlated first.

    `halves` are the words that halves keep, `roots` √counts.
    """
    words, dropped = np.flatnonzero(kept), np.flatnonzero(~kept & halves.any(axis=0))
    if not len(dropped):
        return ()
    (first, mean), (second, other_mean) = (
        _scaled(in_memory(take_columns(roots, columns))) for columns in (words, dropped)
    )
    found = []
    for rows in gen_batches(len(words), _BLOCK):
        product = (first[:, rows].T @ second).toarray() / roots.shape[0]
        product -= np.outer(mean[rows], other_mean)
        for v, correlation in zip(words[rows], product, strict=True):
            for j in np.argsort(-correlation, kind="stable")[:MOST]:
                if correlation[j] >= LEAST_CORRELATION:
                    either = float(np.mean(halves[:, v] | halves[:, dropped[j]]))
                    found.append(Substitute(int(v), int(dropped[j]), float(correlation[j]), either))
    return tuple(sorted(found, key=lambda one: -one.correlation))


def _scaled(columns: Any) -> tuple[Any, np.ndarray]:
    """Columns in units of their standard deviations, and their means in these."""
    columns = sparse.csc_array(columns, dtype=float)
    mean, variance = mean_variance_axis(columns, axis=0)
    scale = 1 / np.sqrt(np.maximum(variance, 1e-300))
    return sparse.csc_array(columns @ sparse.diags_array(scale)), mean * scale
