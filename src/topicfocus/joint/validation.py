"""The epoch and the inclusion prior of a joint model, chosen on validation documents."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicfocus.glm import deviance, mean_and_error, null_deviance, target_columns
from topicfocus.joint.gradient import GradientSolver, GradientState
from topicfocus.joint.settings import Hyperparameters
from topicfocus.model import ModelState, Problem
from topicfocus.proportions import topic_proportions

#: Values of p that inclusion_prior="auto" compares.
INCLUSION_PRIORS = (0.05, 0.1, 0.15, 0.2, 0.3)
#: Epochs of the first model of the path of inclusion priors, and of each value of p, as fractions
#: of the epochs of a fit.
_FIRST, _EACH = 0.6, 0.12
#: Logits of the inclusion are clipped to this distance from logit p when p changes, so that words
#: that were dropped can be selected again.
_UNDECIDED = 3.0


class ValidationLoss:
    """Losses of models on validation documents, predicted from their words alone.

    θ̂ of the documents is the start for the next model.
    """

    def __init__(self, documents: Problem, family: Any) -> None:
        self._documents = documents
        self._columns = target_columns(documents, family)
        self._null = [null_deviance(column) for column in self._columns]
        self._theta: np.ndarray | None = None
        self.weight = np.concatenate([column.weight for column in self._columns])

    def __call__(self, model: ModelState) -> np.ndarray:
        """Deviances relative to the null deviance of each target: 1 for a constant prediction."""
        documents = self._documents
        self._theta = topic_proportions(
            documents.corpus, model, tolerance=1e-4, n_jobs=documents.n_jobs, start=self._theta
        )
        predictor = documents.offsets(model) + self._theta @ model.coef_rows.T
        losses = []
        for column, null, (own, where) in zip(
            self._columns, self._null, model.family.split(), strict=True
        ):
            # With fitted thresholds; δ does not enter the deviance.
            fitted = replace(column, family=own.with_noise_variance(1.0))
            losses.append(deviance(fitted, fitted.of(predictor)[:, where]) / null)
        return np.concatenate(losses)

    def explained(self, model: ModelState) -> tuple[float, float]:
        """The explained fraction, 1 - deviance / null deviance, and its standard error."""
        loss, error = mean_and_error(self(model), self.weight)
        return 1.0 - loss, error


class EpochChoice:
    """Score of epochs on validation documents, with which `run` chooses the best epoch.

    The score is the explained fraction, averaged over targets. It is computed about fifty times in
    a fit, and after the last epoch.
    """

    evaluations = 50

    def __init__(self, documents: Problem, family: Any) -> None:
        self.loss = ValidationLoss(documents, family)

    def __call__(self, model: ModelState, epoch: int, epochs: int) -> float:
        if epoch % max(1, epochs // self.evaluations) and epoch != epochs:
            return math.nan
        return self.loss.explained(model)[0]


@dataclass(frozen=True)
class InclusionChoice:
    """The chosen inclusion prior, and (p, explained fraction, standard error) of each value.

    The standard error is that of the difference from the best value. `explained` is the fraction
    of the best value with its own standard error.
    """

    inclusion_prior: float
    path: tuple[tuple[float, float, float], ...]
    explained: tuple[float, float]


def choose_inclusion(
    solver: GradientSolver,
    problem: Problem,
    hyper: Hyperparameters,
    start: ModelState,
    validation: ValidationLoss,
    rng: np.random.Generator,
    epochs: int,
    callback: Callable[[int, int], None] = lambda done, total: None,
) -> InclusionChoice:
    """Compare inclusion priors along one path, from the largest to the smallest.

    Each model starts from the model of the previous value, so that topics form only once. We choose
    the smallest value whose loss exceeds the smallest loss by at most one standard error of the
    paired difference. `epochs` are those of a fit.
    """
    first, each = max(1, round(_FIRST * epochs)), max(1, round(_EACH * epochs))
    values = sorted(INCLUSION_PRIORS, reverse=True)
    total = first + each * len(values)
    hyper = replace(hyper, inclusion_prior=values[0])
    state = solver.begin(problem, hyper, start, rng)
    losses = []
    constant, falling = replace(solver, decay_epochs=None), replace(solver, decay_epochs=each)
    for epoch in range(first):
        state, _ = constant.step(state)
        callback(epoch + 1, total)
    for number, value in enumerate(values):
        if number:
            state = _change_prior(state, value)
        for epoch in range(each):
            state, _ = falling.step(replace(state, epoch=epoch))
            callback(first + number * each + epoch + 1, total)
        losses.append(validation(falling.model(state)))
    means = [float(np.average(loss, weights=validation.weight)) for loss in losses]
    best = losses[int(np.argmin(means))]
    least, error_of_best = mean_and_error(best, validation.weight)
    path = []
    for value, loss, mean in zip(values, losses, means, strict=True):
        error = mean_and_error(loss - best, validation.weight)[1]
        path.append((value, 1.0 - mean, error))
    chosen = min(value for value, explained, error in path if 1.0 - explained <= least + error)
    return InclusionChoice(chosen, tuple(sorted(path)), (1.0 - least, error_of_best))


def _change_prior(state: GradientState, value: float) -> GradientState:
    """The state with another inclusion prior, and the inclusion clipped to near it."""
    logits = state.adam.parameters["inclusion_logits"]
    centre = math.log(value) - math.log1p(-value)
    np.clip(logits, centre - _UNDECIDED, centre + _UNDECIDED, out=logits)
    return replace(state, hyper=replace(state.hyper, inclusion_prior=value))
