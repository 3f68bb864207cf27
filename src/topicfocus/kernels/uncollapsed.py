"""The algorithm of Ren, Kunes and Doshi-Velez (2020) for one minibatch: Adam on q(θ) and q(z).

γ_d and the logits of the responsibilities of every nonzero count are parameters with Adam moments.
With r = softmax(logits), the gradients of the bound are

    ∂/∂logit_k = r_k (G_k - Σ_l r_l G_l),  G_k = c (E[log θ_k] + φ_v log β_vk - log r_k)
    ∂/∂γ_k     = ψ'(γ_k)(α_k + s_k - γ_k) - ψ'(γ₀) Σ_l (α_l + s_l - γ_l) + ∂ w E[log p(y)]/∂γ_k,

s_k = Σ c r_k. For the global parameters, β_·k and π are softmax of logits and φ is the sigmoid of
one. With S_vk = Σ c r_k and n_v = Σ c over the minibatch, the bound without documents is

    Σ_v n_v [φ_v log p + (1-φ_v) log(1-p) + H(φ_v) + (1-φ_v) log π_v]

and the gradients, including the terms of the documents, are

    ∂/∂topic_logit_vk     = φ_v S_vk - β_vk Σ_u φ_u S_uk
    ∂/∂background_logit_v = (1-φ_v) n_v - π_v Σ_u (1-φ_u) n_u
    ∂/∂inclusion_logit_v  = φ_v(1-φ_v) [Σ_k S_vk log β_vk + n_v (logit p - log π_v - logit φ_v)].

These have kernels, because with few topics rows are short, on which NumPy would spend most of the
time of a step.

The original code has Adam moments for all documents, so that documents outside the
minibatch also move by their momentum at every step. This drift has a closed form: while the
gradient is zero, step j after the last visit (at time t) moves a parameter by
rate · (m β₁ʲ/(1-β₁^{t+j})) / √(v β₂ʲ/(1-β₂^{t+j})), so that the sum is rate · m/√v times one number
per minibatch. `drift` is that number and `fade` the decay of both moments, both from the caller.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from topicfocus.kernels.compile import helper, kernel, work_array
from topicfocus.kernels.local import (
    LocalCorpus,
    LocalTarget,
    expected_target,
    has_target,
    longest_document,
    target_gradient,
    theta_objective,
)
from topicfocus.kernels.special import (
    dirichlet_log_normaliser,
    exp_in_place,
    log_in_place,
    trigamma,
)

#: Smallest γ; the original has no bound.
SMALLEST_CONCENTRATION = 1e-2
#: Replaces a second moment of zero; a normal number in single precision.
_NO_MOMENT = 1e-37
_BETA1 = 0.9
_BETA2 = 0.999


class AdamStep(NamedTuple):
    """Learning rate and bias corrections 1-β₁ᵗ, 1-β₂ᵗ of an Adam step."""

    rate: float
    correction1: float
    correction2: float
    epsilon: float


class Visit(NamedTuple):
    """The drift of documents since their last visit, and the decay of both moments."""

    drift: float
    fade1: float
    fade2: float


class Uncollapsed(NamedTuple):
    """Variational parameters with their Adam moments: γ by document, logits by nonzero count.

    Logits have one row per nonzero count; the rows of a document are one block topics x words.
    """

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


#: Work arrays of one thread: topics x words of the longest document, per word, and per topic.
UncollapsedWork = namedtuple(
    "UncollapsedWork", "slopes r pull bits log_norm average log_theta sums gradient moments"
)


@helper
def adam_drift_array(value, m, v, drift, fade1, fade2):
    """Move parameters, in place, by the steps in which their document was not visited.

    `drift` includes the rate. All numbers have the precision of the array, so that it vectorises.
    """
    number = value.dtype.type
    far, less1, less2 = number(drift), number(fade1), number(fade2)
    least = number(_NO_MOMENT)
    for i in range(value.shape[0]):
        # Before the first gradient both moments are zero, and 0/√least is zero.
        value[i] += far * m[i] / math.sqrt(max(v[i], least))
        m[i] *= less1
        v[i] *= less2


@kernel
def adam_move_array(value, gradient, m, v, step):
    """One Adam step of gradient ascent on a flat array, in place and in its precision."""
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
def catch_up_documents(local, visit, rate):
    """Apply the drift, in place, to documents that were last visited at the same time."""
    drift = rate * visit.drift
    adam_drift_array(
        local.concentration.reshape(-1),
        local.concentration_m.reshape(-1),
        local.concentration_v.reshape(-1),
        drift,
        visit.fade1,
        visit.fade2,
    )
    gamma = local.concentration.reshape(-1)
    for i in range(gamma.shape[0]):
        gamma[i] = max(gamma[i], SMALLEST_CONCENTRATION)
    adam_drift_array(
        local.logits.reshape(-1),
        local.logits_m.reshape(-1),
        local.logits_v.reshape(-1),
        drift,
        visit.fade1,
        visit.fade2,
    )


@helper
def softmax_down(logits, r, log_norm, largest, bits):
    """r = softmax of each column, log_norm = log Σ exp of it; both are topics x words.

    `largest` and `bits` are scratch.
    """
    n_topics, n_words = logits.shape
    for j in range(n_words):
        largest[j] = logits[0, j]
        log_norm[j] = 0.0
    for k in range(1, n_topics):
        for j in range(n_words):
            largest[j] = max(largest[j], logits[k, j])
    for k in range(n_topics):
        for j in range(n_words):
            r[k, j] = logits[k, j] - largest[j]
    exp_in_place(r.reshape(-1), n_words * n_topics, bits)
    for k in range(n_topics):
        for j in range(n_words):
            log_norm[j] += r[k, j]
    for k in range(n_topics):
        for j in range(n_words):
            r[k, j] /= log_norm[j]
    log_in_place(log_norm, n_words, bits)
    for j in range(n_words):
        log_norm[j] += largest[j]


@helper
def concentration_gradient(prior, sums, gamma, family, target, moments, out):
    """out = ∂L/∂γ by the formula of the module."""
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
def _step_documents(
    first, last, corpus, inclusion, log_topics, prior, coef, family, local, step, work, out
):
    n_topics = prior.shape[0]
    log_theta, sums, moments = work.log_theta, work.sums, work.moments
    log_norm, average = work.log_norm, work.average
    prior_normaliser = dirichlet_log_normaliser(prior)
    for d in range(first, last):
        gamma = local.concentration[d]
        times = corpus.doc_weight[d]
        mix = theta_objective(prior, gamma, log_theta) - prior_normaliser
        out.parts[1] += times * mix
        a, b = corpus.indptr[d], corpus.indptr[d + 1]
        n = b - a
        words, counts = corpus.indices[a:b], corpus.counts[a:b]
        logits = local.logits[a:b].reshape((n_topics, n))
        slopes = work.slopes[: n_topics * n].reshape((n_topics, n))
        r = work.r[: n_topics * n].reshape((n_topics, n))
        pull = work.pull[: n_topics * n].reshape((n_topics, n))
        softmax_down(logits, r, log_norm, average, work.bits)
        for j in range(n):
            v = words[j]
            for k in range(n_topics):
                pull[k, j] = inclusion[v] * log_topics[v, k]
                out.word_topic[v, k] += times * counts[j] * r[k, j]
            average[j] = 0.0
        for k in range(n_topics):
            for j in range(n):
                # -log r = log_norm - logit
                pull[k, j] += log_theta[k] + log_norm[j] - logits[k, j]
                average[j] += r[k, j] * pull[k, j]
        words_part = 0.0
        for j in range(n):
            words_part += counts[j] * average[j]
        out.parts[0] += times * words_part
        for k in range(n_topics):
            total = 0.0
            for j in range(n):
                assigned = counts[j] * r[k, j]
                total += assigned
                slopes[k, j] = assigned * (pull[k, j] - average[j])
            sums[k] = total
        adam_move_array(
            logits.reshape(-1),
            slopes.reshape(-1),
            local.logits_m[a:b].reshape(-1),
            local.logits_v[a:b].reshape(-1),
            step,
        )
        target = LocalTarget(corpus.target[d], corpus.target_weight[d], corpus.offset[d], coef)
        if has_target(target.weight):
            out.parts[2] += times * expected_target(family, target, gamma, moments)
        concentration_gradient(prior, sums, gamma, family, target, moments, work.gradient)
        adam_move_array(
            gamma, work.gradient, local.concentration_m[d], local.concentration_v[d], step
        )
        for k in range(n_topics):
            gamma[k] = max(gamma[k], SMALLEST_CONCENTRATION)


def step_documents(
    first: int,
    last: int,
    corpus: LocalCorpus,
    inclusion: np.ndarray,
    log_topics: np.ndarray,
    prior: np.ndarray,
    coef: np.ndarray,
    family: Any,
    local: Uncollapsed,
    step: AdamStep,
    out: UncollapsedStats,
) -> None:
    """Statistics of documents first..last-1, then one Adam step on their variational parameters.

    out.word_topic[v,k] += c r_k; out.parts += (words and responsibilities, θ, target), the part of
    the bound that depends on documents. `coef` is predictors x topics.
    """
    n_topics, longest = len(prior), longest_document(corpus.indptr[first : last + 1])
    work = UncollapsedWork(
        slopes=work_array(longest * n_topics, dtype=local.logits.dtype),
        r=work_array(longest * n_topics),
        pull=work_array(longest * n_topics),
        bits=work_array(longest * n_topics, dtype=np.int64),
        log_norm=work_array(longest),
        average=work_array(longest),
        log_theta=work_array(n_topics),
        sums=work_array(n_topics),
        gradient=work_array(n_topics),
        moments=work_array(4, len(coef)),
    )
    _step_documents(
        first, last, corpus, inclusion, log_topics, prior, coef, family, local, step, work, out
    )


# ---- global parameters ---------------------------------------------------------------------------


class ChannelGradients(NamedTuple):
    """Gradients in the logits of topics (words x topics), background and inclusion (words)."""

    topics: np.ndarray
    background: np.ndarray
    inclusion: np.ndarray


@kernel
def log_softmax_columns(logits, log_p, p):
    """log_p = log softmax down the columns, p = its exponential; twin: scipy's log_softmax."""
    n_words, n_topics = logits.shape
    largest = np.full(n_topics, -math.inf)
    norm = np.zeros(n_topics)
    for v in range(n_words):
        for k in range(n_topics):
            largest[k] = max(largest[k], logits[v, k])
    for v in range(n_words):
        for k in range(n_topics):
            p[v, k] = logits[v, k] - largest[k]
    exp_in_place(p.reshape(-1), p.size, np.empty(p.size, dtype=np.int64))
    for v in range(n_words):
        for k in range(n_topics):
            norm[k] += p[v, k]
    for k in range(n_topics):
        largest[k] += math.log(norm[k])
        norm[k] = 1.0 / norm[k]
    for v in range(n_words):
        for k in range(n_topics):
            log_p[v, k] = logits[v, k] - largest[k]
            p[v, k] *= norm[k]


