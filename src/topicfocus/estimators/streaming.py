"""`partial_fit`: reading batches, and the state between them.

The state of a stream is private (`_stream`). A pickle keeps it, so that the stream goes on where it
was; a model file does not, since it holds documents, and a loaded model goes on as after `fit`.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from topicfocus.estimators.base import TopicModel, generator
from topicfocus.estimators.coding import (
    several_or_one,
)
from topicfocus.estimators.constrained import ConstrainedModel
from topicfocus.estimators.documents import Documents, read_weight
from topicfocus.estimators.joint import SOLVERS, JointTopicModel
from topicfocus.estimators.parameters import check_choice, check_count, check_positive, check_prior
from topicfocus.families import Gaussian
from topicfocus.inference.state import ModelState, Problem
from topicfocus.kernels.threads import n_threads
from topicfocus.solvers import FitResult
from topicfocus.solvers.focus import FocusResult
from topicfocus.solvers.joint.starts import perturbed_start
from topicfocus.solvers.stream import focus_stream, joint_stream
from topicfocus.solvers.stream.reservoir import Reservoir


class Streaming(TopicModel):
    """What models that learn from batches share.

    A subclass has `_begin_stream(documents, family)`, `_inherit_stream(documents)` and
    `_advance_stream(documents)`; the last returns a ModelState, or None where the model stands.
    """

    #: Documents kept for `partial_fit`, at most; memory does not grow beyond them.
    reservoir_size = 20_000

    def _first_batch(self) -> bool:
        return not hasattr(self, "components_")

    def _check_stream(self) -> None:
        """Parameters that may not change while a model learns on."""
        if len(self.components_) != self.n_topics:
            raise ValueError(
                f"partial_fit goes on with {len(self.components_)} topics, but n_topics is now "
                f"{self.n_topics}. Call fit, or clone the model, to start anew."
            )
        if not hasattr(self, "_stream") and not hasattr(self, "n_samples_seen_"):
            raise ValueError(
                "This model does not know how many documents it was fitted to, so partial_fit "
                "cannot go on from it: its file was written by an older version. Fit it again."
            )

    def _forget_stream(self, documents: Documents) -> None:
        """After `fit`: what a later `partial_fit` needs to go on."""
        self.__dict__.pop("_stream", None)
        problem = documents.problem(1.0, None)
        self.n_samples_seen_ = problem.size
        self._word_count = problem.word_counts

    def _count(self, documents: Documents, new: bool) -> None:
        problem = documents.problem(1.0, None)
        before = 0.0 if new else self.n_samples_seen_
        self.n_samples_seen_ = before + problem.size
        self._word_count = problem.word_counts + (0.0 if new else self._word_count)

    def _note(self, earlier: tuple[int, dict[str, Any]] | None, entry: dict[str, Any]) -> None:
        """One line of history for a batch, after those of the batches or epochs before it."""
        n_iter, history = earlier or (0, {})
        self.n_iter_ = n_iter + 1
        entry = {"epoch": self.n_iter_, **entry}
        self.history_: Any = {key: [*history.get(key, []), value] for key, value in entry.items()}

    def _so_far(self) -> tuple[int, dict[str, Any]] | None:
        return None if self._first_batch() else (self.n_iter_, self.history_)


def without_weightless(documents: Documents) -> Documents:
    """Documents of weight 0 stand for none."""
    if documents.weight is None or np.all(documents.weight > 0):
        return documents
    return documents.rows(np.flatnonzero(documents.weight > 0))


# ---- joint models -----------------------------------------------------------------------------


class JointStreaming(Streaming, JointTopicModel):
    """`partial_fit` of LDA, sLDA and pf-sLDA. `solver`, `max_epochs` etc. have no part in it."""

    def _fit_joint(
        self, documents: Documents, family: Any, held_out: Documents | None = None
    ) -> FitResult:
        result = super()._fit_joint(documents, family, held_out)
        self._forget_stream(documents)
        return result

    def _begin_stream(self, documents: Documents, family: Any) -> Any:
        n_topics = check_count("n_topics", self.n_topics)
        prior, learn = check_prior(self.doc_topic_prior, n_topics)
        check_choice("solver", self.solver, SOLVERS)
        hyper = self._hyperparameters(n_topics, learn)
        n_threads(self.n_jobs)
        rng = generator(self.random_state)
        problem = documents.problem(hyper.supervision_weight, self.n_jobs)
        start = perturbed_start(problem, hyper, family, prior, rng)
        solver = self._coordinate_solver()
        return joint_stream.begin(solver, hyper, start, problem, self.reservoir_size, rng)

    def _inherit_stream(self, documents: Documents) -> Any:
        state, hyper = self._warm_state(), self._hyper
        solver = self._coordinate_solver()
        return joint_stream.inherit(
            solver,
            hyper,
            state,
            self._word_count,
            self.n_samples_seen_,
            documents.problem(hyper.supervision_weight, self.n_jobs),
            self.reservoir_size,
            generator(self.random_state),
        )

    def _advance_stream(self, stream: Any, documents: Documents) -> tuple[Any, ModelState]:
        began = time.perf_counter()
        tol = 1e-5 if self.tol is None else check_positive("tol", self.tol, zero=True)
        batch = documents.problem(stream.hyper.supervision_weight, self.n_jobs)
        earlier = self._so_far()
        stream, epochs, converged = joint_stream.advance(stream, batch, tol)
        model = stream.model()
        self._keep(FitResult(model, tuple(epochs), converged, False, model), stream.hyper)
        self._note(
            earlier,
            {
                "objective": float(epochs[-1].objective) if epochs else float("nan"),
                "kept_words": int(np.sum(model.inclusion > 0.5)),
                "seconds": time.perf_counter() - began,
            },
        )
        return stream, model


class StreamingLDA(JointStreaming):
    """`partial_fit` without targets."""

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Learn from a batch of counts (documents x words), after those of earlier calls.

        y is ignored. See docs/streaming.md.
        """
        first = self._first_batch()
        corpus = self._read_counts(X, reset=first)
        documents = Documents(corpus, None, read_weight(sample_weight, corpus.n_docs))
        documents = without_weightless(documents)
        if first:
            stream = self._begin_stream(documents, Gaussian(1.0))
        else:
            self._check_stream()
            stream = getattr(self, "_stream", None) or self._inherit_stream(documents)
        self._stream, _ = self._advance_stream(stream, documents)
        self._count(documents, first)
        return self


