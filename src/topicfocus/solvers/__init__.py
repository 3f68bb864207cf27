"""How models are fitted.

- `protocol`: what a solver of the joint objective is, and the loop that runs it; `linear`:
  regressions of each target on given columns.
- `joint/`: coordinate ascent, minibatches and the paper's own algorithm for the joint objective.
- `focus/`: the focused model, stage by stage: evidence, cut, start, shape, refit, judge, choose.
- `stream/`: both from batches, with a bounded sample of the documents.
"""

from topicfocus.solvers.joint.coordinate import CoordinateSolver
from topicfocus.solvers.joint.gradient import GradientSolver
from topicfocus.solvers.joint.stochastic import StochasticSolver
from topicfocus.solvers.protocol import FitResult, Solver, StepInfo, run

__all__ = [
    "CoordinateSolver",
    "FitResult",
    "GradientSolver",
    "Solver",
    "StepInfo",
    "StochasticSolver",
    "run",
]
