"""The joint models: LDA, sLDA and pf-sLDA (Ren, Kunes and Doshi-Velez, 2020).

Words and targets are explained together, and a document's topic proportions depend on both during
training. `bounds` has the terms of the ELBO, `updates` the closed-form updates, `statistics` the
sums over documents that both need, `selection` the word switches of the tight bound. Solvers:
`coordinate` (coordinate ascent), `stochastic` (minibatches), `gradient` (the algorithm of the
paper), all run by `solver.run`; `online` learns from batches.
"""

from topicfocus.joint.coordinate import CoordinateSolver
from topicfocus.joint.gradient import GradientSolver
from topicfocus.joint.solver import FitResult, Solver, StepInfo, run
from topicfocus.joint.stochastic import StochasticSolver

__all__ = [
    "CoordinateSolver",
    "FitResult",
    "GradientSolver",
    "Solver",
    "StepInfo",
    "StochasticSolver",
    "run",
]
