"""Train the joint models (LDA, sLDA, pf-sLDA) on all documents or on batches."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.counts import ChunkedCounts
from topicfocus.estimators.arguments import (
    check_choice,
    check_count,
    check_positive,
    check_prior,
    is_auto,
)
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
    ValidationLoss,
    choose_inclusion,
)
from topicfocus.kernels.threads import n_threads
from topicfocus.model import ModelState, Problem

SOLVERS = ("auto", "coordinate", "stochastic", "gradient")

#: Default max_epochs and tol of each solver.
_EPOCHS = {"coordinate": 200, "stochastic": 60, "gradient": 500}
_TOLERANCE = {"coordinate": 1e-5, "stochastic": 2e-6, "gradient": 0.0}
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
    name : {"coordinate", "stochastic", "gradient"}
    solver : Solver
        The solver of that name.
    coordinate : CoordinateSolver
        The solver for batches.
    schedule : bool
        Whether the gradient solver has the settings of solver="auto".
    search : bool
        Whether the inclusion prior is to be chosen (inclusion_prior="auto").
    explained : tuple of (explained fraction of validation documents, standard error) or None
    path : tuple of (p, explained fraction, standard error) or None
        The inclusion priors that were compared.
    """

    model: Any
    hyper: Hyperparameters
    prior: np.ndarray
    name: str
    solver: Solver
    coordinate: CoordinateSolver
    schedule: bool = False
    search: bool = False
    path: tuple[tuple[float, float, float], ...] | None = None
    explained: tuple[float, float] | None = None

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
        if not isinstance(documents.corpus.counts, sparse.csr_array):
            if self.search:
                raise ValueError(
                    'inclusion_prior="auto" needs counts in memory: give a number, or take some '
                    "of the documents, X.rows(...)."
                )
            if self.schedule:
                trainer = replace(self, schedule=False, name="coordinate", solver=self.coordinate)
                return trainer.fit(documents, targets, held_out, options)
            self._check_in_memory(documents)
        with show_fit(self.model, options) as progress:
            if self.search:
                trainer = self._choose_inclusion(documents, targets, held_out, progress)
                return trainer._fit(documents, targets, held_out, progress)
            return self._fit(documents, targets, held_out, progress)

    def _fit(
        self,
        documents: Documents,
        targets: TargetModel | None,
        held_out: Documents | None,
        progress: Progress,
    ) -> tuple[Fitted, Fitted | None]:
        family = _family(documents, targets)
        rng = generator(self.model.random_state)
        problem = documents.problem(self.hyper.supervision_weight, self.model.n_jobs)
        start = self._start(problem, targets, family, rng)
        watch = None
        if held_out is not None:
            watch = EpochChoice(held_out.problem(1.0, self.model.n_jobs), family)
        stage = f"epochs of the {self.name} solver"
        solver, epochs = self._scheduled(problem.n_docs)
        tol = _TOLERANCE[self.name] if self.model.tol is None else self.model.tol
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
        more = ("seconds",) if held_out is None else ("seconds", "validation")
        history = history_of(result.history, *more)
        trainer, states = self, [result.model]
        if watch is not None:
            trainer = replace(self, explained=watch.loss.explained(result.model))
            states.append(result.last)
        fitted, *last = (
            trainer._fitted(state, targets, documents, None, result.converged, history)
            for state in states
        )
        return fitted, last[0] if last else None

    def _choose_inclusion(
        self,
        documents: Documents,
        targets: TargetModel | None,
        held_out: Documents | None,
        progress: Progress,
    ) -> JointTrainer:
        """This trainer with the inclusion prior that predicts validation documents.

        These are `held_out`, or a fifth of the documents.
        """
        assert targets is not None  # the model has a target
        rng = generator(self.model.random_state)
        train = documents
        if held_out is None:
            rows, others = split_validation(documents, targets, VALIDATION_FRACTION, rng)
            train, held_out = documents.rows(rows), documents.rows(others)
        family = _family(train, targets)
        problem = train.problem(self.hyper.supervision_weight, self.model.n_jobs)
        solver, epochs = self._scheduled(problem.n_docs)
        assert isinstance(solver, GradientSolver)
        hyper = replace(self.hyper, inclusion_prior=max(INCLUSION_PRIORS))
        start = replace(self, hyper=hyper)._begin(problem, family, rng)
        validation = ValidationLoss(held_out.problem(1.0, self.model.n_jobs), family)
        report = partial(progress, "choice of the inclusion prior")
        chosen = choose_inclusion(solver, problem, hyper, start, validation, rng, epochs, report)
        hyper = replace(self.hyper, inclusion_prior=chosen.inclusion_prior)
        return replace(
            self, hyper=hyper, search=False, path=chosen.path, explained=chosen.explained
        )

    def _scheduled(self, n_docs: int) -> tuple[Solver, int]:
        """The solver and its number of epochs for this number of documents."""
        given = self.model.max_epochs
        if not (self.schedule and isinstance(self.solver, GradientSolver)):
            return self.solver, _EPOCHS[self.name] if given is None else given
        batch_size, epochs = auto_schedule(n_docs, self.model.batch_size)
        epochs = epochs if given is None else given
        return replace(self.solver, batch_size=batch_size, decay_epochs=epochs), epochs

    def _begin(self, problem: Problem, family: Any, rng: np.random.Generator) -> ModelState:
        """Starting values of the solver."""
        given = (problem, self.hyper, family, self.prior, rng)
        if self.name == "gradient":
            noise_start = getattr(self.model, "noise_start", None)
            return near_symmetric_start(*given, noise_start=noise_start, spread=self.schedule)
        return perturbed_start(*given)

    def _start(
        self, problem: Problem, targets: TargetModel | None, family: Any, rng: np.random.Generator
    ) -> ModelState:
        """Starting values, or those of the fitted model with `warm_start`."""
        before = getattr(self.model, "fitted_", None)
        if before is None or not self.model.warm_start:
            return self._begin(problem, family, rng)
        shape, wanted = before.components.shape, (self.hyper.n_topics, problem.corpus.n_words)
        if shape != wanted:
            raise ValueError(
                f"warm_start=True continues from topics of shape {shape}, but the data and "
                f"n_topics ask for {wanted}. Set warm_start=False to start anew."
            )
        state = before.state
        return state if targets is None else targets.apply(state, into_coef=True)

    def _check_in_memory(self, documents: Documents) -> None:
        """The gradient solver has parameters for every word of every document."""
        if self.name == "gradient" and isinstance(documents.corpus.counts, ChunkedCounts):
            raise ValueError(
                'solver="gradient" keeps numbers for every word of every document in memory, so X '
                'has to be a matrix in memory: use solver="coordinate" or "stochastic", or '
                "take some of the documents, X.rows(...)."
            )

    def _fitted(
        self,
        state: ModelState,
        targets: TargetModel | None,
        documents: Documents,
        before: Fitted | None,
        converged: bool,
        history: dict[str, Any],
    ) -> Fitted:
        fitted = Fitted(
            state=state,
            targets=targets,
            selects=self.hyper.selects,
            hyper=self.hyper,
            converged=converged,
            inclusion_prior=self.hyper.inclusion_prior if self.hyper.selects else None,
            explained=None if self.explained is None else self.explained[:1],
            explained_error=None if self.explained is None else self.explained[1],
            shares=self.path,
            **history,
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
        return stream, trainer._fitted(state, targets, documents, before, converged, history)


def _family(documents: Documents, targets: TargetModel | None) -> Any:
    if targets is None or documents.target is None:
        return Gaussian(1.0)  # not used: no document has a target
    return targets.start(documents.target, documents.weights)


def joint_trainer(
    model: Any,
    hyper: dict[str, Any],
    coordinate: CoordinateSolver | None = None,
    *,
    schedule: bool = False,
    search: bool = False,
) -> JointTrainer:
    """Check the parameters of an estimator and make its trainer.

    `hyper` are the fields of Hyperparameters that not all joint models have; with `schedule`,
    solver="auto" is the gradient solver with the settings of `auto_schedule`, and with `search`
    the inclusion prior is chosen.
    """
    n_topics = check_count("n_topics", model.n_topics)
    prior, learn = check_prior(model.doc_topic_prior, n_topics)
    check_choice("solver", model.solver, SOLVERS)
    schedule = schedule and model.solver == "auto" and not learn
    if search and not schedule:
        raise ValueError(
            'inclusion_prior="auto" needs solver="auto", bound="paper", selection="auto" and a '
            "given doc_topic_prior: set inclusion_prior to a number, or leave these as they are."
        )
    name = model.solver
    if name == "auto":
        name = "gradient" if schedule else "coordinate"
    coordinate = CoordinateSolver() if coordinate is None else coordinate
    _check_solver_parameters(model)
    if hasattr(model, "coef_penalty"):  # LDA has no coefficients
        penalty = check_positive("coef_penalty", model.coef_penalty, zero=True)
        hyper = {**hyper, "coef_penalty": penalty}
    return JointTrainer(
        model=model,
        hyper=Hyperparameters(n_topics=n_topics, learn_prior=learn, **hyper),
        prior=prior,
        name=name,
        solver=_solver(model, name, coordinate, schedule),
        coordinate=coordinate,
        schedule=schedule,
        search=search,
    )


def _check_solver_parameters(model: Any) -> None:
    """Check the parameters that are used as they are."""
    n_threads(model.n_jobs)
    if model.max_epochs is not None:
        check_count("max_epochs", model.max_epochs)
    if model.tol is not None:
        check_positive("tol", model.tol, zero=True)
    noise = getattr(model, "noise_start", None)
    if noise is not None and model.solver != "gradient":
        raise ValueError('noise_start is for solver="gradient"; others start from the variance.')
    if noise is None or noise == "random":
        return
    if isinstance(noise, str):
        raise ValueError(f'noise_start must be None, "random" or a number, got {noise!r}.')
    check_positive("noise_start", noise)


def _solver(model: Any, name: str, coordinate: CoordinateSolver, schedule: bool) -> Solver:
    settings: dict[str, Any] = {}
    if model.batch_size is not None:
        settings["batch_size"] = check_count("batch_size", model.batch_size)
    if model.learning_rate is not None:
        settings["learning_rate"] = check_positive("learning_rate", model.learning_rate)
    if name == "stochastic":
        return StochasticSolver(**settings)
    if schedule:
        rate = settings.pop("learning_rate", _AUTO_RATE)
        return GradientSolver(learning_rate=rate, concentration_start="length", **settings)
    return GradientSolver(**settings) if name == "gradient" else coordinate


def read_supervision(value: Any) -> float:
    """λ of a joint model; "auto" is 1 (the evidence lower bound)."""
    if is_auto("supervision_weight", value):
        return 1.0
    return check_positive("supervision_weight", value)
