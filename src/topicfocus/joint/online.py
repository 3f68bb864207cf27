"""Joint models from batches: coordinate ascent on a sample, with statistics of the other documents.

Documents in the reservoir have their γ and are inferred again in every epoch. Documents that leave
it, or are not sampled, contribute the statistics at the current topics. An epoch is a step of
coordinate ascent on the statistics of both. While all distinct documents fit into the reservoir, it
is a step of `CoordinateSolver` on all of them.

Statistics of earlier documents belong to earlier topics. They are averaged with weights that favour
late documents, as in online variational inference,

    r ← (1 - ρ) r + ρ r_new,   ρ = (n_new/n)^0.7,

but only as fractions, how the tokens of a word divide among topics. The number of its tokens is
exact.

A batch pays for `REPLAY` epochs over as many documents as it has, and these are spent on the
reservoir, so that the time per document does not depend on the length of the stream.

Words that were dropped after a few documents are hardly ever selected again: coordinate ascent of
bound="paper" remains near its first selection (Pang & Lee: validation error 1.66 after one pass,
1.34 with `fit`). Therefore a model that selects words is fitted from a new start when the number of
documents has doubled, as long as all are in memory, for at least `FRESH` epochs (1.32).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import digamma

from topicfocus.joint.coordinate import CoordinateSolver, CoordinateState
from topicfocus.joint.initialize import initial_concentration, perturbed_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.solver import StepInfo
from topicfocus.joint.statistics import SufficientStats, collect
from topicfocus.joint.updates import update_background
from topicfocus.model import ModelState, Problem
from topicfocus.reservoir import Inherited, Reservoir, add

#: Epochs per batch, over as many documents as the batch has.
REPLAY = 50.0
#: Smallest number of epochs after a new start.
FRESH = 60.0
#: Exponent of the weights of new statistics; with 1 all documents have equal weights.
FORGETTING = 0.7
#: Growth of the number of documents after which words are selected again.
CHOOSE = 2.0


@dataclass(frozen=True)
class PastStats:
    """Statistics of documents that are no longer in memory.

    `shares` are weighted averages of statistics, while `word_count` is exact.
    """

    shares: SufficientStats
    word_count: np.ndarray
    size: float

    def add(self, stats: SufficientStats) -> PastStats:
        size = self.size + stats.n_docs
        rate = (stats.n_docs / size) ** FORGETTING
        mine = self.shares.scale((1 - rate) / max(self.shares.n_docs, 1e-300))
        return PastStats(
            mine + stats.scale(rate / stats.n_docs), self.word_count + stats.word_count, size
        )

    def total(self, passes: int) -> SufficientStats:
        """Statistics as if all documents had been inferred with late topics, in one pass."""
        size, count = self.size / passes, self.word_count / passes
        factor = count / np.maximum(self.shares.word_count, 1e-300)
        return replace(
            self.shares.scale(size / max(self.shares.n_docs, 1e-300)),
            word_topic=self.shares.word_topic * factor[:, None],
            word_log_likelihood=self.shares.word_log_likelihood * factor,
            word_count=count,
            n_docs=size,
        )


def mixed(inherited: Inherited, model: ModelState, size: float) -> ModelState:
    """The model with η, ζ and the family averaged with those of the `inherited` one.

    The numbers of documents are the weights; `size` is that of the model.
    """
    share, old = size / (size + inherited.size), inherited.state
    free = (1 - share) * old.family.free_parameters() + share * model.family.free_parameters()
    zeta = model.covariate_coef
    if zeta is not None and old.covariate_coef is not None:
        zeta = (1 - share) * old.covariate_coef + share * zeta
    return replace(
        model,
        coef=(1 - share) * old.coef + share * model.coef,
        covariate_coef=zeta,
        family=model.family.with_free_parameters(free) if len(free) else model.family,
    )


@dataclass(frozen=True)
class JointStream:
    """The state of a fit to batches.

    `parameters` are those of the solver; `model` returns the model.
    """

    solver: CoordinateSolver
    hyper: Hyperparameters
    parameters: ModelState
    reservoir: Reservoir
    concentration: np.ndarray
    rng: np.random.Generator
    past: PastStats | None = None
    inherited: Inherited | None = None
    credit: float = 0.0
    epoch: int = 0
    chosen_at: float = 0.0

    @property
    def word_counts(self) -> np.ndarray:
        """n_v of all documents seen, copies included."""
        mine = self.reservoir.documents.word_counts
        return mine if self.past is None else mine + self.past.word_count

    @property
    def size(self) -> float:
        """Distinct documents seen, those of an inherited model included."""
        return self.reservoir.distinct + (0.0 if self.inherited is None else self.inherited.size)

    def model(self) -> ModelState:
        return self.solver.model(self._state())

    def _state(self) -> CoordinateState:
        past = None if self.past is None else self.past.total(self.reservoir.passes)
        problem = self.reservoir.problem()
        return CoordinateState(
            problem, self.hyper, self.parameters, self.concentration, self.epoch, past
        )


def begin(
    solver: CoordinateSolver,
    hyper: Hyperparameters,
    start: ModelState,
    batch: Problem,
    capacity: int,
    rng: np.random.Generator,
) -> JointStream:
    """A stream without documents, for documents like those of `batch`."""
    seed = int(rng.integers(2**63 - 1))
    nothing = np.zeros((0, hyper.n_topics))
    return JointStream(solver, hyper, start, Reservoir.empty(batch, capacity, seed), nothing, rng)


def inherit(
    solver: CoordinateSolver,
    hyper: Hyperparameters,
    state: ModelState,
    word_count: np.ndarray,
    size: float,
    batch: Problem,
    capacity: int,
    rng: np.random.Generator,
) -> JointStream:
    """A stream that continues a fitted model of `size` documents, which are not available."""
    stream = begin(solver, hyper, state, batch, capacity, rng)
    past = inherited_past(state, word_count, size)
    if solver.selection == "sort_and_cut":
        # A fitted model has no topics of dropped words: even ones, so that they can be selected.
        lost = (state.topic_word.max(axis=1) == 0) & (word_count > 0)
        topics = state.topic_word.copy()
        topics[lost] = (word_count / max(word_count @ state.inclusion, 1e-300))[lost, None]
        state = replace(state, topic_word=topics)
    return replace(
        stream,
        parameters=state,
        past=past,
        inherited=Inherited(state, size),
        epoch=solver.epochs(0),
        chosen_at=size,
    )


def advance(
    stream: JointStream, batch: Problem, tol: float
) -> tuple[JointStream, list[StepInfo], bool]:
    """The stream after a batch, the metrics of its epochs, and whether these converged."""
    rng = deepcopy(stream.rng)  # a call that fails must not change the old stream
    hyper = stream.hyper
    parameters = _add_new_words(stream, batch.word_counts, rng)
    length = batch.mean_length(parameters.inclusion)
    gamma = initial_concentration(batch.n_docs, parameters.doc_topic_prior, length)
    added = add(stream.reservoir, batch)
    gamma = np.concatenate([stream.concentration, gamma])
    past = stream.past
    if added.departed.n_docs:
        theirs = gamma[added.departed_rows]
        stats = collect(added.departed, parameters, hyper, theirs, max_steps=50, tolerance=1e-4)
        past = PastStats(stats, stats.word_count, stats.n_docs) if past is None else past.add(stats)
    reservoir = added.reservoir
    stream = replace(
        stream,
        parameters=parameters,
        reservoir=reservoir,
        concentration=np.ascontiguousarray(gamma[added.rows]),
        rng=rng,
        past=past,
        credit=stream.credit + REPLAY * batch.n_docs / max(reservoir.documents.n_docs, 1),
    )
    return _run_epochs(stream, tol)


def _restart_selection(stream: JointStream) -> JointStream:
    """A new start, or a new annealing of "sort and cut", when the documents have doubled."""
    if not stream.hyper.selects or stream.size < CHOOSE * stream.chosen_at:
        return stream
    solver, again = stream.solver, stream.chosen_at > 0
    stream = replace(stream, chosen_at=stream.size)
    if solver.selection == "sort_and_cut":
        # After the first time topics exist, so that no burn-in is needed.
        epoch = solver.burn_in if again else 0
        return replace(stream, epoch=epoch, credit=float(solver.epochs(0) - epoch))
    if again and stream.past is None:
        problem, old = stream.reservoir.problem(), stream.parameters
        start = perturbed_start(problem, stream.hyper, old.family, old.doc_topic_prior, stream.rng)
        length = problem.mean_length(start.inclusion)
        gamma = initial_concentration(problem.n_docs, start.doc_topic_prior, length)
        stream = replace(stream, parameters=start, concentration=gamma)
    return replace(stream, credit=max(stream.credit, FRESH))


def _run_epochs(stream: JointStream, tol: float) -> tuple[JointStream, list[StepInfo], bool]:
    """Spend the credit on epochs."""
    stream = _restart_selection(stream)
    solver, epochs = stream.solver, int(stream.credit)
    state = stream._state()
    history: list[StepInfo] = []
    converged = False
    size = stream.reservoir.distinct
    for _ in range(epochs):
        state, info = solver.step(state)
        history.append(info)
        if stream.inherited is not None and state.problem.supervised:
            model = mixed(stream.inherited, state.parameters, size)
            state = replace(state, parameters=model)
        if solver.converged(history, tol):
            converged = True
            break
    return (
        replace(
            stream,
            parameters=state.parameters,
            concentration=state.concentration,
            credit=max(stream.credit - epochs, 0.0),
            epoch=state.epoch,
        ),
        history,
        converged,
    )


def _add_new_words(stream: JointStream, batch: np.ndarray, rng: np.random.Generator) -> ModelState:
    """Add words never seen before to every topic, as in `perturbed_start`.

    Otherwise they could never be in a topic, since responsibilities are proportional to β.
    """
    state, before = stream.parameters, stream.word_counts
    new = (batch > 0) & (state.topic_word.max(axis=1) == 0)
    if not new.any():
        return state
    count = before + batch
    topics = state.topic_word.copy()
    noise = 0.5 + rng.exponential(size=(int(new.sum()), state.n_topics))
    topics[new] = noise * (count[new] / count.sum())[:, None]
    if stream.solver.selection == "closed_form":  # with sort-and-cut columns do not sum to one
        topics /= topics.sum(axis=0)
    background = state.background
    if stream.hyper.selects:
        background = update_background(count, state.inclusion)
    return replace(state, topic_word=topics, background=background)


def inherited_past(state: ModelState, word_count: np.ndarray, size: float) -> PastStats:
    """Approximate statistics of the documents of a fitted model, from the model alone.

    A token of word v is of topic k with probability ∝ β_vk m_k, where the proportions m of topics
    maximise the likelihood of the word counts (by EM).
    """
    count = np.maximum(word_count, 0.0)
    share = np.full(state.n_topics, 1.0 / state.n_topics)
    relevant = count * state.inclusion
    for _ in range(100):
        joint = state.topic_word * share
        owner = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        share = relevant @ owner
        share = share / max(share.sum(), 1e-300)
    prior = state.doc_topic_prior
    from_topics = np.log(np.maximum(state.topic_word @ share, 1e-300))
    stats = SufficientStats(
        word_topic=count[:, None] * owner,
        word_log_likelihood=count * from_topics,
        word_count=count,
        log_theta=size * (digamma(prior) - digamma(prior.sum())),  # E[log θ] under Dirichlet(α)
        mix=0.0,
        target=0.0,
        n_docs=size,
        steps=0.0,
    )
    return PastStats(stats, count, size)
