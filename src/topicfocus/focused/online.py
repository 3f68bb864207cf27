"""The focused model from batches: a sample of the documents, and sums over the others.

Topics, coefficients and choices depend on a reservoir of documents, and screening statistics on all
documents (`word_statistics`). While all distinct documents fit into the reservoir, the model is
that of `fit_focused`.

When the number of distinct documents has grown by a fifth (`REFIT_GROWTH`), words are selected and
topics optimised again, with the earlier choices; when it has doubled (`CHOOSE_GROWTH`), the choices
are made again. Other batches only add documents. So the mean time per document is bounded, and the
time of a call is at most that of a fit to a full reservoir.
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
from topicfocus.focused.result import with_coefficients
from topicfocus.focused.screening import past_of
from topicfocus.focused.word_statistics import Past
from topicfocus.glm import Linear, deviance, fit_linear, mean_curvature, target_columns
from topicfocus.joint.coefficients import stacked
from topicfocus.model import ModelState, Problem
from topicfocus.proportions import topic_proportions
from topicfocus.reservoir import Inherited, Reservoir, add

#: Growth of the number of documents after which topics are optimised, and choices made, again.
REFIT_GROWTH, CHOOSE_GROWTH = 1.2, 2.0

#: Returns training rows, validation rows and folds of the documents of a problem.
Split = Callable[[Problem], tuple[np.ndarray, np.ndarray, Folds]]


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
        """Whether the inherited topics stay, since they were fitted to more documents than came."""
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
    """The stream after a batch, and the new model, None if the old one is kept.

    The model is a FocusResult if topics were fitted, or a ModelState if inherited topics stay and
    only η, b, ζ and the family are updated.
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
    # At the end of a pass, documents that came after the last fit are included.
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

    f = f₀ + s + Δ·(x - x̄), x being topic proportions and covariates, f₀ the inherited predictor. Δ
    has the posterior of n₀ documents like these as its prior; s, δ and thresholds are averages with
    the inherited ones, weighted by the numbers of documents.
    """
    state, n_old = inherited.state, inherited.size
    theta = topic_proportions(root_counts(problem.corpus), state, n_jobs=problem.n_jobs)
    design = problem.design(theta)
    before = theta @ state.coef_rows.T + problem.offsets(state)
    coef = stacked(state, design.shape[1] - state.n_topics)
    intercept = np.broadcast_to(np.asarray(state.intercept, dtype=float), coef.shape[1])
    fits = []
    columns = target_columns(problem, state.family)
    for column, (own, where) in zip(columns, state.family.split(), strict=True):
        if len(column.target) == 0 or np.ptp(column.target) == 0:
            fits.append(Linear(coef[:, where], intercept[where], own))
            continue
        share = column.weight.sum() / (column.weight.sum() + n_old)
        x = column.of(design)
        column = replace(column, offset=column.of(before)[:, where])
        centre = np.average(x, axis=0, weights=column.weight)
        spread = np.average((x - centre) ** 2, axis=0, weights=column.weight)
        fit = fit_linear(
            column, x, max(n_old * mean_curvature(column) * float(spread.mean()), 1e-2)
        )
        moved = centre @ fit.coef
        level = intercept[where] + share * (fit.intercept + moved) - moved
        family = _mixed(own, fit, deviance(column, column.offset), column.weight, share)
        fits.append(Linear(coef[:, where] + fit.coef, level, family))
    noise = [fit.family.noise_variance or 1.0 for fit in fits]
    return with_coefficients(state, state.family, fits, noise)


def _mixed(own: Any, fit: Linear, error: np.ndarray, weight: np.ndarray, share: float) -> Any:
    """The family with averaged parameters; δ from the unbiased error of the old model."""
    noise = own.noise_variance
    if noise is not None:
        new = float(np.average(error, weights=weight))
        return own.with_noise_variance((1 - share) * noise + share * new)
    free = (1 - share) * own.free_parameters() + share * fit.family.free_parameters()
    return own.with_free_parameters(free) if len(free) else own
