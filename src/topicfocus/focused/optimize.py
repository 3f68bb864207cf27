"""Optimise the topics on the words kept, by L-BFGS with exact gradients.

    maximise  J(W, η, b, ζ) - ½τ Σ_vk (W̃_vk - W̃⁰_vk)²,   β_·k = softmax(W_·k),

W̃ being W minus its mean over topics. W⁰, the initial logits, is the mean of a Normal prior with
precision τ. The optimiser is deterministic, so that the same data give the same topics for any
seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from topicfocus.focused.objective import constrained_pass
from topicfocus.model import ModelState, Problem

#: Curvature of J in the logit of a word in a topic, per token of the word in the topic: half of
#: that with known topics of tokens. With 0.1, 0.3 and 1 one or two more steps are needed.
_TOKEN_CURVATURE = 0.5


def optimize_topics(
    problem: Problem,
    start: ModelState,
    logits: np.ndarray,
    prior_precision: float | np.ndarray,
    coef_bound: np.ndarray | None,
    max_steps: int,
    report: Callable[[float], None] | None = None,
) -> tuple[ModelState, np.ndarray]:
    """Topics that maximise the objective, and θ̂ of the documents at the last evaluation.

    Parameters
    ----------
    problem : Problem
    start : ModelState
        Initial η, b and ζ, and what stays as it is.
    logits : array (words, topics)
        W⁰, the initial logits and the mean of their prior.
    prior_precision : float or array (topics,)
        τ, of all topics or of each.
    coef_bound : array like η, or None
        Bound of |η|; None keeps the initial η. With small coefficients the gradient of the target
        rewards covariance with it; η is refitted afterwards.
    max_steps : int
        Largest number of L-BFGS iterations.
    report : function, optional
        Called with the objective after every iteration.
    """
    loss = NegativeObjective(problem, start, logits, prior_precision, coef_bound)

    def callback(intermediate_result: Any) -> None:  # the name that scipy requires
        if report is not None:
            report(-intermediate_result.fun)

    found = minimize(
        loss,
        loss.first(logits),
        jac=True,
        method="L-BFGS-B",
        bounds=loss.limits(),
        callback=callback,
        options={"maxiter": max_steps, "maxcor": 10},
    )
    return loss.state(found.x), loss.theta


class NegativeObjective:
    """Minus the objective as a function of one vector: W (words x topics), then η, b and ζ.

    L-BFGS works on each parameter times its `scale`, the root of its curvature per document. The
    curvature is τ + n_vk/2 for the logits of a word, n_vk = n_v β⁰_vk/Σ_j β⁰_vj; the weight of the
    targets for b and ζ; and for η that weight times the variance of proportions. In these units the
    curvature is about one, and a gradient step has about the right length. `theta` is θ̂ of the
    documents at the last evaluation, and the start of the next.
    """

    def __init__(
        self,
        problem: Problem,
        start: ModelState,
        logits: np.ndarray,
        prior_precision: float | np.ndarray,
        coef_bound: np.ndarray | None,
    ) -> None:
        self.problem, self.start = problem, start
        self.precision, self.coef_bound = prior_precision, coef_bound
        n_topics = logits.shape[1]
        self.theta = np.full((problem.n_docs, n_topics), 1.0 / n_topics)
        self._shape = logits.shape
        self._centre = _centred(logits)
        covariates = np.zeros((0, start.n_predictors))
        if start.covariate_coef is not None:
            covariates = start.covariate_coef
        intercept = np.broadcast_to(start.intercept, (start.n_predictors,))
        self._rest = [start.coef, intercept, covariates]
        self._ends = logits.size + np.cumsum([0, *(part.size for part in self._rest)])
        self._documents = max(problem.size, 1e-300)
        self.scale = self._root_curvature(logits)

    def _root_curvature(self, logits: np.ndarray) -> np.ndarray:
        topics = softmax(logits, axis=0)
        tokens = self.problem.word_counts[:, None] * topics / topics.sum(axis=1, keepdims=True)
        words = self.precision + _TOKEN_CURVATURE * tokens
        targets = max(float(self.problem.full_weights.sum()), 1e-300)
        rest = np.full(self._ends[-1] - self._ends[0], targets)
        rest[: self._rest[0].size] /= logits.shape[1] ** 2  # proportions differ by about 1/K
        return np.sqrt(np.concatenate([words.ravel(), rest]) / self._documents)

    def first(self, logits: np.ndarray) -> np.ndarray:
        """The initial vector, after a change of units that gives the first step the right length.

        The first step of L-BFGS has length one for any gradient; with a curvature of one, it should
        be the gradient itself. Without this, a tenth of all evaluations search for that length.
        """
        x = self.pack(logits)
        gradient = self(x)[1]
        unit = max(float(np.sqrt(gradient @ gradient)), 1e-300)
        self.scale /= unit
        return x / unit

    def pack(self, logits: np.ndarray) -> np.ndarray:
        """The vector of these logits and the initial η, b and ζ."""
        return self.scale * np.concatenate([logits.ravel(), *(part.ravel() for part in self._rest)])

    def _parts(self, x: np.ndarray) -> tuple[np.ndarray, ModelState]:
        x = x / self.scale
        size, coef_end, intercept_end, _ = self._ends
        logits = x[:size].reshape(self._shape)
        covariates = x[intercept_end:].reshape(self._rest[2].shape).copy()
        coef, bound = x[size:coef_end].copy(), self.coef_bound
        if bound is not None:  # which rounding may exceed
            coef = np.clip(coef, -bound.ravel(), bound.ravel())
        return logits, replace(
            self.start,
            topic_word=softmax(logits, axis=0),
            coef=coef.reshape(self.start.coef.shape),
            intercept=x[coef_end:intercept_end].copy(),
            covariate_coef=covariates if len(covariates) else None,
        )

    def state(self, x: np.ndarray) -> ModelState:
        """The model of a vector."""
        return self._parts(x)[1]

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the objective per document, and its gradient."""
        logits, state = self._parts(x)
        # Newton's last step squares this tolerance, and J without the target is stationary in θ̂.
        # 1e-4 gives the same topics in a third more time.
        found = constrained_pass(self.problem, state, self.theta, tolerance=1e-2)
        precision = self.precision
        away = _centred(logits) - self._centre
        value = found.value - 0.5 * np.sum(precision * away * away)
        gradient = found.log_topic_gradient
        gradient = gradient - state.topic_word * gradient.sum(axis=0)  # of softmax
        gradient -= _centred(precision * away)
        d_coef = found.coef_gradient
        if self.coef_bound is None:
            d_coef = np.zeros(self.start.coef.shape)
        parts = [gradient, d_coef, found.intercept_gradient, found.covariate_gradient]
        flat = np.concatenate([part.ravel() for part in parts])
        return -value / self._documents, -flat / (self.scale * self._documents)

    def limits(self) -> list[tuple[float | None, float | None]] | None:
        """Bounds of |η|."""
        bounds = self.coef_bound
        if bounds is None:
            return None
        limits: list[tuple[float | None, float | None]] = [(None, None)] * len(self.scale)
        for i, bound in enumerate(bounds.ravel(), start=self._ends[0]):
            limits[i] = (-bound * self.scale[i], bound * self.scale[i])
        return limits


def _centred(logits: np.ndarray) -> np.ndarray:
    return logits - logits.mean(axis=1, keepdims=True)
