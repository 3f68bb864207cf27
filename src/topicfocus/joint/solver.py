"""What a solver is, and the one loop that runs every solver.

A solver is data (its settings) with three functions: `begin` makes its private state from a start,
`step` is one pass over the documents, `model` reads the model off the private state. The loop
reports progress, applies the stopping rule, and hands back the best model so far when the user
presses Ctrl-C.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from topicfocus.inference.state import Hyperparameters, ModelState, Problem
from topicfocus.kernels.blas import one_blas_thread
from topicfocus.shown import shown_after

#: Begins the examples: two documents of two words, their targets, and a start.
shown = shown_after("""
    >>> import numpy as np
    >>> from topicfocus.corpus import make_corpus
    >>> from topicfocus.families import Gaussian
    >>> from topicfocus.inference.state import Hyperparameters, make_problem
    >>> from topicfocus.joint import CoordinateSolver, run
    >>> from topicfocus.joint.initialize import perturbed_start
    >>> problem = make_problem(make_corpus([[3, 1], [0, 2]]), np.array([1.0, -1.0]))
    >>> hyper, rng = Hyperparameters(n_topics=2), np.random.default_rng(0)
    >>> start = perturbed_start(problem, hyper, Gaussian(1.0), np.ones(2), rng)
    >>> solver = CoordinateSolver()
    """)


@dataclass(frozen=True)
class StepInfo:
    """What one pass over the documents did.

    Attributes
    ----------
    epoch : int
        From 1.
    objective : float
        The bound per token, before what the pass changed (the sum over minibatches, for solvers
        that have them).
    kept : int
        Words with φ > ½.
    seconds : float
        Since the fit began.
    temperature : float or None
        Of the selection, where it is annealed.
    validation : float
        The explained share of held-out targets where it was looked at, NaN elsewhere.
    """

    epoch: int
    objective: float
    kept: int
    seconds: float = 0.0
    temperature: float | None = None
    validation: float = math.nan


class Progress(Protocol):
    """Called by a fit when a stage begins and after every step of it."""

    def __call__(
        self, stage: str, done: int = 0, total: int | None = None, info: StepInfo | None = None
    ) -> None:
        """So many of `total` steps are done; `info` has the metrics of the last one."""
        ...


@dataclass(frozen=True)
class FitResult:
    """The outcome of `run`: a model, what every epoch did, and why it ended.

    Attributes
    ----------
    model : ModelState
        Of the last epoch, or of the one that scored best, where epochs were scored.
    history : tuple of StepInfo
        One an epoch.
    converged : bool
        Whether the solver's own rule ended it.
    last : ModelState
        Of the last epoch.
    """

    model: ModelState
    history: tuple[StepInfo, ...]
    converged: bool
    last: ModelState


@shown(
    ">>> result = run(solver, problem, hyper, start, rng, max_epochs=3, tol=0.0)",
    ">>> len(result.history)",
    "3",
)
class Solver(Protocol):
    """What a solver of the joint objective is: its settings, with five functions.

    `begin` makes its private state from a start, `step` is one pass over the documents, `model`
    reads the model off the private state; `epochs` and `converged` say when it is over. `run` calls
    them. A solver of your own needs nothing else, and need not inherit from this class.
    """

    @shown(">>> solver.begin(problem, hyper, start, rng).epoch", "0")
    def begin(
        self, problem: Problem, hyper: Hyperparameters, start: ModelState, rng: np.random.Generator
    ) -> Any:
        """The solver's private state before the first epoch.

        Parameters
        ----------
        problem : Problem
            Documents and targets.
        hyper : Hyperparameters
        start : ModelState
        rng : numpy.random.Generator
            The only source of randomness.

        Returns
        -------
        object
            What `step` and `model` take.

        Raises
        ------
        ValueError
            If the solver cannot do what the hyperparameters ask for.
        """
        ...

    @shown(
        ">>> state, info = solver.step(solver.begin(problem, hyper, start, rng))",
        ">>> info.epoch, bool(info.objective < 0)",
        "(1, True)",
    )
    def step(self, state: Any) -> tuple[Any, StepInfo]:
        """One epoch: a pass over all documents.

        Parameters
        ----------
        state : object
            Of `begin`, or of the step before.

        Returns
        -------
        state : object
            The next private state.
        info : StepInfo
            What the pass did; `run` fills in time and score.
        """
        ...

    @shown(
        ">>> model = solver.model(solver.begin(problem, hyper, start, rng))",
        ">>> model.topic_word.sum(axis=0).round(6).tolist()",
        "[1.0, 1.0]",
    )
    def model(self, state: Any) -> ModelState:
        """The model that the private state stands for.

        Parameters
        ----------
        state : object
            Of `begin` or `step`.

        Returns
        -------
        ModelState
        """
        ...

    @shown(">>> solver.epochs(100)", "100")
    def epochs(self, max_epochs: int) -> int:
        """How many epochs to run at most; a solver with a schedule has its own number.

        Parameters
        ----------
        max_epochs : int
            What the user has asked for.

        Returns
        -------
        int
        """
        ...

    @shown(
        ">>> from topicfocus.joint import StepInfo",
        ">>> solver.converged([StepInfo(1 + i, -7.0, 2) for i in range(3)], 1e-4)",
        "True",
    )
    def converged(self, history: list[StepInfo], tol: float) -> bool:
        """The stopping rule.

        Parameters
        ----------
        history : list of StepInfo
            Of all epochs so far.
        tol : float
            The relative change of the objective that counts as none; 0 asks for all epochs.

        Returns
        -------
        bool
        """
        ...


def small_change(history: list[StepInfo], tol: float, patience: int = 1) -> bool:
    """The last `patience` epochs each changed the objective by at most tol·|objective|."""
    if tol <= 0 or len(history) <= patience:
        return False
    values = np.array([info.objective for info in history[-patience - 1 :]])
    return bool(np.all(np.abs(np.diff(values)) <= tol * np.abs(values[1:])))


@shown(
    ">>> result = run(solver, problem, hyper, start, rng, max_epochs=50, tol=1e-6)",
    ">>> bounds = [info.objective for info in result.history]",
    ">>> bounds == sorted(bounds)  # coordinate ascent: it never falls",
    "True",
)
@one_blas_thread()
def run(
    solver: Solver,
    problem: Problem,
    hyper: Hyperparameters,
    start: ModelState,
    rng: np.random.Generator,
    *,
    max_epochs: int,
    tol: float,
    callback: Callable[[StepInfo, int], None] | None = None,
    watch: Callable[[ModelState, int, int], float] | None = None,
) -> FitResult:
    """Run a solver until its rule says stop, ``max_epochs`` are done, or Ctrl-C.

    An interrupt before the first epoch is over is raised, since there is nothing to hand back yet;
    later it ends the fit with the model of the last epoch that was completed.

    Parameters
    ----------
    solver : Solver
    problem : Problem
    hyper : Hyperparameters
    start : ModelState
    rng : numpy.random.Generator
    max_epochs : int
        At most; a solver with a schedule has its own number.
    tol : float
        For the solver's stopping rule.
    callback : function (info, epochs), optional
        Called after every epoch.
    watch : function (model, epoch, epochs), optional
        Scores the model on documents not trained on, NaN in epochs where it does not look; the
        model with the highest score is handed back, not the last one.

    Returns
    -------
    FitResult

    Raises
    ------
    FloatingPointError
        If the objective is no longer a finite number.
    """
    history: list[StepInfo] = []
    model = start
    best: tuple[float, ModelState] | None = None
    epochs = solver.epochs(max_epochs)
    began = time.perf_counter()
    converged = False
    state = solver.begin(problem, hyper, start, rng)
    for epoch in range(1, epochs + 1):
        state, info = solver.step(state)
        model = solver.model(state)
        seconds = time.perf_counter() - began
        score = math.nan if watch is None else watch(model, epoch, epochs)
        if math.isfinite(score) and (best is None or score > best[0]):
            best = (score, model)
        info = StepInfo(epoch, info.objective, info.kept, seconds, info.temperature, score)
        history.append(info)
        if not np.isfinite(info.objective):
            raise FloatingPointError(
                f"The objective became {info.objective} in epoch {epoch}. Lower the learning "
                "rate, or check the target for extreme values."
            )
        if callback is not None:
            callback(info, epochs)
        if solver.converged(history, tol):
            converged = True
            break
    chosen = model if best is None else best[1]
    return FitResult(chosen, tuple(history), converged, model)
