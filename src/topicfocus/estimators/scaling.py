"""Scaling of real targets and covariates, and imputation of missing covariates.

Starting values, penalties and step lengths of the solvers are fixed numbers, so the solvers work on

    z = (y - c)/s,   c the (weighted, lower) median,   s² = Σ w (y - ȳ)² / Σ w,

and the fitted model is transformed back: η → sη, b → c + sb, ζ → sζ, δ → s²δ. The model is then the
same whether prices are in cents or in thousands. z is rounded to 2⁻²⁴ because targets in different
units differ in their last digits, which an optimiser amplifies. The median is one of the values, so
that y - c is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from topicfocus.estimators.arguments import RowError
from topicfocus.model import ModelState

#: Standard deviations below this are an error: their squares could underflow.
SMALLEST_STD = 1e-100
#: Scaled values are rounded to multiples of this number.
RESOLUTION = 2.0**-24
#: Largest distance of a later target from the median of the first ones, in standard deviations.
_FARTHEST = 1e8
#: Training documents with, and without, a covariate for which a column says that it is missing. The
#: coefficient of a column that differs in fewer documents would be little more than their noise.
FEWEST_INDICATED = 10


_none = partial(np.zeros, 0)


def round_scaled(z: np.ndarray) -> np.ndarray:
    """Round values in standard deviations to the resolution of a fit."""
    return np.round(z / RESOLUTION) * RESOLUTION


def weighted_median(values: np.ndarray, weight: np.ndarray) -> float:
    """Lower weighted median."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(total, 0.5 * total[-1])]])


def weighted_std(values: np.ndarray, weight: np.ndarray) -> float:
    """Weighted standard deviation."""
    mean = np.average(values, weights=weight)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weight)))


@dataclass(frozen=True)
class TargetScaling:
    """c and s of every target; 0 and 1 for targets that are not scaled.

    Attributes
    ----------
    centre, size : arrays (targets,)
    """

    centre: np.ndarray
    size: np.ndarray

    @staticmethod
    def estimate(
        families: Sequence[Any], codes: np.ndarray, weight: np.ndarray, name: str = "y"
    ) -> TargetScaling:
        """Median and standard deviation of the real targets; `codes` is documents x targets."""
        centre, size = np.zeros(len(families)), np.ones(len(families))
        for t, family in enumerate(families):
            known = np.isfinite(codes[:, t]) & (weight > 0)
            # Only a Gaussian log-likelihood with a noise variance can be rescaled.
            if not family.is_quadratic or family.noise_variance is None or not known.any():
                continue
            values = codes[known, t]
            centre[t] = weighted_median(values, weight[known])
            size[t] = weighted_std(values - centre[t], weight[known])
            _check_spread(values, np.flatnonzero(known), centre[t], size[t], name)
        return TargetScaling(centre, size)

    def scale(self, codes: np.ndarray, name: str) -> np.ndarray:
        """Scaled targets, documents x targets.

        Those that are very far from the ones the scaling was estimated on raise an error.
        """
        z = (codes - self.centre) / self.size
        far = self.scaled & (np.abs(z) > _FARTHEST)  # NaN is not
        if far.any():
            row, t = (int(i[0]) for i in np.nonzero(far))
            raise ValueError(
                f"row {row} of {name} is {codes[row, t]:g}, but earlier targets have the median "
                f"{self.centre[t]:.3g} and the standard deviation {self.size[t]:.3g}. Correct it "
                "or leave it out."
            )
        return np.where(self.scaled, round_scaled(z), codes)

    @property
    def scaled(self) -> np.ndarray:
        """Mask of the targets that are scaled."""
        return (self.size != 1) | (self.centre != 0)

    def restore(self, model: ModelState, into_coef: bool) -> ModelState:
        """Transform a model of z to one of y.

        c is added to b, or to every η in models without intercept (`into_coef`).
        """
        centre, size = self.per_predictor(model)
        return self._rescale(model, 0.0 * centre, size, centre, into_coef)

    def apply(self, model: ModelState, into_coef: bool) -> ModelState:
        """Transform a model of y to one of z, to continue fitting."""
        centre, size = self.per_predictor(model)
        return self._rescale(model, centre, 1 / size, 0.0 * centre, into_coef)

    def per_predictor(self, model: ModelState) -> tuple[np.ndarray, np.ndarray]:
        """c and s of every linear predictor."""
        width = [where.stop - where.start for _, where in model.family.split()]
        return np.repeat(self.centre, width), np.repeat(self.size, width)

    def _rescale(
        self,
        model: ModelState,
        less: np.ndarray,
        factor: np.ndarray,
        more: np.ndarray,
        into_coef: bool,
    ) -> ModelState:
        """Transform the linear predictors f to (f - less)·factor + more."""
        if not self.scaled.any():
            return model
        in_coef, in_intercept = float(into_coef), float(not into_coef)
        coef = model.coef.reshape(model.n_topics, -1)
        coef = (coef - in_coef * less) * factor + in_coef * more
        b = np.asarray(model.intercept, dtype=float)
        b = (b - in_intercept * less) * factor + in_intercept * more
        families = []
        for family, where in model.family.split():
            noise = family.noise_variance
            if noise is not None:
                family = family.with_noise_variance(float(noise * factor[where.start] ** 2))
            families.append(family)
        zeta = model.covariate_coef
        return replace(
            model,
            coef=np.ascontiguousarray(coef.reshape(model.coef.shape)),
            intercept=float(b[0]) if np.ndim(model.intercept) == 0 and len(b) == 1 else b,
            covariate_coef=None if zeta is None else zeta * factor,
            family=model.family.join(families),
        )


