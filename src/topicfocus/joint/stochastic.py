"""Minibatches of the collapsed bound: Adam on unconstrained global parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from topicfocus.inference.mixes import initial_concentration
from topicfocus.inference.state import Hyperparameters, ModelState, Problem
from topicfocus.joint.adam import Adam
from topicfocus.joint.coefficients import penalty_of
from topicfocus.joint.solver import Solver, StepInfo, shown, small_change
from topicfocus.joint.statistics import bound_value, collect
from topicfocus.joint.unconstrained import (
    collapsed_gradient,
    from_unconstrained,
    to_unconstrained,
)


@dataclass(frozen=True)
class StochasticState:
    """The parameters as they are, the optimiser behind them, the γ of every document."""

    problem: Problem
    hyper: Hyperparameters
    parameters: ModelState
    adam: Adam
    concentration: np.ndarray
    rng: np.random.Generator
    epoch: int


@shown(
    ">>> from topicfocus.joint import StochasticSolver",
    ">>> result = run(StochasticSolver(), problem, hyper, start, rng, max_epochs=5, tol=0.0)",
    ">>> len(result.history)",
    "5",
)
@dataclass(frozen=True, kw_only=True)
class StochasticSolver(Solver):
    """Minibatches of the collapsed bound: Adam on unconstrained global parameters.

    The step size falls as 1/√(1 + epoch/5). It has converged when three epochs in a row changed the
    sum of the minibatches' bounds by at most ``tol`` of itself.

    Parameters
    ----------
    batch_size : int, optional
        Documents a step; by default 100, or more so that an epoch has at most 100 steps, since a
        step costs words x topics whatever its documents.
    learning_rate : float, default=0.1
        Step size of the first epoch.
    local_steps : int, default=10
        Local steps a document and epoch, at most; γ is kept between epochs.
    local_tolerance : float, default=1e-3
        Change of γ at which a document's steps end.
    single_precision : bool, default=True
        Whether documents are worked on in single precision.
    """

    batch_size: int | None = None
    learning_rate: float = 0.1
    local_steps: int = 10
    local_tolerance: float = 1e-3
    single_precision: bool = True

    def epochs(self, max_epochs: int) -> int:
        return max_epochs

    def converged(self, history: list[StepInfo], tol: float) -> bool:
        return small_change(history, tol, patience=3)

    def begin(
        self, problem: Problem, hyper: Hyperparameters, start: ModelState, rng: np.random.Generator
    ) -> StochasticState:
        relevant = problem.mean_length(start.inclusion)
        gamma = initial_concentration(problem.n_docs, start.doc_topic_prior, relevant)
        adam = Adam(to_unconstrained(start, hyper))
        return StochasticState(problem, hyper, start, adam, gamma, rng, 0)

    def model(self, state: StochasticState) -> ModelState:
        return state.parameters

    def step(self, state: StochasticState) -> tuple[StochasticState, StepInfo]:
        problem, hyper = state.problem, state.hyper
        word_count = problem.word_counts
        rate = self.learning_rate / math.sqrt(1 + state.epoch / 5)
        parameters = state.parameters
        objective = 0.0
        size = self.batch_size or max(100, math.ceil(problem.n_docs / 100))
        for index in problem.corpus.batches(size, state.rng):
            batch = problem.rows(index)
            gamma = state.concentration[index]
            stats = collect(
                batch,
                parameters,
                hyper,
                gamma,
                max_steps=self.local_steps,
                tolerance=self.local_tolerance,
                dtype=np.float32 if self.single_precision else np.float64,
            )
            state.concentration[index] = gamma
            share = batch.size / problem.size
            if share == 0:
                continue  # documents that stand for none
            penalty = penalty_of(parameters, hyper.coef_penalty)
            objective += bound_value(stats, parameters, hyper) + (1 - share) * penalty
            # The minibatch stands for the whole corpus; Adam does not mind the scale, the
            # penalty on η does.
            gradient = collapsed_gradient(stats.scale(1 / share), parameters, hyper)
            state.adam.step(gradient, rate)
            parameters = from_unconstrained(state.adam.parameters, parameters, word_count)
        info = StepInfo(
            state.epoch + 1,
            objective / max(problem.n_tokens, 1.0),
            int(np.sum(parameters.inclusion > 0.5)),
        )
        return replace(state, parameters=parameters, epoch=state.epoch + 1), info
