"""Topic mixes of documents: θ̂ from words alone, and γ of q(θ) with or without the target."""

from __future__ import annotations

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.counts import Rows
from topicfocus.inference.passes import Arrays, Task, run_pass, zeros
from topicfocus.inference.state import ModelState
from topicfocus.inference.words import mix_weights
from topicfocus.kernels.first_occurrence import first_occurrences
from topicfocus.kernels.local import LocalBudget
from topicfocus.kernels.threads import MOST_CHUNKS
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
    counts = corpus.counts
    theta = np.empty((corpus.n_docs, len(prior)))
    theta[:] = prior / prior.sum() if start is None else start
    budget = LocalBudget(int(max_steps), float(tolerance))
    task = Task(kernel=_map, make=zeros(1), shared=(weights.table, prior, budget), changed=(theta,))
    run_pass(counts, task, n_jobs)
    return theta


def _map(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: tuple) -> None:
    table, prior, budget = shared
    map_documents(0, rows.n_docs, *rows, table, prior, changed[0], budget, total[0])


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
    predictor_variances(0, rows.n_docs, *rows, *shared, given[0], changed[0])


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
    task = Task(
        kernel=_occurrences,
        make=zeros(0),
        shared=(weights.table, chosen, prior, coef, budget),
        given=(mixes,),
        changed=(out,),
    )
    bounds = np.linspace(0, corpus.n_docs, min(corpus.n_docs, MOST_CHUNKS) + 1).astype(np.int64)
    run_pass(counts, task, n_jobs, bounds)
    return out


def _occurrences(rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: tuple) -> None:
    *model, budget = shared
    first_occurrences(0, rows.n_docs, *rows, *model, given[0], budget, changed[0])


def initial_concentration(n_docs: int, prior: np.ndarray, mean_length: float) -> np.ndarray:
    """γ to start from: the prior plus the average document spread evenly over the topics."""
    return np.tile(prior + mean_length / len(prior), (n_docs, 1))
