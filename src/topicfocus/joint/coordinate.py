"""Coordinate ascent: infer every document, then update every global block in closed form.

With the closed-form update of the inclusion the bound never falls. With
``selection="sort_and_cut"`` the inclusion solves the scalar equation of `joint.updates`, annealed
from T = 1 to nearly 0 after a burn-in in which topics form; at the end φ is exactly 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from topicfocus.joint.coefficients import update_coef
from topicfocus.joint.initialize import initial_concentration
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.solver import Solver, StepInfo
from topicfocus.joint.statistics import SufficientStats, bound_value, collect
from topicfocus.joint.updates import (
    complete,
    description_length,
    lift,
    sort_and_cut,
    update_background,
    update_inclusion,
    update_prior,
    update_topics,
)
from topicfocus.model import ModelState, Problem


@dataclass(frozen=True)
class CoordinateState:
    """The parameters, γ of every document, and the epoch.

    During sort-and-cut, rows of `parameters.topic_word` of dropped words are those that the words
    would have if they were kept, and only Σ_v φ_v β_vk = 1 holds. `past` has statistics of
    documents no longer in memory, for all parameters but η and its family. `objective` is the bound
    of the previous epoch.
    """

    problem: Problem
    hyper: Hyperparameters
    parameters: ModelState
    concentration: np.ndarray
    epoch: int
    past: SufficientStats | None = None
    objective: float = -np.inf


@dataclass(frozen=True, kw_only=True)
class CoordinateSolver(Solver):
    """Coordinate ascent: every document in turn, then every global block in closed form.

    The closed form has converged when each of `patience` consecutive epochs changed the bound by at
    most ``tol``, relative to the bound; sort-and-cut has a fixed schedule. The objective of an
    epoch is the bound before its global update.

    Parameters
    ----------
    selection : {"closed_form", "sort_and_cut"}, default="closed_form"
        How inclusion probabilities are updated; "sort_and_cut" belongs to the tight bound.
    local_steps : int, default=8
        Largest number of local steps per document and epoch; γ is kept between epochs.
    local_tolerance : float, default=1e-5
        Relative change of γ at which the steps of a document end.
    burn_in, anneal, settle : int
        Epochs of sort-and-cut before selecting (60), while cooling (100), and after the cut (10).
    final_temperature : float, default=5e-4
        Temperature at the end of the cooling, which begins at 1.
    relaxation : float, default=1.0
        r of the update β ∝ β_old^(1-r) β_new^r, which takes fewer epochs for 1 < r < 2
        (Salakhutdinov & Roweis 2003). After an epoch that lowered the bound, r is 1 for one epoch.
        With r = 1 the bound never falls.
    """

    selection: Literal["closed_form", "sort_and_cut"] = "closed_form"
    local_steps: int = 8
    local_tolerance: float = 1e-5
    burn_in: int = 60
    anneal: int = 100
    settle: int = 10
    final_temperature: float = 5e-4
    relaxation: float = 1.0
    patience: int = 2

    def epochs(self, max_epochs: int) -> int:
        if self.selection == "sort_and_cut":
            return self.burn_in + self.anneal + self.settle
        return max_epochs

    def converged(self, history: list[StepInfo], tol: float) -> bool:
        return self.selection == "closed_form" and super().converged(history, tol)

    def begin(
        self, problem: Problem, hyper: Hyperparameters, start: ModelState, rng: Any = None
    ) -> CoordinateState:
        if self.selection == "sort_and_cut" and (hyper.bound != "tight" or not hyper.selects):
            raise ValueError('selection="sort_and_cut" needs the tight bound: use bound="tight".')
        relevant = problem.mean_length(start.inclusion)
        gamma = initial_concentration(problem.n_docs, start.doc_topic_prior, relevant)
        return CoordinateState(problem, hyper, start, gamma, 0)

    def model(self, state: CoordinateState) -> ModelState:
        parameters = state.parameters
        if self.selection == "sort_and_cut":
            topics = parameters.topic_word * parameters.inclusion[:, None]
            parameters = replace(parameters, topic_word=topics / topics.sum(axis=0))
        return parameters

    def step(self, state: CoordinateState) -> tuple[CoordinateState, StepInfo]:
        problem, hyper, old = state.problem, state.hyper, state.parameters
        stats = collect(
            problem,
            old,
            hyper,
            state.concentration,
            max_steps=self.local_steps,
            tolerance=self.local_tolerance,
        )
        if state.past is not None:
            stats = stats + state.past
        objective = bound_value(stats, old, hyper) / max(stats.word_count.sum(), 1.0)
        temperature = None
        if self.selection == "closed_form":
            inclusion = update_inclusion(stats, old, hyper)
            topics = update_topics(stats, inclusion)
            if self.relaxation != 1 and objective >= state.objective:
                topics = relaxed(old.topic_word, topics, self.relaxation)
        else:
            inclusion, temperature = self._select(stats, state)
            topics = _profiles(stats, inclusion)
        coef, covariate_coef, family = update_coef(
            problem, old, state.concentration, hyper.coef_penalty
        )
        prior = old.doc_topic_prior
        if hyper.learn_prior:
            prior = update_prior(stats.log_theta, stats.n_docs, prior)
        background = old.background
        if hyper.selects:
            background = update_background(stats.word_count, inclusion)
        new = ModelState(
            topics, inclusion, background, coef, family, prior, old.intercept, covariate_coef
        )
        info = StepInfo(
            state.epoch + 1, objective, int(np.sum(inclusion > 0.5)), temperature=temperature
        )
        state = replace(state, parameters=new, epoch=state.epoch + 1, objective=objective)
        return state, info

    def _select(
        self, stats: SufficientStats, state: CoordinateState
    ) -> tuple[np.ndarray, float | None]:
        old, hyper, epoch = state.parameters, state.hyper, state.epoch
        if epoch < self.burn_in:
            return old.inclusion, None
        if epoch >= self.burn_in + self.anneal:
            # Exactly 0 or 1, so that β and π have disjoint supports (the point mass of Theorem 2).
            kept = old.inclusion > 0.5
            if epoch == self.burn_in + self.anneal:
                theta = state.concentration / state.concentration.sum(axis=1, keepdims=True)
                kept = complete(kept, state.problem, theta, hyper.inclusion_prior)
            return kept.astype(float), None
        progress = (epoch - self.burn_in) / max(self.anneal - 1, 1)
        temperature = self.final_temperature**progress
        cost = description_length(stats.word_count, hyper.n_topics, stats.n_docs)
        score = lift(stats.word_log_likelihood, stats.word_count, old.inclusion) - cost
        inclusion = sort_and_cut(score, stats.word_count, hyper.inclusion_prior, temperature)
        return inclusion, temperature


def relaxed(before: np.ndarray, after: np.ndarray, relaxation: float) -> np.ndarray:
    """β ∝ before^(1-r) after^r, normalised per topic; zero where either is zero.

    Examples
    --------
    >>> import numpy as np
    >>> relaxed(np.array([[0.5], [0.5]]), np.array([[0.75], [0.25]]), 2.0).ravel().tolist()
    [0.9, 0.1]
    """
    ratio = np.divide(after, before, out=np.zeros_like(after), where=before > 0)
    further = before * ratio**relaxation
    return further / further.sum(axis=0)


def _profiles(stats: SufficientStats, inclusion: np.ndarray) -> np.ndarray:
    """S_vk / Σ_u φ_u S_uk of all words, including dropped ones."""
    profile = stats.word_topic + 1e-12 * stats.word_count[:, None]
    weight = inclusion @ profile
    if not np.all(weight > 0):  # all words are dropped
        weight = profile.sum(axis=0)
    return profile / weight
