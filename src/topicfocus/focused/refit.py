"""Refit the coefficients on the topic proportions, and evaluate them on validation documents.

Topics were optimised with coefficients η⁰ that only have the right signs. The new coefficients are
shrunk toward c·η⁰ with a fitted c: with g = η⁰·θ̂

    f = b + c·g + Δ·(θ̂ - mean),   penalty ½ P Σ_k Δ_k²,   η = c·η⁰ + Δ,

P being ρ times the weight of the documents times the mean variance of the proportions. ρ is chosen
on validation documents. Topic proportions are correlated, and without this penalty coefficients of
topics of one sign differ more than their words do. Classes are regressed without it.

The predictor is then shrunk, f ← s + t·f. The factor t comes from the validation documents; the
level s from all training documents, because few documents estimate a level poorly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from topicfocus.focused.data import FocusData, sample_rows
from topicfocus.focused.initialize import Start
from topicfocus.focused.result import Choices
from topicfocus.glm import (
    Column,
    Linear,
    deviance,
    explained_share,
    fit_linear,
    level_beside,
    shrink,
    target_columns,
)
from topicfocus.model import ModelState
from topicfocus.proportions import predictor_variance, topic_proportions

#: Values of ρ; 0 is a regression without this penalty.
TOWARD_SIGNS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
#: The ridge of all these regressions.
SMALL_RIDGE = 1e-2
#: Largest number of documents in the regressions that choose ρ.
MOST_COMPARED = 20_000
#: δ is at least this fraction of the validation error.
LEAST_NOISE = 0.1
#: Degrees of freedom of the validation documents that are spent, and the most that δ grows by it.
SPENT, MOST_INFLATION = 3.0, 2.0


class Precision(NamedTuple):
    """The tolerance of θ̂, and the largest number of documents in regressions."""

    tolerance: float
    most: float


#: Newton's last step squares the tolerance of θ̂, so that ten digits are correct.
FINE = Precision(1e-5, math.inf)


# ---- regressions --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Regressions:
    """Regressions of targets on topic proportions and covariates.

    `columns` are the targets, `design` the proportions and covariates of the documents, `signs` η⁰
    of each target, topics x predictors.
    """

    columns: list[Column]
    design: np.ndarray
    signs: list[np.ndarray]
    precision: Precision

    @staticmethod
    def of(
        data: FocusData,
        start: Start,
        state: ModelState,
        near: np.ndarray | None,
        precision: Precision,
    ) -> Regressions:
        """Regressions on the training documents; `near` are starts for θ̂, if given."""
        documents, columns = start.train, data.columns
        if documents.size > precision.most:
            some = sample_rows(data.train, int(precision.most))
            documents, near = documents.rows(some), None if near is None else near[some]
            columns = target_columns(documents, data.family)
        theta = topic_proportions(
            documents.corpus,
            state,
            tolerance=precision.tolerance,
            n_jobs=data.n_jobs,
            start=near,
        )
        signs = [start.state.coef_rows[column.where].T for column in columns]
        return Regressions(
            columns=columns, design=documents.design(theta), signs=signs, precision=precision
        )

    def fits(self, toward_signs: tuple[float, ...]) -> tuple[Linear, ...]:
        """η, b, ζ and thresholds of each target, with these ρ."""
        return tuple(
            fit_toward_signs(column, column.of(self.design), signs, rho)
            for column, signs, rho in zip(self.columns, self.signs, toward_signs, strict=True)
        )

    def shrunk(self, fits: Sequence[Linear], factors: Sequence[float]) -> tuple[Linear, ...]:
        """The fits with coefficients times t, and the intercepts that then fit best."""
        return tuple(
            shrink_fit(column, column.of(self.design), fit, factor)
            for column, fit, factor in zip(self.columns, fits, factors, strict=True)
        )

    def best_toward_signs(self, data: FocusData, held_design: np.ndarray) -> tuple[float, ...]:
        """ρ of each target."""
        columns, design = self.columns, self.design
        some = sample_rows(data.train, MOST_COMPARED)
        if len(some) < len(design):
            columns, design = target_columns(data.train.rows(some), data.family), design[some]
        return tuple(
            best_toward_signs(mine, mine.of(design), theirs, held_design, signs)[0]
            for mine, theirs, signs in zip(columns, data.held_columns, self.signs, strict=True)
        )


def fit_toward_signs(column: Column, design: np.ndarray, signs: np.ndarray, rho: float) -> Linear:
    """The regression on `design`, with coefficients of topics shrunk toward those of `signs`.

    With the best c for each η the penalty is ½ P ηᵀ(1 - eeᵀ)η, e being the direction of η⁰.
    """
    if rho == 0.0:
        return fit_linear(column, design, SMALL_RIDGE)
    k, weight = len(signs), column.weight
    theta, total = design[:, :k], weight.sum()
    centre = weight @ theta / total
    spread = np.einsum("n,nk,nk->k", weight, theta, theta) - total * centre**2
    e = signs[:, 0] / max(float(np.linalg.norm(signs)), 1e-300)
    penalty = SMALL_RIDGE * np.eye(design.shape[1])
    penalty[:k, :k] += rho * max(float(spread.mean()), 0.0) * (np.eye(k) - np.outer(e, e))
    return fit_linear(column, design, penalty)


def has_signs(column: Column, signs: np.ndarray) -> bool:
    """Whether the coefficients of a target have a direction to be shrunk toward."""
    return column.width == 1 and bool(np.ptp(signs) > 0)


def best_toward_signs(
    column: Column,
    design: np.ndarray,
    held: Column,
    held_design: np.ndarray,
    signs: np.ndarray,
    grid: Sequence[float] = TOWARD_SIGNS,
) -> tuple[float, np.ndarray]:
    """The ρ with the smallest mean deviance of validation documents, and these deviances.

    We do not choose the largest ρ within one standard error, which is too large with few documents,
    nor cross-validate on training documents, since topics were optimised on all of them.
    """
    if not has_signs(column, signs) or not len(held.target):
        grid = (0.0,)
    fits = [fit_toward_signs(column, design, signs, rho) for rho in grid]
    losses = [held_out_deviance(held, fit, held_design) for fit in fits]
    best = 0
    if len(losses) > 1:
        best = int(np.argmin([np.average(loss, weights=held.weight) for loss in losses]))
    return grid[best], losses[best]


def shrink_fit(column: Column, design: np.ndarray, fit: Linear, factor: float) -> Linear:
    """f ← s + t·f with the s that fits these documents best, and with new thresholds."""
    slopes = factor * (design @ fit.coef)
    if fit.family.carries_intercept:
        moved = replace(column, offset=column.offset + slopes)
        level = fit_linear(moved, np.empty((len(design), 0)))
        return Linear(factor * fit.coef, level.intercept, level.family)
    intercept = level_beside(replace(column, family=fit.family), slopes)
    return Linear(factor * fit.coef, intercept, fit.family)


# ---- validation documents -----------------------------------------------------------------------


def held_out_deviance(column: Column, fit: Linear, design: np.ndarray) -> np.ndarray:
    """Deviances of validation targets, the predictor shrunk to them."""
    predictor, (shift, factor) = _shrinkage(column, fit, design)
    fitted = replace(column, family=fit.family)
    return deviance(fitted, column.offset + shift + factor * predictor)


def _shrinkage(
    column: Column, fit: Linear, design: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, float]]:
    """The predictor without offset, and its shift and factor on validation documents."""
    predictor = fit.predictor(column.of(design), np.zeros_like(column.offset))
    return predictor, shrink(replace(column, family=fit.family), predictor)


def shrinkage_factors(
    data: FocusData, fits: Sequence[Linear], design: np.ndarray
) -> tuple[float, ...]:
    """t of each target: how far its predictor must be shrunk for the validation documents."""
    return tuple(
        _shrinkage(column, fit, design)[1][1]
        for fit, column in zip(fits, data.held_columns, strict=True)
    )


def choose(
    data: FocusData, start: Start, state: ModelState, regressions: Regressions, shrinks: bool
) -> Choices:
    """The choices that validation documents make, and how well they are then predicted.

    With `shrinks`, coefficients are shrunk toward the signs of the topics. The explained deviance
    is relative to the best constant, and both have the level of these documents.
    """
    corpus, n_jobs = start.held_out.corpus, data.n_jobs
    theta = topic_proportions(
        corpus, state, tolerance=regressions.precision.tolerance, n_jobs=n_jobs
    )
    design = start.held_out.design(theta)
    toward_signs: tuple[float, ...] = (0.0,) * len(data.columns)
    if shrinks:
        toward_signs = regressions.best_toward_signs(data, design)
    fits = regressions.fits(toward_signs)
    factors = shrinkage_factors(data, fits, design)
    explained, variances = [], []
    for fit, column in zip(regressions.shrunk(fits, factors), data.held_columns, strict=True):
        column = replace(column, family=fit.family)
        predictor = fit.predictor(column.of(design), column.offset)
        own_level = level_beside(column, predictor - column.offset)
        explained.append(explained_share(column, predictor + own_level))
        # Var(η·θ) given the words of a validation document, for each predictor.
        own_state = replace(state, coef=fit.coef[: state.n_topics])
        spread = predictor_variance(corpus, own_state, theta, n_jobs)
        variances.append(variance_parts(column, predictor, column.of(spread)[:, 0]))
    noise, variance_factor, extra = zip(*variances, strict=True)
    fractions, errors = np.array(explained).T
    return Choices(
        explained=float(fractions.mean()),
        explained_error=float(np.sqrt(np.sum(errors**2))) / len(errors),
        penalties=start.penalties,
        mean_squares=start.mean_squares,
        shrinkage=factors,
        toward_signs=toward_signs,
        noise=noise,
        variance_factor=variance_factor,
        extra_variance=extra,
    )


def variance_parts(
    column: Column, predictor: np.ndarray, spread: np.ndarray
) -> tuple[float, float, float]:
    """δ, variance factor and extra variance: the mean variance of predictions is their error.

    δ is the validation error minus the variance of the predictor given the words, at least a tenth
    of the error. The error of n documents is divided by n - 3 rather than n: one degree of freedom
    for the factor t, which they choose, and two for the variance of Student's t, since intervals
    use a normal distribution although δ is an estimate. Where the words determine the target, the
    Laplace approximation may be several times the error; the variance factor reduces it. A family
    without δ computes variance factor and extra variance itself (`Family.extra_variance`).
    """
    if column.family.noise_variance is None:
        f = predictor[:, 0]
        return 1.0, *column.family.extra_variance(column.target, f, spread, column.weight)
    error = float(np.average(deviance(column, predictor), weights=column.weight))
    size = float(column.weight.sum())
    error *= min(size / max(size - SPENT, 1e-300), MOST_INFLATION)
    still = float(np.average(spread, weights=column.weight))
    delta = max(error - still, LEAST_NOISE * error)
    return delta, min(1.0, (error - delta) / still) if still > 0 else 1.0, 0.0
