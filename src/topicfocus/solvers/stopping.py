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
from dataclasses import dataclass

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.state import ModelState, Problem
from topicfocus.solvers.refit import (
    explained_share,
    pointwise_deviance,
    refit_coef,
    shrink_to_held_out,
)


@dataclass(frozen=True)
class StoppingRule:
    """When to look at the held-out documents, and when to stop; see the module."""

    every: int = 3
    patience: int = 4
    tolerance: float = 2.0
    slack: float = 0.0


class Watch:
    """The held-out documents while topics are shaped.

    Parameters
    ----------
    corpus : Corpus
        Held-out documents on the kept words.
    target : array (documents,)
    known : array of bool (documents,)
        Documents with a target.
    train : Problem
        What is trained on; η is refitted to it.
    rule : StoppingRule
    """

    def __init__(
        self,
        corpus: Corpus,
        target: np.ndarray,
        known: np.ndarray,
        train: Problem,
        rule: StoppingRule,
    ) -> None:
        self.rule = rule
        self._corpus = corpus
        self._target, self._known = target[known], known
        self._train = train
        self._seen = train.target_weight > 0
        self._theta: np.ndarray | None = None
        self._best: np.ndarray | None = None
        self._best_share = -math.inf
        self._worse = 0

    def due(self, step: int) -> bool:
        return step % self.rule.every == 0

    def predictor(self, state: ModelState, mixes: np.ndarray) -> np.ndarray:
        """b + η·θ̂ of the held-out documents, η refitted to the training `mixes` and shrunken."""
        train, seen = self._train, self._seen
        coef, intercept = refit_coef(
            mixes[seen], train.target[seen], train.target_weight[seen], state.family
        )
        self._theta = topic_mixes(
            self._corpus, state, tolerance=1e-4, n_jobs=train.n_jobs, start=self._theta
        )
        predicted = self._theta[self._known] @ coef + intercept
        shift, factor = shrink_to_held_out(predicted, self._target, state.family)
        return shift + factor * predicted

    def check(self, state: ModelState, mixes: np.ndarray) -> tuple[float, bool]:
        """The explained share of the held-out target, and whether the topics are worse by it."""
        predictor = self.predictor(state, mixes)
        loss = pointwise_deviance(self._target, predictor, state.family)
        share = explained_share(self._target, predictor, state.family)
        best, best_share = self._best, self._best_share
        worse = (
            best is not None
            and share < best_share - self.rule.slack * abs(best_share)
            and significantly_more(loss, best, self.rule.tolerance)
        )
        if share > best_share:
            self._best, self._best_share = loss, share
        self._worse = self._worse + 1 if worse else 0
        return share, worse

    @property
    def stop(self) -> bool:
        return self._worse >= self.rule.patience


def significantly_more(loss: np.ndarray, other: np.ndarray, tolerance: float) -> bool:
    """Whether `loss` is above `other` by more than `tolerance` paired standard errors."""
    more = loss - other
    if len(more) < 2:
        return bool(more.sum() > 0)
    return bool(more.mean() > tolerance * more.std(ddof=1) / math.sqrt(len(more)))
