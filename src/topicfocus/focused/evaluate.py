"""Judge: the refitted predictors on documents not trained on. How far to trust them, how good?

A predictor is shrunk, f ← s + t·f. The factor t comes from the validation documents; the level s
comes from all training documents (`refit`), because few documents estimate a level poorly. δ is the
error on the validation documents less what the words leave open of θ, and the explained share is
1 - deviance/null deviance, the mean over targets. Where the words leave more open than there is
error, only the part ρ of it counts, so that δ and ρ times what is open are the error on average.
Counts have no δ; what they vary more than stated is τ, a variance of f besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from topicfocus.focused.data import FocusData
from topicfocus.focused.initialize import Start
from topicfocus.glm import Column, Linear, deviance, explained_share, level_beside, shrink
from topicfocus.inference.mixes import predictor_variance
from topicfocus.inference.state import ModelState

Shrinkage = tuple[np.ndarray, float]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The explained share; δ, ρ and τ of each target."""

    explained: float
    noise: tuple[float, ...]
    openness: tuple[float, ...]
    excess: tuple[float, ...]


def shrunken(column: Column, fit: Linear, design: np.ndarray) -> tuple[np.ndarray, Shrinkage]:
    """The predictor of held-out documents, shrunken to them."""
    predictor = fit.predictor(column.of(design), np.zeros_like(column.offset))
    shift, factor = shrink(column, predictor)
    return column.offset + shift + factor * predictor, (shift, factor)


def held_out_deviance(column: Column, fit: Linear, design: np.ndarray) -> np.ndarray:
    """Deviances of held-out targets, the predictor shrunken to them as in the end."""
    column = replace(column, family=fit.family)
    return deviance(column, shrunken(column, fit, design)[0])


def shrinkage_factors(
    data: FocusData, fits: Sequence[Linear], design: np.ndarray
) -> tuple[float, ...]:
    """t of each target: how far its predictor must be shrunk for the validation documents."""
    return tuple(
        shrunken(replace(column, family=fit.family), fit, design)[1][1]
        for fit, column in zip(fits, data.held_columns, strict=True)
    )


def judge(
    data: FocusData,
    start: Start,
    state: ModelState,
    fits: Sequence[Linear],
    held_mixes: np.ndarray,
) -> Verdict:
    """How well the held-out documents, of these topic mixes, are predicted by the shrunk fits.

    The explained share compares with the best constant, so both have the level of these documents.
    """
    design = start.held_out.beside(held_mixes)
    noise, openness, excess, explained = [], [], [], []
    for fit, column in zip(fits, data.held_columns, strict=True):
        column = replace(column, family=fit.family)
        predictor = fit.predictor(column.of(design), column.offset)
        own_level = level_beside(column, predictor - column.offset)
        explained.append(explained_share(column, predictor + own_level))
        coef = fit.coef[: state.n_topics]
        n_jobs, corpus = start.train.n_jobs, start.held_out.corpus
        # Var(η·θ) given the words of a held-out document, for each predictor.
        spread = predictor_variance(corpus, replace(state, coef=coef), held_mixes, n_jobs)
        delta, rho, tau = honest_noise(column, predictor, column.of(spread)[:, 0])
        noise.append(delta)
        openness.append(rho)
        excess.append(tau)
    return Verdict(
        explained=float(np.mean(explained)),
        noise=tuple(noise),
        openness=tuple(openness),
        excess=tuple(excess),
    )


def honest_noise(
    column: Column, predictor: np.ndarray, spread: np.ndarray
) -> tuple[float, float, float]:
    """δ, the held-out error less what the words leave open of θ; ρ, how much of that counts; and τ.

    δ is a tenth of the error at least. The Laplace approximation may claim more than there is:
    where words say all but everything about the target, it is several times the error. The
    variance of a prediction is δ + ρ·spread, on average the error. A family without δ says itself
    what ρ is, and τ, which f varies by besides (`Family.extra_variance`).
    """
    if column.family.noise_variance is None:
        f = predictor[:, 0]
        return 1.0, *column.family.extra_variance(column.target, f, spread, column.weight)
    error = float(np.average(deviance(column, predictor), weights=column.weight))
    still = float(np.average(spread, weights=column.weight))
    delta = max(error - still, 0.1 * error)
    return delta, min(1.0, (error - delta) / still) if still > 0 else 1.0, 0.0
