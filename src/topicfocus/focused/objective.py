"""One pass of the constrained objective: its value and its gradient in every global parameter.

    J = Σ_d [ Σ_t w_dt log p(y_dt | b + o_d + ζᵀz_d + ηᵀθ̂_d)
              + Σ_v c_dv φ_v log(β_v·θ̂_d) + Σ_k a_k log θ̂_dk ]

θ̂_d being the mode given the words alone, as in prediction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicfocus.counts import Rows
from topicfocus.families import for_kernels
from topicfocus.kernels.constrained import (
    ConstrainedStats,
    constrained_documents,
)
from topicfocus.kernels.local import LocalBudget, LocalCorpus
from topicfocus.model import ModelState, Problem
from topicfocus.passes import Arrays, Task, run_pass, zeros
from topicfocus.proportions import word_weights


@dataclass(frozen=True)
class ConstrainedPass:
    """The objective and its gradient.

    Attributes
    ----------
    words, mix, target : float
        The three sums of J; `value` is their total.
    log_topic_gradient : array (words, topics)
        ∂J/∂log β_vk.
    coef_gradient : array like η
    intercept_gradient : array (predictors,)
    covariate_gradient : array (covariates, predictors)
    """

    words: float
    mix: float
    target: float
    log_topic_gradient: np.ndarray
    coef_gradient: np.ndarray
    intercept_gradient: np.ndarray
    covariate_gradient: np.ndarray

    @property
    def value(self) -> float:
        return self.words + self.mix + self.target


def constrained_pass(
    problem: Problem,
    state: ModelState,
    theta: np.ndarray,
    *,
    max_steps: int = 30,
    tolerance: float = 1e-7,
) -> ConstrainedPass:
    """Find θ̂ of every document, from `theta` and in place, and J with its gradient.

    The result is the same for every number of threads.
    """
    weights = word_weights(state, "tight")
    n_words, n_topics = state.topic_word.shape
    budget = LocalBudget(int(max_steps), float(tolerance))
    coef, family = state.coef_rows, for_kernels(state.family)
    slope = np.empty((problem.n_docs, len(coef)))
    task = Task(
        kernel=_documents,
        make=zeros((n_words, n_topics), 3, kind=ConstrainedStats),
        shared=(weights.table, state.doc_topic_prior, coef, family, budget),
        given=problem.given(state),
        changed=(theta, slope),
        by_word=True,
    )
    stats = run_pass(problem.corpus.counts, task, problem.n_jobs)
    scale = problem.word_counts * weights.log_scale
    slope *= problem.doc_weights[:, None]
    covariates = np.zeros((problem.n_docs, 0)) if problem.covariates is None else problem.covariates
    return ConstrainedPass(
        words=float(stats.parts[0] + weights.table.multiplicity @ scale),
        mix=float(stats.parts[1]),
        target=float(stats.parts[2]),
        log_topic_gradient=stats.word_topic,
        coef_gradient=(theta.T @ slope).reshape(state.coef.shape),
        intercept_gradient=slope.sum(axis=0),
        covariate_gradient=covariates.T @ slope,
    )


def _documents(
    rows: Rows, shared: tuple, given: Arrays, changed: Arrays, total: ConstrainedStats
) -> None:
    table, prior, coef, family, budget = shared
    corpus, (theta, slope) = LocalCorpus(*rows, *given), changed
    constrained_documents(True, corpus, table, prior, coef, family, theta, slope, budget, total)
