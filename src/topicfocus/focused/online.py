"""The focused model from batches: a bounded sample of the documents, and sums over the others.

Topics, coefficients and choices come from a reservoir of documents; the screening statistics come
from all documents (`word_statistics`). While the distinct documents fit into the reservoir, the
model is that of `fit_focused` on all of them.

When the number of distinct documents has grown by a fifth (`REFIT_GROWTH`), words are selected and
topics optimised again, with the earlier choices; when it has doubled (`CHOOSE_GROWTH`), the choices
are made again. Other batches only add documents. So the cost per document is bounded, on average
over the stream, and the cost of a call by a fit to a full reservoir.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicfocus.focused import (
    FocusResult,
    FocusSettings,
    fit_focused,
    refit_focused,
    root_counts,
)
from topicfocus.focused.inclusion import Folds
from topicfocus.focused.screening import past_of
from topicfocus.focused.word_statistics import Past
from topicfocus.glm import Column, Linear, deviance, fit_linear, target_columns
from topicfocus.kernels.likelihood import likelihood_table
from topicfocus.model import ModelState, Problem
from topicfocus.proportions import topic_proportions
from topicfocus.reservoir import Reservoir, add

#: Growth of the number of documents after which topics are optimised, and choices made, again.
REFIT_GROWTH, CHOOSE_GROWTH = 1.2, 2.0

#: (train, held out) rows of a problem's documents, and folds of them.
Split = Callable[[Problem], tuple[np.ndarray, np.ndarray, Folds]]


@dataclass(frozen=True)
class Inherited:
    """A fitted model without its documents, and their number."""

    state: ModelState
    size: float


@dataclass(frozen=True)
class FocusStream:
    """The state of a stream of batches."""

    reservoir: Reservoir
    past: Past | None = None
    result: FocusResult | None = None
    fitted_at: float = 0.0
    fitted_pass: int = 1
    chosen_at: float = 0.0
    inherited: Inherited | None = None

    @property
    def inherits(self) -> bool:
        """Whether the inherited topics stay: fewer documents have come than they were fitted to."""
        if self.inherited is None:
            return False
        return self.reservoir.distinct < min(self.inherited.size, self.reservoir.capacity)


def advance(
    stream: FocusStream,
    batch: Problem,
    family_of: Callable[[Problem], Any],
    settings: FocusSettings,
    split_of: Split,
) -> tuple[FocusStream, ModelState | FocusResult | None]:
    """One batch: the stream after it, and a new model (None: the old one is kept).

    The model is a FocusResult where topics were fitted; a ModelState where inherited topics stay
    and only η, b, ζ and the family are updated.
    """
    added = add(stream.reservoir, batch)
    reservoir = added.reservoir
    problem = reservoir.problem()
    past = stream.past
    if added.departed.n_docs:
        gone = past_of(added.departed, problem, family_of(problem))
        past = gone if past is None else past + gone
    stream = replace(stream, reservoir=reservoir, past=past)
    if stream.inherited is not None and stream.inherits:
        return stream, adapt(stream.inherited, problem)
    distinct, passes = reservoir.distinct, reservoir.passes
    choose = stream.result is None or distinct >= CHOOSE_GROWTH * stream.chosen_at
    # At the end of a pass, documents that came after the last fit are used as well.
    rest = passes > stream.fitted_pass and distinct > stream.fitted_at
    if not (choose or rest or distinct >= REFIT_GROWTH * stream.fitted_at):
        return stream, None
    remembered = None if past is None else past.scale(1 / passes)
    family = family_of(problem)
    train, held, folds = split_of(problem)
    if choose or stream.result is None:
        result = fit_focused(
            problem.rows(train), problem.rows(held), family, settings, None, remembered, folds
        )
        stream = replace(stream, chosen_at=distinct)
    else:
        result = refit_focused(
            problem, problem.rows(held), family, settings, stream.result, remembered
        )
    return (
        replace(stream, result=result, fitted_at=distinct, fitted_pass=passes, inherited=None),
        result,
    )


def adapt(inherited: Inherited, problem: Problem) -> ModelState:
    """Inherited topics with coefficients moved by new documents.

    f = f₀ + s + Δ·(x - x̄), x the topic mixes and covariates, f₀ the inherited predictor: Δ has the
    prior that n₀ documents like these would have left, and s, δ and thresholds are averaged with
    the inherited ones by the number of documents.
    """
    state, n_old = inherited.state, inherited.size
    mixes = topic_proportions(root_counts(problem.corpus), state, n_jobs=problem.n_jobs)
    design = problem.design(mixes)
    before = mixes @ state.coef_rows.T + problem.offsets(state)
    k = state.n_topics
    coef = state.coef.reshape(k, -1).copy()
    zeta = None if state.covariate_coef is None else state.covariate_coef.copy()
    intercept = np.broadcast_to(np.asarray(state.intercept, dtype=float), coef.shape[1]).copy()
    families = []
    columns = target_columns(problem, state.family)
    for column, (own, where) in zip(columns, state.family.split(), strict=True):
        if len(column.target) == 0 or np.ptp(column.target) == 0:
            families.append(own)
            continue
        share = column.weight.sum() / (column.weight.sum() + n_old)
        x = column.of(design)
        column = replace(column, offset=column.of(before)[:, where])
        centre = np.average(x, axis=0, weights=column.weight)
        spread = np.average((x - centre) ** 2, axis=0, weights=column.weight)
        fit = fit_linear(column, x, max(n_old * _curvature(column) * float(spread.mean()), 1e-2))
        coef[:, where] += fit.coef[:k]
        if zeta is not None:
            zeta[:, where] += fit.coef[k:]
        moved = centre @ fit.coef
        intercept[where] += share * (fit.intercept + moved) - moved
        families.append(_mixed(own, fit, deviance(column, column.offset), column.weight, share))
    return replace(
        state,
        coef=coef.reshape(state.coef.shape),
        intercept=intercept,
        covariate_coef=zeta,
        family=state.family.join(families),
    )


def _curvature(column: Column) -> float:
    """-∂² log p(y | f)/∂f² of an average document; of a class, what even odds would have."""
    if column.width > 1:
        return 0.25
    bend = likelihood_table(column.family, column.target, column.offset[:, 0])[2]
    return max(float(-np.average(bend, weights=column.weight)), 0.05)


def _mixed(own: Any, fit: Linear, error: np.ndarray, weight: np.ndarray, share: float) -> Any:
    """The family's own parameters, averaged. The old model's error on new documents is unbiased."""
    noise = own.noise_variance
    if noise is not None:
        new = float(np.average(error, weights=weight))
        return own.with_noise_variance((1 - share) * noise + share * new)
    free = (1 - share) * own.free_parameters() + share * fit.family.free_parameters()
    return own.with_free_parameters(free) if len(free) else own
