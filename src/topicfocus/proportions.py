"""Topic proportions of documents, inferred from their words alone, and their uncertainty.

A word v enters a document with a row of weights W_v and a multiplicity m_v, and the two bounds of
the joint models differ only in these. In the bound of Ren, Kunes and Doshi-Velez (2020) a token has
a topic q(z) even where it is irrelevant, so that its part is c log Σ_k β_vk^{φ_v} e_k. The tight
bound integrates z out where ξ = 0, which gives c φ_v log Σ_k β_vk e_k. Topic proportions of new
documents use the latter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from topicfocus.corpus import Corpus
from topicfocus.counts import Rows, in_memory
from topicfocus.kernels.constrained import map_documents
from topicfocus.kernels.local import LocalBudget, WordTable
from topicfocus.model import ModelState
from topicfocus.passes import Arrays, Task, run_pass, zeros

#: Words with a smaller inclusion are left out of topic proportions.
NEGLIGIBLE = 1e-8
#: Nonzero counts of changed documents in memory at a time.
_CHANGED_COUNTS = 4_000_000
#: Nonzero counts whose responsibilities are computed at a time: with 50 topics they fit the cache.
BLOCK = 1 << 14


@dataclass(frozen=True)
class WordWeights:
    """The word table of the kernels.

    Rows are scaled to a largest entry of one. ``log_scale`` is the logarithm of that entry before
    scaling: n_v · log_scale_v is to be added to the log-likelihood of word v. Words that no topic
    contains (never seen in training) get multiplicity 0 and are ignored.
    """

    table: WordTable
    log_scale: np.ndarray


def word_weights(
    state: ModelState, bound: Literal["paper", "tight"], dtype: type[np.floating] = np.float64
) -> WordWeights:
    """Rows and multiplicities: (β_v^{φ_v}, 1) for bound="paper", (β_v, φ_v) for bound="tight"."""
    largest = state.topic_word.max(axis=1)
    known = largest > 0
    safe = np.where(known, largest, 1.0)
    rows = np.where(known[:, None], state.topic_word / safe[:, None], 1.0)
    log_scale = np.log(safe)
    multiplicity = known.astype(float)
    if bound == "paper":
        if np.any(state.inclusion != 1.0):  # sLDA and LDA need no powers
            rows = rows ** state.inclusion[:, None]
        log_scale = log_scale * state.inclusion
    else:
        multiplicity = multiplicity * state.inclusion
    return WordWeights(WordTable(np.ascontiguousarray(rows, dtype=dtype), multiplicity), log_scale)


def proportion_weights(state: ModelState) -> WordWeights:
    """Rows and multiplicities (β_v, φ_v), with φ_v = 0 where it is negligible.

    Inclusion stays just above zero while it is learned, so that dropped words would cost time.
    """
    weights = word_weights(state, "tight")
    table, multiplicity = weights.table
    kept = np.where(multiplicity > NEGLIGIBLE, multiplicity, 0.0)
    return WordWeights(WordTable(table, kept), weights.log_scale)


def possible_words(state: ModelState) -> np.ndarray:
    """Which words occur in topics or background; the others (never seen) are left out of bounds."""
    return (state.topic_word.max(axis=1) > 0) | (state.background > 0)


def topic_proportions(
    corpus: Corpus,
    state: ModelState,
    *,
    max_steps: int = 50,
    tolerance: float = 1e-8,
    n_jobs: int | None = None,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """θ̂_d = argmax Σ_v c_dv φ_v log(β_v·θ) + Σ_k α_k log θ_k, documents x topics.

    A word that no topic contains is ignored; a document without words gets α/Σα. Newton's method
    takes about five steps per document, fewer from a `start` near θ̂.
    """
    weights = proportion_weights(state)
    # A copy, because kernels would be compiled again for a read-only array, such as one of a model
    # that joblib maps into memory.
    prior = np.array(state.doc_topic_prior)
    counts = corpus.counts
    theta = np.empty((corpus.n_docs, len(prior)))
    theta[:] = prior / prior.sum() if start is None else start
    budget = LocalBudget(int(max_steps), float(tolerance))
    task = Task(kernel=_map, make=zeros(0), shared=(weights.table, prior, budget), changed=(theta,))
    run_pass(counts, task, n_jobs)
    return theta


def _map(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: tuple) -> None:
    table, prior, budget = shared
    map_documents(rows, table, prior, changed[0], budget)


@dataclass(frozen=True)
class Responsibilities:
    """The nonzero counts of documents first..last-1, and the topics of their tokens.

    Attributes
    ----------
    first, last : int
    where : slice
        Of these counts among all nonzero counts.
    doc, word : arrays of int (nonzero counts,)
    count : array (nonzero counts,)
    r : array (nonzero counts, topics)
        r_dvk = W_vk θ_dk / Σ_j W_vj θ_dj.
    """

    first: int
    last: int
    where: slice
    doc: np.ndarray
    word: np.ndarray
    count: np.ndarray
    r: np.ndarray

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of `values`, one row per nonzero count, over each document."""
        place = self.doc - self.first, np.arange(len(self.doc))
        shape = self.last - self.first, len(self.doc)
        return sparse.csr_array((np.ones(len(self.doc)), place), shape=shape) @ values


