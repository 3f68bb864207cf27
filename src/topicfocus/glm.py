"""Penalised generalised linear models of the targets on given columns, and their deviances.

Columns are topic proportions, covariates or predictions. Given these, targets are independent, and
each is fitted by itself: classes by Newton's method on all coefficients at once, families whose
parameters carry the intercept (thresholds) by L-BFGS, and other families by Newton's method.
`shrink`, `level_beside` and the deviances are for validation documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from topicfocus.kernels.likelihood import class_rows, in_blocks, likelihoods
from topicfocus.model import Problem

#: Largest Newton step of families without a quadratic likelihood.
_LONGEST_STEP = 5.0
#: Number of parameters above which classes are fitted by L-BFGS. With 420 parameters and 4,000
#: documents Newton's method was five times as fast.
_MOST_FOR_NEWTON = 600
#: Documents per block in the curvature of classes: 7 MB for 420 parameters.
_BLOCK = 2048
#: Relative change of a loss that may be rounding.
_ROUNDING = 1e-13
#: Documents per block of a regression.
_MANY = 1 << 18
#: Largest number of slopes and thresholds whose curvature is computed by differences, and their
#: step.
_FEW, _DIFFERENCE = 30, 1e-6
#: Largest number of rounds of slopes and dispersion.
_MOST_ROUNDS = 20


@dataclass(frozen=True)
class Column:
    """One target, for the documents where it is known.

    Attributes
    ----------
    family : its family, with δ = 1 if it has a noise variance
    known : array of bool (documents,)
    target, weight : arrays (known documents,)
    offset : array (known documents, predictors of this target)
    where : slice
        Its predictors among those of all targets.
    """

    family: Any
    known: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    offset: np.ndarray
    where: slice

    @property
    def width(self) -> int:
        return self.where.stop - self.where.start

    def of(self, matrix: np.ndarray) -> np.ndarray:
        """The rows of the documents where the target is known."""
        return matrix if self.known.all() else matrix[self.known]


def target_columns(problem: Problem, family: Any) -> list[Column]:
    """The targets of a problem, one by one, with the weights of the documents, without λ."""
    out = []
    for t, (own, where) in enumerate(family.split()):
        weight = np.where(problem.target_weights[:, t] > 0, problem.doc_weights, 0.0)
        known = weight > 0
        width = where.stop - where.start
        offset = np.zeros((int(known.sum()), width))
        if problem.offset is not None:
            offset = offset + problem.offset[known][:, where]
        own = own.with_noise_variance(1.0)
        out.append(Column(own, known, problem.targets[known, t], weight[known], offset, where))
    return out


@dataclass(frozen=True)
class Linear:
    """f = o + b + columns·coef, and the family with fitted parameters."""

    coef: np.ndarray
    intercept: np.ndarray
    family: Any

    def predictor(self, columns: np.ndarray, offset: np.ndarray) -> np.ndarray:
        return offset + self.intercept + columns @ self.coef


def fit_linear(
    column: Column,
    design: np.ndarray,
    penalty: float | np.ndarray = 1e-2,
    tolerance: float = 1e-9,
) -> Linear:
    """The GLM of a target on `design` (known documents x columns), with a small ridge.

    `penalty` is that of a ridge or, for one predictor, a matrix A in ½ coefᵀ A coef. Columns are
    centred, since topic proportions sum to one and are collinear with the intercept. For classes,
    Newton's method ends with a relative step below `tolerance`; the error is about its square.
    """
    centre = _mean(design, column.weight)
    if column.width > 1:
        ridge = float(penalty)
        coef, intercept, family = _fit_classes(column, design - centre, ridge, tolerance)
    elif column.family.carries_intercept:
        coef, intercept, family = _fit_levels(column, design - centre, penalty)
    else:
        coef, intercept, family = _fit_dispersed(column, _Centred(design, centre), penalty)
    return Linear(coef, intercept - centre @ coef, family)


def _mean(design: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weighted mean of each column, in blocks."""
    if not design.shape[1]:
        return np.zeros(0)
    if len(design) <= _MANY:
        return np.average(design, axis=0, weights=weight)
    spans = [slice(first, first + _MANY) for first in range(0, len(design), _MANY)]
    return sum(weight[here] @ design[here] for here in spans) / weight.sum()


