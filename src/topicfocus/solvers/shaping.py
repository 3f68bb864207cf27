"""Shape topics on a fixed set of words: L-BFGS on the constrained objective, exact gradients.

    maximise  J(W, η, b) - ½τ Σ_vk (W̃_vk - W̃⁰_vk)²,   β_·k = softmax(W_·k),

W̃ being W less its mean over topics. W⁰ is where the topics start and what τ holds them to. Full
passes and a deterministic optimiser: the same data give the same topics, whatever the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from topicfocus.families import Gaussian, mean_response
from topicfocus.inference.constrained import constrained_pass
from topicfocus.inference.state import ModelState, Problem
from topicfocus.inference.unconstrained import softmax_gradient
from topicfocus.kernels.likelihood import likelihood_table


@dataclass(frozen=True)
class ShapeSettings:
    """How topics are shaped.

    Attributes
    ----------
    hold : float
        τ, the pull towards the starting topics.
    coef_bound : float or None
        |η_k| at most; None leaves η as it starts. A bound below what the data would take keeps the
        topics from leaning on a few words: the gradient of the target then rewards covariance with
        it, not the last bit of fit; η is refitted afterwards.
    max_steps : int
        L-BFGS iterations.
    """

    hold: float
    coef_bound: float | None
    max_steps: int = 60


def _centre(logits: np.ndarray) -> np.ndarray:
    return logits - logits.mean(axis=1, keepdims=True)


def shape_topics(
    problem: Problem,
    start: ModelState,
    logits: np.ndarray,
    settings: ShapeSettings,
    report: Callable[[float], None] | None = None,
    begin: np.ndarray | None = None,
) -> tuple[ModelState, bool]:
    """Topics maximising the objective held to `logits`, and whether the user interrupted.

    They start from `begin`, or from `logits` themselves. `report(objective)` is called after every
    iteration. An interrupt ends the iterations with the topics of the last one.
    """
    n_words, n_topics = logits.shape
    size = n_words * n_topics
    held = _centre(logits)
    theta = np.full((problem.n_docs, n_topics), 1.0 / n_topics)
    free_coef = settings.coef_bound is not None
    best: dict[str, Any] = {"x": None, "value": None}

    def unpack(x: np.ndarray) -> tuple[np.ndarray, ModelState]:
        weights = x[:size].reshape(n_words, n_topics)
        return weights, replace(
            start,
            topic_word=softmax(weights, axis=0),
            coef=x[size : size + n_topics].copy(),
            intercept=float(x[-1]),
        )

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        weights, state = unpack(x)
        # θ̂ takes a last Newton step after this tolerance, which squares its error.
        found = constrained_pass(problem, state, theta, tolerance=1e-4)
        away = _centre(weights) - held
        value = found.value - 0.5 * settings.hold * np.sum(away * away)
        gradient = softmax_gradient(found.log_topic_gradient, state.topic_word)
        gradient -= settings.hold * away
        d_coef = found.coef_gradient if free_coef else np.zeros(n_topics)
        flat = np.concatenate([gradient.ravel(), d_coef, [found.intercept_gradient]])
        # Per document, so that L-BFGS's first step has a sensible length.
        return -value / problem.n_docs, -flat / problem.n_docs

    def after(intermediate_result: Any) -> None:
        best["x"], best["value"] = intermediate_result.x.copy(), -intermediate_result.fun
        if report is not None:
            report(best["value"])

    bound = settings.coef_bound
    limits = [(None, None)] * size
    limits += [(-bound, bound) if free_coef else (None, None)] * n_topics + [(None, None)]
    begin = logits if begin is None else begin
    first = np.concatenate([begin.ravel(), start.coef, [start.intercept]])
    interrupted = False
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
    except KeyboardInterrupt:
        if best["x"] is None:
            raise
        interrupted = True
    solution = first if best["x"] is None else best["x"]
    return unpack(solution)[1], interrupted


def refit_coef(
    mixes: np.ndarray, target: np.ndarray, weight: np.ndarray, family: Any, penalty: float = 1e-2
) -> tuple[np.ndarray, float]:
    """η and b of a GLM of the target on given topic mixes, by Newton; K + 1 numbers.

    Mixes are centred, and η has a small penalty, because they sum to one.
    """
    centre = mixes.mean(axis=0)
    design = np.column_stack([mixes - centre, np.ones(len(mixes))])
    ridge = np.full(design.shape[1], penalty)
    ridge[-1] = 1e-9
    family = Gaussian(1.0) if isinstance(family, Gaussian) else family
    level = _level(target, weight, family)
    x = np.zeros(design.shape[1])
    x[-1] = level
    for _ in range(100):
        _, slope, bend, _ = likelihood_table(family, target, design @ x)
        gradient = design.T @ (weight * slope) - ridge * np.append(x[:-1], 0.0)
        curvature = design.T @ (design * (weight * -bend)[:, None]) + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        if not isinstance(family, Gaussian):
            step *= min(1.0, 5.0 / max(np.abs(step).max(), 1e-300))
        x = x + step
        if np.abs(step).max() < 1e-8 * (1 + np.abs(x).max()):
            break
    return x[:-1], float(x[-1] - centre @ x[:-1])


def _level(target: np.ndarray, weight: np.ndarray, family: Any) -> float:
    """The constant predictor that fits the target best, by Newton from zero."""
    x = 0.0
    for _ in range(50):
        _, slope, bend, _ = likelihood_table(family, target, np.full(len(target), x))
        step = (weight @ slope) / max(-(weight @ bend), 1e-12)
        x += float(np.clip(step, -5.0, 5.0)) if not isinstance(family, Gaussian) else float(step)
        if abs(step) < 1e-10 * (1 + abs(x)):
            break
    return x


def shrink_to_held_out(
    predictor: np.ndarray, target: np.ndarray, family: Any
) -> tuple[float, float]:
    """(s, t): predictor ← s + t·predictor on documents not trained on, t in [0.1, 1].

    η is fitted to the documents that shaped the topics, and so is too sure of itself; only ever
    shrunken, never stretched.
    """
    family = Gaussian(1.0) if isinstance(family, Gaussian) else family
    one = np.ones(len(target))
    slope, _ = refit_coef(predictor[:, None], target, one, family, penalty=1e-6)
    factor = float(np.clip(slope[0], 0.1, 1.0))
    shift = 0.0
    for _ in range(50):
        _, first, second, _ = likelihood_table(family, target, shift + factor * predictor)
        step = first.sum() / max(-second.sum(), 1e-12)
        shift += (
            float(np.clip(step, -2.0, 2.0)) if not isinstance(family, Gaussian) else float(step)
        )
        if abs(step) < 1e-10:
            break
    return shift, factor


def explained_share(target: np.ndarray, predictor: np.ndarray, family: Any) -> float:
    """1 - deviance/null deviance: R² for a Gaussian target, McFadden's for classes."""
    family = Gaussian(1.0) if isinstance(family, Gaussian) else family
    null = np.full(len(target), _level(target, np.ones(len(target)), family))
    if isinstance(family, Gaussian):
        worst = float(np.sum((target - null) ** 2))
        return 1.0 - float(np.sum((target - mean_response(family, predictor)) ** 2)) / worst
    fit = likelihood_table(family, target, np.clip(predictor, -20.0, 20.0))[0].sum()
    return 1.0 - float(fit / likelihood_table(family, target, null)[0].sum())
