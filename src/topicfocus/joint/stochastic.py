"""Adam on unconstrained global parameters of the collapsed bound, with minibatches.

In the collapsed bound local parameters are at their optimum. By the envelope theorem its gradient
is the partial derivative there, which needs the sufficient statistics only. π is optimal given φ,
too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import digamma, logit

from topicfocus.joint.adam import Adam, from_unconstrained, to_unconstrained
from topicfocus.joint.coefficients import coef_gradient, penalty_of
from topicfocus.joint.initialize import initial_concentration
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.solver import Solver, StepInfo
from topicfocus.joint.statistics import SufficientStats, bound_value, collect
from topicfocus.joint.updates import log_likelihood_per_token
from topicfocus.kernels.uncollapsed import topic_gradient
from topicfocus.model import ModelState, Problem


@dataclass(frozen=True)
class StochasticState:
    """The parameters, their optimiser, and γ of every document."""

    problem: Problem
    hyper: Hyperparameters
    parameters: ModelState
    adam: Adam
    concentration: np.ndarray
    rng: np.random.Generator
    epoch: int


@dataclass(frozen=True, kw_only=True)
class StochasticSolver(Solver):
    """Adam on unconstrained global parameters of the collapsed bound, with minibatches.

    Local inference is in single precision. The step size falls as 1/√(1 + epoch/5). It has
    converged when each of `patience` consecutive epochs changed the sum of the bounds of the
    minibatches by at most ``tol``, relative to the sum.

    Parameters
    ----------
    batch_size : int, optional
        Documents per step; by default 100, or more so that an epoch has at most 100 steps, since
        the time of a step grows with words x topics.
    learning_rate : float, default=0.1
        Step size of the first epoch.
    local_steps : int, default=10
        Largest number of local steps per document and epoch; γ is kept between epochs.
    local_tolerance : float, default=1e-3
        Relative change of γ at which the steps of a document end.
    """

    batch_size: int | None = None
    learning_rate: float = 0.1
    local_steps: int = 10
    local_tolerance: float = 1e-3
    patience: int = 3

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
                dtype=np.float32,
            )
            state.concentration[index] = gamma
            share = batch.size / problem.size
            if share == 0:
                continue  # all documents have weight 0
            penalty = penalty_of(parameters, hyper.coef_penalty)
            objective += bound_value(stats, parameters, hyper) + (1 - share) * penalty
            # Scaled to the whole corpus, on which the penalty on η is defined.
            gradient = collapsed_gradient(stats.scale(1 / share), parameters, hyper)
            d_target = coef_gradient(batch, parameters, gamma, share * hyper.coef_penalty)
            gradient |= {name: part / share for name, part in d_target.items()}
            state.adam.step(gradient, rate)
            parameters = from_unconstrained(state.adam.parameters, parameters, word_count).model
        info = StepInfo(
            state.epoch + 1,
            objective / max(problem.n_tokens, 1.0),
            int(np.sum(parameters.inclusion > 0.5)),
        )
        return replace(state, parameters=parameters, epoch=state.epoch + 1), info


def collapsed_gradient(
    stats: SufficientStats, state: ModelState, hyper: Hyperparameters
) -> dict[str, np.ndarray]:
    """The gradient of `bound_value` in the free parameters that `coef_gradient` does not have."""
    phi = state.inclusion
    d_topics = np.empty_like(stats.word_topic)
    topic_gradient(stats.word_topic, state.topic_word, phi, d_topics)
    gradient = {"topic_logits": d_topics}
    if hyper.selects:
        n = stats.word_count
        p = hyper.inclusion_prior
        log_background = np.log(np.maximum(state.background, 1e-300))
        score = log_likelihood_per_token(stats, state, hyper) - log_background - logit(phi)
        score += np.log(p) - np.log1p(-p)
        gradient["inclusion_logits"] = phi * (1 - phi) * n * score
    if hyper.learn_prior:
        prior = state.doc_topic_prior
        d_prior = stats.n_docs * (digamma(prior.sum()) - digamma(prior)) + stats.log_theta
        gradient["log_prior"] = prior * d_prior
    return gradient
