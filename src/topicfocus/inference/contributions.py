"""What each word and each topic adds to a document's linear predictors: sums that are exact.

At the optimum θ̂_k = (a_k + Σ_v c_v m_v r_vk)/N, N = Σ_k a_k + Σ_v c_v m_v, so with ā = a/Σ_k a

    η·θ̂ = η·ā + Σ_v (c_v m_v / N) (η·r_v - η·ā):

an empty document's prediction, and an amount for every word. Since r_v sums to one, the part of it
that goes through topic k is (c_v m_v / N) r_vk (η_k - η·ā), and summed over words

    (n_k / N) (η_k - η·ā),   n_k = Σ_v c_v m_v r_vk = N θ̂_k - a_k:

what the document's words of topic k do to it. Words and topics are the two margins of one table, a
topic whose η_k is below that of an empty document always lowers, and one that has no word here adds
nothing. (η_k (θ̂_k - ā_k) adds up as well, but credits a bad topic's absence to the topic.)

Taking the word out, the others staying in their topics, leaves (N θ̂ - c_v m_v r_v)/(N - c_v m_v) of
θ̂: η·θ̂ is higher by c_v m_v / (N - c_v m_v) (η·r_v - η·θ̂) with the word than without.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.counts import in_memory
from topicfocus.inference.state import ModelState
from topicfocus.inference.words import mix_weights

#: Nonzero counts held with their responsibilities at a time: those of 50 topics fit the cache.
_BLOCK = 1 << 14


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
        (n_k / N) (η_k - η·ā).
    removal : array (nonzero counts, predictors)
        What taking the word out would take away, the other words staying in their topics.
    """

    base: np.ndarray
    words: np.ndarray
    topics: np.ndarray
    removal: np.ndarray


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
    removal, whole = np.zeros_like(words), mixes @ eta
    for first, last in document_blocks(counts.indptr):
        lo, hi = counts.indptr[first], counts.indptr[last]
        doc = np.repeat(np.arange(first, last), np.diff(counts.indptr[first : last + 1]))
        word = counts.indices[lo:hi]
        r = weights.table[word] * mixes[doc]
        r /= r.sum(axis=1, keepdims=True)
        amount = counts.data[lo:hi] * weights.multiplicity[word] / size[doc]
        value = r @ eta
        words[lo:hi] = amount[:, None] * (value - base)
        removal[lo:hi] = (amount / (1 - amount))[:, None] * (value - whole[doc])
    explained = mixes - prior / size[:, None]  # n_k / N
    return Contributions(base, words, explained[:, :, None] * (eta - base), removal)
