"""The target's part of the objective as a function of η and the dispersion, γ fixed.

    Q(η) = Σ_d w_d E[log p(y_d | f_d)],  f_d of mean μ_d and variance ν_d,
    μ_d = η·θ̄_d,  ν_d = (Σ_k η_k² θ̄_dk - μ_d²)/(γ_d0 + 1).

Gaussian targets make Q quadratic, so that one Newton step is the closed form
η = (Σ E[θθᵀ])⁻¹ Σ y E[θ] of the paper; every other family takes a few.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.families import dispersion_gradient, update_dispersion
from topicfocus.inference.state import ModelState, Problem
from topicfocus.kernels.likelihood import expectation_table

_NEWTON_STEPS = 25
_HALVINGS = 30


class TargetMoments:
    """θ̄ and γ₀ of the documents that have a target, and Q with its derivatives there."""

    def __init__(self, problem: Problem, concentration: np.ndarray) -> None:
        known = problem.target_weight > 0
        gamma = concentration[known]
        self.total = gamma.sum(axis=1)
        self.mean = gamma / self.total[:, None]
        self.target = problem.target[known]
        self.weight = problem.target_weight[known]

    def predictor(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """μ_d and ν_d."""
        mu = self.mean @ coef
        nu = np.maximum(self.mean @ coef**2 - mu**2, 0.0) / (self.total + 1.0)
        return mu, nu

    def value(self, family: Any, coef: np.ndarray) -> float:
        """Q(η)."""
        mu, nu = self.predictor(coef)
        return float(self.weight @ expectation_table(family, self.target, mu, nu)[0])

    def derivatives(self, family: Any, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """∇Q and a positive semi-definite stand-in for -∇²Q (exact for Gaussian targets)."""
        mu, nu = self.predictor(coef)
        _, by_mean, by_variance = expectation_table(family, self.target, mu, nu)
        slope = self.weight * by_mean
        # E log p falls by -∂/∂ν for each unit of E f²: exact for Gaussian targets, and the
        # quadratic minoriser of the bound for Bernoulli ones.
        bend = 2.0 * self.weight * by_variance
        spread = bend / (self.total + 1.0)
        # ½ ∂ν/∂η_k = θ̄_k (η_k - μ)/(γ₀ + 1)
        gradient = self.mean.T @ (slope - spread * mu) + coef * (self.mean.T @ spread)
        flat = self.mean.T @ (self.mean * (spread - bend)[:, None])
        curvature = flat - np.diag(self.mean.T @ spread)
        return gradient, curvature


def coef_statistics(
    problem: Problem, state: ModelState, concentration: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """∇Q, its curvature, and ∂Q/∂log(dispersion), at the state's η."""
    n_topics = state.n_topics
    if not problem.supervised:
        return np.zeros(n_topics), np.zeros((n_topics, n_topics)), 0.0
    moments = TargetMoments(problem, concentration)
    gradient, curvature = moments.derivatives(state.family, state.coef)
    mu, nu = moments.predictor(state.coef)
    change = dispersion_gradient(state.family, moments.target, mu)
    dispersion = 0.0
    if change is not None:
        dispersion = float(moments.weight @ (change[0] + 0.5 * change[1] * nu))
    return gradient, curvature, dispersion


def update_coef(
    problem: Problem, state: ModelState, concentration: np.ndarray, penalty: float
) -> tuple[np.ndarray, Any]:
    """η and the family maximising Q(η) - ½·penalty·|η|², then Q in the dispersion; never lower."""
    if not problem.supervised:
        return state.coef, state.family
    moments = TargetMoments(problem, concentration)
    coef = state.coef
    value = moments.value(state.family, coef) - 0.5 * penalty * (coef @ coef)
    for _ in range(_NEWTON_STEPS):
        gradient, curvature = moments.derivatives(state.family, coef)
        gradient = gradient - penalty * coef
        # A trace of ridge keeps a topic that no document uses from making the system singular.
        ridge = penalty + 1e-10 * np.trace(curvature) / len(coef)
        step = np.linalg.solve(curvature + ridge * np.eye(len(coef)), gradient)
        rate, rose = 1.0, False
        for _ in range(_HALVINGS):
            trial = coef + rate * step
            after = moments.value(state.family, trial) - 0.5 * penalty * (trial @ trial)
            if after > value:
                coef, gain, value, rose = trial, after - value, after, True
                break
            rate *= 0.5
        if not rose or gain <= 1e-10 * abs(value):
            break
    mu, nu = moments.predictor(coef)
    family = update_dispersion(state.family, moments.target, mu, nu, moments.weight)
    return coef, family
