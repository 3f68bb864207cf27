"""Token proportions: how many tokens of a document each topic explains, and the words beside them.

Topic proportions θ̂ are smoothed by their prior, which prediction needs. Here tokens are counted,

    n_dk = Σ_v c_dv m_v r_dvk,   r_dvk = β_vk θ̂_dk / Σ_j β_vj θ̂_dj,

with plain counts even where θ̂ was found from their roots. Σ_k n_dk is the number of relevant
tokens of the document, and n_dk / Σ_j n_dj are its token proportions.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from topicfocus.corpus import Corpus
from topicfocus.counts import Rows
from topicfocus.model import ModelState
from topicfocus.passes import Arrays, Task, run_pass, zeros
from topicfocus.proportions import proportion_weights, responsibilities

#: Documents whose other words have less than this fraction of the tokens have none: rounding.
_ROUNDING = 1e-9


def topic_tokens(corpus: Corpus, state: ModelState, theta: np.ndarray) -> np.ndarray:
    """n_dk, documents x topics, given θ̂."""
    words = proportion_weights(state).table
    out = np.zeros((corpus.n_docs, state.n_topics))
    task = Task(kernel=_tokens, make=zeros(0), shared=tuple(words), given=(theta,), changed=(out,))
    run_pass(corpus.counts, task, None)
    return out


def _tokens(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: tuple) -> None:
    (table, multiplicity), (theta,), (out,) = shared, given, changed
    for block in responsibilities(rows.matrix(len(table)), table, theta):
        own = (block.count * multiplicity[block.word])[:, None] * block.r
        out[block.first : block.last] = block.sums(own)


def token_proportions(tokens: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """n_dk / Σ_j n_dj; α/Σα for a document without relevant words."""
    total = tokens.sum(axis=1, keepdims=True)
    some = total > 0
    return np.where(some, tokens / np.where(some, total, 1.0), prior / prior.sum())


def context_counts(
    corpus: Corpus,
    state: ModelState,
    theta: np.ndarray,
    tokens: np.ndarray,
    weight: np.ndarray,
    roots: bool,
) -> np.ndarray:
    """C_vk = Σ_d w_d c_dv s_dvk, words x topics: occurrences of v beside the tokens of topic k.

    s_dv are the token proportions of document d without word v itself, so that a word of topic k is
    compared with the *other* words of that topic. Documents without other relevant words are left
    out. With `roots`, √c_dv is counted. `tokens` come from `topic_tokens`.
    """
    words = proportion_weights(state).table
    task = Task(
        kernel=_beside,
        make=zeros((corpus.n_words, state.n_topics)),
        shared=(tuple(words), roots),
        given=(theta, tokens, np.ascontiguousarray(weight, dtype=np.float64)),
        by_word=True,
    )
    (out,) = run_pass(corpus.counts, task, None)
    return out


def _beside(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: tuple) -> None:
    (table, multiplicity), roots = shared
    (theta, tokens, doc_weight), (out,) = given, total
    for block in responsibilities(rows.matrix(len(table)), table, theta):
        own = block.count * multiplicity[block.word]
        everything = tokens.sum(axis=1)[block.doc]
        others = everything - own
        some = others > _ROUNDING * everything
        beside = np.maximum(tokens[block.doc] - own[:, None] * block.r, 0.0)[some]
        value = np.sqrt(block.count[some]) if roots else block.count[some]
        value = doc_weight[block.doc[some]] * value / others[some]
        place = block.word[some], np.arange(len(value))
        out += sparse.csr_array((value, place), shape=(len(table), len(value))) @ beside
