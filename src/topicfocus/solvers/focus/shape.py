"""Shape topics on a fixed set of words: L-BFGS on the constrained objective, exact gradients.

    maximise  J(W, η, b, ζ) - ½τ Σ_vk (W̃_vk - W̃⁰_vk)²,   β_·k = softmax(W_·k),

W̃ being W less its mean over topics. W⁰ is where the topics start and what τ holds them to. Full
passes and a deterministic optimiser: the same data give the same topics, whatever the seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from topicfocus.inference.channels import softmax_gradient
from topicfocus.inference.focused.constrained import constrained_pass
from topicfocus.inference.state import ModelState, Problem
from topicfocus.solvers.focus.stopping import Watch

#: Curvature of J in a word's logits, a token: what `ShapeSettings.scaled` divides out. A tenth of
#: what complete data would give, since most of a token's topic is unknown; 0.1 and 0.5 do alike.
_TOKEN_CURVATURE = 0.1


@dataclass(frozen=True)
class ShapeSettings:
    """How topics are shaped.

    Attributes
    ----------
    hold : float
        τ, the pull towards the starting topics.
    coef_bound : array like η, or None
        |η| at most; None leaves η as it starts. A bound below what the data would take keeps the
        topics from leaning on a few words: the gradient of the target then rewards covariance with
        it, not the last bit of fit; η is refitted afterwards.
    max_steps : int
        L-BFGS iterations.
    scaled : bool
        Whether L-BFGS works in W_v·√(τ + n_v/10), in which frequent and rare words have about the
        same curvature.
    """

    hold: float
    coef_bound: np.ndarray | None
    max_steps: int = 60
    scaled: bool = False


@dataclass(frozen=True)
class Shaped:
    """Topics, the number of steps they took, and whether the user interrupted."""

    state: ModelState
    steps: int
    interrupted: bool


def _centre(logits: np.ndarray) -> np.ndarray:
    return logits - logits.mean(axis=1, keepdims=True)


def _scale(problem: Problem, settings: ShapeSettings, n_topics: int, others: int) -> np.ndarray:
    """What every free parameter is multiplied by for L-BFGS: words x topics, then η, b and ζ."""
    curvature = settings.hold + _TOKEN_CURVATURE * problem.word_counts
    size = np.sqrt(curvature / np.median(curvature)) if settings.scaled else 1.0
    size = np.broadcast_to(size, (problem.corpus.n_words,))
    return np.concatenate([np.repeat(size, n_topics), np.ones(others)])


def shape_topics(
    problem: Problem,
    start: ModelState,
    logits: np.ndarray,
    settings: ShapeSettings,
    report: Callable[[float, float], None] | None = None,
    begin: np.ndarray | None = None,
    watch: Watch | None = None,
) -> Shaped:
    """Topics maximising the objective held to `logits`.

    They start from `begin`, or from `logits` themselves. `report(objective, validation)` is called
    after every iteration, with what `watch` found or NaN. `watch` may end the iterations early; an
    interrupt ends them with the topics of the last one.
    """
    n_words, n_topics = logits.shape
    size = n_words * n_topics
    held = _centre(logits)
    theta = np.full((problem.n_docs, n_topics), 1.0 / n_topics)
    free_coef = settings.coef_bound is not None
    covariates = np.zeros((0, start.n_predictors))
    if start.covariate_coef is not None:
        covariates = start.covariate_coef
    rest = [start.coef, np.broadcast_to(start.intercept, (start.n_predictors,)), covariates]
    scale = _scale(problem, settings, n_topics, sum(part.size for part in rest))
    documents = max(problem.size, 1e-300)
    taken = 0
    last: np.ndarray | None = None
    kept: tuple[np.ndarray, int] | None = None  # the last state that was not worse, and its step

    def unpack(x: np.ndarray) -> tuple[np.ndarray, ModelState]:
        x = x / scale
        weights = x[:size].reshape(n_words, n_topics)
        ends = size + np.cumsum([part.size for part in rest])
        return weights, replace(
            start,
            topic_word=softmax(weights, axis=0),
            coef=x[size : ends[0]].reshape(start.coef.shape).copy(),
            intercept=x[ends[0] : ends[1]].copy(),
            covariate_coef=x[ends[1] :].reshape(covariates.shape).copy()
            if len(covariates)
            else None,
        )

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        weights, state = unpack(x)
        # θ̂ takes a last Newton step after this tolerance, which squares its error.
        found = constrained_pass(problem, state, theta, tolerance=1e-4)
        away = _centre(weights) - held
        value = found.value - 0.5 * settings.hold * np.sum(away * away)
        gradient = softmax_gradient(found.log_topic_gradient, state.topic_word)
        gradient -= settings.hold * away
        d_coef = found.coef_gradient if free_coef else np.zeros(start.coef.shape)
        parts = [gradient, d_coef, found.intercept_gradient, found.covariate_gradient]
        flat = np.concatenate([part.ravel() for part in parts])
        # Per document, so that L-BFGS's first step has a sensible length.
        return -value / documents, -flat / (scale * documents)

    def look(watch: Watch, x: np.ndarray) -> float:
        nonlocal kept
        # θ̂ of the training documents is at hand: x is where the objective was computed last.
        share, worse = watch.check(unpack(x)[1], theta)
        if kept is None or not worse:
            kept = x, taken
        return share

    def after(intermediate_result: Any) -> None:
        nonlocal taken, last
        taken += 1
        last = intermediate_result.x.copy()
        share = look(watch, last) if watch is not None and watch.due(taken) else math.nan
        if report is not None:
            report(-intermediate_result.fun, share)
        if watch is not None and watch.stop:
            raise StopIteration

    limits = None
    if settings.coef_bound is not None:
        limits = [(None, None)] * len(scale)
        for i, bound in enumerate(settings.coef_bound.ravel()):
            limits[size + i] = (-bound, bound)
    begin = logits if begin is None else begin
    first = scale * np.concatenate([begin.ravel(), *(part.ravel() for part in rest)])
    try:
        minimize(
            objective,
            first,
            jac=True,
            method="L-BFGS-B",
            bounds=limits,
            callback=after,
            options={"maxiter": settings.max_steps, "maxcor": 10},
        )
        if watch is not None and last is not None and not watch.due(taken):
            objective(last)
            look(watch, last)
    except KeyboardInterrupt:
        if last is None:
            raise
        return Shaped(unpack(last)[1], taken, True)
    if kept is None:
        kept = (first if last is None else last), taken
    return Shaped(unpack(kept[0])[1], kept[1], False)
