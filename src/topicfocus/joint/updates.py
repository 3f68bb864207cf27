"""Updates of the global parameters; closed forms maximise the bound in one block each.

The statistics must come from the state before the updates, where their responsibilities are
optimal. All blocks may then be updated, one after the other, from the same statistics.

Sort and cut is the selection of words in the tight bound by one scalar equation. Let β_vk = n_v
ψ_vk / Z_k with Z_k = Σ_v φ_v n_v ψ_vk, ψ_v being the distribution of word v over topics. The gain
per token of keeping word v is then lift_v - cost_v + logit p - logit r, where

    lift_v = (1/n_v) Σ_d c_dv log(β_v·e_d) - log(n_v / Σ_u φ_u n_u)

does not depend on the number of words kept, cost_v = ½(K-1) log(M)/n_v is the description length of
K-1 more numbers, and r is the fraction of tokens kept. φ_v = σ((lift_v - cost_v + c)/T) with
c = logit p - logit r(c). The left side rises in c and the right side falls, so there is one root.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, expit, gammaln, polygamma, xlogy
from scipy.stats import chi2

from topicfocus.counts import in_memory, take_columns
from topicfocus.joint.settings import INCLUSION_MARGIN, Hyperparameters
from topicfocus.joint.statistics import SufficientStats
from topicfocus.model import ModelState, Problem

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


# ---- sort and cut --------------------------------------------------------------------------------


def lift(
    word_log_likelihood: np.ndarray, word_count: np.ndarray, inclusion: np.ndarray
) -> np.ndarray:
    """Log-likelihood per token of each word under topics, minus that of its overall frequency."""
    n = np.maximum(word_count, 1e-300)
    return word_log_likelihood / n - np.log(n / np.sum(inclusion * word_count))


def description_length(word_count: np.ndarray, n_topics: int, n_docs: float) -> np.ndarray:
    """½(K-1) log M divided by the tokens of each word."""
    return 0.5 * (n_topics - 1) * math.log(max(n_docs, 2.0)) / np.maximum(word_count, 1e-300)


def sort_and_cut(
    score: np.ndarray, word_count: np.ndarray, inclusion_prior: float, temperature: float
) -> np.ndarray:
    """φ_v = σ((score_v + c)/T) at the root c of c = logit p - logit r(c).

    Parameters
    ----------
    score : array (words,)
        lift_v - cost_v, per token.
    word_count : array (words,)
    inclusion_prior : float
    temperature : float
        T; as it goes to 0, words are sorted by score and cut.
    """
    seen = word_count > 0
    s, n = score[seen], word_count[seen]
    total = n.sum()
    logit_p = math.log(inclusion_prior) - math.log1p(-inclusion_prior)

    def inclusion(c: float) -> np.ndarray:
        return expit(np.clip((s + c) / temperature, -700, 700))

    def excess(c: float) -> float:
        share = np.clip(np.sum(n * inclusion(c)) / total, 1e-17, 1 - 1e-16)
        return c - logit_p + math.log(share) - math.log1p(-share)

    # logit r is within ±40 for any fraction in double precision.
    root = brentq(excess, logit_p - 40.0, logit_p + 40.0, xtol=1e-13)
    result = np.full(len(score), INCLUSION_MARGIN)
    result[seen] = inclusion(root)
    return np.clip(result, INCLUSION_MARGIN, 1 - INCLUSION_MARGIN)


def topic_dependence(
    problem: Problem, theta: np.ndarray, columns: np.ndarray, steps: int = 30
) -> np.ndarray:
    """Log likelihood ratio for a dependence of each word's rate on topic proportions.

    Given that a token is word v, its document is d with probability Σ_k π_vk q_dk, where
    q_dk ∝ (length of d)·θ_dk. π_v is found by EM from the average proportions. Without dependence
    π_v is that average, and twice the ratio is about χ² with K-1 degrees of freedom.
    """
    counts = in_memory(take_columns(problem.corpus.counts, columns)).tocsc()
    if not counts.nnz:
        return np.zeros(len(columns))
    counts.data *= problem.doc_weights[counts.indices]
    lengths = problem.corpus.doc_lengths * problem.doc_weights
    average = lengths @ theta / lengths.sum()
    relative = theta / average
    n_topics = theta.shape[1]
    word = np.repeat(np.arange(len(columns)), np.diff(counts.indptr))
    by_token = relative[counts.indices]
    total = np.maximum(np.bincount(word, counts.data, len(columns)), 1e-300)
    share = np.tile(average, (len(columns), 1))
    for _ in range(steps):
        joint = share[word] * by_token
        joint *= (counts.data / joint.sum(axis=1))[:, None]
        share = np.column_stack(
            [np.bincount(word, joint[:, k], len(columns)) for k in range(n_topics)]
        )
        share /= total[:, None]
    rate = np.maximum(np.sum(share[word] * by_token, axis=1), 1e-300)
    return np.bincount(word, counts.data * np.log(rate), len(columns))


def complete(
    kept: np.ndarray,
    problem: Problem,
    theta: np.ndarray,
    inclusion_prior: float,
    error: float = 0.05,
) -> np.ndarray:
    """Add words that depend on topics, up to the inclusion prior.

    Dropped words whose dependence on topic proportions is significant (familywise `error`) are
    added, the largest per token first, while the inclusion is below `inclusion_prior`.
    """
    count = problem.word_counts
    dropped = np.flatnonzero(~kept & (count > 0))
    room = inclusion_prior * count.sum() - count[kept].sum()
    if room <= 0 or len(dropped) == 0 or theta.shape[1] < 2:
        return kept
    ratio = topic_dependence(problem, theta, dropped)
    needed = 0.5 * chi2.isf(error / len(count), theta.shape[1] - 1)
    order = np.argsort(-ratio / count[dropped], kind="stable")
    kept = kept.copy()
    for i in order[ratio[order] > needed]:
        if room <= 0:
            break
        kept[dropped[i]] = True
        room -= count[dropped[i]]
    return kept
