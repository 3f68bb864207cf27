"""Shape: topics on the kept words by L-BFGS on the constrained objective, with exact gradients.

    maximise  J(W, η, b, ζ) - ½τ Σ_vk (W̃_vk - W̃⁰_vk)²,   β_·k = softmax(W_·k),

W̃ being W less its mean over topics. W⁰ is where the topics start, and the centre of a Normal prior
of precision τ. Full passes and a deterministic optimiser: the same data give the same topics,
whatever the seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from topicfocus.focused.early_stopping import Watch
from topicfocus.focused.objective import constrained_pass
from topicfocus.inference.channels import softmax_gradient
from topicfocus.inference.state import ModelState, Problem

#: Curvature of J in a word's logit of a topic, for each of its tokens that are of the topic: what
#: `ShapeSettings.scaled` divides out. Half of what complete data would give, since much of a
#: token's topic is unknown; 0.1, 0.3 and 1 are a step or two behind.
_TOKEN_CURVATURE = 0.5


@dataclass(frozen=True, kw_only=True)
class ShapeSettings:
    """How topics are shaped.

    Attributes
    ----------
    prior_precision : float
        τ, the pull towards the starting topics.
    coef_bound : array like η, or None
        |η| at most; None leaves η as it starts. A bound below what the data would take keeps the
        topics from leaning on a few words: the gradient of the target then rewards covariance with
        it, not the last bit of fit; η is refitted afterwards.
    max_steps : int
        L-BFGS iterations.
    scaled : bool
        Whether L-BFGS works in W_vk·√(τ + n_vk/2), n_vk being the tokens of the word that the
        topics to begin with give to topic k: frequent and rare words, and topics that have the
        word or not, have about the same curvature in these units.
    """

    prior_precision: float
    coef_bound: np.ndarray | None
    max_steps: int = 60
    scaled: bool = False


@dataclass(frozen=True, kw_only=True)
class Shaped:
    """Topics, and the number of steps they took.

    `mixes`: θ̂ of the documents near there, under the prior of shaping; None without any step.
    """

    state: ModelState
    steps: int
    mixes: np.ndarray | None = None


def shape_topics(
    problem: Problem,
    start: ModelState,
    logits: np.ndarray,
    settings: ShapeSettings,
    report: Callable[[float, float], None] | None = None,
    begin: np.ndarray | None = None,
    watch: Watch | None = None,
) -> Shaped:
    """Topics maximising the objective, with a prior around `logits`.

    They start from `begin`, or from `logits` themselves. `report(objective, validation)` is called
    after every iteration, with what `watch` found or NaN. `watch` may end the iterations early.
    """
    shaping = ShapingProblem(problem, start, logits, settings)
    path = Path(shaping, shaping.settle(logits if begin is None else begin), watch, report)
    minimize(
        shaping.loss,
        path.first,
        jac=True,
        method="L-BFGS-B",
        bounds=shaping.limits(),
        callback=path.step,
        options={"maxiter": settings.max_steps, "maxcor": 10},
    )
    path.look_at_the_end()
    x, steps = path.kept()
    return Shaped(state=shaping.state(x), steps=steps, mixes=shaping.theta)


class ShapingProblem:
    """The objective as a function of one vector: W over words x topics, then η, b and ζ.

    Each parameter is multiplied by its `scale` for L-BFGS. `theta` is θ̂ of the documents where the
    objective was computed last, from which it is found next time.
    """

    def __init__(
        self, problem: Problem, start: ModelState, logits: np.ndarray, settings: ShapeSettings
    ) -> None:
        self.problem, self.start, self.settings = problem, start, settings
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
        self.scale = self._scale(logits)
        self._known: tuple[np.ndarray, tuple[float, np.ndarray]] | None = None

    def _scale(self, logits: np.ndarray) -> np.ndarray:
        """Roots of the curvature a document, where asked for; else one.

        τ + n_vk/2 of a word's logits, n_vk = n_v β_vk/Σ_j β_vj; the weight of the targets of b and
        ζ, and of η by how far mixes may differ. In such units the curvature is about one, and a
        step down the gradient is about as long as it should be.
        """
        n_rest, n_topics = self._ends[-1] - self._ends[0], logits.shape[1]
        if not self.settings.scaled:
            return np.ones(logits.size + n_rest)
        topics = softmax(logits, axis=0)
        tokens = self.problem.word_counts[:, None] * topics / topics.sum(axis=1, keepdims=True)
        words = self.settings.prior_precision + _TOKEN_CURVATURE * tokens
        targets = max(float(self.problem.full_weights.sum()), 1e-300)
        rest = np.full(n_rest, targets)
        rest[: self._rest[0].size] /= n_topics**2  # mixes differ by no more than about 1/K
        curvature = np.concatenate([words.ravel(), rest])
        return np.sqrt(curvature / self._documents)

    def settle(self, logits: np.ndarray) -> np.ndarray:
        """The vector to begin with, in units that make L-BFGS's first step a sensible one.

        That step has the length one, whatever the gradient; it is to be the gradient itself where
        the curvature is one. Without this a tenth of all evaluations goes to finding its length.
        """
        x = self.pack(logits)
        if self.settings.scaled:
            value, gradient = self.loss(x)
            unit = max(float(np.sqrt(gradient @ gradient)), 1e-300)
            self.scale /= unit
            x = x / unit
            self._known = x, (value, unit * gradient)
        return x

    def pack(self, logits: np.ndarray) -> np.ndarray:
        """The vector of topics with these logits and η, b and ζ as they start."""
        return self.scale * np.concatenate([logits.ravel(), *(part.ravel() for part in self._rest)])

    def _parts(self, x: np.ndarray) -> tuple[np.ndarray, ModelState]:
        """W, and the model."""
        x = x / self.scale
        size, coef_end, intercept_end, _ = self._ends
        logits = x[:size].reshape(self._shape)
        covariates = x[intercept_end:].reshape(self._rest[2].shape).copy()
        coef, bound = x[size:coef_end].copy(), self.settings.coef_bound
        if bound is not None:  # of other units than L-BFGS's, so that rounding may exceed it
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

    def loss(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the objective, a document, and its gradient."""
        if self._known is not None and np.array_equal(x, self._known[0]):
            return self._known[1]
        logits, state = self._parts(x)
        # θ̂ takes a last Newton step after this tolerance, which squares its error, and J is
        # stationary in θ̂ but for the target: 1e-4 gave the same topics, a third slower.
        found = constrained_pass(self.problem, state, self.theta, tolerance=1e-2)
        precision = self.settings.prior_precision
        away = _centred(logits) - self._centre
        value = found.value - 0.5 * precision * np.sum(away * away)
        gradient = softmax_gradient(found.log_topic_gradient, state.topic_word)
        gradient -= precision * away
        d_coef = found.coef_gradient
        if self.settings.coef_bound is None:
            d_coef = np.zeros(self.start.coef.shape)
        parts = [gradient, d_coef, found.intercept_gradient, found.covariate_gradient]
        flat = np.concatenate([part.ravel() for part in parts])
        # Per document, so that L-BFGS's first step has a sensible length.
        return -value / self._documents, -flat / (self.scale * self._documents)

    def limits(self) -> list[tuple[float | None, float | None]] | None:
        """|η| at most its bound."""
        bounds = self.settings.coef_bound
        if bounds is None:
            return None
        limits: list[tuple[float | None, float | None]] = [(None, None)] * len(self.scale)
        for i, bound in enumerate(bounds.ravel(), start=self._ends[0]):
            limits[i] = (-bound * self.scale[i], bound * self.scale[i])
        return limits