class _Centred:
    """Centred columns and a column of ones, in blocks of documents.

    Three copies of the proportions of ten million documents would take gigabytes. Up to `_MANY`
    documents are one block, which is computed once.
    """

    def __init__(self, design: np.ndarray, centre: np.ndarray | float) -> None:
        self._design, self._centre = design, centre
        self.n_columns = design.shape[1] + 1
        self._held: np.ndarray | None = None

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for first in range(0, max(len(self._design), 1), _MANY):
            yield slice(first, first + _MANY), self._block(slice(first, first + _MANY))

    def _block(self, here: slice) -> np.ndarray:
        if self._held is not None:
            return self._held
        columns = self._design[here] - self._centre
        block = np.column_stack([columns, np.ones(len(columns))])
        if len(self._design) <= _MANY:
            self._held = block
        return block

    def dot(self, x: np.ndarray) -> np.ndarray:
        """Columns times x, without the ones."""
        parts = [np.ascontiguousarray(block[:, :-1]) @ x for _, block in self.blocks()]
        return np.concatenate(parts)


def _fit_dispersed(column: Column, design: _Centred, penalty: float | np.ndarray) -> tuple:
    """Slopes and parameters of the family in turn, except δ, of which slopes are independent."""
    coef, intercept, family = _fit_scalar(column, design, penalty)
    if family.noise_variance is not None or len(family.free_parameters()) == 0:
        return coef, intercept, family
    for _ in range(_MOST_ROUNDS):
        before = family.free_parameters()
        f = column.offset[:, 0] + intercept[0] + design.dot(coef[:, 0])
        family = family.update_dispersion(column.target, f, np.zeros(len(f)), column.weight)
        column = replace(column, family=family)
        coef, intercept, family = _fit_scalar(column, design, penalty)
        if np.abs(family.free_parameters() - before).max() < 1e-6:
            break
    return coef, intercept, family


def _fit_scalar(column: Column, design: _Centred, penalty: float | np.ndarray) -> tuple:
    """Slopes by Newton steps, halved until the penalised likelihood does not fall.

    Between distant thresholds a likelihood is nearly flat, so that full steps would oscillate.
    """
    family, size = column.family, design.n_columns
    ridge = np.zeros((size, size))
    ridge[:-1, :-1] = _matrix(penalty, size - 1)
    ridge[-1, -1] = 1e-9
    quadratic = family.is_quadratic
    x = np.zeros(size)
    x[-1] = level(column)[0]
    value, gradient, curvature = _scalar_likelihood(column, design, ridge, x)
    same = curvature if quadratic else None
    for _ in range(100):
        step = solved(curvature + ridge, gradient)
        if not quadratic:
            step *= min(1.0, _LONGEST_STEP / max(np.abs(step).max(), 1e-300))
        before = value
        while True:
            value, gradient, curvature = _scalar_likelihood(column, design, ridge, x + step, same)
            fallen = value < before - _ROUNDING * abs(before)  # False for NaN
            if quadratic or not fallen or np.abs(step).max() < 1e-8 * (1 + np.abs(x).max()):
                break
            step = 0.5 * step
        x = x + step
        if np.abs(step).max() < 1e-8 * (1 + np.abs(x).max()):
            break
    return x[:-1, None], x[-1:], family


def fit_slope(column: Column, predictor: np.ndarray, centre: np.ndarray) -> float:
    """t of f = b + t·(predictor - centre), with one predictor and almost no ridge."""
    return float(_fit_scalar(column, _Centred(predictor, centre), 1e-6)[0][0, 0])


