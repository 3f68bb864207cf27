"""Global parameters without constraints, and the gradient of the collapsed bound in them.

    β_·k = softmax(topic_logits_·k),  φ_v = σ(inclusion_logits_v),  δ = exp(family),
    α = exp(log_prior),  π_v ∝ (1-φ_v) n_v in closed form.

The locals of a collapsed bound are at their optimum, so by the envelope theorem its gradient is the
partial derivative at those locals: the sufficient statistics are all that is needed. π is optimal
given φ as well, so it counts as a local here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma, expit, logit, softmax

from topicfocus.inference.channels import softmax_gradient, update_background
from topicfocus.inference.state import INCLUSION_MARGIN, Hyperparameters, ModelState
from topicfocus.joint.statistics import SufficientStats
from topicfocus.joint.updates import evidence_per_token


def to_unconstrained(state: ModelState, hyper: Hyperparameters) -> dict[str, np.ndarray]:
    """The free parameters of a state."""
    free = {
        "topic_logits": np.log(np.maximum(state.topic_word, 1e-300)),
        "coef": np.array(state.coef, dtype=float),
    }
    if hyper.selects:
        inclusion = np.clip(state.inclusion, INCLUSION_MARGIN, 1 - INCLUSION_MARGIN)
        free["inclusion_logits"] = logit(inclusion)
    if state.covariate_coef is not None:
        free["covariate_coef"] = np.array(state.covariate_coef, dtype=float)
    own = state.family.free_parameters()
    if len(own):
        free["family"] = own
    if hyper.learn_prior:
        free["log_prior"] = np.log(state.doc_topic_prior)
    return free


def from_unconstrained(
    free: dict[str, np.ndarray],
    template: ModelState,
    word_count: np.ndarray,
    family: Any = None,
) -> ModelState:
    """The state of free parameters; blocks that are absent keep the template's values.

    `word_count` is n_v of the whole corpus, for π.
    """
    family = template.family if family is None else family
    inclusion, background = template.inclusion, template.background
    if "inclusion_logits" in free:
        inclusion = np.clip(expit(free["inclusion_logits"]), INCLUSION_MARGIN, 1 - INCLUSION_MARGIN)
        background = update_background(word_count, inclusion)
    if "family" in free:
        family = family.with_free_parameters(free["family"])
    prior = template.doc_topic_prior
    if "log_prior" in free:
        prior = np.exp(free["log_prior"])
    return ModelState(
        softmax(free["topic_logits"], axis=0),
        inclusion,
        background,
        np.array(free["coef"]),
        family,
        prior,
        template.intercept,
        np.array(free["covariate_coef"]) if "covariate_coef" in free else template.covariate_coef,
    )


def collapsed_gradient(
    stats: SufficientStats, state: ModelState, hyper: Hyperparameters
) -> dict[str, np.ndarray]:
    """The gradient of `bound_value` in every free parameter, from statistics alone."""
    phi = state.inclusion
    gradient = {
        "topic_logits": softmax_gradient(phi[:, None] * stats.word_topic, state.topic_word),
        "coef": stats.coef_gradient - hyper.coef_penalty * state.coef,
    }
    if hyper.selects:
        n = stats.word_count
        p = hyper.inclusion_prior
        log_background = np.log(np.maximum(state.background, 1e-300))
        score = evidence_per_token(stats, state, hyper) - log_background - logit(phi)
        score += np.log(p) - np.log1p(-p)
        gradient["inclusion_logits"] = phi * (1 - phi) * n * score
    if state.covariate_coef is not None:
        penalty = hyper.coef_penalty * state.covariate_coef
        gradient["covariate_coef"] = stats.covariate_gradient - penalty
    if len(stats.free_gradient):
        gradient["family"] = stats.free_gradient
    if hyper.learn_prior:
        prior = state.doc_topic_prior
        d_prior = stats.n_docs * (digamma(prior.sum()) - digamma(prior)) + stats.log_theta
        gradient["log_prior"] = prior * d_prior
    return gradient
