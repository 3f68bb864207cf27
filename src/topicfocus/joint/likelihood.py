"""The likelihood of a document (Ren et al. 2020, appendix): estimated, or exact if it is small.

    p(w, y) = ∫ Dir(θ|α) p(y|η·θ) Π_n [p β_{w_n}·θ + (1-p) π_{w_n}] dθ

Without switches the bracket is β_{w_n}·θ.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, logsumexp

from topicfocus.counts import in_memory
from topicfocus.families import for_kernels
from topicfocus.joint.settings import Hyperparameters
from topicfocus.kernels.likelihood import likelihood_rows
from topicfocus.model import ModelState, Problem


def token_mixture(state: ModelState, hyper: Hyperparameters) -> tuple[np.ndarray, np.ndarray]:
    """(A, b) with p(w = v | θ) = A_v·θ + b_v."""
    if not hyper.selects:
        return state.topic_word, np.zeros(state.n_words)
    p = hyper.inclusion_prior
    return p * state.topic_word, (1 - p) * state.background


def _log_dirichlet(theta: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """log density of Dir(concentration) at each row of θ."""
    return (
        gammaln(concentration.sum())
        - gammaln(concentration).sum()
        + np.log(np.maximum(theta, 1e-300)) @ (concentration - 1)
    )


def importance_log_likelihood(
    problem: Problem,
    state: ModelState,
    hyper: Hyperparameters,
    concentration: np.ndarray,
    n_samples: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """log p(w_d, y_d) of every document by importance sampling from q(θ) = Dir(γ_d).

    log (1/S) Σ_s p(w, y | θ_s) Dir(θ_s|α)/Dir(θ_s|γ) is unbiased for p(w, y), so on average too low
    for its logarithm. For documents without a known target it is log p(w_d). Words that are neither
    in topics nor in the background are left out.
    """
    slope, offset = token_mixture(state, hyper)
    possible = (slope.max(axis=1) + offset) > 0
    counts = in_memory(problem.corpus.counts)
    known, rest = problem.target_weights > 0, problem.offsets(state)
    out = np.empty(problem.n_docs)
    for d in range(problem.n_docs):
        lo, hi = counts.indptr[d], counts.indptr[d + 1]
        words, c = counts.indices[lo:hi], counts.data[lo:hi]
        words, c = words[possible[words]], c[possible[words]]
        theta = rng.dirichlet(concentration[d], n_samples)
        log_weight = _log_dirichlet(theta, state.doc_topic_prior)
        log_weight -= _log_dirichlet(theta, concentration[d])
        log_weight += np.log(np.maximum(theta @ slope[words].T + offset[words], 1e-300)) @ c
        if np.any(known[d]):
            log_weight += _target_log_likelihood(
                problem.targets[d], known[d], theta, rest[d], state
            )
        out[d] = logsumexp(log_weight) - math.log(n_samples)
    return out


def exact_log_likelihood(
    problem: Problem,
    state: ModelState,
    hyper: Hyperparameters,
    *,
    max_terms: int = 2_000_000,
    nodes: int = 4000,
) -> np.ndarray:
    """log p(w_d, y_d) of small documents, exactly.

    Without a target the product over tokens is a polynomial in θ, and its monomials have Dirichlet
    moments in closed form. Their number grows like (tokens)^(topics); above `max_terms` there is a
    ValueError. With a target there is no closed form. For two topics the integral is
    one-dimensional, and quadrature has machine precision; with more topics there is a ValueError.
    Words that are neither in topics nor in the background are left out.
    """
    counts = in_memory(problem.corpus.counts)
    known, rest = problem.target_weights > 0, problem.offsets(state)
    out = np.empty(problem.n_docs)
    for d in range(problem.n_docs):
        lo, hi = counts.indptr[d], counts.indptr[d + 1]
        tokens = np.repeat(counts.indices[lo:hi], np.round(counts.data[lo:hi]).astype(int))
        if np.any(known[d]):
            target = (problem.targets[d], known[d], rest[d])
            out[d] = _quadrature(tokens, target, state, hyper, nodes)
        else:
            out[d] = _polynomial(tokens, state, hyper, max_terms)
    return out


def _polynomial(tokens, state, hyper, max_terms) -> float:
    slope, offset = token_mixture(state, hyper)
    n_topics = state.n_topics
    size = math.comb(len(tokens) + n_topics, n_topics)
    if size > max_terms:
        raise ValueError(
            f"A document of {len(tokens)} tokens and {n_topics} topics has {size} monomials, more "
            f"than max_terms={max_terms}. Use importance sampling for documents of this size."
        )
    tokens = tokens[(slope.max(axis=1) + offset)[tokens] > 0]
    # Coefficients of the monomials θ^n by multi-index n, one token at a time, scaled to a largest
    # one of 1, because a product of a few hundred probabilities would underflow.
    terms: dict[tuple[int, ...], float] = {(0,) * n_topics: 1.0}
    log_scale = 0.0
    for token in tokens:
        grown: dict[tuple[int, ...], float] = {}
        for index, value in terms.items():
            grown[index] = grown.get(index, 0.0) + value * offset[token]
            for k in range(n_topics):
                up = (*index[:k], index[k] + 1, *index[k + 1 :])
                grown[up] = grown.get(up, 0.0) + value * slope[token, k]
        largest = max(grown.values())
        log_scale += math.log(largest)
        terms = {index: value / largest for index, value in grown.items()}
    prior = state.doc_topic_prior
    powers = np.array(list(terms), dtype=float)
    values = np.array(list(terms.values()))
    log_moment = (
        gammaln(prior.sum())
        - gammaln(prior.sum() + powers.sum(axis=1))
        + np.sum(gammaln(prior + powers) - gammaln(prior), axis=1)
    )
    keep = values > 0
    return float(log_scale + logsumexp(np.log(values[keep]) + log_moment[keep]))


def _quadrature(tokens, target, state, hyper, nodes) -> float:
    if state.n_topics != 2:
        raise ValueError(
            f"The exact likelihood with a target is a {state.n_topics - 1}-dimensional integral; "
            "only two topics are supported. Use importance sampling."
        )
    # With θ₁ = 1/(1 + e⁻ˣ), x = π sinh t (double exponential), the trapezoidal rule in t is exact
    # to rounding, even at the poles of Dir(α < 1). dθ₁ = θ₁ θ₂ π cosh t dt; the tails are below
    # e⁻⁵⁰.
    prior = state.doc_topic_prior
    reach = math.asinh(50.0 / (math.pi * min(prior.min(), 1.0)))
    t, step = np.linspace(-reach, reach, nodes, retstep=True)
    x = math.pi * np.sinh(t)
    log_theta = -np.logaddexp(0.0, np.column_stack([-x, x]))
    theta = np.exp(log_theta)
    slope, offset = token_mixture(state, hyper)
    value = gammaln(prior.sum()) - gammaln(prior).sum() + log_theta @ prior
    value = value + np.log(math.pi * step * np.cosh(t))
    possible = (slope.max(axis=1) + offset) > 0
    with np.errstate(divide="ignore"):  # θ_k may be 0 by rounding, in a corner of negligible weight
        for token in tokens[possible[tokens]]:
            value = value + np.log(theta @ slope[token] + offset[token])
    y, known, rest = target
    value = value + _target_log_likelihood(y, known, theta, rest, state)
    return float(logsumexp(value))


def _target_log_likelihood(target, known, theta, offset, state) -> np.ndarray:
    """log p(y | θ) of one document at several θ, without λ."""
    times = len(theta)
    return likelihood_rows(
        for_kernels(state.family),
        np.tile(target, (times, 1)),
        np.tile(known.astype(float), (times, 1)),
        theta @ state.coef_rows.T + offset,
    )[0]
