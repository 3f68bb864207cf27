"""What the stages come to: a model for each plan tried, and the one that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicfocus.focused.selection import Cut
from topicfocus.focused.themes import Themes
from topicfocus.glm import Linear
from topicfocus.inference.channels import update_background
from topicfocus.inference.state import ModelState
from topicfocus.joint.solver import StepInfo


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What the held-out documents decided, to be used again when all documents are fitted.

    Attributes
    ----------
    penalties, mean_squares : tuples of float
        Of the ridge regressions on the kept words, one a signal.
    shrinkage : tuple of float
        Factors of the predictors, one per target.
    noise : tuple of float
        δ, one a target (1 where it has none).
    openness : tuple of float
        ρ, how much of what the words leave open of a predictor counts, one a target.
    excess : tuple of float
        τ, what a predictor varies by besides, one a target.
    steps : int
        L-BFGS iterations after which the topics were kept.
    drawn : tuple of float
        ρ of the regressions on topic mixes, one a target (`refit`).
    """

    penalties: tuple[float, ...]
    mean_squares: tuple[float, ...]
    shrinkage: tuple[float, ...]
    noise: tuple[float, ...]
    openness: tuple[float, ...]
    excess: tuple[float, ...]
    steps: int
    drawn: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class ShareTrial:
    """An inclusion prior that was tried, and the share of the target it explains.

    Of documents not trained on; `error` is the standard error, over them, of the difference from
    the trial that explains most (0 for that one).
    """

    share: float
    explained: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A model on its kept words, and the share of the held-out target it explains.

    `word_weight`: how much a token of each kept word counts.
    """

    explained: float
    cut: Cut
    word_weight: np.ndarray
    state: ModelState
    supervision_weight: float
    choices: Choices


@dataclass(frozen=True, kw_only=True)
class FocusResult:
    """The fitted state over the whole vocabulary, and how it came about.

    Attributes
    ----------
    state : ModelState
        `inclusion` is how much a token of each word counts, zero for those that are dropped.
    inclusion_prior : float
        The share of tokens that the final cut used.
    word_cost : float or None
        c of that cut, what a word's evidence had to exceed; None where all words are kept.
    discoveries : bool
        Whether it kept discoveries alone (`cut`).
    supervision_weight : float
        λ.
    evidence : array (words,)
    slopes : array (words, predictors)
        What each word says about each target by itself.
    explained : float
        Share of the held-out target that the first pass explains.
    shares : tuple of ShareTrial
        The inclusion priors that were tried (`share`).
    themes : Themes or None
        What documents are about.
    history : tuple of StepInfo
    chosen, penalties
        What `refit_focused` goes on from.
    """

    state: ModelState
    inclusion_prior: float
    word_cost: float | None
    discoveries: bool
    supervision_weight: float
    evidence: np.ndarray
    slopes: np.ndarray
    explained: float
    shares: tuple[ShareTrial, ...]
    themes: Themes | None
    history: tuple[StepInfo, ...]
    chosen: Candidate
    penalties: tuple[float, ...]


def with_families(family: Any, fitted: Sequence[Any], noise: Sequence[float]) -> Any:
    """The family of all targets: each as it was fitted, with the given δ where it has one."""
    parts = [
        own.with_noise_variance(max(float(delta), 1e-300))
        for own, delta in zip(fitted, noise, strict=True)
    ]
    return family.join(parts)


def final_state(
    state: ModelState, family: Any, fits: Sequence[Linear], noise: Sequence[float]
) -> ModelState:
    """The shaped topics with coefficients as they were refitted and shrunk."""
    k = state.n_topics
    coef = np.column_stack([fit.coef[:k] for fit in fits])
    zeta = np.column_stack([fit.coef[k:] for fit in fits])
    intercept = np.concatenate([fit.intercept for fit in fits])
    return ModelState(
        topic_word=state.topic_word,
        inclusion=state.inclusion,
        background=state.background,
        coef=coef.reshape(state.coef.shape),
        family=with_families(family, [fit.family for fit in fits], noise),
        doc_topic_prior=state.doc_topic_prior,
        intercept=intercept,
        covariate_coef=zeta if len(zeta) else None,
    )


def expand(chosen: Candidate, word_count: np.ndarray) -> ModelState:
    """The state over all words: φ is zero for a dropped word, β and π are on disjoint words."""
    n_words, small, kept = len(word_count), chosen.state, chosen.cut.kept
    topics = np.zeros((n_words, small.n_topics))
    topics[kept] = small.topic_word
    inclusion, relevant = np.zeros(n_words), np.zeros(n_words)
    inclusion[kept], relevant[kept] = chosen.word_weight, 1.0
    background = np.zeros(n_words)
    if np.any((relevant == 0) & (word_count > 0)):
        background = update_background(word_count, relevant)
    return replace(small, topic_word=topics, inclusion=inclusion, background=background)
