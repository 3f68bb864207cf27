"""The paper's own algorithm: Adam on every parameter at once, the variational ones included.

On real data its result depends on the path it takes: from a nearly symmetric start little moves for
many epochs, then the target breaks the symmetry and the words follow. A better optimiser of the
same bound ends elsewhere, so reproducing the paper needs this one. The arithmetic is the original's
(Adam, step 0.025, minibatches of 100, sums rather than means, raw γ, δ as a square), in sparse
form: responsibilities exist for nonzero counts only.

Differences from the original code, on purpose; from the same start objective, gradients and path
are otherwise equal to 1e-11:

- Documents are put in random order once. The original visits them in file order; its shuffle has no
  effect.
- δ starts at 0.05 or more (`noise_start`). The original has no floor, which 18% of its starts would
  meet; from δ = 6e-5 it ends worse than the mean (error 2.93 against 1.79; 1.60 with the floor).
- η has a Normal(0, 1/0.001) prior (`coef_penalty`; the original has none).
- Responsibilities and their moments are in single precision, which halves the memory.
- Documents that a step does not visit drift by Adam's moments. The drift is summed in closed form,
  without the ε = 1e-8 that Adam adds to a root.
- θ̂ of new documents is converged.
- A Bernoulli target keeps its variance term; γ stays positive; δ is 1e-8 or more.
- Estimators standardise real targets first, unless `standardize=False`, which is the original.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from topicfocus.counts import read_rows
from topicfocus.families import for_kernels
from topicfocus.inference.documents import beside_words, local_corpus
from topicfocus.inference.state import INCLUSION_MARGIN, Hyperparameters, ModelState, Problem
from topicfocus.joint.adam import BETA1, BETA2, Adam, adam_step
from topicfocus.joint.coefficients import coef_gradient
from topicfocus.joint.solver import Solver, StepInfo, shown, small_change
from topicfocus.kernels.channels import (
    ChannelGradients,
    log_softmax_columns,
    switch_gradients,
    topic_gradient,
)
from topicfocus.kernels.local import LocalCorpus
from topicfocus.kernels.threads import chunk_bounds, run_chunks
from topicfocus.kernels.uncollapsed import (
    AdamStep,
    Uncollapsed,
    UncollapsedStats,
    Visit,
    catch_up_documents,
    step_documents,
)


def unvisited_drift(last: np.ndarray, now: int) -> Visit:
    """Drift and fading of documents last stepped at time `last`, about to be stepped at `now`.

    drift = Σ_{j=1}^{g} β₁ʲ/(1-β₁^{t+j}) · √((1-β₂^{t+j})/β₂ʲ), g = now - 1 - last, t = last: the
    constants of `kernels.uncollapsed`. A document never visited has no moments and does not drift.
    """
    drift = np.zeros(len(last))
    fade1 = np.ones(len(last))
    fade2 = np.ones(len(last))
    for t in np.unique(last[last > 0]):
        gap = now - 1 - int(t)
        j = np.arange(1, gap + 1)
        terms = BETA1**j / (1 - BETA1 ** (t + j)) * np.sqrt((1 - BETA2 ** (t + j)) / BETA2**j)
        here = last == t
        drift[here] = terms.sum()
        fade1[here] = BETA1**gap
        fade2[here] = BETA2**gap
    return Visit(drift, fade1, fade2)


@dataclass(frozen=True)
class GradientState:
    """Global parameters (in `adam`), local parameters with their moments, and who was seen when."""

    problem: Problem
    hyper: Hyperparameters
    template: ModelState
    adam: Adam
    local: Uncollapsed
    visited: np.ndarray
    order: np.ndarray
    epoch: int


@shown(
    ">>> from topicfocus.joint import GradientSolver",
    ">>> result = run(GradientSolver(), problem, hyper, start, rng, max_epochs=5, tol=0.0)",
    ">>> len(result.history)",
    "5",
)
@dataclass(frozen=True, kw_only=True)
class GradientSolver(Solver):
    """The paper's algorithm: Adam on every parameter at once, of the paper's bound.

    Runs all epochs unless ``tol`` > 0: a plateau of a hundred epochs at the start is normal, so no
    rule on the change of the objective is applied by default.

    Parameters
    ----------
    batch_size : int, default=100
        Documents a step.
    learning_rate : float, default=0.025
    patience : int, default=20
        Epochs in a row that may change the objective by at most ``tol`` of itself.
    """

    batch_size: int = 100
    learning_rate: float = 0.025
    patience: int = 20

    def epochs(self, max_epochs: int) -> int:
        return max_epochs

    def converged(self, history: list[StepInfo], tol: float) -> bool:
        return small_change(history, tol, patience=self.patience)

    def begin(
        self, problem: Problem, hyper: Hyperparameters, start: ModelState, rng: np.random.Generator
    ) -> GradientState:
        if hyper.bound != "paper":
            raise ValueError('The paper\'s algorithm optimises its own bound: use bound="paper".')
        if hyper.learn_prior:
            raise ValueError('doc_topic_prior="learn" needs solver="coordinate" or "stochastic".')
        n_docs, n_topics = problem.n_docs, hyper.n_topics
        nonzeros = problem.corpus.counts.nnz
        parameters = {
            "topic_logits": np.log(start.topic_word),
            "coef": start.coef,
        }
        if hyper.selects:
            parameters["background_logits"] = np.log(start.background)
            parameters["inclusion_logits"] = logit(start.inclusion)
        noise = start.family.noise_variance
        if noise is not None:
            parameters["noise_root"] = np.array([np.sqrt(noise)])
        elif len(start.family.free_parameters()):
            parameters["family"] = start.family.free_parameters()
        if start.covariate_coef is not None:
            parameters["covariate_coef"] = start.covariate_coef
        # Responsibilities are the bulk of the memory: single precision halves it.
        local = Uncollapsed(
            np.ones((n_docs, n_topics)),
            np.zeros((n_docs, n_topics)),
            np.zeros((n_docs, n_topics)),
            np.ones((nonzeros, n_topics), dtype=np.float32),
            np.zeros((nonzeros, n_topics), dtype=np.float32),
            np.zeros((nonzeros, n_topics), dtype=np.float32),
        )
        return GradientState(
            problem,
            hyper,
            start,
            Adam(parameters),
            local,
            np.zeros(n_docs, dtype=np.int64),
            rng.permutation(n_docs),
            0,
        )

    def model(self, state: GradientState) -> ModelState:
        return _read(state).model

    def step(self, state: GradientState) -> tuple[GradientState, StepInfo]:
        objective = 0.0
        for first in range(0, state.problem.n_docs, self.batch_size):
            objective += self._batch(state, state.order[first : first + self.batch_size])
        model = self.model(state)
        info = StepInfo(
            state.epoch + 1,
            objective / max(state.problem.n_tokens, 1.0),
            int(np.sum(model.inclusion > 0.5)),
        )
        return replace(state, epoch=state.epoch + 1), info

    def _batch(self, state: GradientState, docs: np.ndarray) -> float:
        """A step of everything that these documents touch; their part of the objective."""
        problem, hyper, local = state.problem, state.hyper, state.local
        read = _read(state)
        model = read.model
        counts = problem.corpus.counts
        rows = read_rows(counts, 0, counts.shape[0])
        corpus = local_corpus(rows, beside_words(problem, model))
        now = state.adam.t + 1
        drift = unvisited_drift(state.visited[docs], now)
        catch_up_documents(docs, corpus.indptr, local, drift, self.learning_rate)
        state.visited[docs] = now
        # η's gradient belongs to the γ before this step.
        batch = problem.rows(docs)
        d_target = coef_gradient(batch, model, local.concentration[docs])
        bounds = chunk_bounds(batch.corpus.counts.indptr, model.n_words)
        step = adam_step(self.learning_rate, now)
        stats = _step_in_chunks(docs, corpus, read, local, step, bounds, problem.n_jobs)
        gradient, background_value = _global_gradient(
            stats.word_topic, batch.word_counts, read, hyper
        )
        share = hyper.coef_penalty * len(docs) / problem.n_docs
        gradient["coef"] = d_target.coef - share * model.coef
        if model.covariate_coef is not None:
            gradient["covariate_coef"] = d_target.covariates - share * model.covariate_coef
        if "noise_root" in state.adam.parameters:
            root = state.adam.parameters["noise_root"][0]
            gradient["noise_root"] = 2.0 * d_target.free / root
        if "family" in state.adam.parameters:
            gradient["family"] = d_target.free
        state.adam.step(gradient, self.learning_rate)
        return float(stats.parts.sum()) + background_value


class _Reading(NamedTuple):
    """The model behind the parameters, with log β and log π."""

    model: ModelState
    log_topics: np.ndarray
    log_background: np.ndarray


def _step_in_chunks(
    docs: np.ndarray,
    corpus: LocalCorpus,
    read: _Reading,
    local: Uncollapsed,
    step: AdamStep,
    bounds: np.ndarray,
    n_jobs: int | None,
) -> UncollapsedStats:
    """A step of the variational parameters of documents, in place; what it says of the topics."""
    model = read.model
    coef, family = model.coef_rows, for_kernels(model.family)

    def make() -> UncollapsedStats:
        return UncollapsedStats(np.zeros(model.topic_word.shape), np.zeros(3))

    def work(first: int, last: int, out: UncollapsedStats) -> None:
        step_documents(
            first,
            last,
            docs,
            corpus,
            model.inclusion,
            read.log_topics,
            model.doc_topic_prior,
            coef,
            family,
            local,
            step,
            out,
        )

    def add(total: UncollapsedStats, other: UncollapsedStats) -> None:
        for mine, theirs in zip(total, other, strict=True):
            mine += theirs

    return run_chunks(work, bounds, make, add, n_jobs)


def _log_softmax(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms and values, down the columns."""
    log_p, p = np.empty_like(logits), np.empty_like(logits)
    log_softmax_columns(logits, log_p, p)
    return log_p, p


