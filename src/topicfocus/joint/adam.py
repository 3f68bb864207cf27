"""Adam on the unconstrained global parameters of a joint model.

β_·k = softmax(topic_logits_·k),  φ_v = σ(inclusion_logits_v),  α = exp(log_prior),
δ = exp(family) for a Gaussian target.

π is softmax(background_logits), or the closed form π_v ∝ (1-φ_v) n_v. With `noise_root`, δ is its
square.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from topicfocus.joint.settings import INCLUSION_MARGIN, Hyperparameters
from topicfocus.joint.updates import update_background
from topicfocus.kernels.uncollapsed import AdamStep, adam_move_array, log_softmax_columns
from topicfocus.model import ModelState

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


def adam_step(rate: float, t: int) -> AdamStep:
    """The constants of step t, from 1."""
    return AdamStep(float(rate), 1.0 - BETA1**t, 1.0 - BETA2**t, EPSILON)


class Adam:
    """Adam on named arrays of parameters, which `step` changes in place."""

    def __init__(self, parameters: Mapping[str, np.ndarray]) -> None:
        # Row-major, because `step` changes flat views, and flattening other arrays makes copies.
        self.parameters = {k: np.array(v, dtype=float, order="C") for k, v in parameters.items()}
        self._m = {k: np.zeros_like(v) for k, v in self.parameters.items()}
        self._v = {k: np.zeros_like(v) for k, v in self.parameters.items()}
        self.t = 0

    def step(self, gradients: Mapping[str, np.ndarray], rate: float) -> None:
        """One ascent step for every array in `gradients`."""
        self.t += 1
        constants = adam_step(rate, self.t)
        for name, gradient in gradients.items():
            adam_move_array(
                self.parameters[name].reshape(-1),
                np.ascontiguousarray(gradient, dtype=float).reshape(-1),
                self._m[name].reshape(-1),
                self._v[name].reshape(-1),
                constants,
            )


def log_of(probabilities: np.ndarray) -> np.ndarray:
    """Logits of a softmax, finite for a probability of zero."""
    return np.log(np.maximum(probabilities, 1e-300))


def to_unconstrained(state: ModelState, hyper: Hyperparameters) -> dict[str, np.ndarray]:
    """The free parameters of a state, π and δ in the form without parameters of their own."""
    free = {"topic_logits": log_of(state.topic_word), "coef": np.array(state.coef, dtype=float)}
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


class Constrained(NamedTuple):
    """A model with log β, and log π where it has parameters of its own."""

    model: ModelState
    log_topics: np.ndarray
    log_background: np.ndarray


def from_unconstrained(
    free: Mapping[str, np.ndarray], template: ModelState, word_count: np.ndarray
) -> Constrained:
    """The model with these free parameters, and those of the template where they are absent.

    `word_count` is n_v of the whole corpus, for π in closed form.
    """
    log_topics, topics = _log_softmax(free["topic_logits"])
    log_background = np.empty(0)
    inclusion, background = template.inclusion, template.background
    family, prior = template.family, template.doc_topic_prior
    if "inclusion_logits" in free:
        inclusion = np.clip(expit(free["inclusion_logits"]), INCLUSION_MARGIN, 1 - INCLUSION_MARGIN)
        if "background_logits" not in free:
            background = update_background(word_count, inclusion)
    if "background_logits" in free:
        column = _log_softmax(free["background_logits"][:, None])
        log_background, background = column[0][:, 0], column[1][:, 0]
    if "noise_root" in free:
        family = family.with_noise_variance(float(max(free["noise_root"][0] ** 2, 1e-8)))
    if "family" in free:
        family = family.with_free_parameters(free["family"])
    if "log_prior" in free:
        prior = np.exp(free["log_prior"])
    zeta = free.get("covariate_coef")
    model = ModelState(
        topics,
        inclusion,
        background,
        free["coef"].copy(),
        family,
        prior,
        template.intercept,
        template.covariate_coef if zeta is None else zeta.copy(),
    )
    return Constrained(model, log_topics, log_background)


def _log_softmax(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log softmax and softmax of each column."""
    log_p, p = np.empty_like(logits), np.empty_like(logits)
    log_softmax_columns(logits, log_p, p)
    return log_p, p
