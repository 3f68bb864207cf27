"""Sufficient statistics of the global parameters: sums over documents."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy.special import entr, xlog1py, xlogy

from topicfocus.counts import Rows
from topicfocus.families import for_kernels
from topicfocus.joint.coefficients import penalty_of
from topicfocus.joint.settings import Hyperparameters
from topicfocus.kernels.local import LocalBudget, LocalCorpus, LocalStats, infer_documents
from topicfocus.model import ModelState, Problem
from topicfocus.passes import Arrays, Task, run_pass, zeros
from topicfocus.proportions import possible_words, word_weights


@dataclass(frozen=True)
class SufficientStats:
    """Sums over documents at their optimal γ.

    Attributes
    ----------
    word_topic : array (words, topics)
        Σ_d c_dv r_dvk, whatever the inclusion of the word.
    word_log_likelihood : array (words,)
        Σ_d c_dv log Σ_k W_vk e_dk.
    word_count : array (words,)
        n_v = Σ_d c_dv.
    log_theta : array (topics,)
        Σ_d E[log θ_dk].
    mix, target : float
        The terms of θ in the bound, and the weighted E[log p(y)].
    n_docs : float
    steps : float
        Number of local steps.
    """

    word_topic: np.ndarray
    word_log_likelihood: np.ndarray
    word_count: np.ndarray
    log_theta: np.ndarray
    mix: float
    target: float
    n_docs: float
    steps: float

    def __add__(self, other: SufficientStats) -> SufficientStats:
        return SufficientStats(
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(self))
        )

    def scale(self, factor: float) -> SufficientStats:
        """Every sum times `factor`."""
        return SufficientStats(*(getattr(self, f.name) * factor for f in fields(self)))


def _documents(
    rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: LocalStats
) -> None:
    table, prior, coef, family, budget = shared
    corpus, (gamma,) = LocalCorpus(*rows, *given), changed
    infer_documents(corpus, table, prior, coef, family, gamma, budget, total)


def collect(
    problem: Problem,
    state: ModelState,
    hyper: Hyperparameters,
    concentration: np.ndarray,
    *,
    max_steps: int = 20,
    tolerance: float = 1e-4,
    dtype: type[np.floating] = np.float64,
    with_bound: bool = True,
) -> SufficientStats:
    """Local inference of every document from `concentration`, in place, and the statistics.

    They are equal for every number of threads. Without `with_bound`, the bound, Σ E[log θ] and the
    log-likelihoods of words are zero.
    """
    weights = word_weights(state, hyper.bound, dtype)
    n_words, n_topics = state.topic_word.shape
    coef, family = state.coef_rows, for_kernels(state.family)
    if not np.any(problem.target_weights > 0):
        family = None  # a smaller kernel with the same result
    budget = LocalBudget(int(max_steps), float(tolerance), bool(with_bound))
    task = Task(
        kernel=_documents,
        make=zeros((n_words, n_topics), n_words, n_topics, 4, kind=LocalStats),
        shared=(weights.table, state.doc_topic_prior, coef, family, budget),
        given=problem.given(state),
        changed=(concentration,),
        by_word=True,
    )
    counts = problem.corpus.counts
    local = run_pass(counts, task, problem.n_jobs)
    word_count = problem.word_counts
    return SufficientStats(
        word_topic=local.word_topic,
        word_log_likelihood=local.word_log_likelihood + word_count * weights.log_scale,
        word_count=word_count,
        log_theta=local.log_theta,
        mix=float(local.parts[1]),
        target=float(local.parts[2]),
        n_docs=problem.size,
        steps=float(local.parts[3]),
    )


def switch_terms(state: ModelState, hyper: Hyperparameters) -> dict[str, np.ndarray]:
    """The terms of the bound that contain only the switches, for one token of each word.

    E log p(ξ) = φ log p + (1-φ) log(1-p), E log q(ξ) = -H(φ), and (1-φ) log π, the part of E log
    p(w) explained by the background. They are zero for words in neither channel.
    """
    if not hyper.selects:
        return {name: np.zeros(state.n_words) for name in ("log_p_xi", "log_q_xi", "background")}
    phi, p = state.inclusion, hyper.inclusion_prior
    possible = possible_words(state)
    # A product with `possible` would be NaN for a word in neither channel (0·log 0).
    background = np.where(possible, state.background, 1.0)
    return {
        "log_p_xi": possible * (phi * np.log(p) + xlog1py(1 - phi, -p)),
        "log_q_xi": -(possible * (entr(phi) + entr(1 - phi))),
        "background": xlogy(1 - phi, background),
    }


def bound_value(stats: SufficientStats, state: ModelState, hyper: Hyperparameters) -> float:
    """The collapsed bound minus the penalty on η, from the statistics at this `state`."""
    multiplicity = word_weights(state, hyper.bound).table.multiplicity
    switches = switch_terms(state, hyper)
    of_token = switches["log_p_xi"] - switches["log_q_xi"] + switches["background"]
    seen = stats.word_count > 0  # π_v = 0 for a word never seen, and 0·log 0 is 0
    return float(
        multiplicity @ stats.word_log_likelihood
        + stats.mix
        + stats.target
        + stats.word_count[seen] @ of_token[seen]
        - penalty_of(state, hyper.coef_penalty)
    )
