"""What a document is made of, by its words: tokens that each topic explains, and words beside them.

A topic mix θ̂ is smoothed by its prior, which prediction needs; here tokens are counted instead:

    n_dk = Σ_v c_dv m_v r_dvk,   r_dvk = β_vk θ̂_dk / Σ_j β_vj θ̂_dj,

over counts as they are, also where θ̂ was found from their roots. Σ_k n_dk is the number of relevant
tokens of the document, and n_dk / Σ_j n_dj its composition.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from topicfocus.corpus import Corpus
from topicfocus.counts import Rows
from topicfocus.inference.contributions import document_blocks
from topicfocus.inference.passes import Arrays, Task, run_pass, zeros
from topicfocus.inference.state import ModelState
from topicfocus.inference.words import mix_weights
from topicfocus.kernels.products import add_beside


def topic_tokens(corpus: Corpus, state: ModelState, mixes: np.ndarray) -> np.ndarray:
    """n_dk, documents x topics, of counts and the θ̂ that belong to them."""
    words = mix_weights(state).table
    out = np.zeros((corpus.n_docs, state.n_topics))
    task = Task(kernel=_tokens, make=zeros(0), shared=tuple(words), given=(mixes,), changed=(out,))
    run_pass(corpus.counts, task, None)
    return out


def _tokens(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: tuple) -> None:
    (table, multiplicity), (mixes,), (out,) = shared, given, changed
    counts = rows.matrix(len(table))
    for first, last in document_blocks(counts.indptr):
        lo, hi = counts.indptr[first], counts.indptr[last]
        word = counts.indices[lo:hi]
        doc = np.repeat(np.arange(first, last), np.diff(counts.indptr[first : last + 1]))
        relevant = multiplicity[word] > 0
        word, doc = word[relevant], doc[relevant]
        amount = counts.data[lo:hi][relevant] * multiplicity[word]
        amount /= np.einsum("nk,nk->n", table[word], mixes[doc])
        parts = (amount, (doc - first, word))
        scaled = sparse.csr_array(parts, shape=(last - first, len(table)))
        out[first:last] = mixes[first:last] * (scaled @ table)


def composition(tokens: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Shares of the topics; a document without relevant words gets the prior's mix α/Σα."""
    total = tokens.sum(axis=1, keepdims=True)
    some = total > 0
    return np.where(some, tokens / np.where(some, total, 1.0), prior / prior.sum())


def context_counts(
    corpus: Corpus,
    state: ModelState,
    mixes: np.ndarray,
    tokens: np.ndarray,
    weight: np.ndarray,
    roots: bool,
) -> np.ndarray:
    """C_vk = Σ_d w_d c_dv s_dvk, words x topics: occurrences of v beside the tokens of topic k.

    s_dv is the composition of document d without word v itself: for a word that topics contain,
    whether it goes with the *other* words of a topic is the question. Documents without other
    relevant words say nothing here. With `roots` √c_dv is counted. `tokens` are those of
    `topic_tokens`.
    """
    words = mix_weights(state).table
    task = Task(
        kernel=_beside,
        make=zeros((corpus.n_words, state.n_topics)),
        shared=(tuple(words), roots),
        given=(mixes, tokens, np.ascontiguousarray(weight, dtype=np.float64)),
        by_word=True,
    )
    (out,) = run_pass(corpus.counts, task, None)
    return out


def _beside(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: tuple) -> None:
    weights, roots = shared
    add_beside(*rows, weights, *given, roots, total[0])
