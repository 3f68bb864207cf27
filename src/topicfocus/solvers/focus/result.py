"""What the stages come to: a model for each plan tried, and the one that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.families import rejoined, with_noise_variance
from topicfocus.inference.channels import update_background
from topicfocus.inference.state import ModelState
from topicfocus.solvers.focus.cut import Cut
from topicfocus.solvers.focus.themes import Themes
from topicfocus.solvers.linear import Linear
from topicfocus.solvers.protocol import StepInfo


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the held-out documents decided, to be used again when all documents are fitted.

    Attributes
    ----------
    penalties, mean_squares : tuples of float
        Of the ridge regressions on the kept words, one a signal.
    shrinkage : tuple of (shift, factor)
        Of the predictors, one a target.
    noise : tuple of float
        δ, one a target (1 where it has none).
    steps : int
        L-BFGS iterations after which the topics were kept.
    themes : Themes or None
        What documents are about, of a plan with themes.
    """

    penalties: tuple[float, ...]
    mean_squares: tuple[float, ...]
    shrinkage: tuple[tuple[np.ndarray, float], ...]
    noise: tuple[float, ...]
    steps: int
    themes: Themes | None = None


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A plan's model on its kept words, and the share of the held-out target it explains."""

    explained: float
    cut: Cut
    state: ModelState
    supervision_weight: float
    choices: Choices
    interrupted: bool


@dataclass(frozen=True, kw_only=True)
class FocusResult:
    """The fitted state over the whole vocabulary, and how it came about.

    Attributes
    ----------
    state : ModelState
        Columns of `topic_word` sum to `volume` (one, unless the plan leaves volumes free).
    inclusion_prior : float
        The share of tokens that the final cut used.
    word_cost : float or None
        c of that cut, what a word's evidence had to exceed; None where all words are kept.
    supervision_weight : float
        λ.
    evidence : array (words,)
    plan : int
        Which plan was taken.
    explained : tuple of float
        Share of the held-out target that each plan tried explains.
    history : tuple of StepInfo
    interrupted : bool
    chosen, penalties
        What `refit_focused` goes on from.
    """

    state: ModelState
    inclusion_prior: float
    word_cost: float | None
    supervision_weight: float
    evidence: np.ndarray
    plan: int
    explained: tuple[float, ...]
    history: tuple[StepInfo, ...]
    interrupted: bool
    chosen: Candidate
    penalties: tuple[float, ...]

    @property
    def volume(self) -> np.ndarray:
        return self.state.topic_word.sum(axis=0)


def with_families(family: Any, fitted: Sequence[Any], noise: Sequence[float]) -> Any:
    """The family of all targets: each as it was fitted, with the given δ where it has one."""
    parts = [
        with_noise_variance(own, max(float(delta), 1e-300))
        for own, delta in zip(fitted, noise, strict=True)
    ]
    return rejoined(family, parts)


def final_state(
    state: ModelState, n_kept: int, family: Any, fits: Sequence[Linear], choices: Choices
) -> ModelState:
    """The shaped topics with coefficients as they were refitted and shrunken."""
    factors = [factor for _, factor in choices.shrinkage]
    k = state.n_topics
    coef = np.column_stack([t * f.coef[:k] for t, f in zip(factors, fits, strict=True)])
    zeta = np.column_stack([t * f.coef[k:] for t, f in zip(factors, fits, strict=True)])
    intercept = np.concatenate(
        [s + t * f.intercept for (s, t), f in zip(choices.shrinkage, fits, strict=True)]
    )
    return ModelState(
        topic_word=state.topic_word[:n_kept],
        inclusion=np.ones(n_kept),
        background=np.zeros(n_kept),
        coef=coef.reshape(state.coef.shape),
        family=with_families(family, [fit.family for fit in fits], choices.noise),
        doc_topic_prior=state.doc_topic_prior,
        intercept=intercept,
        covariate_coef=zeta if len(zeta) else None,
    )


def expand(small: ModelState, kept: np.ndarray, word_count: np.ndarray) -> ModelState:
    """The state over all words: φ exactly 0 or 1, β and π on disjoint words."""
    n_words = len(word_count)
    topics = np.zeros((n_words, small.n_topics))
    topics[kept] = small.topic_word
    inclusion = np.zeros(n_words)
    inclusion[kept] = 1.0
    background = np.zeros(n_words)
    if np.any((inclusion == 0) & (word_count > 0)):
        background = update_background(word_count, inclusion)
    return ModelState(
        topic_word=topics,
        inclusion=inclusion,
        background=background,
        coef=small.coef,
        family=small.family,
        doc_topic_prior=small.doc_topic_prior,
        intercept=small.intercept,
        covariate_coef=small.covariate_coef,
    )
