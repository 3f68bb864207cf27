"""Penalised generalised linear models of the targets on given columns, and their deviances.

Columns are topic proportions, covariates, predictions or terms. Given these, targets are
independent, and each is fitted by itself. All fits are Newton's method on a `PenalisedLikelihood`,
with steps by conjugate gradients; families whose parameters carry the intercept (thresholds) are
fitted by L-BFGS. `shrink`, `level_beside` and the deviances are for validation documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize, root
from scipy.sparse.linalg import LinearOperator, cg

from topicfocus.kernels.likelihood import class_rows, in_blocks, likelihoods
from topicfocus.model import Problem

#: Largest numbers of Newton steps, and of products in conjugate gradients for each.
_MOST_STEPS, _MOST_PRODUCTS = 100, 200
#: Correlation of columns and residuals at which a fit ends.
_TOLERANCE = 1e-11
#: Relative change of a loss that may be rounding.
_ROUNDING = 1e-13
#: Ridge of the constants of classes, per document: one of them is free, and a class without
#: documents would have none. Smallest curvature of a document with one predictor.
_CONSTANT_RIDGE, _LEAST_CURVATURE = 1e-9, 1e-12
#: Number of documents whose second moments are enough for the units of a fit.
_MANY = 1 << 17
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


@dataclass(frozen=True)
class PenalisedLikelihood:
    """Minus the penalised log-likelihood of a target as a function of parameters x.

        ½ x·Px - Σ_d w_d log p(y_d | o_d + f_d(x)),  f being linear

    Attributes
    ----------
    column : Column
    predictor : function
        f(x), known documents x predictors.
    transposed : function
        The transpose of this linear map.
    pull : function
        Px.
    """

    column: Column
    predictor: Callable[[np.ndarray], np.ndarray]
    transposed: Callable[[np.ndarray], np.ndarray]
    pull: Callable[[np.ndarray], np.ndarray]

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray, LinearOperator]:
        """The loss, its gradient, and its second derivatives by products with vectors."""
        column, pull = self.column, self.pull(x)
        value, slope, curvature = likelihood_rows(column, column.offset + self.predictor(x))
        weight = column.weight[:, None]

        def product(v: np.ndarray) -> np.ndarray:
            v = v.ravel()
            return self.pull(v) + self.transposed(weight * curvature(self.predictor(v)))

        loss = 0.5 * float(x @ pull) - float(column.weight @ value)
        hessian = LinearOperator((x.size, x.size), matvec=product, dtype=float)
        return loss, pull - self.transposed(weight * slope), hessian

    def minimise(self, x: np.ndarray, goal: float, step_tolerance: float = 1e-3) -> np.ndarray:
        """The parameters at which the norm of the gradient is at most `goal`, from x.

        Steps are halved until the loss does not rise.
        """
        loss, gradient, hessian = self(x)
        for _ in range(_MOST_STEPS):
            if not np.linalg.norm(gradient) > goal:
                break
            step, _ = cg(
                hessian, -gradient, rtol=step_tolerance, atol=0.5 * goal, maxiter=_MOST_PRODUCTS
            )
            before = loss
            while True:
                loss, gradient, hessian = self(x + step)
                risen = not loss <= before + _ROUNDING * abs(before)  # also for NaN
                if not risen or np.linalg.norm(step) <= 1e-9 * np.linalg.norm(x):
                    break
                step = 0.5 * step
            x = x + step
        return x


def fit_linear(column: Column, design: np.ndarray, penalty: float | np.ndarray = 1e-2) -> Linear:
    """The GLM of a target on `design` (known documents x columns), with a small ridge.

    `penalty` is that of a ridge or, for one predictor, a matrix A in ½ coefᵀ A coef. A fit ends
    when the correlation of columns and residuals is about `_TOLERANCE`.
    """
    ridge = penalty * np.eye(design.shape[1]) if np.ndim(penalty) == 0 else np.asarray(penalty)
    if column.family.carries_intercept:
        return _fit_levels(column, design, ridge)
    coef, intercept = _fit_slopes(column, design, ridge)
    family = column.family
    if family.noise_variance is not None or len(family.free_parameters()) == 0:
        return Linear(coef, intercept, family)
    for _ in range(_MOST_ROUNDS):  # slopes and dispersion in turn
        before = family.free_parameters()
        f = column.offset[:, 0] + intercept[0] + design @ coef[:, 0]
        family = family.update_dispersion(column.target, f, np.zeros(len(f)), column.weight)
        coef, intercept = _fit_slopes(replace(column, family=family), design, ridge)
        if np.abs(family.free_parameters() - before).max() < 1e-6:
            break
    return Linear(coef, intercept, family)


def _fit_slopes(
    column: Column, design: np.ndarray, ridge: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and intercepts, in units in which the curvature is about one."""
    size, width, total = design.shape[1], column.width, column.weight.sum()
    constant = level(column) if size else np.zeros(width)
    often = mean_curvature(replace(column, offset=column.offset + constant))
    centre, back = _whitening(column, design, often, ridge)
    unit = 1.0 / math.sqrt(often * total)

    def parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        coef = back @ x[: size * width].reshape(size, width)
        return coef, constant + unit * x[size * width :] - centre @ coef

    def predictor(x: np.ndarray) -> np.ndarray:
        coef, intercept = parts(x)
        return design @ coef + (intercept - constant)

    def transposed(rows: np.ndarray) -> np.ndarray:
        sums = rows.sum(axis=0)
        slopes = back.T @ (design.T @ rows - np.outer(centre, sums))
        return np.append(slopes, unit * sums)

    def pull(x: np.ndarray) -> np.ndarray:
        slopes = back.T @ (ridge @ (back @ x[: size * width].reshape(size, width)))
        return np.append(slopes, _constant_ridge(column) / often * x[size * width :])

    moved = replace(column, offset=column.offset + constant)
    loss = PenalisedLikelihood(moved, predictor, transposed, pull)
    start = np.zeros((size + 1) * width)
    goal = _TOLERANCE * _size_of_residuals(moved) / math.sqrt(often)
    coef, intercept = parts(loss.minimise(start, goal))
    # The mean over classes is zero at the optimum, which only the penalty determines.
    if width > 1:
        coef, intercept = coef - coef.mean(axis=1, keepdims=True), intercept - intercept.mean()
    return coef, intercept


