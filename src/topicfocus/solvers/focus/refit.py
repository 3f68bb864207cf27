"""Refit: coefficients of each target on the topic mixes of the shaped topics, and covariates.

Topics were shaped with coefficients η⁰ that say which way each goes, and no more. Refitted ones are
drawn to these, in a size that the data choose: with g = η⁰·θ̂

    f = b + c·g + Δ·(θ̂ - mean),   penalty ½ P Σ_k Δ_k²,   η = c·η⁰ + Δ,

P being ρ times the documents' weight times the mean variance of the mixes. ρ is the one with which
documents set aside are predicted best. Mixes of topics are correlated, and coefficients that follow
every document trained on differ more between topics of one direction than their words do. A target
with several predictors (classes) has no such scale, and is regressed as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.state import ModelState
from topicfocus.solvers.deviance import deviance, shrink
from topicfocus.solvers.focus.data import FocusData, sample_rows
from topicfocus.solvers.focus.start import Start
from topicfocus.solvers.linear import Column, Linear, fit_linear, target_columns

#: Of θ̂: Newton's last step squares it, so that ten digits are right.
_FINE = 1e-5
#: ρ that are tried; none is a regression as it is.
DRAWN = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
#: The ridge of a regression as it is, and of what is not drawn.
_SMALL = 1e-2
#: Documents that ρ is chosen on regressions of, at most.
MOST_COMPARED = 20_000


@dataclass(frozen=True, kw_only=True)
class Refit:
    """A regression for each target with its ρ, and the topic mixes θ̂ of the held-out documents."""

    fits: tuple[Linear, ...]
    drawn: tuple[float, ...]
    held_mixes: np.ndarray


def refit_targets(
    data: FocusData,
    start: Start,
    state: ModelState,
    near: np.ndarray | None = None,
    drawn: tuple[float, ...] | None = None,
) -> Refit:
    """η, b and ζ of each target given the topics; thresholds with them.

    θ̂ is found from mixes `near` it, if there are any. `drawn`: ρ as chosen before.
    """
    n_jobs = data.train.n_jobs
    mixes = topic_mixes(start.train.corpus, state, tolerance=_FINE, n_jobs=n_jobs, start=near)
    held_mixes = topic_mixes(start.held_out.corpus, state, tolerance=_FINE, n_jobs=n_jobs)
    design = start.train.beside(mixes)
    toward = [start.state.coef_rows[column.where].T for column in data.columns]
    if drawn is None:
        drawn = _choose_drawn(data, design, start.held_out.beside(held_mixes), toward)
    fits = tuple(
        fit_drawn(column, column.of(design), there, rho)
        for column, there, rho in zip(data.columns, toward, drawn, strict=True)
    )
    return Refit(fits=fits, drawn=drawn, held_mixes=held_mixes)


def _choose_drawn(
    data: FocusData, design: np.ndarray, held_design: np.ndarray, toward: Sequence[np.ndarray]
) -> tuple[float, ...]:
    """ρ of each target, by regressions on so many documents at most."""
    columns, some = data.columns, sample_rows(data.train, MOST_COMPARED)
    if len(some) < data.train.n_docs:
        columns, design = target_columns(data.train.rows(some), data.family), design[some]
    return tuple(
        best_drawn(mine, mine.of(design), theirs, theirs.of(held_design), there)
        for mine, theirs, there in zip(columns, data.held_columns, toward, strict=True)
    )


def fit_drawn(column: Column, design: np.ndarray, toward: np.ndarray, rho: float) -> Linear:
    """The regression on `design`, its first coefficients drawn `toward` those of the shaping.

    The best c for any η makes the penalty ½ P ηᵀ(1 - eeᵀ)η, e being the direction of η⁰.
    """
    if rho == 0.0:
        return fit_linear(column, design, _SMALL)
    k, weight = len(toward), column.weight
    mixes, total = design[:, :k], weight.sum()
    centre = weight @ mixes / total
    spread = np.einsum("n,nk,nk->k", weight, mixes, mixes) - total * centre**2
    e = toward[:, 0] / max(float(np.linalg.norm(toward)), 1e-300)
    penalty = _SMALL * np.eye(design.shape[1])
    penalty[:k, :k] += rho * max(float(spread.mean()), 0.0) * (np.eye(k) - np.outer(e, e))
    return fit_linear(column, design, penalty)


def best_drawn(
    column: Column, design: np.ndarray, held: Column, held_design: np.ndarray, toward: np.ndarray
) -> float:
    """The ρ with which held-out documents are predicted best.

    Not the largest that is as good to a standard error: of 300 documents that is large, and R² of
    five topics of Pang & Lee fell by 0.016 in one of five folds, by 0.005 on average (0.003 now).
    Nor by folds of the documents trained on, whose mixes make free coefficients look too good.
    """
    if column.width > 1 or np.ptp(toward) == 0 or not len(held.target):
        return 0.0
    losses = [_loss(fit_drawn(column, design, toward, rho), held, held_design) for rho in DRAWN]
    return DRAWN[int(np.argmin(losses))]


def _loss(fit: Linear, held: Column, held_design: np.ndarray) -> float:
    """Mean deviance of the held-out documents, the predictor shrunken to them as in the end."""
    held = replace(held, family=fit.family)
    predictor = fit.predictor(held_design, np.zeros_like(held.offset))
    shift, factor = shrink(held, predictor)
    loss = deviance(held, held.offset + shift + factor * predictor)
    return float(np.average(loss, weights=held.weight))
