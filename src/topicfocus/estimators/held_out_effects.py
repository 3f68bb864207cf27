"""Effects of topics with confidence intervals, from documents that had no part in the fit.

The documents that a model was fitted to selected its words and shaped its topics, so an interval
computed from them is too optimistic: with a target of pure noise it excludes zero far too often.
Documents that had no part in the fit take the topics as given. There, the target y is regressed on
the topic proportions θ̂ and the covariates z by weighted least squares,

    y_d = b + β·θ̂_d + ζ·z_d + e_d,

and the effect of topic k is β·(θ_high - θ_low), the two proportions that `topic_effects` compares.
For a class, y is 1 for the documents of the class and 0 for the others; for counts with exposures
E, it is the rate y/E with the weight E. The effect is thus a difference in the mean target for
every kind of target: the best linear approximation of it, whatever the link of the family.

The standard error is heteroscedasticity-consistent (HC2), and the interval is that of Student's t
with the degrees of freedom of Bell and McCaffrey (2002): few where an effect depends on the few
documents that have a topic at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag
from scipy.stats import t as student

from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.targets import TargetPart

#: Relative to the largest one; smaller ones are directions in which documents do not differ.
_SMALLEST_SINGULAR_VALUE = 1e-8
#: 1 - leverage at least: a document that determines a coefficient by itself has no residual.
_SMALLEST_RESIDUAL_SHARE = 1e-3


@dataclass(frozen=True)
class HeldOutEffects:
    """Effects estimated from held-out documents, arrays of topics and covariates x predictors.

    Attributes
    ----------
    estimate, variance : array
        Effects and their sampling variances; NaN where there are too few documents.
    freedom : array
        Degrees of freedom of these variances.
    """

    estimate: np.ndarray
    variance: np.ndarray
    freedom: np.ndarray

    def interval(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper limits."""
        reach = student.ppf(0.5 + confidence / 2, np.maximum(self.freedom, 1.0))
        reach = reach * np.sqrt(self.variance)
        return self.estimate - reach, self.estimate + reach


def held_out_effects(
    fitted: Fitted, documents: Documents, proportions: np.ndarray, difference: np.ndarray
) -> HeldOutEffects:
    """Effects of topics, then of covariates, from documents that had no part in the fit.

    `proportions` are their θ̂; row k of `difference` is θ_high - θ_low of topic k. The effect of a
    covariate is its coefficient, of one unit.
    """
    assert documents.target is not None
    more = documents.covariates
    design = proportions if more is None else np.column_stack([proportions, more])
    n_covariates = design.shape[1] - proportions.shape[1]
    moves = block_diag(difference, np.eye(n_covariates)) if n_covariates else difference
    estimate, variance, freedom = [], [], []
    for t, part in enumerate(fitted.parts):
        response, weight = observed_response(part, documents, t)
        known = (weight > 0) & np.isfinite(documents.target[:, t])
        for column in response[known].T:
            found = linear_effects(column, weight[known], design[known], moves)
            estimate.append(found[0])
            variance.append(found[1])
            freedom.append(found[2])
    return HeldOutEffects(
        np.column_stack(estimate), np.column_stack(variance), np.column_stack(freedom)
    )


def observed_response(
    part: TargetPart, documents: Documents, t: int
) -> tuple[np.ndarray, np.ndarray]:
    """The target in the units of its predictions, one column per predictor, and the weights."""
    assert documents.target is not None
    codes, weight = documents.target[:, t], documents.weights
    labels = part.coding.labels
    if part.coding.is_class:
        classes = np.arange(part.width) if part.width > 1 else np.array([1])
        return (codes[:, None] == classes).astype(float), weight
    if labels is not None:
        known = np.isfinite(codes)
        codes = np.where(known, np.asarray(labels, float)[np.where(known, codes, 0).astype(int)], 0)
    if part.family.takes_exposure and documents.offset is not None:
        exposure = np.exp(documents.offset[:, part.where.start])
        return (codes / exposure)[:, None], weight * exposure
    return codes[:, None], weight


def linear_effects(
    target: np.ndarray, weight: np.ndarray, design: np.ndarray, moves: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weighted least squares with an intercept: moves·β, its HC2 variances, degrees of freedom."""
    missing = np.full(len(moves), np.nan)
    root = np.sqrt(weight)
    basis, sizes, axes = np.linalg.svd(
        root[:, None]
        * np.column_stack([np.ones(len(design)), design - weight @ design / weight.sum()]),
        full_matrices=False,
    )
    used = sizes > _SMALLEST_SINGULAR_VALUE * sizes.max(initial=0.0)
    basis = basis[:, used]
    if len(target) <= used.sum():
        return missing, missing, missing
    # moves·β = C'(√w y): row i of C is what document i adds to each effect.
    with_level = np.column_stack([np.zeros(len(moves)), moves])
    influence = basis @ ((axes[used] @ with_level.T) / sizes[used, None])
    outcome = root * target
    estimate = influence.T @ outcome
    residual = outcome - basis @ (basis.T @ outcome)
    free = np.maximum(1 - np.sum(basis**2, axis=1), _SMALLEST_RESIDUAL_SHARE)
    square = influence**2 / free[:, None]
    variance = square.T @ residual**2
    # Satterthwaite: the mean and the variance of this sum of squares if errors are alike.
    mean = free @ square
    products = np.einsum("nk,np,nq->kpq", square, basis, basis)
    spread = np.sum(square**2 * (2 * free - 1)[:, None], axis=0) + np.sum(products**2, axis=(1, 2))
    return estimate, variance, mean**2 / np.maximum(spread, 1e-300)
