"""Closed-form updates, each of which maximises the bound in one block of global parameters.

The statistics must come from the state before the updates, where their responsibilities are
optimal. All blocks may then be updated, one after the other, from the same statistics.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, expit, gammaln, polygamma, xlogy

from topicfocus.joint.settings import INCLUSION_MARGIN, Hyperparameters
from topicfocus.joint.statistics import SufficientStats
from topicfocus.model import ModelState

#: Smallest learned α.
SMALLEST_PRIOR = 1e-3


def log_likelihood_per_token(
    stats: SufficientStats, state: ModelState, hyper: Hyperparameters
) -> np.ndarray:
    """The part of topics in ∂(bound)/∂φ_v, per token of word v; zero for a word never seen.

    It is Σ_d c Σ_k r_dvk log β_vk / n_v for bound="paper" (Ω of the appendix without constants),
    and Σ_d c log Σ_k β_vk e_dk / n_v for bound="tight".
    """
    n = np.maximum(stats.word_count, 1e-300)
    if hyper.bound == "paper":
        return np.sum(xlogy(stats.word_topic, state.topic_word), axis=1) / n
    return stats.word_log_likelihood / n


def update_inclusion(
    stats: SufficientStats, state: ModelState, hyper: Hyperparameters
) -> np.ndarray:
    """φ_v = σ(s_v - log π_v + log p - log(1-p)), s_v being the log-likelihood per token."""
    if not hyper.selects:
        return state.inclusion
    p = hyper.inclusion_prior
    log_background = np.log(np.maximum(state.background, 1e-300))
    score = (
        log_likelihood_per_token(stats, state, hyper) - log_background + np.log(p) - np.log1p(-p)
    )
    phi = np.clip(expit(score), INCLUSION_MARGIN, 1 - INCLUSION_MARGIN)
    return np.where(stats.word_count > 0, phi, state.inclusion)


def update_topics(stats: SufficientStats, inclusion: np.ndarray) -> np.ndarray:
    """β_vk ∝ φ_v Σ_d c_dv r_dvk; the frequencies of words for an empty topic."""
    weight = inclusion[:, None] * stats.word_topic
    total = weight.sum(axis=0)
    empty = total <= 1e-290
    if np.any(empty):
        weight[:, empty] = (inclusion * stats.word_count)[:, None]
        total = weight.sum(axis=0)
    return weight / total


def prior_objective(log_theta: np.ndarray, n_docs: float, prior: np.ndarray) -> float:
    """Σ_d E[log p(θ_d | α)] = M (log Γ(Σα) - Σ log Γ(α_k)) + Σ_k (α_k - 1) Σ_d E[log θ_dk]."""
    return float(n_docs * (gammaln(prior.sum()) - gammaln(prior).sum()) + (prior - 1) @ log_theta)


def update_prior(
    log_theta: np.ndarray, n_docs: float, prior: np.ndarray, steps: int = 100
) -> np.ndarray:
    """α by Newton-Raphson: the Hessian is diagonal plus rank one, so a step is O(K).

    Steps are halved while they leave the positive numbers or lower the objective.
    """
    if len(prior) == 1:  # θ = 1 whatever α, and the Hessian is zero
        return prior
    value = prior_objective(log_theta, n_docs, prior)
    for _ in range(steps):
        total = prior.sum()
        gradient = n_docs * (digamma(total) - digamma(prior)) + log_theta
        diagonal = -n_docs * polygamma(1, prior)
        common = n_docs * polygamma(1, total)
        shift = np.sum(gradient / diagonal) / (1 / common + np.sum(1 / diagonal))
        step = -(gradient - shift) / diagonal
        rate, rose = 1.0, False
        for _ in range(40):
            trial = prior + rate * step
            if np.all(trial >= SMALLEST_PRIOR):
                after = prior_objective(log_theta, n_docs, trial)
                if after > value:
                    rose = True
                    break
            rate *= 0.5
        if not rose:
            return prior
        converged = after - value <= 1e-10 * abs(after)
        prior, value = trial, after
        if converged:
            return prior
    return prior


def update_background(word_count: np.ndarray, inclusion: np.ndarray) -> np.ndarray:
    """π_v ∝ (1-φ_v) n_v; the frequencies of the words if all are relevant."""
    weight = (1 - inclusion) * word_count
    total = weight.sum()
    if total <= 0:
        return word_count / word_count.sum()
    return weight / total