def _whitening(
    column: Column, design: np.ndarray, often: float, ridge: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The mean of the columns, and T with which the curvature of columns @ T is about one.

    `often` is the mean curvature of a document. The ridge is needed because proportions sum to one,
    so that one direction has no variance.
    """
    centre = column.weight @ design / column.weight.sum()
    if not design.shape[1]:
        return centre, np.zeros((0, 0))
    some = slice(None, None, -(-len(design) // _MANY))
    weight = column.weight[some] * (column.weight.sum() / column.weight[some].sum())
    away = design[some] - centre
    sizes, axes = np.linalg.eigh(often * (away.T @ (weight[:, None] * away)) + ridge)
    return centre, axes / np.sqrt(np.maximum(sizes, 1e-12 * sizes.max(initial=1e-288)))


def _fit_levels(column: Column, design: np.ndarray, ridge: np.ndarray) -> Linear:
    """Slopes and thresholds together, by L-BFGS; thresholds carry the intercept.

    Columns are transformed to have a curvature of one. Otherwise proportions vary by a few
    hundredths and thresholds by some units, and L-BFGS stops far from the optimum.
    """
    y, w, size = column.target, column.weight, design.shape[1]
    total = max(float(w.sum()), 1e-300)
    centre, back = _whitening(column, design, mean_curvature(column), ridge)
    back = back * math.sqrt(total)
    white = (design - centre) @ back
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
    # Differences of likelihoods resolve parameters only to the root of the rounding error. A root
    # of the gradient has more digits.
    fine = root(lambda x: negative(x)[1], found.x, method="hybr", options={"xtol": 1e-12})
    x = fine.x if np.abs(fine.fun).max() < np.abs(found.jac).max() else found.x
    coef, family = back @ x[:size], column.family.with_free_parameters(x[size:])
    return Linear(coef[:, None], -np.atleast_1d(centre @ coef), family)


def _size_of_residuals(column: Column) -> float:
    """√(Σ w r²), r being the residuals of the offset."""
    return math.sqrt(float(column.weight @ np.sum(residuals(column, column.offset) ** 2, axis=1)))


def _constant_ridge(column: Column) -> float:
    return _CONSTANT_RIDGE if column.width > 1 else 0.0


def level(column: Column) -> np.ndarray:
    """The constant predictors with the largest likelihood."""
    return _fit_slopes(column, np.empty((len(column.target), 0)), np.empty((0, 0)))[1]


# ---- deviance, shrinkage and level --------------------------------------------------------------


def shrink(column: Column, predictor: np.ndarray) -> tuple[np.ndarray, float]:
    """(s, t) of predictor ← s + t·predictor on validation documents, t in [0.1, 1].

    Coefficients are too large because topics were optimised on the documents of the regression.
    They are never enlarged. `predictor` is without the offset. Thresholds do not change.
    """
    total = column.weight.sum()
    away = predictor - column.weight @ predictor / total
    size = max(math.sqrt(float(column.weight @ (away**2).sum(axis=1)) / total), 1e-300)
    away /= size
    loss = PenalisedLikelihood(
        column,
        lambda x: x[0] * away + x[1:],
        lambda rows: np.append(np.sum(rows * away), rows.sum(axis=0)),
        lambda x: np.append(0.0, total * _constant_ridge(column) * x[1:]),
    )
    start = np.append(0.0, level(column))
    goal = _TOLERANCE * math.sqrt(total) * _size_of_residuals(column)
    factor = float(np.clip(loss.minimise(start, goal)[0] / size, 0.1, 1.0))
    return level_beside(column, factor * predictor), factor


def level_beside(column: Column, predictor: np.ndarray) -> np.ndarray:
    """The constants with the largest likelihood when they are added to a predictor.

    For a number, a count or a class the mean prediction is then the mean target. `predictor` is
    without the offset.
    """
    return level(replace(column, offset=column.offset + predictor))


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
    constant = deviance(column, column.offset + level(column))
    gain, error = mean_and_error(constant - deviance(column, predictor), column.weight)
    null = max(float(np.average(constant, weights=column.weight)), 1e-12)
    return gain / null, error / null


def residuals(column: Column, predictor: np.ndarray) -> np.ndarray:
    """∂ log p(y | f)/∂f, known documents x predictors: the residuals of a predictor.

    y - f for a Gaussian target, y - p for two classes, and one column per class for more.
    """
    return likelihood_rows(column, predictor)[1]


def likelihood_rows(
    column: Column, predictor: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """log p(y | f) of known documents, its gradient in f, and its curvature.

    The gradient is documents x predictors. The curvature is a function, the product of
    -∂² log p(y | f)/∂f² of every document with a change of f.
    """
    if column.width == 1:
        f = np.ascontiguousarray(predictor[:, 0])
        value, slope, bend, _ = likelihoods(column.family, column.target, f)
        bent = np.maximum(-bend, _LEAST_CURVATURE)[:, None]
        return value, slope[:, None], lambda change: bent * change
    value, p = in_blocks(class_rows, column.target, predictor)
    gradient = -p
    gradient[np.arange(len(p)), column.target.astype(int)] += 1.0
    return value, gradient, lambda change: p * (change - np.sum(p * change, axis=1, keepdims=True))


def mean_curvature(column: Column) -> float:
    """Minus the second derivative of log p(y | f), the mean over documents and predictors."""
    curvature = likelihood_rows(column, column.offset)[2]
    bend = [curvature(one + 0 * column.offset)[:, l] for l, one in enumerate(np.eye(column.width))]
    mean = np.average(np.mean(bend, axis=0), weights=column.weight)
    return max(float(mean), 1e-3)


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
