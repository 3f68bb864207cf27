"""Early stopping: topics are scored on documents not trained on while they are shaped.

Every few steps η is refitted to the training mixes and the held-out documents are predicted as they
will be in the end: θ̂ from their words, the predictor shrunken to them. With ℓ_d the deviance of
document d now and ℓ*_d at the best check so far, the topics have got worse when

    mean(ℓ - ℓ*) > tolerance · sd(ℓ - ℓ*) / √n   and   R < (1 - slack) R*,

R being the explained share: significantly, in a paired comparison where noise common to both drops
out, and by enough to matter. After `patience` worse checks in a row shaping stops, and the last
state that was not worse is kept. Not the one with the best score: among states that explain about
the same, the one with the higher objective has the clearer topics (on reviews the score peaks
after three to six steps, at topics that are hardly topics yet).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from topicfocus.focused.evaluate import held_out_deviance
from topicfocus.focused.refit import fit_drawn
from topicfocus.glm import (
    Column,
    Linear,
    fit_linear,
    null_deviance,
    significantly_more,
    target_columns,
)
from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.state import ModelState, Problem

#: Of the mixes that losses are compared by: Newton's last step squares it.
_ROUGH = 1e-2
#: Of the regressions of many classes on these mixes, which square it, too.
_ROUGH_STEP = 1e-5


@dataclass(frozen=True, kw_only=True)
class StoppingRule:
    """When to look at the held-out documents, and when to stop; see the module."""

    every: int = 3
    patience: int = 4
    tolerance: float = 2.0
    slack: float = 0.0


@dataclass
class Found:
    """What was found for topics like these, and new ones are found from.

    `mixes` and `held_mixes`: θ̂ of the documents. `fits`: regressions, by place of the target.
    """

    mixes: np.ndarray | None = None
    held_mixes: np.ndarray | None = None
    fits: dict[int, Linear] = field(default_factory=dict)


class Watch:
    """The held-out documents while topics are shaped.

    Parameters
    ----------
    held_out : Problem
        Held-out documents on the kept words.
    train : Problem
        What is trained on; η is refitted to it.
    rule : StoppingRule
    found : Found, optional
        Of topics like these; what is found here takes its place.
    drawn : tuple of float
        ρ that coefficients are drawn to the topics' directions by (`refit`); of several, the one
        that predicts best.
    """

    def __init__(
        self,
        held_out: Problem,
        train: Problem,
        family: Any,
        rule: StoppingRule,
        found: Found | None = None,
        drawn: tuple[float, ...] = (0.0,),
    ) -> None:
        self.rule, self._drawn = rule, drawn
        self._held_out, self._train = held_out, train
        self._columns = target_columns(train, family)
        self._held_columns = target_columns(held_out, family)
        self._scale = [null_deviance(column) for column in self._held_columns]
        self._weight = np.concatenate([column.weight for column in self._held_columns])
        self._found = Found() if found is None else found
        self._best: np.ndarray | None = None
        self._best_share = -math.inf
        self._worse = 0

    def due(self, step: int) -> bool:
        return step % self.rule.every == 0

    def losses(self, state: ModelState, mixes: np.ndarray) -> tuple[np.ndarray, float]:
        """Deviances of the held-out targets in units of their mean, and the explained share.

        η is refitted to the training `mixes` and shrunken to the held-out documents, as in the end.
        """
        held = self._mixes(self._held_out, state, self._found.held_mixes)
        self._found.held_mixes = held
        design, held_design = self._train.beside(mixes), self._held_out.beside(held)
        losses, shares = [], []
        for mine, theirs, scale in zip(self._columns, self._held_columns, self._scale, strict=True):
            toward = state.coef_rows[mine.where].T
            fits = self._regressions(mine, mine.of(design), toward)
            tried = [held_out_deviance(theirs, fit, held_design) / scale for fit in fits]
            means = [float(np.average(loss, weights=theirs.weight)) for loss in tried]
            best = int(np.argmin(means))
            losses.append(tried[best])
            shares.append(1.0 - means[best])
        return np.concatenate(losses), float(np.mean(shares))

    def _regressions(self, column: Column, design: np.ndarray, toward: np.ndarray) -> list[Linear]:
        """η refitted, drawn `toward` the topics' directions by each ρ; classes as they are."""
        if column.width == 1 and np.ptp(toward) > 0:
            return [fit_drawn(column, design, toward, rho) for rho in self._drawn]
        before = self._found.fits.get(column.where.start)
        fit = fit_linear(column, design, start=before, tolerance=_ROUGH_STEP)
        self._found.fits[column.where.start] = fit
        return [fit]

    def look(self, state: ModelState) -> tuple[np.ndarray, float]:
        """`losses` of topics whose mixes are not at hand."""
        self._found.mixes = self._mixes(self._train, state, self._found.mixes)
        return self.losses(state, self._found.mixes)

    def _mixes(self, documents: Problem, state: ModelState, start: np.ndarray | None) -> np.ndarray:
        """θ̂, from one of as many topics if there is any."""
        if start is not None and start.shape[1] != state.n_topics:
            start = None
        n_jobs = self._train.n_jobs
        return topic_mixes(documents.corpus, state, tolerance=_ROUGH, n_jobs=n_jobs, start=start)

    def check(self, state: ModelState, mixes: np.ndarray) -> tuple[float, bool]:
        """The explained share of the held-out target, and whether the topics are worse by it."""
        loss, share = self.losses(state, mixes)
        best, best_share = self._best, self._best_share
        worse = (
            best is not None
            and share < best_share - self.rule.slack * abs(best_share)
            and significantly_more(loss, best, self._weight, self.rule.tolerance)
        )
        if share > best_share:
            self._best, self._best_share = loss, share
        self._worse = self._worse + 1 if worse else 0
        return share, worse

    @property
    def stop(self) -> bool:
        return self._worse >= self.rule.patience
