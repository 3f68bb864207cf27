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
from topicfocus.interrupts import is_interrupt
from topicfocus.kernels.blas import one_blas_thread
from topicfocus.solvers.checkpoints import current_store


@dataclass(frozen=True)
class StepInfo:
    """What one pass over the documents did.

    `objective` is the bound per token (the sum over minibatches, for solvers that have them),
    `kept` the number of words with φ > ½, `temperature` of the selection where it is annealed,
    `validation` the explained share of held-out targets where it was looked at, NaN elsewhere.
    """

    epoch: int
    objective: float
    kept: int
    seconds: float = 0.0
    temperature: float | None = None
    validation: float = math.nan


@dataclass(frozen=True)
class FitResult:
    """The outcome of `run`: the model, one StepInfo per epoch, and why it stopped.

    `last` is the model of the last epoch; `model` is another one if epochs were scored.
    """

    model: ModelState
    history: tuple[StepInfo, ...]
    converged: bool
    interrupted: bool
    last: ModelState


class Solver(Protocol):
    """The interface of a solver."""

    def begin(
        self, problem: Problem, hyper: Hyperparameters, start: ModelState, rng: np.random.Generator
    ) -> Any:
        """The solver's private state before the first epoch."""
        ...

    def step(self, state: Any) -> tuple[Any, StepInfo]:
        """One epoch."""
        ...

    def model(self, state: Any) -> ModelState:
        """The model the private state stands for."""
        ...

    def epochs(self, max_epochs: int) -> int:
        """How many epochs to run at most; a solver with a schedule has its own number."""
        ...

    def converged(self, history: list[StepInfo], tol: float) -> bool:
        """The stopping rule."""
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
    """Run `solver` until its rule says stop, `max_epochs` are done, or Ctrl-C.

    `callback(info, epochs)` is called after every epoch. An interrupt before the first epoch is
    over is raised, since there is nothing to hand back yet; later it ends the fit with the model of
    the last epoch that was completed.

    `watch(model, epoch, epochs)` scores the model on documents not trained on, NaN in epochs where
    it does not look; the model with the highest score is handed back, not the last one.

    In a `checkpointing` block, a solver whose state can be packed goes on from the last epoch that
    is in the store, and puts its state there from time to time.
    """
    history: list[StepInfo] = []
    model = start
    best: tuple[float, ModelState] | None = None
    epochs = solver.epochs(max_epochs)
    began = time.perf_counter()
    converged = interrupted = False
    try:
        state = solver.begin(problem, hyper, start, rng)
        packing: Any = solver
        store = current_store() if hasattr(solver, "pack") else None
        saved = store.get("epochs") if store is not None else None
        if saved is not None:
            packed, earlier, best = saved
            state = packing.unpack(state, packed)
            history += earlier
            began -= history[-1].seconds
            model = solver.model(state)
        for epoch in range(len(history) + 1, epochs + 1):
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
            if store is not None and store.due():
                store.put("epochs", (packing.pack(state), tuple(history), best))
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        if not history:
            raise KeyboardInterrupt from error
        interrupted = True
    chosen = model if best is None else best[1]
    return FitResult(chosen, tuple(history), converged, interrupted, model)
