"""The eight terms of the bound of every document (appendix of Ren et al. 2020, with our errata).

    ELBO = E log p(θ) + E log p(z|θ) + E log p(y|θ) + E log p(ξ) + E log p(w|z,ξ)
           - E log q(θ) - E log q(z) - E log q(ξ)

Both bounds have all eight terms. In the tight bound q(z | ξ=0, θ) = p(z | θ), so that both terms of
z contain (1-φ) E[Σ_k θ_k log θ_k], which cancels.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import digamma, gammaln

from topicfocus.counts import in_memory
from topicfocus.families import for_kernels
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.statistics import switch_terms
from topicfocus.kernels.likelihood import expectation_rows, in_blocks
from topicfocus.model import ModelState, Problem
from topicfocus.proportions import possible_words, responsibilities, word_weights

#: Terms with a minus sign in the bound.
NEGATIVE = ("log_q_theta", "log_q_z", "log_q_xi")
TERMS = ("log_p_theta", "log_p_z", "log_p_y", "log_p_xi", "log_p_w", *NEGATIVE)


def total(terms: dict[str, np.ndarray]) -> np.ndarray:
    """The signed sum of the terms, the bound of every document."""
    return sum((-terms[t] if t in NEGATIVE else terms[t] for t in TERMS), start=np.zeros(()))


def bound_terms(
    problem: Problem, state: ModelState, hyper: Hyperparameters, concentration: np.ndarray
) -> dict[str, np.ndarray]:
    """Each term for each document, at the optimal responsibilities given γ.

    Returns
    -------
    dict of arrays (documents,)
        The keys are `TERMS`.
    """
    gamma = concentration
    total_gamma = gamma.sum(axis=1)
    log_theta = digamma(gamma) - digamma(total_gamma)[:, None]
    prior = state.doc_topic_prior
    terms = {
        "log_p_theta": gammaln(prior.sum()) - gammaln(prior).sum() + log_theta @ (prior - 1),
        "log_q_theta": gammaln(total_gamma)
        - gammaln(gamma).sum(axis=1)
        + np.sum((gamma - 1) * log_theta, axis=1),
        "log_p_y": _target_term(problem, state, gamma, total_gamma),
    }
    terms.update(_word_terms(problem, state, hyper, gamma, total_gamma, log_theta))
    counts = in_memory(problem.corpus.counts)
    switches = {name: counts @ term for name, term in switch_terms(state, hyper).items()}
    terms["log_p_w"] += switches.pop("background")
    terms.update(switches)
    return {name: terms[name] for name in TERMS}


def _target_term(problem, state, gamma, total_gamma) -> np.ndarray:
    """Σ_t w_t E[log p(y_t | f)]: -½ log 2πδ - (y² - 2y η·E[θ] + ηᵀE[θθᵀ]η)/2δ when Gaussian."""
    if not np.any(problem.target_weights > 0):  # without targets, whatever the family
        return np.zeros(problem.n_docs)
    mean = gamma / total_gamma[:, None]
    coef = state.coef_rows.T
    mu = mean @ coef
    nu = np.maximum(mean @ coef**2 - mu**2, 0.0) / (total_gamma + 1)[:, None]
    mu += problem.offsets(state)
    rows = partial(expectation_rows, for_kernels(state.family))
    return in_blocks(rows, problem.targets, problem.target_weights, mu, nu)[0]


def _word_terms(problem, state, hyper, gamma, total_gamma, log_theta) -> dict:
    counts = in_memory(problem.corpus.counts)
    n_docs = problem.n_docs
    weights = word_weights(state, hyper.bound)
    phi = state.inclusion
    tight = hyper.bound == "tight"
    out = {name: np.zeros(n_docs) for name in ("log_p_z", "log_q_z", "log_p_w")}
    known = state.topic_word.max(axis=1) > 0
    possible = possible_words(state)
    # E[Σ_k θ_k log θ_k], the negative entropy of the prior of z where ξ = 0.
    spread = np.sum(
        gamma / total_gamma[:, None] * (digamma(gamma + 1) - digamma(total_gamma + 1)[:, None]),
        axis=1,
    )
    log_topics = np.log(np.maximum(state.topic_word, 1e-300))
    for block in responsibilities(counts, weights.table.table, np.exp(log_theta)):
        doc, word, r = block.doc, block.word, block.r
        count = block.count * known[word]
        relevant = count * phi[word] if tight else count

        def add(name, values, block=block):
            out[name][block.first : block.last] += block.sums(values)

        add("log_p_z", relevant * np.sum(r * log_theta[doc], axis=1))
        add("log_q_z", relevant * np.sum(r * np.log(np.maximum(r, 1e-300)), axis=1))
        add("log_p_w", count * phi[word] * np.sum(r * log_topics[word], axis=1))
        if tight:
            outside = (block.count * possible[word] - relevant) * spread[doc]
            add("log_p_z", outside)
            add("log_q_z", outside)
    return out
