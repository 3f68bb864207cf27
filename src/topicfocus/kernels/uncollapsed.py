"""The paper's own algorithm for one minibatch: Adam on the variational parameters themselves.

Nothing is collapsed: γ_d and the logits of the responsibilities of every nonzero count are
parameters with Adam moments of their own. With r = softmax(logits), the gradients of the bound are

    ∂/∂logit_k = r_k (G_k - Σ_l r_l G_l),  G_k = c (E[log θ_k] + φ_v log β_vk - log r_k)
    ∂/∂γ_k     = ψ'(γ_k)(α_k + s_k - γ_k) - ψ'(γ₀) Σ_l (α_l + s_l - γ_l) + ∂ w E[log p(y)]/∂γ_k,

s_k = Σ c r_k. The original keeps dense Adam state for all documents, so a document that is not in
the minibatch still moves by its momentum at every step. That drift is a closed form: while the
gradient is zero, step j after the last visit (at time t) moves a parameter by
rate · (m β₁ʲ/(1-β₁^{t+j})) / √(v β₂ʲ/(1-β₂^{t+j})), so all of it is rate · m/√v times one number
per document. `drift` is that number, `fade` the decay of both moments; the caller computes them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topicfocus.kernels.compile import kernel
from topicfocus.kernels.local import mix_objective_less_prior
from topicfocus.kernels.special import dirichlet_log_normaliser, trigamma
from topicfocus.kernels.target_terms import (
    LocalTarget,
    expected_target,
    has_target,
    target_gradient,
)

#: γ is an unconstrained parameter of the original; below this it is put back.
SMALLEST_CONCENTRATION = 1e-2
_BETA1 = 0.9
_BETA2 = 0.999


class AdamStep(NamedTuple):
    """Rate and bias corrections 1-β₁ᵗ, 1-β₂ᵗ of the step being taken."""

    rate: float
    correction1: float
    correction2: float
    epsilon: float


class Visit(NamedTuple):
    """Per document of the minibatch: how far it drifted since its last visit, and its fading."""

    drift: np.ndarray
    fade1: np.ndarray
    fade2: np.ndarray


class Uncollapsed(NamedTuple):
    """Variational parameters with their Adam moments: γ by document, logits by nonzero count."""

    concentration: np.ndarray
    concentration_m: np.ndarray
    concentration_v: np.ndarray
    logits: np.ndarray
    logits_m: np.ndarray
    logits_v: np.ndarray


class UncollapsedStats(NamedTuple):
    """Sums over the minibatch: c r by word and topic, and parts of the bound."""

    word_topic: np.ndarray
    parts: np.ndarray


@kernel
def adam_drift(value, m, v, drift, fade1, fade2, rate):
    """One parameter after the steps in which its document was not visited: (value, m, v)."""
    if v > 0.0:
        value += rate * drift * m / math.sqrt(v)
    return value, m * fade1, v * fade2


@kernel
def adam_move(value, gradient, m, v, step):
    """One Adam step uphill: (value, m, v)."""
    m = _BETA1 * m + (1.0 - _BETA1) * gradient
    v = _BETA2 * v + (1.0 - _BETA2) * gradient * gradient
    move = (m / step.correction1) / (math.sqrt(v / step.correction2) + step.epsilon)
    return value + step.rate * move, m, v


@kernel
def catch_up_documents(docs, indptr, local, visit, rate):
    """Apply the drift of the documents about to be visited, in place."""
    n_topics = local.concentration.shape[1]
    for i in range(docs.shape[0]):
        d = docs[i]
        drift = visit.drift[i]
        fade1 = visit.fade1[i]
        fade2 = visit.fade2[i]
        for k in range(n_topics):
            value, m, v = adam_drift(
                local.concentration[d, k],
                local.concentration_m[d, k],
                local.concentration_v[d, k],
                drift,
                fade1,
                fade2,
                rate,
            )
            local.concentration[d, k] = max(value, SMALLEST_CONCENTRATION)
            local.concentration_m[d, k] = m
            local.concentration_v[d, k] = v
        for j in range(indptr[d], indptr[d + 1]):
            for k in range(n_topics):
                value, m, v = adam_drift(
                    local.logits[j, k],
                    local.logits_m[j, k],
                    local.logits_v[j, k],
                    drift,
                    fade1,
                    fade2,
                    rate,
                )
                local.logits[j, k] = value
                local.logits_m[j, k] = m
                local.logits_v[j, k] = v


@kernel
def concentration_gradient(prior, sums, gamma, family, target, moments, out):
    """out = ∂L/∂γ, the formula at the head of this file."""
    n_topics = prior.shape[0]
    total = 0.0
    surplus = 0.0
    for k in range(n_topics):
        total += gamma[k]
        surplus += prior[k] + sums[k] - gamma[k]
    if has_target(target.weight):
        target_gradient(family, target, gamma, moments, out)
    else:
        for k in range(n_topics):
            out[k] = 0.0
    spread = trigamma(total)
    for k in range(n_topics):
        out[k] += trigamma(gamma[k]) * (prior[k] + sums[k] - gamma[k]) - spread * surplus


@kernel
def step_documents(
    first, last, docs, corpus, inclusion, log_topics, prior, coef, family, local, step, out
):
    """Statistics of docs[first:last] at the current values, then one Adam step of their own.

    out.word_topic[v,k] += c r_k; out.parts += (words and responsibilities, mix, target): the part
    of the bound that depends on documents. `coef` is predictors x topics.
    """
    n_topics = prior.shape[0]
    r = np.empty(n_topics)
    pull = np.empty(n_topics)
    log_theta = np.empty(n_topics)
    sums = np.empty(n_topics)
    gradient = np.empty(n_topics)
    moments = np.empty((4, coef.shape[0]))
    prior_normaliser = dirichlet_log_normaliser(prior)
    for i in range(first, last):
        d = docs[i]
        gamma = local.concentration[d]
        times = corpus.doc_weight[d]
        mix = mix_objective_less_prior(prior, gamma, log_theta) - prior_normaliser
        out.parts[1] += times * mix
        for k in range(n_topics):
            sums[k] = 0.0
        for j in range(corpus.indptr[d], corpus.indptr[d + 1]):
            v = corpus.indices[j]
            count = corpus.counts[j]
            largest = -math.inf
            for k in range(n_topics):
                largest = max(largest, local.logits[j, k])
            norm = 0.0
            for k in range(n_topics):
                r[k] = math.exp(local.logits[j, k] - largest)
                norm += r[k]
            log_norm = math.log(norm)
            average = 0.0
            for k in range(n_topics):
                r[k] /= norm
                log_r = local.logits[j, k] - largest - log_norm
                pull[k] = log_theta[k] + inclusion[v] * log_topics[v, k] - log_r
                average += r[k] * pull[k]
                sums[k] += count * r[k]
                out.word_topic[v, k] += times * count * r[k]
            out.parts[0] += times * count * average
            for k in range(n_topics):
                value, m, w = adam_move(
                    local.logits[j, k],
                    count * r[k] * (pull[k] - average),
                    local.logits_m[j, k],
                    local.logits_v[j, k],
                    step,
                )
                local.logits[j, k] = value
                local.logits_m[j, k] = m
                local.logits_v[j, k] = w
        target = LocalTarget(corpus.target[d], corpus.target_weight[d], corpus.offset[d], coef)
        if has_target(target.weight):
            out.parts[2] += times * expected_target(family, target, gamma, moments)
        concentration_gradient(prior, sums, gamma, family, target, moments, gradient)
        for k in range(n_topics):
            value, m, w = adam_move(
                gamma[k],
                gradient[k],
                local.concentration_m[d, k],
                local.concentration_v[d, k],
                step,
            )
            gamma[k] = max(value, SMALLEST_CONCENTRATION)
            local.concentration_m[d, k] = m
            local.concentration_v[d, k] = w


@kernel
def adam_move_array(value, gradient, m, v, step):
    """One Adam step uphill for a flat array of global parameters, in place."""
    for i in range(value.shape[0]):
        value[i], m[i], v[i] = adam_move(value[i], gradient[i], m[i], v[i], step)