def responsibilities(
    counts: sparse.csr_array, table: np.ndarray, theta: np.ndarray, size: int = BLOCK
) -> Iterator[Responsibilities]:
    """Blocks of documents with about `size` nonzero counts, at least one document each."""
    n_docs, first = len(counts.indptr) - 1, 0
    while first < n_docs:
        last = int(np.searchsorted(counts.indptr, counts.indptr[first] + size, side="right")) - 1
        last = min(max(last, first + 1), n_docs)
        where = slice(counts.indptr[first], counts.indptr[last])
        doc = np.repeat(np.arange(first, last), np.diff(counts.indptr[first : last + 1]))
        word = counts.indices[where]
        r = table[word] * theta[doc]
        r /= r.sum(axis=1, keepdims=True)
        yield Responsibilities(first, last, where, doc, word, counts.data[where], r)
        first = last


def predictor_variance(
    corpus: Corpus, state: ModelState, theta: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """Var(η_l·θ) of every document and predictor, by the Laplace approximation at θ̂ = `theta`.

    The covariance of θ is the inverse of H = -∇²f(θ̂) on the simplex. With the scaled curvature
    M = -θθᵀ∘∇²f = diag(a) + Σ_v c m r_v r_vᵀ and x = M⁻¹(θ∘η_l), the variance is
    (θ∘η_l)·(x - θ·x).
    """
    # θ sums to one, so a constant in η changes nothing; a large one (ratings + 1e6) would cause
    # rounding errors.
    coef = state.coef_rows - state.coef_rows.mean(axis=1, keepdims=True)
    out = np.empty((corpus.n_docs, len(coef)))
    task = Task(
        kernel=_variances,
        make=zeros(0),
        shared=(tuple(proportion_weights(state).table), state.doc_topic_prior, coef),
        given=(theta,),
        changed=(out,),
    )
    run_pass(corpus.counts, task, n_jobs)
    return out


def _variances(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: tuple) -> None:
    (table, multiplicity), prior, coef = shared
    (theta,), (out,), n_topics = given, changed, len(prior)
    counts = rows.matrix(len(table))
    for block in responsibilities(counts, table, theta):
        here, r = slice(block.first, block.last), block.r
        weighted = r * (block.count * multiplicity[block.word])[:, None]
        curvature = np.empty((block.last - block.first, n_topics, n_topics))
        ends = counts.indptr[block.first : block.last + 1] - block.where.start
        for own, lo, hi in zip(curvature, ends[:-1], ends[1:], strict=True):
            np.matmul(weighted[lo:hi].T, r[lo:hi], out=own)
        curvature += np.diag(prior)
        scaled = theta[here, :, None] * coef.T
        x = np.linalg.solve(curvature, scaled)
        x -= np.einsum("dk,dkl->dl", theta[here], x)[:, None]
        out[here] = np.maximum(np.einsum("dkl,dkl->dl", scaled, x), 0.0)


def first_occurrence(
    corpus: Corpus,
    state: ModelState,
    theta: np.ndarray,
    words: np.ndarray,
    n_jobs: int | None = None,
) -> np.ndarray:
    """η·θ̂ of every document without each of some words, and with one occurrence of it.

    Documents x words x 2 x predictors, given θ̂ of the documents (`theta`).
    """
    counts, coef = in_memory(corpus.counts), state.coef_rows
    present = counts[:, words].toarray() > 0
    out = np.empty((corpus.n_docs, len(words), 2, len(coef)))
    out[:, :, 0] = (theta @ coef.T)[:, None]
    at_a_time = max(1, _CHANGED_COUNTS // (counts.nnz // max(corpus.n_docs, 1) + 1))
    for occurrences, wanted in ((0, present), (1, np.ones_like(present))):
        docs, places = np.nonzero(wanted)
        for first in range(0, len(docs), at_a_time):
            d, i = docs[first : first + at_a_time], places[first : first + at_a_time]
            changed = Corpus(_with_count(counts, d, words[i], occurrences))
            # Newton's last step, after the tolerance is reached, squares the error.
            found = topic_proportions(changed, state, tolerance=1e-4, start=theta[d], n_jobs=n_jobs)
            out[d, i, occurrences] = found @ coef.T
    return out


def _with_count(
    counts: sparse.csr_array, docs: np.ndarray, words: np.ndarray, count: int
) -> sparse.csr_array:
    """Documents docs[i] with a count of 0 or 1 for words[i]."""
    changed = counts[docs]
    row = np.repeat(np.arange(len(docs)), np.diff(changed.indptr))
    changed.data[changed.indices == words[row]] = 0.0
    if count:
        one = np.ones(len(docs)), words, np.arange(len(docs) + 1)
        changed = changed + sparse.csr_array(one, shape=changed.shape)
    changed.eliminate_zeros()
    # Kernels would be compiled again for another type of index.
    changed.indices = changed.indices.astype(counts.indices.dtype, copy=False)
    changed.indptr = changed.indptr.astype(counts.indptr.dtype, copy=False)
    return changed
