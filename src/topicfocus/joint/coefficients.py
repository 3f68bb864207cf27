"""The expected log-likelihood of the targets as a function of η, ζ and the families, with γ fixed.

    Q(η, ζ) = Σ_d Σ_t w_dt E[log p(y_dt | f_d)],  f_dl of mean μ_dl and variance ν_dl,
    μ_dl = o_dl + ζ_l·z_d + η_l·θ̄_d,  ν_dl = (Σ_k η_lk² θ̄_dk - (η_l·θ̄_d)²)/(γ_d0 + 1).

For Gaussian targets Q is quadratic, and one Newton step is the closed form
η = (Σ E[θθᵀ])⁻¹ Σ y E[θ] of Ren, Kunes and Doshi-Velez (2020). Other families need a few steps.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from topicfocus.families import for_kernels
from topicfocus.kernels.likelihood import expectation_rows, in_blocks
from topicfocus.model import ModelState, Problem

_NEWTON_STEPS = 25
_HALVINGS = 30


def penalty_of(state: ModelState, penalty: float) -> float:
    """½·penalty·(|η|² + |ζ|²)."""
    size = float(np.sum(state.coef**2))
    if state.covariate_coef is not None:
        size += float(np.sum(state.covariate_coef**2))
    return 0.5 * penalty * size


class TargetMoments:
    """θ̄ and γ₀ of the documents with targets, and Q with its derivatives.

    The coefficients are one matrix, (topics + covariates) x predictors, η above ζ.
    """

    def __init__(self, problem: Problem, concentration: np.ndarray) -> None:
        weight = problem.full_weights
        known = np.any(weight > 0, axis=1)
        gamma = concentration[known]
        self.total = gamma.sum(axis=1)
        self.mean = gamma / self.total[:, None]
        self.target = problem.targets[known]
        self.weight = weight[known]
        self.offset = 0.0 if problem.offset is None else problem.offset[known]
        self.n_topics = gamma.shape[1]
        self.design = self.mean
        if problem.covariates is not None:
            self.design = np.column_stack([self.mean, problem.covariates[known]])

    def predictor(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """μ and ν, documents x predictors."""
        eta = coef[: self.n_topics]
        from_topics = self.mean @ eta
        mu = self.design @ coef + self.offset
        nu = np.maximum(self.mean @ eta**2 - from_topics**2, 0.0) / (self.total + 1.0)[:, None]
        return mu, nu

    def _rows(self, family: Any, mu: np.ndarray, nu: np.ndarray) -> tuple:
        rows = partial(expectation_rows, for_kernels(family))
        return in_blocks(rows, self.target, self.weight, mu, nu)

    def value(self, family: Any, coef: np.ndarray) -> float:
        """Q."""
        mu, nu = self.predictor(coef)
        return float(self._rows(family, mu, nu)[0].sum())

    def gradient(self, family: Any, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """∇Q and the two factors of its curvature, documents x predictors."""
        mu, nu = self.predictor(coef)
        _, slope, by_variance = self._rows(family, mu, nu)
        # ∂/∂ν is the change of E log p per unit of E f²: exact for Gaussian targets, a quadratic
        # minoriser of the bound for the others.
        bend = 2.0 * by_variance
        spread = bend / (self.total + 1.0)[:, None]
        eta = coef[: self.n_topics]
        # ½ ∂ν/∂η_k = θ̄_k (η_k - η·θ̄)/(γ₀ + 1)
        gradient = self.design.T @ slope
        gradient[: self.n_topics] += eta * (self.mean.T @ spread)
        gradient[: self.n_topics] -= self.mean.T @ (spread * (self.mean @ eta))
        return gradient, bend, spread

    def curvature(self, bend: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """A positive semi-definite approximation of -∇²Q for one predictor, from its factors.

        Exact for Gaussian targets, otherwise the curvature of a quadratic lower bound of Q.
        """
        k = self.n_topics
        out = self.design.T @ (self.design * -bend[:, None])
        out[:k, :k] += self.mean.T @ (self.mean * spread[:, None]) - np.diag(self.mean.T @ spread)
        return out


def stacked(state: ModelState, n_covariates: int) -> np.ndarray:
    """η above ζ, (topics + covariates) x predictors."""
    zeta = state.covariate_coef
    if zeta is None:
        zeta = np.zeros((n_covariates, state.n_predictors))
    return np.vstack([state.coef.reshape(state.n_topics, -1), zeta])


def _unstacked(state: ModelState, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    zeta = coef[state.n_topics :]
    return coef[: state.n_topics].reshape(state.coef.shape), zeta if len(zeta) else None


def coef_gradient(
    problem: Problem, state: ModelState, concentration: np.ndarray, penalty: float = 0.0
) -> dict[str, np.ndarray]:
    """∇(Q - ½·penalty·(|η|² + |ζ|²)) at a state, by the names of free parameters (`adam`)."""
    coef = stacked(state, 0)
    gradient, free = np.zeros_like(coef), np.zeros(len(state.family.free_parameters()))
    if problem.supervised:
        moments = TargetMoments(problem, concentration)
        gradient = moments.gradient(state.family, coef)[0]
        mu, nu = moments.predictor(coef)
        free = state.family.rows_free_gradient(moments.target, mu, nu, moments.weight)
    of_topics, of_covariates = _unstacked(state, gradient - penalty * coef)
    found = {"coef": of_topics, "covariate_coef": of_covariates, "family": free}
    return {name: part for name, part in found.items() if part is not None and part.size}


def update_coef(
    problem: Problem, state: ModelState, concentration: np.ndarray, penalty: float
) -> tuple[np.ndarray, np.ndarray | None, Any]:
    """η, ζ and the family maximising Q - ½·penalty·(|η|² + |ζ|²), one after the other.

    Q never falls.
    """
    if not problem.supervised:
        return state.coef, state.covariate_coef, state.family
    moments = TargetMoments(problem, concentration)
    n_covariates = moments.design.shape[1] - moments.n_topics
    coef = stacked(state, n_covariates)
    value = moments.value(state.family, coef) - 0.5 * penalty * np.sum(coef * coef)
    for _ in range(_NEWTON_STEPS):
        gradient, bend, spread = moments.gradient(state.family, coef)
        gradient -= penalty * coef
        step = np.empty_like(coef)
        for l in range(coef.shape[1]):
            curvature = moments.curvature(bend[:, l], spread[:, l])
            # A small ridge, because a topic that no document uses would make this singular.
            ridge = penalty + 1e-10 * np.trace(curvature) / len(coef)
            step[:, l] = np.linalg.solve(curvature + ridge * np.eye(len(coef)), gradient[:, l])
        rate, rose = 1.0, False
        for _ in range(_HALVINGS):
            trial = coef + rate * step
            after = moments.value(state.family, trial) - 0.5 * penalty * np.sum(trial * trial)
            if after > value:
                coef, gain, value, rose = trial, after - value, after, True
                break
            rate *= 0.5
        if not rose or gain <= 1e-13 * abs(value):
            break
    mu, nu = moments.predictor(coef)
    family = state.family.rows_update_dispersion(moments.target, mu, nu, moments.weight)
    return *_unstacked(state, coef), family