@kernel
def topic_gradient(word_topic, topics, inclusion, out):
    """out = ∂/∂topic_logits, the formula of the module."""
    n_words, n_topics = word_topic.shape
    total = np.zeros(n_topics)
    for v in range(n_words):
        for k in range(n_topics):
            out[v, k] = inclusion[v] * word_topic[v, k]
            total[k] += out[v, k]
    for v in range(n_words):
        for k in range(n_topics):
            out[v, k] -= topics[v, k] * total[k]


@kernel
def switch_gradients(
    word_topic, word_count, log_topics, inclusion, log_background, background, prior, out
):
    """Write out.background and out.inclusion; return the part of the bound without documents.

    By the formulas of the module, for 0 < φ < 1; `prior` is p.
    """
    n_words, n_topics = word_topic.shape
    log_in = math.log(prior)
    log_out = math.log1p(-prior)
    value = 0.0
    total = 0.0
    for v in range(n_words):
        n = word_count[v]
        phi = inclusion[v]
        away = 1.0 - phi
        log_phi = math.log(phi)
        log_away = math.log1p(-phi)
        score = 0.0
        for k in range(n_topics):
            score += word_topic[v, k] * log_topics[v, k]
        score += n * (log_in - log_out - log_background[v] - (log_phi - log_away))
        out.inclusion[v] = phi * away * score
        out.background[v] = away * n
        total += away * n
        value += n * (phi * (log_in - log_phi) + away * (log_out - log_away + log_background[v]))
    for v in range(n_words):
        out.background[v] -= background[v] * total
    return value