def _scalar_likelihood(
    column: Column,
    design: _Centred,
    ridge: np.ndarray,
    x: np.ndarray,
    curvature: np.ndarray | None = None,
) -> tuple[float, np.ndarray, np.ndarray]:
    """log p(y) less the penalty, its gradient, and minus the second derivatives of log p(y).

    The second derivatives are not computed if they are given, for a quadratic likelihood.
    """
    slopes = np.append(x[:-1], 0.0)
    pull = ridge @ slopes
    value = -0.5 * float(slopes @ pull)
    gradient, bent = -pull, np.zeros((len(x), len(x)))
    for here, block in design.blocks():
        y, w, offset = column.target[here], column.weight[here], column.offset[here, 0]
        log, slope, bend, _ = likelihoods(column.family, y, offset + block @ x)
        value += float(w @ log)
        gradient += block.T @ (w * slope)
        if curvature is None:
            bent += block.T @ (block * (w * -bend)[:, None])
    return value, gradient, bent if curvature is None else curvature


def solved(curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Newton's step, of smallest norm if the curvature is singular to rounding."""
    try:
        return np.linalg.solve(curvature, gradient)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(curvature, gradient, rcond=None)[0]


def _matrix(penalty: float | np.ndarray, size: int) -> np.ndarray:
    """The matrix A of the penalty ½ coefᵀ A coef."""
    return penalty * np.eye(size) if np.ndim(penalty) == 0 else np.asarray(penalty)


def _fit_levels(column: Column, design: np.ndarray, penalty: float | np.ndarray) -> tuple:
    """Slopes and thresholds together, by L-BFGS; thresholds carry the intercept.

    Columns are transformed to be uncorrelated with a curvature of one. Otherwise proportions vary
    by a few hundredths and thresholds by some units, and L-BFGS stops far from the optimum.
    """
    y, w, size = column.target, column.weight, design.shape[1]
    total = max(float(w.sum()), 1e-300)
    ridge = _matrix(penalty, size)
    bend = likelihoods(column.family, y, column.offset[:, 0])[2]
    often = max(float(-(w @ bend)) / total, 1e-2)  # mean curvature per document
    back = _whitening(design, often * w / total, ridge / total)
    white = design @ back
    start = np.concatenate([np.zeros(size), column.family.free_parameters()])

    def negative(x: np.ndarray) -> tuple[float, np.ndarray]:
        family, coef = column.family.with_free_parameters(x[size:]), back @ x[:size]
        f = column.offset[:, 0] + white @ x[:size]
        value, slope, _, _ = likelihoods(family, y, f)
        own = family.free_gradient(y, f, np.zeros(len(f)), w)
        pull = ridge @ coef
        slopes = white.T @ (w * slope) - back.T @ pull
        loss = -(w @ value) + 0.5 * coef @ pull
        return loss / total, -np.concatenate([slopes, own]) / total

    options = {"maxiter": 500, "ftol": 1e-16, "gtol": 1e-10}
    found = minimize(negative, start, jac=True, method="L-BFGS-B", options=options)
    x = _polished(negative, found)
    return (back @ x[:size])[:, None], np.zeros(1), column.family.with_free_parameters(x[size:])


def _polished(negative: Callable[[np.ndarray], tuple[float, np.ndarray]], found: Any) -> np.ndarray:
    """The solution of L-BFGS with more digits, by steps that reduce the gradient.

    Differences of likelihoods resolve parameters only to the root of the rounding error. With few
    parameters, Newton steps by differences of the gradient come last.
    """
    x, gradient = found.x, negative(found.x)[1]
    for _ in range(30):
        trial = x - found.hess_inv @ gradient
        new = negative(trial)[1]
        if not np.abs(new).max() < 0.9 * np.abs(gradient).max():
            break
        x, gradient = trial, new
    for _ in range(2 if len(x) <= _FEW else 0):
        steps = _DIFFERENCE * np.eye(len(x))
        curvature = np.array([negative(x + step)[1] - gradient for step in steps]) / _DIFFERENCE
        trial = x - solved(0.5 * (curvature + curvature.T), gradient)
        new = negative(trial)[1]
        if not np.abs(new).max() < np.abs(gradient).max():
            break
        x, gradient = trial, new
    return x


def _whitening(design: np.ndarray, weight: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """T such that the second moments of `design` @ T, with a ridge, are the identity.

    The ridge is needed because proportions sum to one, so that one direction has no variance.
    """
    if not design.shape[1]:
        return np.zeros((0, 0))
    sizes, axes = np.linalg.eigh(design.T @ (weight[:, None] * design) + ridge)
    return axes / np.sqrt(np.maximum(sizes, 1e-300))


def _fit_classes(column: Column, design: np.ndarray, penalty: float, tolerance: float) -> tuple:
    """Softmax regression with a ridge, so that coefficients sum to zero over classes."""
    design = np.column_stack([design, np.ones(len(design))])
    ridge = np.full(design.shape[1], penalty)
    ridge[-1] = 1e-6
    x = np.zeros((len(ridge), column.width))
    if x.size > _MOST_FOR_NEWTON:
        x = _classes_by_lbfgs(column, design, ridge, x)
    else:
        x = _classes_by_newton(column, design, ridge, x, tolerance)
    # The mean over classes is zero at the optimum, which only the penalty determines.
    by_class = x - x.mean(axis=1, keepdims=True)
    return by_class[:-1], by_class[-1], column.family


def _class_loss(
    column: Column, design: np.ndarray, ridge: np.ndarray, x: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Minus the penalised log-likelihood, its gradient and the probabilities of classes."""
    w = column.weight
    value, p = in_blocks(class_rows, column.target, column.offset + design @ x)
    slope = -w[:, None] * p
    slope[np.arange(len(w)), column.target.astype(int)] += w
    loss = -float(w @ value) + 0.5 * float(np.sum(ridge[:, None] * x * x))
    return loss, ridge[:, None] * x - design.T @ slope, p


def _classes_by_newton(
    column: Column, design: np.ndarray, ridge: np.ndarray, x: np.ndarray, tolerance: float
) -> np.ndarray:
    """Newton's method, about nine steps; after 300 steps of L-BFGS the error was still 1e-6."""
    loss, gradient, p = _class_loss(column, design, ridge, x)
    for _ in range(50):
        curvature = _class_curvature(design, p, column.weight, ridge)
        step = -solved(curvature, gradient.ravel()).reshape(x.shape)
        # An equal change for all classes changes no probability; it is rounding.
        step -= step.mean(axis=1, keepdims=True)
        rate, before = 1.0, loss
        while True:
            loss, gradient, p = _class_loss(column, design, ridge, x + rate * step)
            if loss <= before + _ROUNDING * abs(before) or rate <= 1e-6:
                break
            rate *= 0.5
        x = x + rate * step
        if np.abs(rate * step).max() < tolerance * (1 + np.abs(x).max()):
            break
    return x


def _classes_by_lbfgs(
    column: Column, design: np.ndarray, ridge: np.ndarray, x: np.ndarray
) -> np.ndarray:
    def negative(flat: np.ndarray) -> tuple[float, np.ndarray]:
        loss, gradient, _ = _class_loss(column, design, ridge, flat.reshape(x.shape))
        return loss, gradient.ravel()

    limits = {"maxiter": 300, "ftol": 1e-8}
    found = minimize(negative, x.ravel(), jac=True, method="L-BFGS-B", options=limits)
    return found.x.reshape(x.shape)


def _class_curvature(
    design: np.ndarray, p: np.ndarray, weight: np.ndarray, ridge: np.ndarray
) -> np.ndarray:
    """Σ_d w (diag p - ppᵀ) ⊗ xxᵀ + ridge, columns of the design first.

    Two matrix products per block of documents, because a product per pair of classes would be
    small.
    """
    size, width = design.shape[1], p.shape[1]
    square = np.zeros((size * width, size * width))
    diagonal = np.zeros((size * size, width))
    for first in range(0, len(design), _BLOCK):
        x, q, w = (a[first : first + _BLOCK] for a in (design, p, weight))
        root = np.sqrt(w)[:, None] * x
        both = (root[:, :, None] * q[:, None, :]).reshape(len(x), -1)
        square -= both.T @ both
        diagonal += (root[:, :, None] * root[:, None, :]).reshape(len(x), -1).T @ q
    out = square.reshape(size, width, size, width)
    for c in range(width):
        out[:, c, :, c] += diagonal[:, c].reshape(size, size)
    return square + np.diag(np.repeat(ridge, width))


def level(column: Column) -> np.ndarray:
    """The constant predictors with the largest likelihood."""
    if column.width > 1:
        share = np.bincount(column.target.astype(int), column.weight, column.width) + 1e-3
        logs = np.log(share / share.sum())
        return logs - logs.mean()
    x, limit = 0.0, math.inf if column.family.is_quadratic else _LONGEST_STEP
    before = 0.0
    for _ in range(100):
        _, slope, bend, _ = likelihoods(column.family, column.target, column.offset[:, 0] + x)
        step = (column.weight @ slope) / max(-(column.weight @ bend), 1e-12)
        if step * before < 0:  # after overshooting, halve the limit
            limit = min(limit, 0.5 * abs(before))
        before = float(np.clip(step, -limit, limit))
        x += before
        if abs(before) < 1e-10 * (1 + abs(x)):
            break
    return np.array([x])


# ---- deviance, shrinkage and level --------------------------------------------------------------


def shrink(column: Column, predictor: np.ndarray) -> tuple[np.ndarray, float]:
    """(s, t) of predictor ← s + t·predictor on validation documents, t in [0.1, 1].

    Coefficients are too large because topics were optimised on the documents of the regression.
    They are never enlarged. `predictor` is without the offset.
    """
    if column.width > 1:
        factor = _class_factor(column, predictor)
    else:
        # Thresholds do not change.
        centre = np.average(predictor, axis=0, weights=column.weight)
        factor = fit_slope(column, predictor, centre)
    factor = float(np.clip(factor, 0.1, 1.0))
    return level_beside(column, factor * predictor), factor


def level_beside(column: Column, predictor: np.ndarray) -> np.ndarray:
    """The constants with the largest likelihood when they are added to a predictor.

    For a number, a count or a class the mean prediction is then the mean target. `predictor` is
    without the offset.
    """
    moved = replace(column, offset=column.offset + predictor)
    return level(moved) if column.width == 1 else _class_shift(moved)


def _class_factor(column: Column, predictor: np.ndarray) -> float:
    """t of f = t·predictor + constants, by Newton steps in t and the constants.

    Constants have a ridge of 1e-9 relative to a mean over documents, since one of them is free.
    """
    w = column.weight / column.weight.sum()
    seen = np.bincount(column.target.astype(int), w, column.width)
    own = w @ predictor[np.arange(len(predictor)), column.target.astype(int)]
    x = np.zeros(1 + column.width)
    x[0] = 1.0
    curvature = np.empty((len(x), len(x)))
    for _ in range(30):
        f = column.offset + x[0] * predictor + x[1:]
        p = in_blocks(class_rows, column.target, f)[1]
        mean, expected = np.sum(p * predictor, axis=1), w @ p
        gradient = np.append(own - w @ mean, seen - expected - 1e-9 * x[1:])
        curvature[0, 0] = w @ (np.sum(p * predictor**2, axis=1) - mean**2)
        curvature[0, 1:] = curvature[1:, 0] = w @ (p * (predictor - mean[:, None]))
        curvature[1:, 1:] = np.diag(expected + 1e-9) - (w[:, None] * p).T @ p
        step = solved(curvature + 1e-12 * np.eye(len(x)), gradient)
        step /= max(1.0, abs(step[0]) / 0.5, np.abs(step[1:]).max() / 3.0)
        x += step
        x[0] = np.clip(x[0], 0.0, 2.0)
        if np.abs(step[np.append(True, seen > 0)]).max() < 1e-10:
            break
    return float(x[0])


def _class_shift(column: Column) -> np.ndarray:
    """Constants with which mean probabilities equal observed frequencies (iterative scaling)."""
    shift = np.zeros(column.width)
    seen = np.bincount(column.target.astype(int), column.weight, column.width) + 1e-3
    for _ in range(300):
        p = in_blocks(class_rows, column.target, column.offset + shift)[1]
        expected = column.weight @ p + 1e-3
        step = np.log(seen / expected)
        shift = shift + step
        if np.abs(step).max() < 1e-12:
            break
    return shift - shift.mean()


def deviance(column: Column, predictor: np.ndarray) -> np.ndarray:
    """(y - f)² if log p is quadratic, otherwise -log p(y) with |f| <= 20; f includes the offset."""
    if column.family.is_quadratic:
        return (column.target - predictor[:, 0]) ** 2
    limited = np.clip(predictor, -20.0, 20.0)
    return -likelihood_rows(column, limited)[0]


def null_deviance(column: Column) -> float:
    """Weighted mean deviance of the best constant, at least 1e-12."""
    worst = np.average(deviance(column, column.offset + level(column)), weights=column.weight)
    return max(float(worst), 1e-12)


def explained_share(column: Column, predictor: np.ndarray) -> tuple[float, float]:
    """1 - deviance/null deviance (R², or McFadden's) and its standard error over documents."""
    weight, total = column.weight, column.weight.sum()
    gain = deviance(column, column.offset + level(column)) - deviance(column, predictor)
    mean = float(weight @ gain / total)
    error = float(np.sqrt(np.sum((weight * (gain - mean)) ** 2)) / total)
    null = null_deviance(column)
    return mean / null, error / null


def residuals(column: Column, predictor: np.ndarray) -> np.ndarray:
    """∂ log p(y | f)/∂f, known documents x predictors: the residuals of a predictor.

    y - f for a Gaussian target, y - p for two classes, and one column per class for more.
    """
    return likelihood_rows(column, predictor)[1]


def likelihood_rows(column: Column, predictor: np.ndarray) -> tuple[np.ndarray, ...]:
    """log p(y | f) of known documents and its gradient in f, documents x predictors."""
    if column.family.n_predictors == 1:
        value, slope, _, _ = likelihoods(
            column.family, column.target, np.ascontiguousarray(predictor[:, 0])
        )
        return value, slope[:, None]
    value, p = in_blocks(class_rows, column.target, predictor)
    gradient = -p
    gradient[np.arange(len(p)), column.target.astype(int)] += 1.0
    return value, gradient


def curvature_rows(column: Column, predictor: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Product of -∂² log p(y | f)/∂f² of every known document with a change of f."""
    if column.family.n_predictors == 1:
        f = np.ascontiguousarray(predictor[:, 0])
        bend = -likelihoods(column.family, column.target, f)[2][:, None]
        return lambda change: bend * change
    p = in_blocks(class_rows, column.target, predictor)[1]
    return lambda change: p * (change - np.sum(p * change, axis=1, keepdims=True))


def mean_and_error(values: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """The weighted mean over documents and its standard error.

    A document of weight 2 is equivalent to two copies, so n is the sum of the weights. For n < 2
    the error is 0.
    """
    size = float(weight.sum())
    mean = float(weight @ values) / size
    if size < 2:
        return mean, 0.0
    variance = float(weight @ (values - mean) ** 2) / (size - 1)
    return mean, math.sqrt(variance / size)
