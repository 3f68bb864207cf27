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

from topicfocus.kernels.compile import helper, kernel
from topicfocus.kernels.local import mix_objective_less_prior
from topicfocus.kernels.scratch import ROOM, apart
from topicfocus.kernels.special import (
    dirichlet_log_normaliser,
    exp_in_place,
    log_in_place,
    trigamma,
)
from topicfocus.kernels.target_terms import (
    LocalTarget,
    expected_target,
    has_target,
    target_gradient,
)

#: γ is an unconstrained parameter of the original; below this it is put back.
SMALLEST_CONCENTRATION = 1e-2
#: Stands for a second moment of zero; a normal number in single precision.
_NO_MOMENT = 1e-37
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


@helper
def adam_drift_array(value, m, v, drift, fade1, fade2):
    """Parameters after the steps in which their document was not visited, in place.

    `drift` includes the rate. In the precision of the array, so that it vectorises.
    """
    number = value.dtype.type
    far, less1, less2 = number(drift), number(fade1), number(fade2)
    least = number(_NO_MOMENT)
    for i in range(value.shape[0]):
        # Without a gradient so far both moments are zero, and 0/√least is zero, too.
        value[i] += far * m[i] / math.sqrt(max(v[i], least))
        m[i] *= less1
        v[i] *= less2


@kernel
def adam_move_array(value, gradient, m, v, step):
    """One Adam step uphill for a flat array of parameters, in place and in its precision."""
    number = value.dtype.type
    keep1, take1 = number(_BETA1), number(1.0 - _BETA1)
    keep2, take2 = number(_BETA2), number(1.0 - _BETA2)
    rate = number(step.rate / step.correction1)
    scale = number(1.0 / step.correction2)
    epsilon = number(step.epsilon)
    for i in range(value.shape[0]):
        g = gradient[i]
        m[i] = keep1 * m[i] + take1 * g
        v[i] = keep2 * v[i] + take2 * g * g
        value[i] += rate * m[i] / (math.sqrt(v[i] * scale) + epsilon)


@kernel
def catch_up_documents(docs, indptr, local, visit, rate):
    """Apply the drift of the documents about to be visited, in place."""
    n_topics = local.concentration.shape[1]
    for i in range(docs.shape[0]):
        d = docs[i]
        drift = rate * visit.drift[i]
        fade1 = visit.fade1[i]
        fade2 = visit.fade2[i]
        gamma = local.concentration[d]
        adam_drift_array(
            gamma, local.concentration_m[d], local.concentration_v[d], drift, fade1, fade2
        )
        for k in range(n_topics):
            gamma[k] = max(gamma[k], SMALLEST_CONCENTRATION)
        a, b = indptr[d], indptr[d + 1]
        adam_drift_array(
            local.logits[a:b].reshape(-1),
            local.logits_m[a:b].reshape(-1),
            local.logits_v[a:b].reshape(-1),
            drift,
            fade1,
            fade2,
        )


@helper
def softmax_rows(logits, r, log_norm, bits):
    """r = softmax of each row, log_norm = log Σ exp of it; `bits` is scratch of the size of r.

    The exponentials and logarithms of a whole document at once: loops long enough for SIMD.
    """
    n_words, n_topics = logits.shape
    for j in range(n_words):
        largest = -math.inf
        for k in range(n_topics):
            largest = max(largest, logits[j, k])
        for k in range(n_topics):
            r[j, k] = logits[j, k] - largest
    exp_in_place(r.reshape(-1), n_words * n_topics, bits)
    for j in range(n_words):
        norm = 0.0
        for k in range(n_topics):
            norm += r[j, k]
        log_norm[j] = norm
        for k in range(n_topics):
            r[j, k] *= 1.0 / norm
    log_in_place(log_norm, n_words, bits)
    for j in range(n_words):
        largest = -math.inf
        for k in range(n_topics):
            largest = max(largest, logits[j, k])
        log_norm[j] += largest


@helper
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
    log_theta = apart(np.empty(n_topics + ROOM))
    sums = apart(np.empty(n_topics + ROOM))
    gradient = apart(np.empty(n_topics + ROOM))
    moments = apart(np.empty(4 * coef.shape[0] + ROOM)).reshape((4, coef.shape[0]))
    longest = 0
    for i in range(first, last):
        longest = max(longest, corpus.indptr[docs[i] + 1] - corpus.indptr[docs[i]])
    pull = apart(np.empty(n_topics + ROOM))
    slopes = np.empty((longest, n_topics), dtype=local.logits.dtype)
    r = np.empty((longest, n_topics))
    log_norm = apart(np.empty(longest + ROOM))
    bits = apart(np.empty(longest * n_topics + ROOM, dtype=np.int64))
    prior_normaliser = dirichlet_log_normaliser(prior)
    for i in range(first, last):
        d = docs[i]
        gamma = local.concentration[d]
        times = corpus.doc_weight[d]
        mix = mix_objective_less_prior(prior, gamma, log_theta) - prior_normaliser
        out.parts[1] += times * mix
        for k in range(n_topics):
            sums[k] = 0.0
        a, b = corpus.indptr[d], corpus.indptr[d + 1]
        logits = local.logits[a:b]
        softmax_rows(logits, r, log_norm, bits)
        for j in range(b - a):
            v = corpus.indices[a + j]
            count = corpus.counts[a + j]
            average = 0.0
            for k in range(n_topics):
                # -log r = log_norm - logit
                pull[k] = (
                    log_theta[k] + inclusion[v] * log_topics[v, k] + log_norm[j] - logits[j, k]
                )
                average += r[j, k] * pull[k]
                sums[k] += count * r[j, k]
                out.word_topic[v, k] += times * count * r[j, k]
            out.parts[0] += times * count * average
            for k in range(n_topics):
                slopes[j, k] = count * r[j, k] * (pull[k] - average)
        adam_move_array(
            logits.reshape(-1),
            slopes[: b - a].reshape(-1),
            local.logits_m[a:b].reshape(-1),
            local.logits_v[a:b].reshape(-1),
            step,
        )
        target = LocalTarget(corpus.target[d], corpus.target_weight[d], corpus.offset[d], coef)
        if has_target(target.weight):
            out.parts[2] += times * expected_target(family, target, gamma, moments)
        concentration_gradient(prior, sums, gamma, family, target, moments, gradient)
        adam_move_array(gamma, gradient, local.concentration_m[d], local.concentration_v[d], step)
        for k in range(n_topics):
            gamma[k] = max(gamma[k], SMALLEST_CONCENTRATION)
