"""The model of a pass, the choices made on validation documents, and the result of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicfocus.focused.selection import Selection
from topicfocus.focused.subjects import Subjects
from topicfocus.glm import Linear
from topicfocus.joint.solver import StepInfo
from topicfocus.joint.updates import update_background
from topicfocus.model import ModelState


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Choices made on validation documents, one entry per target unless stated otherwise.

    Attributes
    ----------
    explained, explained_error : float
        The explained fraction of the deviance, the mean over targets, and its standard error.
    penalties, mean_squares : tuples of float
        Penalties and errors of the ridge regressions on the words kept, one per signal.
    shrinkage : tuple of float
        t, the factor of each predictor.
    toward_signs : tuple of float
        ρ, how strongly coefficients are shrunk toward the signs of the topics.
    noise : tuple of float
        δ, 1 where the family has none.
    variance_factor : tuple of float
        Factor of the variance of a predictor given the words.
    extra_variance : tuple of float
        Variance that is added to it.
    """

    explained: float
    explained_error: float
    penalties: tuple[float, ...]
    mean_squares: tuple[float, ...]
    shrinkage: tuple[float, ...]
    toward_signs: tuple[float, ...]
    noise: tuple[float, ...]
    variance_factor: tuple[float, ...]
    extra_variance: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class InclusionTrial:
    """An inclusion that was compared, and the fraction of the validation deviance it explains.

    `error` is the standard error of the difference from the best inclusion.
    """

    inclusion: float
    explained: float
    error: float


@dataclass(frozen=True, kw_only=True)
class PassModel:
    """The model of a pass on the words kept; `word_weight` has the weights of their tokens."""

    selection: Selection
    word_weight: np.ndarray
    state: ModelState
    supervision_weight: float
    choices: Choices


@dataclass(frozen=True, kw_only=True)
class FocusResult:
    """The result of a fit.

    Attributes
    ----------
    state : ModelState
        Over the whole vocabulary; `inclusion` is the weight of a token of each word, zero for words
        that are dropped.
    statistic : array (words,)
        The screening statistic.
    slopes : array (words, predictors)
        Signed associations of each word with each target.
    trials : tuple of InclusionTrial
        The inclusions that were compared.
    subjects : Subjects or None
        The subjects of the documents.
    history : tuple of StepInfo
    final : PassModel
        The model of the last pass.
    penalties : tuple of float
        Of the ridge regressions on all words.
    """

    state: ModelState
    statistic: np.ndarray
    slopes: np.ndarray
    trials: tuple[InclusionTrial, ...]
    subjects: Subjects | None
    history: tuple[StepInfo, ...]
    final: PassModel
    penalties: tuple[float, ...]


def with_families(family: Any, fitted: Sequence[Any], noise: Sequence[float]) -> Any:
    """The family of all targets from the fitted families, with the given δ."""
    parts = [
        own.with_noise_variance(max(float(delta), 1e-300))
        for own, delta in zip(fitted, noise, strict=True)
    ]
    return family.join(parts)


def with_coefficients(
    state: ModelState, family: Any, fits: Sequence[Linear], noise: Sequence[float]
) -> ModelState:
    """The state with the coefficients of these regressions."""
    k = state.n_topics
    coef = np.column_stack([fit.coef[:k] for fit in fits])
    zeta = np.column_stack([fit.coef[k:] for fit in fits])
    return replace(
        state,
        coef=coef.reshape(state.coef.shape),
        family=with_families(family, [fit.family for fit in fits], noise),
        intercept=np.concatenate([fit.intercept for fit in fits]),
        covariate_coef=zeta if len(zeta) else None,
    )


def over_all_words(model: PassModel, word_count: np.ndarray) -> ModelState:
    """The state over the whole vocabulary: φ is zero for dropped words, and π for kept ones."""
    n_words, small, kept = len(word_count), model.state, model.selection.kept
    topics = np.zeros((n_words, small.n_topics))
    topics[kept] = small.topic_word
    inclusion, relevant = np.zeros(n_words), np.zeros(n_words)
    inclusion[kept], relevant[kept] = model.word_weight, 1.0
    background = np.zeros(n_words)
    if np.any((relevant == 0) & (word_count > 0)):
        background = update_background(word_count, relevant)
    return replace(small, topic_word=topics, inclusion=inclusion, background=background)
