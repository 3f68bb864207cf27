"""What each word and each topic adds to a document's linear predictors: sums that are exact.

At the optimum θ̂_k = (a_k + Σ_v c_v m_v r_vk)/N, N = Σ_k a_k + Σ_v c_v m_v, so with ā = a/Σ_k a

    η·θ̂ = η·ā + Σ_v (c_v m_v / N) (η·r_v - η·ā):

an empty document's prediction, and an amount for every word. The part of it that goes through
topic k is (c_v m_v / N) η_k (r_vk - ā_k); summed over words that is η_k (θ̂_k - ā_k).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.corpus.parts import in_memory
from topicfocus.inference.state import ModelState
from topicfocus.inference.words import mix_weights

_BLOCK = 200_000  # nonzero counts held with their responsibilities at a time


@dataclass(frozen=True)
class Contributions:
    """Amounts in units of the linear predictor.

    Attributes
    ----------
    base : array (predictors,)
        η·ā, what a document without words gets from the topics.
    words : array (nonzero counts, predictors)
        In the order of the corpus's nonzero counts.
    topics : array (documents, topics, predictors)
        η_k (θ̂_k - ā_k).
    """

    base: np.ndarray
    words: np.ndarray
    topics: np.ndarray


def document_blocks(indptr: np.ndarray) -> Iterator[tuple[int, int]]:
    """Documents in a row, [first, last), whose responsibilities are held at a time."""
    n_docs, first = len(indptr) - 1, 0
    while first < n_docs:
        last = int(np.searchsorted(indptr, indptr[first] + _BLOCK, side="right")) - 1
        last = min(max(last, first + 1), n_docs)
        yield first, last
        first = last


def contributions(corpus: Corpus, state: ModelState, mixes: np.ndarray) -> Contributions:
    """Of every document, given its θ̂ (`mixes`)."""
    weights = mix_weights(state).table
    counts, eta = in_memory(corpus.counts), state.coef_rows.T
    prior = state.doc_topic_prior
    average = prior / prior.sum()
    base = average @ eta
    size = prior.sum() + counts @ weights.multiplicity
    words = np.zeros((counts.nnz, eta.shape[1]))
    for first, last in document_blocks(counts.indptr):
        lo, hi = counts.indptr[first], counts.indptr[last]
        doc = np.repeat(np.arange(first, last), np.diff(counts.indptr[first : last + 1]))
        word = counts.indices[lo:hi]
        r = weights.table[word] * mixes[doc]
        r /= r.sum(axis=1, keepdims=True)
        amount = counts.data[lo:hi] * weights.multiplicity[word] / size[doc]
        words[lo:hi] = amount[:, None] * (r @ eta - base)
    return Contributions(base, words, (mixes - average)[:, :, None] * eta)
