"""E log p(y | θ) of a document as a function of q(θ) = Dirichlet(γ), with its gradients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicfocus.families.base import row_expectation
from topicfocus.kernels.compile import helper
from topicfocus.kernels.special import trigamma


class LocalTarget(NamedTuple):
    """A document's targets y, their weights w, its offsets o, and η (predictors x topics)."""

    value: np.ndarray
    weight: np.ndarray
    offset: np.ndarray
    coef: np.ndarray


@helper
def target_moments(concentration, coef):
    """Mean and variance of η·θ under Dirichlet(γ): μ = η·γ/γ₀, ν = (Σ η²γ/γ₀ - μ²)/(γ₀ + 1)."""
    total = 0.0
    mean = 0.0
    second = 0.0
    for k in range(coef.shape[0]):
        total += concentration[k]
        mean += coef[k] * concentration[k]
        second += coef[k] * coef[k] * concentration[k]
    mean /= total
    second /= total
    return mean, max(second - mean * mean, 0.0) / (total + 1.0)


@helper
def expected_target(family, target, concentration, moments):
    """Σ_t w_t E[log p(y_t | f)]; writes μ, ν and the derivatives in them to the rows of moments."""
    for l in range(target.coef.shape[0]):
        mean, variance = target_moments(concentration, target.coef[l])
        moments[0, l] = mean + target.offset[l]
        moments[1, l] = variance
    return row_expectation(
        family, target.value, target.weight, moments[0], moments[1], moments[2], moments[3]
    )


@helper
def target_gradient(family, target, concentration, moments, out):
    """out = ∇_γ Σ_t w_t E[log p(y_t | f)], f_l of mean μ_l(γ) and variance ν_l(γ)."""
    n_topics = concentration.shape[0]
    total = 0.0
    for k in range(n_topics):
        total += concentration[k]
        out[k] = 0.0
    expected_target(family, target, concentration, moments)
    for l in range(target.coef.shape[0]):
        coef = target.coef[l]
        mean = moments[0, l] - target.offset[l]
        variance = moments[1, l]
        slope = moments[2, l]
        bend = moments[3, l]
        square = variance * (total + 1.0) + mean * mean  # Σ η² γ/γ₀
        for k in range(n_topics):
            d_mean = (coef[k] - mean) / total
            d_square = (coef[k] * coef[k] - square) / total
            d_variance = (d_square - 2.0 * mean * d_mean - variance) / (total + 1.0)
            out[k] += slope * d_mean + bend * d_variance


@helper
def target_natural_gradient(family, target, concentration, moments, out):
    """out = F⁻¹ ∇_γ of the target's part, F = diag ψ'(γ) - ψ'(γ₀)11ᵀ, by Sherman-Morrison."""
    n_topics = concentration.shape[0]
    if n_topics == 1:  # θ = 1 with certainty, and F is zero
        out[0] = 0.0
        return
    target_gradient(family, target, concentration, moments, out)
    total = 0.0
    scaled_sum = 0.0
    inverse_sum = 0.0
    for k in range(n_topics):
        total += concentration[k]
        inverse = 1.0 / trigamma(concentration[k])
        scaled_sum += inverse * out[k]
        inverse_sum += inverse
    spread = trigamma(total)
    common = spread * scaled_sum / (1.0 - spread * inverse_sum)
    for k in range(n_topics):
        out[k] = (out[k] + common) / trigamma(concentration[k])


@helper
def has_target(weight):
    """Whether any of a document's targets is known."""
    for t in range(weight.shape[0]):  # noqa: SIM110 (compiled code has no generators)
        if weight[t] > 0.0:
            return True
    return False
