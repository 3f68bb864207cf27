"""The targets of a model: encoding, scaling, and predictions from linear predictors.

    f = b + o + ζᵀz + ηᵀθ̂,   E[y | f] by the family's inverse link.

`TargetModel` depends on neither words nor topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from topicfocus.estimators.coding import (
    Coding,
    as_numbers,
    check_values,
    read_classes,
    read_families,
    read_regression,
    target_columns,
)
from topicfocus.estimators.documents import read_exposure
from topicfocus.estimators.scaling import CovariateScaling, Imputation, TargetScaling
from topicfocus.families import Multiple
from topicfocus.inference.state import ModelState


@dataclass(frozen=True)
class TargetPart:
    """One target of a fitted model: its coding, its family, and its columns of the predictors.

    The methods take the linear predictors of all targets, documents x predictors; `spread` is their
    variance given the words.
    """

    coding: Coding
    family: Any
    where: slice

    @property
    def width(self) -> int:
        """Number of linear predictors."""
        return self.where.stop - self.where.start

    def mean(self, predictor: np.ndarray) -> np.ndarray:
        """E[y | f] in the units of the target."""
        return self.family.expected_target(predictor[:, self.where], self.coding.labels)

    def variance(self, predictor: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Var y in the units of the target."""
        first = self.where.start
        return self.family.target_variance(
            predictor[:, first], spread[:, first], self.coding.labels
        )

    def probabilities(self, predictor: np.ndarray) -> np.ndarray:
        """P(y = label), documents x labels."""
        return self.family.probabilities(predictor[:, self.where])

    def response(self, predictor: np.ndarray) -> np.ndarray:
        """E[y | f], or P(y = label) per predictor for more than two classes."""
        return self.probabilities(predictor) if self.width > 1 else self.mean(predictor)[:, None]

    def interval(
        self, predictor: np.ndarray, spread: np.ndarray, coverage: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the prediction interval, within the possible values of the target."""
        first = self.where.start
        ends = self.family.interval(
            predictor[:, first], spread[:, first], coverage, self.coding.labels
        )
        bounds = self.coding.bounds(self.family)
        return np.clip(ends[0], *bounds), np.clip(ends[1], *bounds)


@dataclass(frozen=True)
class TargetModel:
    """The targets of a model.

    Attributes
    ----------
    codings : tuple of Coding, one per target
    covariate_scaling : CovariateScaling
    n_covariates : int
        Number of covariates before indicator columns are added.
    imputation : Imputation or None
        Of missing covariates.
    target_scaling : TargetScaling or None
        Of real targets; None if they are not scaled.

    Examples
    --------
    >>> import numpy as np
    >>> targets = TargetModel.of_classes(np.array(["good", "bad", "good"]))
    >>> targets.encode(np.array(["bad", "good"])).ravel()
    array([0., 1.])
    >>> family = targets.start(np.array([[1.0], [0.0], [1.0]]), np.ones(3))
    >>> targets.probabilities(family, np.array([[0.0]]))[0]
    array([[0.5, 0.5]])
    """

    codings: tuple[Coding, ...]
    covariate_scaling: CovariateScaling = field(
        default_factory=lambda: CovariateScaling.estimate(None, np.ones(0))
    )
    n_covariates: int = 0
    target_scaling: TargetScaling | None = None
    imputation: Imputation | None = None

    # ---- from the targets of a fit -------------------------------------------------------------

    @staticmethod
    def of_numbers(y: Any, family: Any = "gaussian") -> TargetModel:
        """Targets of a regressor; `family` is a name or a family, or a list of them."""
        columns = target_columns(y, len(y))
        families = read_families(family, len(columns))
        return TargetModel(tuple(read_regression(columns, families, np.ones(len(y)))))

    @staticmethod
    def of_classes(y: Any) -> TargetModel:
        """Targets of a classifier with labels of any kind."""
        return TargetModel(tuple(read_classes(target_columns(y, len(y)), np.ones(len(y)))))

    def with_covariates(self, covariates: np.ndarray | None, weight: np.ndarray) -> TargetModel:
        """Estimate imputation and scaling of the covariates; NaN is missing."""
        if covariates is None:
            return self
        imputation = Imputation.estimate(covariates, weight)
        return replace(
            self,
            covariate_scaling=CovariateScaling.estimate(imputation.impute(covariates), weight),
            n_covariates=covariates.shape[1],
            imputation=imputation,
        )

    def with_target_scaling(self, columns: list[np.ndarray], weight: np.ndarray) -> TargetModel:
        """Estimate the scaling of real targets."""
        families = [coding.family for coding in self.codings]
        codes = self.encode_columns(columns)
        return replace(self, target_scaling=TargetScaling.estimate(families, codes, weight))

    # ---- covariates --------------------------------------------------------------------------

    @property
    def n_columns(self) -> int:
        """Number of covariates and indicator columns."""
        return len(self.covariate_scaling.centre)

    def imputed(self, covariates: np.ndarray | None) -> np.ndarray | None:
        """Covariates without missing values, and the indicator columns."""
        if covariates is None or self.imputation is None:
            return covariates
        return self.imputation.impute(covariates)

    def scaled_covariates(self, covariates: np.ndarray | None) -> np.ndarray | None:
        """Imputed covariates, centred and in standard deviations."""
        return self.covariate_scaling.scale(self.imputed(covariates))

    def column_names(self, names: Sequence[str]) -> list[str]:
        """Names of all columns, given those of the covariates."""
        indicated = () if self.imputation is None else self.imputation.indicated
        return [*names, *(f"{names[j]} is missing" for j in indicated)]

    # ---- scaling -------------------------------------------------------------------------------

    def scale(self, codes: np.ndarray, name: str | None = None) -> np.ndarray:
        """Scaled targets; with a `name`, check that they are close to those of the first fit."""
        if self.target_scaling is None:
            return codes
        if name is not None:
            self.target_scaling.check_near(codes, name)
        return self.target_scaling.scale(codes)

    def restore(self, state: ModelState, into_coef: bool) -> ModelState:
        """Transform a model of scaled data to the original units.

        `into_coef`: the median of the target is added to η because there is no intercept.
        """
        state = self.covariate_scaling.restore(state)
        return (
            state if self.target_scaling is None else self.target_scaling.restore(state, into_coef)
        )

    def apply(self, state: ModelState, into_coef: bool) -> ModelState:
        """Transform a model to scaled data, to continue fitting."""
        if self.target_scaling is not None:
            state = self.target_scaling.apply(state, into_coef)
        return self.covariate_scaling.apply(state)

    # ---- targets as numbers --------------------------------------------------------------------

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.codings)

    @property
    def has_classes(self) -> bool:
        """Whether every target has named classes, as in a classifier."""
        return all(c.is_class and c.labels is not None for c in self.codings)

    def encode(self, y: Any, name: str = "y", n_docs: int | None = None) -> np.ndarray:
        """Numbers for the families, documents x targets, NaN for missing values."""
        n_docs = len(y) if n_docs is None else n_docs
        return self.encode_columns(target_columns(y, n_docs, name), name)

    def encode_columns(self, columns: list[np.ndarray], name: str = "y") -> np.ndarray:
        """As `encode`, from `target_columns`."""
        if len(columns) != self.n_targets:
            raise ValueError(
                f"{name} has {len(columns)} targets, but the model has {self.n_targets}."
            )
        return np.column_stack(
            [c.encode(column, name) for c, column in zip(self.codings, columns, strict=True)]
        )

    def check_numbers(self, columns: list[np.ndarray]) -> None:
        """Raise an error for targets of a later batch that the families do not allow."""
        for coding, column in zip(self.codings, columns, strict=False):
            values = as_numbers(column)
            known = np.isfinite(values)
            check_values(coding.family, values, known)
            if coding.labels is None:
                continue
            bad = known & ~np.isin(values, coding.labels)
            if bad.any():
                row = int(np.argmax(bad))
                raise ValueError(
                    f"row {row} of y is {values[row]:g}, which is not one of the levels "
                    f"{coding.labels.tolist()} of the first call to partial_fit or fit. Pass all "
                    "levels at the first call: levels=[...]."
                )

    def with_values(self, codes: np.ndarray, weight: np.ndarray) -> TargetModel:
        """Update observed ranges and limits by another batch, documents x targets."""
        codings = [c.with_values(codes[:, t], weight) for t, c in enumerate(self.codings)]
        return replace(self, codings=tuple(codings))

    def start(self, codes: np.ndarray, weight: np.ndarray) -> Any:
        """The family with starting parameters (`Multiple` for several targets)."""
        families = []
        for coding, column in zip(self.codings, codes.T, strict=True):
            known = np.isfinite(column) & (weight > 0)
            families.append(coding.family.initialize(column[known], weight[known], coding.n_labels))
        return families[0] if len(families) == 1 else Multiple.of(families)

    def offset(self, exposure: Any, n_docs: int, name: str = "exposure") -> np.ndarray | None:
        """Log exposures, for the predictors of targets that take an exposure."""
        log_exposure = read_exposure(exposure, n_docs, name)
        if log_exposure is None:
            return None
        used = [c.family.takes_exposure for c in self.codings for _ in range(c.n_predictors)]
        if not any(used):
            raise ValueError(f"{name} is for counts: use family='poisson'.")
        return log_exposure[:, None] * np.array(used, dtype=float)

    # ---- predictions ---------------------------------------------------------------------------

    def parts(self, family: Any) -> list[TargetPart]:
        """Coding, family and predictors of each target."""
        return [
            TargetPart(coding, own, where)
            for coding, (own, where) in zip(self.codings, family.split(), strict=True)
        ]

    def mean(self, family: Any, predictor: np.ndarray) -> np.ndarray:
        """E[y | f], documents x targets."""
        return np.column_stack([part.mean(predictor) for part in self.parts(family)])

    def variance(self, family: Any, predictor: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Var y, documents x targets, given f and its variance `spread`."""
        return np.column_stack([part.variance(predictor, spread) for part in self.parts(family)])

    def intervals(
        self, family: Any, predictor: np.ndarray, spread: np.ndarray, coverage: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the prediction intervals, documents x targets."""
        ends = [part.interval(predictor, spread, coverage) for part in self.parts(family)]
        low, high = zip(*ends, strict=True)
        return np.column_stack(low), np.column_stack(high)

    def probabilities(self, family: Any, predictor: np.ndarray) -> list[np.ndarray]:
        """P(y = label), documents x labels, one array per target."""
        return [part.probabilities(predictor) for part in self.parts(family)]

    def responses(self, family: Any, predictor: np.ndarray) -> np.ndarray:
        """E[y | f] or P(y = label), documents x predictors."""
        return np.hstack([part.response(predictor) for part in self.parts(family)])

    def predictor_names(self) -> tuple[str, ...]:
        """Names of the linear predictors: "y", or "y is good" for a class."""
        names: list[str] = []
        for t, coding in enumerate(self.codings):
            target = f"y{t}" if self.n_targets > 1 else "y"
            if coding.labels is None or not coding.is_class:
                names.append(target)
            elif coding.n_predictors == 1:
                names.append(f"{target} is {coding.labels[1]}")
            else:
                names += [f"{target} is {label}" for label in coding.labels]
        return tuple(names)