def _check_spread(
    values: np.ndarray, rows: np.ndarray, centre: float, size: float, name: str
) -> None:
    """Raise an error if the targets cannot be scaled, or differ only by one outlier once scaled."""
    if size < SMALLEST_STD:
        raise ValueError(
            f"{name} has a standard deviation of {size:.3g}, which is too small to compute with. "
            "Check it for wrong values, or measure it in other units."
        )
    farthest = int(np.argmax(np.abs(values - centre)))
    others = values[values != values[farthest]]
    # A smaller range is rounding of equal numbers.
    differ = np.ptp(others) > 1e-12 * np.abs(others).max()
    if differ and np.ptp(others) < RESOLUTION * size:
        row = int(rows[farthest])
        raise RowError(
            f"row {row} of {name} is {values[farthest]:g}, so far from the others that they cannot "
            "be distinguished after scaling. Correct it or leave it out.",
            row,
        )


@dataclass(frozen=True)
class CovariateScaling:
    """Imputation of missing covariates by the median, and scaling of all columns.

    Without arguments, of a model without covariates.

    Attributes
    ----------
    median : array (covariates,)
        Weighted median over the training documents.
    indicated : array of int
        Covariates that are missing in ten training documents or more, and known in as many. Each
        has an indicator column (1 where it is missing) after all covariates.
    centre, size : arrays (columns,)
        Mean and standard deviation (1 for constant columns).
    """

    median: np.ndarray = field(default_factory=_none)
    indicated: np.ndarray = field(default_factory=partial(_none, np.int64))
    centre: np.ndarray = field(default_factory=_none)
    size: np.ndarray = field(default_factory=_none)

    @staticmethod
    def estimate(covariates: np.ndarray, weight: np.ndarray) -> CovariateScaling:
        """From the covariates of the training documents; NaN is missing."""
        known = np.isfinite(covariates) & (weight > 0)[:, None]
        if not known.any(axis=0).all():
            column = int(np.argmin(known.any(axis=0)))
            raise ValueError(
                f"column {column} of covariates is NaN in every document: leave it out."
            )
        medians = [
            weighted_median(column[seen], weight[seen])
            for column, seen in zip(covariates.T, known.T, strict=True)
        ]
        missing = weight @ np.isnan(covariates)
        enough = np.minimum(missing, weight.sum() - missing) >= FEWEST_INDICATED
        found = CovariateScaling(np.array(medians), np.flatnonzero(enough))
        columns = found.impute(covariates)
        size = np.array([weighted_std(column, weight) for column in columns.T])
        centre = np.average(columns, axis=0, weights=weight)
        return replace(found, centre=centre, size=np.where(size > 0, size, 1.0))

    def impute(self, covariates: np.ndarray) -> np.ndarray:
        """Covariates without missing values, and the indicator columns."""
        missing = np.isnan(covariates)
        if not missing.any() and not len(self.indicated):
            return covariates
        imputed = np.where(missing, self.median, covariates)
        return np.column_stack([imputed, missing[:, self.indicated].astype(float)])

    def scale(self, covariates: np.ndarray) -> np.ndarray:
        """Imputed covariates, centred and in standard deviations."""
        return round_scaled((self.impute(covariates) - self.centre) / self.size)

    def restore(self, model: ModelState) -> ModelState:
        """Transform ζ and b to covariates in their original units."""
        if model.covariate_coef is None:
            return model
        zeta = model.covariate_coef / self.size[:, None]
        return replace(model, covariate_coef=zeta, intercept=model.intercept - self.centre @ zeta)

    def apply(self, model: ModelState) -> ModelState:
        """Transform ζ and b to scaled covariates, to continue fitting."""
        zeta = model.covariate_coef
        if zeta is None:
            return model
        scaled = zeta * self.size[:, None]
        return replace(model, covariate_coef=scaled, intercept=model.intercept + self.centre @ zeta)
