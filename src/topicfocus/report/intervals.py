"""How sure the documents are of the topics' coefficients.

A document of topic k alone has the linear predictor μ_k = b + η_k. Since topic mixes sum to one,
μ is the coefficient vector of θ̂ in a model without an intercept. Given the mixes its information is

    I = Σ_d w_d x_d x_dᵀ,   x_d = (θ̂_d, z_d),   w_d = -E[ℓ''(f_d)],

with w = 1/δ for real targets, p(1-p) for two classes, e^f for counts, Σ_c P'_c²/P_c for levels, and
p_c(1-p_c) for the predictor of class c. The standard error of μ_k is √(φ I⁻¹)_kk, where φ is the
documents' own dispersion about f (`families.overdispersion`). The model's δ alone would not do: it
is the noise beyond what the words leave open of the mix, and given θ̂ that, too, is noise. What is
left out: that the topics themselves were found from data, and shrinkage, which makes coefficients
surer.
"""

from __future__ import annotations

import numpy as np

from topicfocus.estimators.fitted import Fitted

#: Relative to the largest information; keeps topics that no document has from an error.
_JITTER = 1e-10


def topic_errors(
    fitted: Fitted,
    mixes: np.ndarray,
    predictor: np.ndarray,
    codes: np.ndarray,
    covariates: np.ndarray | None = None,
) -> np.ndarray:
    """Standard errors of b + η_k, topics x predictors; documents without the target don't count."""
    n_topics = mixes.shape[1]
    design = mixes if covariates is None else np.column_stack([mixes, covariates])
    out = np.full((n_topics, predictor.shape[1]), np.nan)
    for t, part in enumerate(fitted.parts):
        own, where = part.family, part.where
        known = np.isfinite(codes[:, t])
        if known.sum() <= design.shape[1]:
            continue
        x = design[known]
        weights = own.information(predictor[known, where])
        scale = own.overdispersion(predictor[known, where.start], codes[known, t])
        scale *= len(x) / (len(x) - x.shape[1])  # as many degrees of freedom are used up
        for l in range(weights.shape[1]):
            total = (x * weights[:, [l]]).T @ x
            total.flat[:: len(total) + 1] += _JITTER * total.max()
            variance = np.diag(np.linalg.pinv(total, hermitian=True))[:n_topics]
            out[:, where.start + l] = np.sqrt(np.maximum(scale * variance, 0.0))
    return out
