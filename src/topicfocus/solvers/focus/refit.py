"""Refit: coefficients of each target on the topic mixes of the shaped topics, and covariates.

Topics were shaped with coefficients η⁰ that say which way each goes, and no more. Refitted ones are
drawn to these, in a size that the data choose: with g = η⁰·θ̂

    f = b + c·g + Δ·(θ̂ - mean),   penalty ½ P Σ_k Δ_k²,   η = c·η⁰ + Δ,

P being ρ times the documents' weight times the mean variance of the mixes. ρ is the largest with
which documents set aside are predicted as well as with any, to one standard error. Mixes of topics
are correlated, and coefficients that follow every document trained on differ more between topics of
one direction than their words do. A target with several predictors (classes) has no such scale, and
is regressed as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.state import ModelState
from topicfocus.solvers.deviance import deviance, mean_and_error, shrink
from topicfocus.solvers.focus.data import FocusData
from topicfocus.solvers.focus.start import Start
from topicfocus.solvers.linear import Column, Linear, fit_linear

#: Of θ̂: Newton's last step squares it, so that ten digits are right.
_FINE = 1e-5
#: ρ that are tried; none is a regression as it is.
DRAWN = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
#: The ridge of a regression as it is, and of what is not drawn.
_SMALL = 1e-2


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
    design, held_design = start.train.beside(mixes), start.held_out.beside(held_mixes)
    fits, chosen = [], []
    for t, (column, theirs) in enumerate(zip(data.columns, data.held_columns, strict=True)):
        toward = start.state.coef_rows[column.where].T
        mine = column.of(design)
        if drawn is not None:
            rho = drawn[t]
        else:
            rho = _most_drawn(column, mine, theirs, theirs.of(held_design), toward)
        fits.append(fit_drawn(column, mine, toward, rho))
        chosen.append(rho)
    return Refit(fits=tuple(fits), drawn=tuple(chosen), held_mixes=held_mixes)


def fit_drawn(column: Column, design: np.ndarray, toward: np.ndarray, rho: float) -> Linear:
    """The regression on `design`, its first coefficients drawn `toward` those of the shaping.

    By columns of other sizes: a ridge of P on a column is one of P/s² on s times the column.
    """
    if rho == 0.0:
        return fit_linear(column, design, _SMALL)
    k = len(toward)
    spread = np.average((design[:, :k] - design[:, :k].mean(axis=0)) ** 2, axis=0)
    penalty = max(rho * float(column.weight.sum() * spread.mean()), _SMALL)
    size = np.sqrt(penalty / _SMALL)
    direction = toward / max(float(np.abs(toward).max()), 1e-300)
    along = design[:, :k] @ direction
    wide = np.column_stack([design[:, :k], size * along, size * design[:, k:]])
    found = fit_linear(column, wide, penalty)
    free, scale, rest = found.coef[:k], size * found.coef[k], size * found.coef[k + 1 :]
    return replace(found, coef=np.vstack([free + direction * scale, rest]))


def _most_drawn(
    column: Column, design: np.ndarray, held: Column, held_design: np.ndarray, toward: np.ndarray
) -> float:
    """The largest ρ with which held-out documents are predicted as well as with the best.

    As well: not worse by more than one standard error of the difference, document by document.
    """
    if column.width > 1 or np.ptp(toward) == 0 or not len(held.target):
        return 0.0
    losses = [_losses(fit_drawn(column, design, toward, rho), held, held_design) for rho in DRAWN]
    best = min(losses, key=lambda loss: mean_and_error(loss, held.weight)[0])
    for rho, loss in zip(reversed(DRAWN), reversed(losses), strict=True):
        worse, error = mean_and_error(loss - best, held.weight)
        if worse <= error:
            return rho
    return 0.0


def _losses(fit: Linear, held: Column, held_design: np.ndarray) -> np.ndarray:
    """Deviances of the held-out documents, the predictor shrunken to them as in the end."""
    held = replace(held, family=fit.family)
    predictor = fit.predictor(held_design, np.zeros_like(held.offset))
    shift, factor = shrink(held, predictor)
    return deviance(held, held.offset + shift + factor * predictor)
