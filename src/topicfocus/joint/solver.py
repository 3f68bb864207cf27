"""The interface of solvers, and the loop that runs them.

A solver is a dataclass of settings. `begin` makes its state from initial parameters, `step` is one
pass over the documents, and `model` returns the model of a state. The loop reports progress,
applies the stopping rule, and returns the best model if there are validation documents.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from topicfocus.joint.settings import Hyperparameters
from topicfocus.kernels.threads import one_blas_thread
from topicfocus.model import ModelState, Problem


@dataclass(frozen=True)
class StepInfo:
    """Metrics of one pass over the documents.

    Attributes
    ----------
    epoch : int
        From 1.
    objective : float
        The bound per token before the updates of the pass (for minibatches, the sum over them).
    kept : int
        Words with φ > ½.
    seconds : float
        Since the fit began.
    temperature : float or None
        Of an annealed selection.
    validation : float
        Explained fraction of validation targets, NaN in epochs without evaluation.
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
        """`done` of `total` steps are done; `info` has the metrics of the last one."""
        ...


@dataclass(frozen=True)
class FitResult:
    """The result of `run`.

    Attributes
    ----------
    model : ModelState
        Of the last epoch, or of the epoch with the best score if epochs were scored.
    history : tuple of StepInfo
        One per epoch.
    converged : bool
        Whether the stopping rule of the solver ended the fit.
    last : ModelState
        Of the last epoch.
    """

    model: ModelState
    history: tuple[StepInfo, ...]
    converged: bool
    last: ModelState


class Solver(ABC):
    """Base class of solvers of a joint objective.

    The state of a solver is any object; `run` passes it from one method to the next.
    """

    patience: int

    @abstractmethod
    def begin(
        self, problem: Problem, hyper: Hyperparameters, start: ModelState, rng: np.random.Generator
    ) -> Any:
        """The state before the first epoch; a ValueError if the solver does not support `hyper`."""

    @abstractmethod
    def step(self, state: Any) -> tuple[Any, StepInfo]:
        """One epoch, a pass over all documents: the next state, and its metrics."""

    @abstractmethod
    def model(self, state: Any) -> ModelState:
        """The model of a state."""

    def epochs(self, max_epochs: int) -> int:
        """Largest number of epochs; a solver with a schedule returns its own number."""
        return max_epochs

    def converged(self, history: list[StepInfo], tol: float) -> bool:
        """Whether the last `patience` epochs each changed the objective by at most tol·|objective|.

        With `tol` 0 there is no stopping rule.
        """
        if tol <= 0 or len(history) <= self.patience:
            return False
        values = np.array([info.objective for info in history[-self.patience - 1 :]])
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
    """Run a solver until its stopping rule holds, or for ``max_epochs``.

    Parameters
    ----------
    solver : Solver
    problem : Problem
    hyper : Hyperparameters
    start : ModelState
    rng : numpy.random.Generator
    max_epochs : int
        Largest number of epochs; a solver with a schedule has its own number.
    tol : float
        For the solver's stopping rule.
    callback : function (info, epochs), optional
        Called after every epoch.
    watch : function (model, epoch, epochs), optional
        Scores the model on validation documents, or returns NaN. The model with the highest score
        is returned instead of the last one.

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
