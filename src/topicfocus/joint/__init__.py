"""The joint models: LDA, sLDA and pf-sLDA (Ren, Kunes and Doshi-Velez, 2020).

One likelihood has words and targets, and the topic proportions of a document depend on both during
training. `settings` has the hyperparameters, `bounds` the terms of the ELBO, `updates` the
updates, `coefficients` those of η, `statistics` the sums over documents, `likelihood` the exact
likelihood. The solvers are
`coordinate` (coordinate ascent), `stochastic` (minibatches) and `gradient` (the algorithm of the
authors), which `solver.run` runs; `online` learns from batches.
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
