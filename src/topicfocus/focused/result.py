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
    """What validation documents decide; tuples have one entry per target unless said.

    Attributes
    ----------
    penalties, mean_squares : tuples of float
        Of the ridge regressions on the words kept, one per signal.
    shrinkage : tuple of float
        t, the factor of each predictor.
    toward_signs : tuple of float
        ρ, how strongly coefficients are shrunk toward the signs of the topics.
    noise : tuple of float
        δ, 1 where the family has none.
    variance_factor : tuple of float
        The part of the variance of a predictor given the words that counts.
    extra_variance : tuple of float
        Variance of a predictor beyond that.
    """

    penalties: tuple[float, ...]
    mean_squares: tuple[float, ...]
    shrinkage: tuple[float, ...]
    toward_signs: tuple[float, ...]
    noise: tuple[float, ...]
    variance_factor: tuple[float, ...]
    extra_variance: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class InclusionTrial:
    """An inclusion that was compared, and the fraction of the deviance it explains.

    On documents that were not trained on; `error` is the standard error, over them, of the
    difference from the best one (0 for that one).
    """

    inclusion: float
    explained: float
    error: float


@dataclass(frozen=True, kw_only=True)
class PassModel:
    """The model of a pass on its words, and the fraction of the validation deviance it explains.

    `explained_error` is the standard error of that fraction over the validation documents.
    `word_weight`: how much a token of each word kept counts.
    """

    explained: float
    explained_error: float
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
        Over the whole vocabulary; `inclusion` is how much a token of each word counts, zero for
        words that are dropped.
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
    """The family of all targets: each as it was fitted, with the given δ where it has one."""
    parts = [
        own.with_noise_variance(max(float(delta), 1e-300))
        for own, delta in zip(fitted, noise, strict=True)
    ]
    return family.join(parts)


def with_coefficients(
    state: ModelState, family: Any, fits: Sequence[Linear], noise: Sequence[float]
) -> ModelState:
    """The topics with the coefficients of these regressions."""
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
    """The state over the vocabulary: φ is zero for a dropped word, β and π are disjoint."""
    n_words, small, kept = len(word_count), model.state, model.selection.kept
    topics = np.zeros((n_words, small.n_topics))
    topics[kept] = small.topic_word
    inclusion, relevant = np.zeros(n_words), np.zeros(n_words)
    inclusion[kept], relevant[kept] = model.word_weight, 1.0
    background = np.zeros(n_words)
    if np.any((relevant == 0) & (word_count > 0)):
        background = update_background(word_count, relevant)
    return replace(small, topic_word=topics, inclusion=inclusion, background=background)
