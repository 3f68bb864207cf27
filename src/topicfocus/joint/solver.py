"""The interface of solvers, and the loop that runs them.

A solver is data (its settings) with functions: `begin` makes its private state from a start, `step`
is one pass over the documents, `model` returns the model of a private state. The loop reports
progress, applies the stopping rule, and keeps the best model where validation documents are given.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from topicfocus.joint.settings import Hyperparameters
from topicfocus.kernels.blas import one_blas_thread
from topicfocus.model import ModelState, Problem


@dataclass(frozen=True)
class StepInfo:
    """Metrics of one pass over the documents.

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


class Solver(Protocol):
    """A solver of the joint objective: its settings, with five functions.

    The private state is an object of the solver's own, which `run` passes from one function to the
    next. A solver of your own need not inherit from this class.
    """

    def begin(
        self, problem: Problem, hyper: Hyperparameters, start: ModelState, rng: np.random.Generator
    ) -> Any:
        """The private state before the first epoch; a ValueError if `hyper` is not possible."""
        ...

    def step(self, state: Any) -> tuple[Any, StepInfo]:
        """One epoch, a pass over all documents: the next state, and its metrics."""
        ...

    def model(self, state: Any) -> ModelState:
        """The model of a private state."""
        ...

    def epochs(self, max_epochs: int) -> int:
        """Largest number of epochs; a solver with a schedule has its own."""
        return max_epochs

    def converged(self, history: list[StepInfo], tol: float) -> bool:
        """The stopping rule; `tol` is a relative change of the objective, 0 for no rule."""
        ...


def small_change(history: list[StepInfo], tol: float, patience: int = 1) -> bool:
    """The last `patience` epochs each changed the objective by at most tol·|objective|."""
    if tol <= 0 or len(history) <= patience:
        return False
    values = np.array([info.objective for info in history[-patience - 1 :]])
    return bool(np.all(np.abs(np.diff(values)) <= tol * np.abs(values[1:])))


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
    """Run a solver until its stopping rule holds or ``max_epochs`` are done.

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
