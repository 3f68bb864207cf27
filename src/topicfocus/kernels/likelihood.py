"""A family's log-likelihood and derivatives over arrays of targets and predictors."""

from __future__ import annotations

import numpy as np

from topicfocus.families.operations import derivatives, expectation, log_likelihood
from topicfocus.kernels.compile import kernel


@kernel
def likelihood_table(family, target, predictor):
    """Rows ℓ, ℓ', ℓ'', ℓ''' at (y_d, f_d), shape (4, documents)."""
    out = np.empty((4, target.shape[0]))
    for d in range(target.shape[0]):
        out[0, d] = log_likelihood(family, target[d], predictor[d])
        out[1, d], out[2, d], out[3, d] = derivatives(family, target[d], predictor[d])
    return out


@kernel
def expectation_table(family, target, mean, variance):
    """Rows E[log p(y | f)] and its derivatives in μ and ν, shape (3, documents)."""
    out = np.empty((3, target.shape[0]))
    for d in range(target.shape[0]):
        out[0, d], out[1, d], out[2, d] = expectation(family, target[d], mean[d], variance[d])
    return out
