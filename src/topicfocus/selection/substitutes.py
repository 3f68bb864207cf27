"""Words that stand for each other: a kept word, and dropped words that are used with it.

Which of several words that say the same is kept depends on the sample. For every word v that the
model keeps, its substitutes are the words u that it drops, that some half keeps, and that documents
use together with v: the largest correlations of √c_du and √c_dv over documents, 0.15 at least.
Replacements seen in halves alone (u kept where v is not) are no such sign: with 50 halves and
thousands of pairs of words the largest of them are chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from topicfocus.counts import Counts, in_memory, take_columns

#: Substitutes of a word that are looked for, at most, and their least correlation with it.
MOST, LEAST_CORRELATION = 5, 0.15
#: Words that are correlated with all others at a time.
_BLOCK = 256


@dataclass(frozen=True, kw_only=True, eq=False)
class Substitutes:
    """For every kept word its substitutes, most correlated first; -1 where there are none.

    Attributes
    ----------
    words : array (kept,)
        Columns of the words that the model keeps.
    others : array (kept, 5)
        Columns of their substitutes.
    correlation : array (kept, 5)
    either : array (kept, 5)
        Share of the halves that keep the word or this substitute.
    """

    words: np.ndarray
    others: np.ndarray
    correlation: np.ndarray
    either: np.ndarray


def find_substitutes(kept: np.ndarray, halves: np.ndarray, roots: Counts) -> Substitutes:
    """Of the kept words; `halves` x words says which half keeps what, `roots` are √counts."""
    words = np.flatnonzero(kept)
    dropped = np.flatnonzero(~kept & halves.any(axis=0))
    shape = (len(words), MOST)
    others, correlation = np.full(shape, -1), np.zeros(shape)
    if len(dropped):
        # Of other words nothing is asked, so these are all that has to be in memory.
        every = np.union1d(words, dropped)
        used = in_memory(take_columns(roots, every))
        mean, spread = _moments(used)
        columns = used.tocsc()
        at_words, at_dropped = (np.searchsorted(every, part) for part in (words, dropped))
        theirs = columns[:, at_dropped]
        for first in range(0, len(words), _BLOCK):
            mine = at_words[first : first + _BLOCK]
            together = (columns[:, mine].T @ theirs).toarray() / roots.shape[0]
            together -= np.outer(mean[mine], mean[at_dropped])
            together /= np.outer(spread[mine], spread[at_dropped])
            best = np.argsort(-together, axis=1, kind="stable")[:, :MOST]
            value = np.take_along_axis(together, best, axis=1)
            rows, size = slice(first, first + len(mine)), best.shape[1]
            others[rows, :size] = np.where(value >= LEAST_CORRELATION, dropped[best], -1)
            correlation[rows, :size] = np.where(value >= LEAST_CORRELATION, value, 0.0)
    either = np.zeros(shape)
    for i, j in np.argwhere(others >= 0):
        either[i, j] = np.mean(halves[:, words[i]] | halves[:, others[i, j]])
    return Substitutes(words=words, others=others, correlation=correlation, either=either)


def _moments(roots: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of every column."""
    mean = np.asarray(roots.mean(axis=0)).ravel()
    square = np.asarray(roots.multiply(roots).mean(axis=0)).ravel()
    return mean, np.sqrt(np.maximum(square - mean**2, 1e-300))
