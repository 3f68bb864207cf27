"""Gradients in topics, background and switches for a minibatch (Ren, Kunes and Doshi-Velez 2020).

With β_·k and π as softmax of logits and φ as the sigmoid of one, and S_vk = Σ c r_k, n_v = Σ c over
the minibatch, the bound without documents is

    Σ_v n_v [φ_v log p + (1-φ_v) log(1-p) + H(φ_v) + (1-φ_v) log π_v]

and its gradients, including the terms of the documents, are

    ∂/∂topic_logit_vk     = φ_v S_vk - β_vk Σ_u φ_u S_uk
    ∂/∂background_logit_v = (1-φ_v) n_v - π_v Σ_u (1-φ_u) n_u
    ∂/∂inclusion_logit_v  = φ_v(1-φ_v) [Σ_k S_vk log β_vk + n_v (logit p - log π_v - logit φ_v)].

With few topics these arrays have short rows, on which NumPy would spend most of the time of a step.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from topicfocus.kernels.compile import kernel
from topicfocus.kernels.special import exp_in_place


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