# ---- constrained models -----------------------------------------------------------------------


class ConstrainedStreaming(Streaming, ConstrainedModel):
    """`partial_fit` of the focused models and pc-sLDA."""

    def _fit_documents(
        self, documents: Documents, family: Any, held_out: Documents | None = None
    ) -> ModelState:
        state = super()._fit_documents(documents, family, held_out)
        self._forget_stream(documents)
        return state

    def _begin_stream(self, documents: Documents, family: Any) -> Any:
        if documents.corpus.n_words < 2:
            raise ValueError("X has n_features=1: one word makes no topics. Give more words.")
        seed = int(generator(self.random_state).integers(2**63 - 1))
        problem = documents.problem(1.0, self.n_jobs)
        return focus_stream.FocusStream(Reservoir.empty(problem, self.reservoir_size, seed))

    def _inherit_stream(self, documents: Documents) -> Any:
        stream = self._begin_stream(documents, None)
        state = self._scaling.apply(self._state())
        inherited = focus_stream.Inherited(state, self.n_samples_seen_)
        return focus_stream.FocusStream(stream.reservoir, inherited=inherited)

    def _advance_stream(self, stream: Any, documents: Documents) -> tuple[Any, ModelState | None]:
        settings = self._settings(documents.corpus)
        n_threads(self.n_jobs)
        batch = documents.problem(1.0, self.n_jobs)
        earlier = self._so_far()
        stream, found = focus_stream.advance(
            stream, batch, self._family_of, settings, self._split_problem
        )
        objective = validation = float("nan")
        if isinstance(found, FocusResult):
            self._keep(found)
            objective = float(found.history[-1].objective) if found.history else objective
            validation = float(found.explained[found.plan])
        kept = int(np.sum(self.components_.max(axis=0) > 0))
        self._note(earlier, {"objective": objective, "kept_words": kept, "validation": validation})
        return stream, found.state if isinstance(found, FocusResult) else found

    def _family_of(self, problem: Problem) -> Any:
        """The families to start from, given the documents at hand."""
        codes = np.where(problem.target_weights > 0, problem.targets, np.nan)
        weight = problem.doc_weights
        return several_or_one([c.start(codes[:, t], weight) for t, c in enumerate(self._codings)])

    def _split_problem(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        target = np.where(problem.target_weights > 0, problem.targets, np.nan)
        return self._split(Documents(problem.corpus, target, problem.doc_weight))