class Path:
    """The steps of L-BFGS: where they are, and the last place that was not worse than the best."""

    def __init__(
        self,
        shaping: ShapingProblem,
        first: np.ndarray,
        watch: Watch | None,
        report: Callable[[float, float], None] | None,
    ) -> None:
        self._shaping, self._watch, self._report = shaping, watch, report
        self.first = first
        self.last: np.ndarray | None = None
        self.taken = 0
        self._good: tuple[np.ndarray, int] | None = None

    def step(self, intermediate_result: Any) -> None:
        """Called by `minimize` after every iteration, by this name of its argument."""
        self.taken += 1
        self.last = intermediate_result.x.copy()
        share = math.nan
        if self._watch is not None and self._watch.due(self.taken):
            share = self._look(self._watch, self.last)
        if self._report is not None:
            self._report(-intermediate_result.fun, share)
        if self._watch is not None and self._watch.stop:
            raise StopIteration

    def _look(self, watch: Watch, x: np.ndarray) -> float:
        # θ̂ of the training documents is at hand: x is where the objective was computed last.
        share, worse = watch.check(self._shaping.state(x), self._shaping.theta)
        if self._good is None or not worse:
            self._good = x, self.taken
        return share

    def look_at_the_end(self) -> None:
        """The held-out documents have their say on the last steps, too."""
        if self._watch is None or self.last is None or self._watch.due(self.taken):
            return
        self._shaping.loss(self.last)
        self._look(self._watch, self.last)

    def reached(self) -> tuple[np.ndarray, int]:
        """The last place, and its step."""
        return (self.first if self.last is None else self.last), self.taken

    def kept(self) -> tuple[np.ndarray, int]:
        """The last place that was not worse, and its step."""
        return self.reached() if self._good is None else self._good


def _centred(logits: np.ndarray) -> np.ndarray:
    return logits - logits.mean(axis=1, keepdims=True)