def _read(state: GradientState) -> _Reading:
    free = state.adam.parameters
    log_topics, topics = _log_softmax(free["topic_logits"])
    template = state.template
    inclusion, background = template.inclusion, template.background
    log_background = np.empty(0)  # nobody asks for it in a model without switches
    if state.hyper.selects:
        inclusion = np.clip(expit(free["inclusion_logits"]), INCLUSION_MARGIN, 1 - INCLUSION_MARGIN)
        column = _log_softmax(free["background_logits"][:, None])
        log_background, background = column[0][:, 0], column[1][:, 0]
    family = template.family
    if "noise_root" in free:
        family = family.with_noise_variance(float(max(free["noise_root"][0] ** 2, 1e-8)))
    if "family" in free:
        family = family.with_free_parameters(free["family"])
    model = ModelState(
        topics,
        inclusion,
        background,
        free["coef"].copy(),
        family,
        template.doc_topic_prior,
        template.intercept,
        free["covariate_coef"].copy() if "covariate_coef" in free else None,
    )
    return _Reading(model, log_topics, log_background)


def _global_gradient(
    word_topic: np.ndarray, word_count: np.ndarray, read: _Reading, hyper: Hyperparameters
) -> tuple[dict[str, np.ndarray], float]:
    """Gradients of the minibatch's bound in β, π and φ, and the bound's part without documents."""
    model = read.model
    n_words = len(word_topic)
    out = ChannelGradients(np.empty_like(word_topic), np.empty(n_words), np.empty(n_words))
    topic_gradient(word_topic, model.topic_word, model.inclusion, out.topics)
    if not hyper.selects:
        return {"topic_logits": out.topics}, 0.0
    value = switch_gradients(
        word_topic,
        np.asarray(word_count, dtype=float),
        read.log_topics,
        model.inclusion,
        read.log_background,
        model.background,
        hyper.inclusion_prior,
        out,
    )
    gradient = {
        "topic_logits": out.topics,
        "background_logits": out.background,
        "inclusion_logits": out.inclusion,
    }
    return gradient, value
