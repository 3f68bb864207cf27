"""Solvers of the joint objective: what a step is, and when to stop."""

from topicfocus.solvers.coordinate import CoordinateSolver
from topicfocus.solvers.gradient import GradientSolver
from topicfocus.solvers.protocol import FitResult, Solver, StepInfo, run
from topicfocus.solvers.stochastic import StochasticSolver

__all__ = [
    "CoordinateSolver",
    "FitResult",
    "GradientSolver",
    "Solver",
    "StepInfo",
    "StochasticSolver",
    "run",
]
