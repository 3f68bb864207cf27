"""How sure the documents are of the topics' coefficients.

A document of topic k alone has the linear predictor μ_k = b + η_k. Since topic mixes sum to one,
μ is the coefficient vector of θ̂ in a model without an intercept. Given the mixes its information is

    I = Σ_d w_d x_d x_dᵀ,   x_d = (θ̂_d, z_d),   w_d = -E[ℓ''(f_d)],

with w = 1/δ for real targets, p(1-p) for two classes, e^f for counts, Σ_c P'_c²/P_c for levels, and
p_c(1-p_c) for the predictor of class c. The standard error of μ_k is √(φ I⁻¹)_kk, where φ is the
documents' own dispersion about f (`dispersion`). The model's δ alone would not do: it is the noise
beyond what the words leave open of the mix, and given θ̂ that, too, is noise. What is left out: that
the topics themselves were found from data, and shrinkage, which makes coefficients surer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from topicfocus.estimators.coding import Coding
from topicfocus.families import level_probabilities, mean_response

#: Relative to the largest information; keeps topics that no document has from an error.
_JITTER = 1e-10


def fisher_weights(coding: Coding, family: Any, predictor: np.ndarray) -> np.ndarray:
    """w_d for each predictor of one target, documents x its predictors."""
    if coding.kind == "gaussian":
        return np.full(predictor.shape, 1.0 / max(family.noise_variance, 1e-300))
    if coding.kind == "poisson":
        return mean_response(family, predictor)
    if coding.kind == "ordinal":
        below = expit(family.thresholds - predictor)
        slope = np.diff(below * (1 - below), axis=1, prepend=0.0, append=0.0)
        p = np.maximum(level_probabilities(family, predictor[:, 0]), 1e-300)
        return np.sum(slope**2 / p, axis=1, keepdims=True)
    p = mean_response(family, predictor if coding.kind == "categorical" else predictor[:, 0])
    return (p * (1 - p)).reshape(predictor.shape)


def dispersion(coding: Coding, family: Any, predictor: np.ndarray, codes: np.ndarray) -> float:
    """φ: the mean squared residual over the variance that the family expects, Σ (y-μ)²/V(μ) / n.

    Of real targets, and of counts where it is at least 1; a class or a level has no free scale.
    """
    if coding.kind == "gaussian":
        return float(np.mean((codes - predictor) ** 2)) / max(family.noise_variance, 1e-300)
    if coding.kind == "poisson":
        mean = mean_response(family, predictor)
        return max(1.0, float(np.mean((codes - mean) ** 2 / np.maximum(mean, 1e-300))))
    return 1.0


def topic_errors(
    model: Any,
    mixes: np.ndarray,
    predictor: np.ndarray,
    codes: np.ndarray,
    covariates: np.ndarray | None = None,
) -> np.ndarray:
    """Standard errors of b + η_k, topics x predictors; documents without the target don't count."""
    n_topics = mixes.shape[1]
    design = mixes if covariates is None else np.column_stack([mixes, covariates])
    out = np.full((n_topics, predictor.shape[1]), np.nan)
    for t, (coding, own, where) in enumerate(model._parts()):
        known = np.isfinite(codes[:, t])
        if known.sum() <= design.shape[1]:
            continue
        x = design[known]
        weights = fisher_weights(coding, own, predictor[known, where])
        scale = dispersion(coding, own, predictor[known, where.start], codes[known, t])
        scale *= len(x) / (len(x) - x.shape[1])  # as many degrees of freedom are used up
        for l in range(weights.shape[1]):
            information = (x * weights[:, [l]]).T @ x
            information.flat[:: len(information) + 1] += _JITTER * information.max()
            variance = np.diag(np.linalg.pinv(information, hermitian=True))[:n_topics]
            out[:, where.start + l] = np.sqrt(np.maximum(scale * variance, 0.0))
    return out
