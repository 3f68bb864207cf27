"""Train the joint models (LDA, sLDA, pf-sLDA) on all documents or on batches."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from topicfocus.counts import ChunkedCounts
from topicfocus.estimators.arguments import check_positive, check_prior
from topicfocus.estimators.documents import Documents, split_validation
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.targets import TargetModel
from topicfocus.estimators.training import (
    FitOptions,
    append_history,
    count_documents,
    generator,
    history_of,
    scaled_state,
    show_fit,
    with_context,
)
from topicfocus.families import Gaussian
from topicfocus.joint import (
    CoordinateSolver,
    GradientSolver,
    Solver,
    StochasticSolver,
    run,
)
from topicfocus.joint import online as joint_stream
from topicfocus.joint.initialize import near_symmetric_start, perturbed_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.solver import Progress
from topicfocus.joint.validation import (
    INCLUSION_PRIORS,
    EpochChoice,
    InclusionChoice,
    ValidationLoss,
    choose_inclusion,
)
from topicfocus.model import ModelState, Problem

#: Default max_epochs and tol of each solver; "scheduled" has epochs by the number of documents.
_EPOCHS = {"coordinate": 200, "stochastic": 60, "gradient": 500}
_TOLERANCE = {"coordinate": 1e-5, "stochastic": 2e-6, "gradient": 0.0, "scheduled": 0.0}
#: Default tol of the epochs of a batch.
_BATCH_TOLERANCE = 1e-5

#: Settings of solver="auto" of pf-sLDA, the paper's algorithm with a larger step that falls to
#: zero. Chosen on validation parts of Yelp and Pang & Lee; docs/pfslda.md describes them.
_AUTO_RATE = 0.05
_AUTO_STEPS = 8_500
_AUTO_EPOCHS = (75, 250)
_AUTO_BATCHES = (40, 100)
_AUTO_BATCH_SIZE = (10, 100)

#: Documents on which inclusion_prior="auto" is chosen, where no X_val is given.
VALIDATION_FRACTION = 0.2


def auto_schedule(n_docs: int, batch_size: int | None) -> tuple[int, int]:
    """Batch size and number of epochs of solver="auto".

    Batches of 100 documents; smaller ones for fewer than 4,000 documents, so that an epoch has 40
    steps, and larger ones from 10,000 documents on, so that it has at most 100.
    """
    if batch_size is None:
        least, most = _AUTO_BATCHES
        batch_size = int(np.clip(math.ceil(n_docs / least), *_AUTO_BATCH_SIZE))
        batch_size = max(batch_size, math.ceil(n_docs / most))
    steps = max(1, math.ceil(n_docs / batch_size))
    return batch_size, int(np.clip(round(_AUTO_STEPS / steps), *_AUTO_EPOCHS))


@dataclass(frozen=True, kw_only=True)
class JointTrainer:
    """Training by the joint objective.

    Attributes
    ----------
    model : estimator
        Its parameters have been checked (`joint_trainer`).
    hyper : Hyperparameters
    prior : array (topics,)
        Starting value of α.
    solver : {"coordinate", "stochastic", "gradient", "scheduled"}
        "scheduled" is the gradient solver with the settings of `auto_schedule`.
    coordinate : CoordinateSolver
        The solver for batches, and of the name "coordinate".
    search : bool
        Whether the inclusion prior is to be chosen (inclusion_prior="auto").
    """

    model: Any
    hyper: Hyperparameters
    prior: np.ndarray
    solver: str
    coordinate: CoordinateSolver
    search: bool = False

    # ---- fit -------------------------------------------------------------------------------------

    def fit(
        self,
        documents: Documents,
        targets: TargetModel | None,
        held_out: Documents | None = None,
        options: FitOptions = FitOptions(),  # noqa: B008 - frozen
    ) -> tuple[Fitted, Fitted | None]:
        """Run the solver; validation documents choose the epoch that predicts them best.

        Returns the model, and that of the last epoch if there are validation documents.
        """
        trainer, choice = self, None
        if isinstance(documents.corpus.counts, ChunkedCounts):
            trainer = self._for_chunks()
        with show_fit(self.model, options) as progress:
            if self.search:
                choice = self._choose_inclusion(documents, targets, held_out, progress)
                hyper = replace(self.hyper, inclusion_prior=choice.inclusion_prior)
                trainer = replace(self, hyper=hyper)
            return trainer._fit(documents, targets, held_out, progress, choice)

    def _for_chunks(self) -> JointTrainer:
        """A trainer for counts that are not in memory."""
        if self.search:
            raise ValueError(
                'inclusion_prior="auto" needs counts in memory: give a number, or take some '
                "of the documents, X.rows(...)."
            )
        if self.solver == "gradient":
            raise ValueError(
                'solver="gradient" keeps numbers for every word of every document in memory, so X '
                'has to be a matrix in memory: use solver="coordinate" or "stochastic", or '
                "take some of the documents, X.rows(...)."
            )
        return replace(self, solver="coordinate") if self.solver == "scheduled" else self

    def _fit(
        self,
        documents: Documents,
        targets: TargetModel | None,
        held_out: Documents | None,
        progress: Progress,
        choice: InclusionChoice | None,
    ) -> tuple[Fitted, Fitted | None]:
        family = _family(documents, targets)
        rng = generator(self.model.random_state)
        problem = documents.problem(self.hyper.supervision_weight, self.model.n_jobs)
        start = self._warm_start(problem, targets)
        if start is None:
            start = self._start(problem, family, rng)
        watch = None
        if held_out is not None:
            watch = EpochChoice(held_out.problem(1.0, self.model.n_jobs), family)
        name = "gradient" if self.solver == "scheduled" else self.solver
        stage = f"epochs of the {name} solver"
        solver, epochs = self._solver(problem.n_docs)
        tol = _TOLERANCE[self.solver] if self.model.tol is None else self.model.tol
        result = run(
            solver,
            problem,
            self.hyper,
            start,
            rng,
            max_epochs=epochs,
            tol=tol,
            callback=lambda info, total: progress(stage, info.epoch, total, info),
            watch=watch,
        )
        columns = ("seconds",) if watch is None else ("seconds", "validation")
        more = {**history_of(result.history, *columns), "converged": result.converged}
        if choice is not None:
            more |= _explained(choice.explained) | {"shares": choice.path}
        if watch is None:
            return self._fitted(result.model, targets, documents, **more), None
        more |= _explained(watch.loss.explained(result.model))
        best, last = (
            self._fitted(state, targets, documents, **more) for state in (result.model, result.last)
        )
        return best, last

    def _choose_inclusion(
        self,
        documents: Documents,
        targets: TargetModel | None,
        held_out: Documents | None,
        progress: Progress,
    ) -> InclusionChoice:
        """The inclusion prior that predicts validation documents: `held_out`, or a fifth."""
        assert targets is not None  # the model has a target
        rng = generator(self.model.random_state)
        if held_out is None:
            rows, others = split_validation(documents, targets, VALIDATION_FRACTION, rng)
            documents, held_out = documents.rows(rows), documents.rows(others)
        family = _family(documents, targets)
        problem = documents.problem(self.hyper.supervision_weight, self.model.n_jobs)
        solver, epochs = self._solver(problem.n_docs)
        assert isinstance(solver, GradientSolver)
        hyper = replace(self.hyper, inclusion_prior=max(INCLUSION_PRIORS))
        start = replace(self, hyper=hyper)._start(problem, family, rng)
        validation = ValidationLoss(held_out.problem(1.0, self.model.n_jobs), family)
        report = partial(progress, "choice of the inclusion prior")
        return choose_inclusion(solver, problem, hyper, start, validation, rng, epochs, report)

    def _solver(self, n_docs: int) -> tuple[Solver, int]:
        """The solver and its number of epochs for this number of documents."""
        model, epochs = self.model, self.model.max_epochs
        if self.solver == "scheduled":
            batch_size, most = auto_schedule(n_docs, model.batch_size)
            epochs = epochs or most
            scheduled = GradientSolver(
                learning_rate=model.learning_rate or _AUTO_RATE,
                batch_size=batch_size,
                concentration_start="length",
                decay_epochs=epochs,
            )
            return scheduled, epochs
        epochs = epochs or _EPOCHS[self.solver]
        if self.solver == "coordinate":
            return self.coordinate, epochs
        given = {"batch_size": model.batch_size, "learning_rate": model.learning_rate}
        given = {name: value for name, value in given.items() if value is not None}
        kind = StochasticSolver if self.solver == "stochastic" else GradientSolver
        return kind(**given), epochs

    def _start(self, problem: Problem, family: Any, rng: np.random.Generator) -> ModelState:
        """Starting values of the solver."""
        given = (problem, self.hyper, family, self.prior, rng)
        if self.solver in ("gradient", "scheduled"):
            noise_start = getattr(self.model, "noise_start", None)
            spread = self.solver == "scheduled"
            return near_symmetric_start(*given, noise_start=noise_start, spread=spread)
        return perturbed_start(*given)

    def _warm_start(self, problem: Problem, targets: TargetModel | None) -> ModelState | None:
        """The fitted model, with `warm_start`."""
        before = getattr(self.model, "fitted_", None)
        if before is None or not self.model.warm_start:
            return None
        shape, wanted = before.components.shape, (self.hyper.n_topics, problem.corpus.n_words)
        if shape != wanted:
            raise ValueError(
                f"warm_start=True continues from topics of shape {shape}, but the data and "
                f"n_topics ask for {wanted}. Set warm_start=False to start anew."
            )
        state = before.state
        return state if targets is None else targets.apply(state, into_coef=True)

    def _fitted(
        self,
        state: ModelState,
        targets: TargetModel | None,
        documents: Documents,
        before: Fitted | None = None,
        **more: Any,
    ) -> Fitted:
        fitted = Fitted(
            state=state,
            targets=targets,
            selects=self.hyper.selects,
            hyper=self.hyper,
            inclusion_prior=self.hyper.inclusion_prior if self.hyper.selects else None,
            **more,
            **count_documents(documents, before),
        )
        return with_context(fitted, documents, self.model.n_jobs, before)

    # ---- batches ---------------------------------------------------------------------------------

    def stream(
        self, documents: Documents, targets: TargetModel | None, before: Fitted | None = None
    ) -> joint_stream.JointStream:
        """A stream of batches like `documents`, which continues from the model `before`."""
        if self.search:
            raise ValueError(
                'inclusion_prior="auto" compares fits to all documents: for partial_fit give a '
                "number, such as inclusion_prior=0.1."
            )
        rng = generator(self.model.random_state)
        hyper = self.hyper if before is None else before.hyper
        assert hyper is not None
        problem = documents.problem(hyper.supervision_weight, self.model.n_jobs)
        size = self.model.reservoir_size
        if before is None:
            family = _family(documents, targets)
            start = perturbed_start(problem, hyper, family, self.prior, rng)
            return joint_stream.begin(self.coordinate, hyper, start, problem, size, rng)
        return joint_stream.inherit(
            self.coordinate,
            hyper,
            scaled_state(before),
            before.word_count,
            before.n_samples_seen,
            problem,
            size,
            rng,
        )

    def advance(
        self,
        stream: joint_stream.JointStream,
        documents: Documents,
        before: Fitted | None,
        targets: TargetModel | None,
    ) -> tuple[joint_stream.JointStream, Fitted]:
        """Fit one batch, with one entry of the history."""
        began = time.perf_counter()
        batch = documents.problem(stream.hyper.supervision_weight, self.model.n_jobs)
        tol = _BATCH_TOLERANCE if self.model.tol is None else self.model.tol
        stream, epochs, converged = joint_stream.advance(stream, batch, tol)
        state = stream.model()
        history = append_history(
            before,
            objective=float(epochs[-1].objective) if epochs else float("nan"),
            kept_words=int(np.sum(state.inclusion > 0.5)),
            seconds=time.perf_counter() - began,
        )
        trainer = replace(self, hyper=stream.hyper)
        fitted = trainer._fitted(state, targets, documents, before, converged=converged, **history)
        return stream, fitted


def _family(documents: Documents, targets: TargetModel | None) -> Any:
    if targets is None or documents.target is None:
        return Gaussian(1.0)  # not used: no document has a target
    return targets.start(documents.target, documents.weights)


def _explained(found: tuple[float, float]) -> dict[str, Any]:
    """Fields of `Fitted`: the explained fraction of validation documents and its error."""
    return {"explained": found[:1], "explained_error": found[1]}


def joint_trainer(
    model: Any,
    coordinate: CoordinateSolver = CoordinateSolver(),  # noqa: B008 - frozen
    *,
    schedule: bool = False,
    search: bool = False,
    **hyper: Any,
) -> JointTrainer:
    """The trainer of an estimator, whose own parameters have been checked.

    `hyper` are the fields of Hyperparameters that not all joint models have. With `schedule`,
    solver="auto" is "scheduled" if α is given, and with `search` the inclusion prior is chosen.
    """
    prior, learn = check_prior(model.doc_topic_prior, model.n_topics)
    _check_noise_start(model)
    schedule = schedule and model.solver == "auto" and not learn
    if search and not schedule:
        raise ValueError(
            'inclusion_prior="auto" needs solver="auto", bound="paper", selection="auto" and a '
            "given doc_topic_prior: set inclusion_prior to a number, or leave these as they are."
        )
    solver = model.solver
    if solver == "auto":
        solver = "scheduled" if schedule else "coordinate"
    return JointTrainer(
        model=model,
        hyper=Hyperparameters(n_topics=int(model.n_topics), learn_prior=learn, **hyper),
        prior=prior,
        solver=solver,
        coordinate=coordinate,
        search=search,
    )


def _check_noise_start(model: Any) -> None:
    noise = getattr(model, "noise_start", None)
    if noise is None:
        return
    if model.solver != "gradient":
        raise ValueError('noise_start is for solver="gradient"; others start from the variance.')
    if isinstance(noise, str) and noise != "random":
        raise ValueError(f'noise_start must be None, "random" or a number, got {noise!r}.')
    if noise != "random":
        check_positive("noise_start", noise)
