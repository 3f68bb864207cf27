"""Topic mixes of documents: θ̂ from words alone, and γ of q(θ) with or without the target."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from topicfocus.corpus import Corpus
from topicfocus.counts import Rows, in_memory
from topicfocus.inference.passes import Arrays, Task, run_pass, zeros
from topicfocus.inference.state import ModelState
from topicfocus.inference.words import mix_weights
from topicfocus.kernels.constrained import map_documents, predictor_variances
from topicfocus.kernels.local import LocalBudget

#: Counts of changed documents in memory at a time.
_CHANGED_COUNTS = 4_000_000


def topic_mixes(
    corpus: Corpus,
    state: ModelState,
    *,
    max_steps: int = 50,
    tolerance: float = 1e-8,
    n_jobs: int | None = None,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """θ̂_d = argmax Σ_v c_dv φ_v log(β_v·θ) + Σ_k α_k log θ_k, documents x topics.

    No target is used. A word that no topic contains is ignored; a document without words gets
    α/Σα. Newton's method takes about five steps a document, fewer from a `start` nearby.
    """
    weights = mix_weights(state)
    # A copy: for an array that may not be written, as in a model that joblib maps into memory, the
    # kernels would be compiled a second time.
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
    map_documents(0, rows.n_docs, rows, table, prior, changed[0], budget)


def predictor_variance(
    corpus: Corpus, state: ModelState, mixes: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """Var(η_l·θ) of every document and predictor, by the Laplace approximation at θ̂ = `mixes`."""
    weights = mix_weights(state)
    counts = corpus.counts
    # θ sums to one, so a constant in η changes nothing but the rounding, which it would rule where
    # it is large (ratings + 1e6).
    coef = state.coef_rows - state.coef_rows.mean(axis=1, keepdims=True)
    prior = np.array(state.doc_topic_prior)
    out = np.empty((corpus.n_docs, len(coef)))
    task = Task(
        kernel=_variances,
        make=zeros(0),
        shared=(weights.table, prior, coef),
        given=(mixes,),
        changed=(out,),
    )
    run_pass(counts, task, n_jobs)
    return out


def _variances(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: tuple) -> None:
    table, prior, coef = shared
    predictor_variances(0, rows.n_docs, rows, table, prior, coef, given[0], changed[0])


def first_occurrence(
    corpus: Corpus,
    state: ModelState,
    mixes: np.ndarray,
    words: np.ndarray,
    n_jobs: int | None = None,
) -> np.ndarray:
    """η·θ̂ of every document without each of some words and with it once.

    Documents x words x 2 x predictors, given the documents' own θ̂ (`mixes`).
    """
    counts, coef = in_memory(corpus.counts), state.coef_rows
    present = counts[:, words].toarray() > 0
    out = np.empty((corpus.n_docs, len(words), 2, len(coef)))
    out[:, :, 0] = (mixes @ coef.T)[:, None]
    at_a_time = max(1, _CHANGED_COUNTS // (counts.nnz // max(corpus.n_docs, 1) + 1))
    for occurrences, wanted in ((0, present), (1, np.ones_like(present))):
        docs, places = np.nonzero(wanted)
        for first in range(0, len(docs), at_a_time):
            d, i = docs[first : first + at_a_time], places[first : first + at_a_time]
            changed = Corpus(_with_count(counts, d, words[i], occurrences))
            # The last Newton step is made after the tolerance is reached: its square remains.
            theta = topic_mixes(changed, state, tolerance=1e-4, start=mixes[d], n_jobs=n_jobs)
            out[d, i, occurrences] = theta @ coef.T
    return out


def _with_count(
    counts: sparse.csr_array, docs: np.ndarray, words: np.ndarray, count: int
) -> sparse.csr_array:
    """Row i is document docs[i] with a count of 0 or 1 for words[i]."""
    changed = counts[docs]
    row = np.repeat(np.arange(len(docs)), np.diff(changed.indptr))
    changed.data[changed.indices == words[row]] = 0.0
    if count:
        one = np.ones(len(docs)), words, np.arange(len(docs) + 1)
        changed = changed + sparse.csr_array(one, shape=changed.shape)
    changed.eliminate_zeros()
    # One type of index: kernels would be compiled a second time for another.
    changed.indices = changed.indices.astype(counts.indices.dtype, copy=False)
    changed.indptr = changed.indptr.astype(counts.indptr.dtype, copy=False)
    return changed


def initial_concentration(n_docs: int, prior: np.ndarray, mean_length: float) -> np.ndarray:
    """γ to start from: the prior plus the average document spread evenly over the topics."""
    return np.tile(prior + mean_length / len(prior), (n_docs, 1))
