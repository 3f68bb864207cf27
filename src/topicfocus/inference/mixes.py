"""Topic mixes of documents: θ̂ from words alone, and γ of q(θ) with or without the target."""

from __future__ import annotations

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.inference.state import ModelState
from topicfocus.inference.words import mix_weights
from topicfocus.kernels.first_occurrence import first_occurrences
from topicfocus.kernels.local import LocalBudget
from topicfocus.kernels.threads import MOST_CHUNKS, chunk_bounds, run_chunks
from topicfocus.kernels.topic_mix import map_documents
from topicfocus.kernels.uncertainty import predictor_variances


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
    theta = np.tile(prior / prior.sum(), (corpus.n_docs, 1)) if start is None else start.copy()
    counts = corpus.counts
    budget = LocalBudget(int(max_steps), float(tolerance))

    def work(first: int, last: int, steps: np.ndarray) -> None:
        map_documents(
            first,
            last,
            counts.indptr,
            counts.indices,
            counts.data,
            weights.table,
            prior,
            theta,
            budget,
            steps,
        )

    def add(total: np.ndarray, other: np.ndarray) -> None:
        total += other

    run_chunks(work, chunk_bounds(counts.indptr, 0), lambda: np.zeros(1), add, n_jobs)
    return theta


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

    def work(first: int, last: int, nothing: np.ndarray) -> None:
        predictor_variances(
            first,
            last,
            counts.indptr,
            counts.indices,
            counts.data,
            weights.table,
            prior,
            coef,
            mixes,
            out,
        )

    bounds = chunk_bounds(counts.indptr, 0)
    run_chunks(work, bounds, lambda: np.zeros(0), lambda a, b: None, n_jobs)
    return out


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
    weights = mix_weights(state)
    counts, chosen = corpus.counts, np.ascontiguousarray(words, dtype=np.int64)
    coef, prior = np.array(state.coef_rows), np.array(state.doc_topic_prior)
    out = np.empty((corpus.n_docs, len(chosen), 2, len(coef)))
    # The last Newton step is made after this is reached: its square is what is left.
    budget = LocalBudget(50, 1e-4)

    def work(first: int, last: int, nothing: np.ndarray) -> None:
        first_occurrences(
            first,
            last,
            counts.indptr,
            counts.indices,
            counts.data,
            weights.table,
            chosen,
            prior,
            coef,
            mixes,
            budget,
            out,
        )

    bounds = np.linspace(0, corpus.n_docs, min(corpus.n_docs, MOST_CHUNKS) + 1).astype(np.int64)
    run_chunks(work, bounds, lambda: np.zeros(0), lambda a, b: None, n_jobs)
    return out


def initial_concentration(n_docs: int, prior: np.ndarray, mean_length: float) -> np.ndarray:
    """γ to start from: the prior plus the average document spread evenly over the topics."""
    return np.tile(prior + mean_length / len(prior), (n_docs, 1))
