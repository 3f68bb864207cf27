"""Train the joint models (LDA, sLDA, pf-sLDA) on all documents or on batches."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
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
    RESERVOIR_SIZE,
    FitOptions,
    append_history,
    count_documents,
    generator,
    scaled_state,
    with_context,
)
from topicfocus.families import Gaussian
from topicfocus.joint import (
    CoordinateSolver,
    FitResult,
    GradientSolver,
    Solver,
    StepInfo,
    StochasticSolver,
    run,
)
from topicfocus.joint import online as joint_stream
from topicfocus.joint.initialize import near_symmetric_start, perturbed_start
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.validation import (
    INCLUSION_PRIORS,
    EpochChoice,
    ValidationLoss,
    choose_inclusion,
)
from topicfocus.kernels.threads import n_threads
from topicfocus.model import ModelState, Problem
from topicfocus.progress import show_progress

SOLVERS = ("auto", "coordinate", "stochastic", "gradient")

#: Default max_epochs and tol of each solver.
_EPOCHS = {"coordinate": 200, "stochastic": 60, "gradient": 500}
_TOLERANCE = {"coordinate": 1e-5, "stochastic": 2e-6, "gradient": 0.0}


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
    hyper : Hyperparameters
    prior : array (topics,)
        Starting value of α.
    name : {"coordinate", "stochastic", "gradient"}
    solver : Solver
        The solver of that name.
    coordinate : CoordinateSolver
        The solver for batches.
    max_epochs, tol : of `fit`; without `max_epochs`, that of `auto_schedule`
    schedule : bool
        Whether the gradient solver has the settings of solver="auto".
    search : bool
        Whether the inclusion prior is to be chosen (inclusion_prior="auto").
    explained : tuple of (explained fraction of validation documents, standard error) or None
    path : tuple of (p, explained fraction, standard error) or None
        The inclusion priors that were compared.
    batch_size : int or None
        As the estimator has it.
    batch_tol : float
        Tolerance of the epochs of a batch.
    title : str
        Title of the progress bar.
    verbose, n_jobs, random_state : as for the estimators
    start : ModelState or None
        Starting model in the units of the data (`warm_start`).
    noise_start : float, "random" or None
        Starting value of δ for the gradient solver; see `near_symmetric_start`.
    reservoir_size : int
        Largest number of documents kept between batches.
    """

    hyper: Hyperparameters
    prior: np.ndarray
    name: str
    solver: Solver
    coordinate: CoordinateSolver
    max_epochs: int | None
    tol: float
    schedule: bool = False
    search: bool = False
    path: tuple[tuple[float, float, float], ...] | None = None
    explained: tuple[float, float] | None = None
    batch_size: int | None = None
    batch_tol: float = 1e-5
    title: str = "joint model"
    verbose: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    start: ModelState | None = None
    noise_start: float | str | None = None
    reservoir_size: int = RESERVOIR_SIZE

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
        if self.schedule and not isinstance(documents.corpus.counts, sparse.csr_array):
            if self.search:
                raise ValueError(
                    'inclusion_prior="auto" needs counts in memory: give a number, or take some '
                    "of the documents, X.rows(...)."
                )
            trainer = replace(self, schedule=False, name="coordinate", solver=self.coordinate)
            return trainer.fit(documents, targets, held_out, options)
        if self.search:
            trainer = self._choose_inclusion(documents, targets, held_out, options)
            return trainer.fit(documents, targets, held_out, options)
        self._check_in_memory(documents)
        family = _family(documents, targets)
        rng = generator(self.random_state)
        problem = documents.problem(self.hyper.supervision_weight, self.n_jobs)
        start = self.start
        if start is None:
            start = self._begin(problem, family, rng)
        else:
            self._check_start(start, problem.corpus.n_words)
            start = start if targets is None else targets.apply(start, into_coef=True)
        watch = None
        if held_out is not None:
            watch = EpochChoice(held_out.problem(1.0, self.n_jobs), family)
        with show_progress(self.title, self.verbose) as shown:
            progress = options.progress or shown

            def report(info: StepInfo, epochs: int) -> None:
                if progress is not None:
                    progress(f"epochs of the {self.name} solver", info.epoch, epochs, info)

            solver, epochs = self._scheduled(problem.n_docs)
            result = run(
                solver,
                problem,
                self.hyper,
                start,
                rng,
                max_epochs=epochs,
                tol=self.tol,
                callback=report,
                watch=watch,
            )
        trainer, states = self, [result.model]
        if watch is not None:
            trainer = replace(self, explained=watch.loss.explained(result.model))
            states.append(result.last)
        fitted, *last = (
            trainer._fitted(state, targets, documents, None, result.converged, _history(result))
            for state in states
        )
        return fitted, last[0] if last else None

    def _choose_inclusion(
        self,
        documents: Documents,
        targets: TargetModel | None,
        held_out: Documents | None,
        options: FitOptions,
    ) -> JointTrainer:
        """This trainer with the inclusion prior that predicts validation documents.

        These are `held_out`, or a fifth of the documents.
        """
        assert targets is not None  # the model has a target
        rng = generator(self.random_state)
        train = documents
        if held_out is None:
            rows, others = split_validation(documents, targets, VALIDATION_FRACTION, rng)
            train, held_out = documents.rows(rows), documents.rows(others)
        family = _family(train, targets)
        problem = train.problem(self.hyper.supervision_weight, self.n_jobs)
        solver, epochs = self._scheduled(problem.n_docs)
        assert isinstance(solver, GradientSolver)
        hyper = replace(self.hyper, inclusion_prior=max(INCLUSION_PRIORS))
        start = replace(self, hyper=hyper)._begin(problem, family, rng)
        validation = ValidationLoss(held_out.problem(1.0, self.n_jobs), family)
        with show_progress(self.title, self.verbose) as shown:
            progress = options.progress or shown

            def report(done: int, total: int) -> None:
                if progress is not None:
                    progress("choice of the inclusion prior", done, total)

            chosen = choose_inclusion(
                solver, problem, hyper, start, validation, rng, epochs, report
            )
        hyper = replace(self.hyper, inclusion_prior=chosen.inclusion_prior)
        return replace(
            self, hyper=hyper, search=False, path=chosen.path, explained=chosen.explained
        )

    def _scheduled(self, n_docs: int) -> tuple[Solver, int]:
        """The solver and its number of epochs for this number of documents."""
        epochs = _EPOCHS[self.name] if self.max_epochs is None else self.max_epochs
        if not (self.schedule and isinstance(self.solver, GradientSolver)):
            return self.solver, epochs
        batch_size, epochs = auto_schedule(n_docs, self.batch_size)
        epochs = epochs if self.max_epochs is None else self.max_epochs
        return replace(self.solver, batch_size=batch_size, decay_epochs=epochs), epochs

    def _begin(self, problem: Problem, family: Any, rng: np.random.Generator) -> ModelState:
        """Starting values of the solver."""
        given = (problem, self.hyper, family, self.prior, rng)
        if self.name == "gradient":
            return near_symmetric_start(*given, noise_start=self.noise_start, spread=self.schedule)
        return perturbed_start(*given)

    def _check_in_memory(self, documents: Documents) -> None:
        """The gradient solver has parameters for every word of every document."""
        if self.name == "gradient" and isinstance(documents.corpus.counts, ChunkedCounts):
            raise ValueError(
                'solver="gradient" keeps numbers for every word of every document in memory, so X '
                'has to be a matrix in memory: use solver="coordinate" or "stochastic", or '
                "take some of the documents, X.rows(...)."
            )

    def _check_start(self, start: ModelState, n_words: int) -> None:
        shape = (self.hyper.n_topics, n_words)
        if start.topic_word.shape[::-1] != shape:
            raise ValueError(
                f"warm_start=True continues from topics of shape {start.topic_word.shape[::-1]}, "
                f"but the data and n_topics ask for {shape}. Set warm_start=False to start anew."
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
            sees_roots=False,
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
        return with_context(fitted, documents.corpus, documents.weights, self.n_jobs, before)

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
        rng = generator(self.random_state)
        problem = documents.problem(self.hyper.supervision_weight, self.n_jobs)
        if before is None:
            start = perturbed_start(
                problem, self.hyper, _family(documents, targets), self.prior, rng
            )
            return joint_stream.begin(
                self.coordinate, self.hyper, start, problem, self.reservoir_size, rng
            )
        assert before.hyper is not None
        return joint_stream.inherit(
            self.coordinate,
            before.hyper,
            scaled_state(before),
            before.word_count,
            before.n_samples_seen,
            documents.problem(before.hyper.supervision_weight, self.n_jobs),
            self.reservoir_size,
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
        batch = documents.problem(stream.hyper.supervision_weight, self.n_jobs)
        stream, epochs, converged = joint_stream.advance(stream, batch, self.batch_tol)
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


def _history(result: FitResult) -> dict[str, Any]:
    steps: tuple[StepInfo, ...] = result.history
    history: dict[str, list] = {
        "epoch": [info.epoch for info in steps],
        "objective": [float(info.objective) for info in steps],
        "kept_words": [info.kept for info in steps],
        "seconds": [info.seconds for info in steps],
    }
    if any(np.isfinite(info.validation) for info in steps):
        history["validation"] = [float(info.validation) for info in steps]
    return {"n_iter": len(steps), "history": history}


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
    epochs, tol = model.max_epochs, model.tol
    n_threads(model.n_jobs)  # raises an error for an invalid n_jobs
    if hasattr(model, "coef_penalty"):  # LDA has no coefficients
        penalty = check_positive("coef_penalty", model.coef_penalty, zero=True)
        hyper = {**hyper, "coef_penalty": penalty}
    return JointTrainer(
        hyper=Hyperparameters(n_topics=n_topics, learn_prior=learn, **hyper),
        prior=prior,
        name=name,
        solver=_solver(model, name, coordinate, schedule),
        schedule=schedule,
        search=search,
        batch_size=model.batch_size,
        coordinate=coordinate,
        max_epochs=None if epochs is None else check_count("max_epochs", epochs),
        tol=_TOLERANCE[name] if tol is None else check_positive("tol", tol, zero=True),
        batch_tol=1e-5 if tol is None else check_positive("tol", tol, zero=True),
        title=type(model).__name__,
        verbose=model.verbose,
        n_jobs=model.n_jobs,
        random_state=model.random_state,
        start=model.fitted_.state if model.warm_start and hasattr(model, "fitted_") else None,
        noise_start=_noise_start_of(model),
        reservoir_size=model.reservoir_size,
    )


def _noise_start_of(model: Any) -> float | str | None:
    """Starting value of δ, for models that have this parameter."""
    value = getattr(model, "noise_start", None)
    if value is not None and model.solver != "gradient":
        raise ValueError('noise_start is for solver="gradient"; others start from the variance.')
    if value is None or value == "random":
        return value
    if isinstance(value, str):
        raise ValueError(f'noise_start must be None, "random" or a number, got {value!r}.')
    return check_positive("noise_start", value)


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
