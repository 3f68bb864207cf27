"""`TargetModel`: what the targets are. Coding, families, scaling, prediction and variance.

    f = b + o + ζᵀz + ηᵀθ̂,   E[y | f] by the family's inverse link.

An object by itself: made from the targets of a fit, it turns any y into numbers for the families
and linear predictors back into the units of the targets. It knows no words and no topics.
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
from topicfocus.estimators.documents import (
    Documents,
    Filling,
    Scaling,
    check_known,
    read_exposure,
)
from topicfocus.estimators.units import TargetUnits
from topicfocus.families import several, split
from topicfocus.inference.state import ModelState


@dataclass(frozen=True)
class TargetPart:
    """One target of a fitted model: how it is coded, its family, and which predictors are its."""

    coding: Coding
    family: Any
    where: slice


def _read(y: Any, weight: Any, n_docs: int | None) -> tuple[list[np.ndarray], np.ndarray]:
    n_docs = len(y) if n_docs is None else n_docs
    return target_columns(y, n_docs), np.ones(n_docs) if weight is None else np.asarray(weight)


@dataclass(frozen=True)
class TargetModel:
    """The targets of a model.

    Attributes
    ----------
    codings : tuple of Coding, one a target
    scaling : Scaling
        Of the covariates, which are fitted centred and in standard deviations.
    n_covariates : int
        As the user has them.
    filling : Filling or None
        What stands for those that are not known, and which have a column that says so.
    units : TargetUnits or None
        What real targets are centred by and divided by while fitting; None: as they are.

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
    scaling: Scaling = field(default_factory=lambda: Scaling.of(None, np.ones(0)))
    n_covariates: int = 0
    units: TargetUnits | None = None
    filling: Filling | None = None

    # ---- from the targets of a fit -------------------------------------------------------------

    @staticmethod
    def of_numbers(
        y: Any, family: Any = "gaussian", weight: Any = None, n_docs: int | None = None
    ) -> TargetModel:
        """Of the targets of a regressor: `family` is a name or a family, or a list of them."""
        columns, weight = _read(y, weight, n_docs)
        families = read_families(family, len(columns))
        return TargetModel(tuple(read_regression(columns, families, weight)))

    @staticmethod
    def of_classes(y: Any, weight: Any = None, n_docs: int | None = None) -> TargetModel:
        """Of the targets of a classifier: labels of any kind."""
        columns, weight = _read(y, weight, n_docs)
        return TargetModel(tuple(read_classes(columns, weight)))

    def with_covariates(self, covariates: np.ndarray | None, weight: np.ndarray) -> TargetModel:
        """The same targets beside covariates such as these, NaN where one is not known."""
        if covariates is None:
            return replace(self, scaling=Scaling.of(None, weight), n_covariates=0, filling=None)
        filling = Filling.of(covariates, weight)
        return replace(
            self,
            scaling=Scaling.of(filling.fill(covariates), weight),
            n_covariates=covariates.shape[1],
            filling=filling,
        )

    @property
    def n_columns(self) -> int:
        """Covariates and columns that say which are not known."""
        return self.n_covariates + (0 if self.filling is None else len(self.filling.indicated))

    def filled(self, covariates: np.ndarray | None, name: str = "covariates") -> np.ndarray | None:
        """Covariates as the linear predictor has them, none of them missing."""
        if covariates is None or self.filling is None:
            check_known(covariates, name)
            return covariates
        return self.filling.fill(covariates)

    def column_names(self, names: Sequence[str]) -> list[str]:
        """Names of all columns, from those of the covariates."""
        more = () if self.filling is None else self.filling.indicated
        return [*names, *(f"{names[j]} is missing" for j in more)]

    def in_standard_units(self, columns: list[np.ndarray], weight: np.ndarray) -> TargetModel:
        """The same targets, the real ones centred and in standard deviations while fitting."""
        families = [coding.family for coding in self.codings]
        codes = self.encode_columns(columns)
        return replace(self, units=TargetUnits.standard(families, codes, weight))

    # ---- units that fitting uses -----------------------------------------------------------------

    def for_fitting(self, codes: np.ndarray, name: str | None = None) -> np.ndarray:
        """Targets as fitting sees them; those of a `name` are checked to be like the first ones."""
        if self.units is None:
            return codes
        if name is not None:
            self.units.check_near(codes, name)
        return self.units.scale(codes)

    def restore(self, state: ModelState, into_coef: bool) -> ModelState:
        """A model as fitting has it, in the units of the data.

        `into_coef`: the mean of the target goes to η, where the model has no intercept.
        """
        state = self.scaling.restore(state)
        return state if self.units is None else self.units.restore(state, into_coef)

    def apply(self, state: ModelState, into_coef: bool) -> ModelState:
        """The other way round, to go on fitting from a model."""
        if self.units is not None:
            state = self.units.apply(state, into_coef)
        return self.scaling.apply(state)

    # ---- targets as numbers --------------------------------------------------------------------

    @property
    def n_targets(self) -> int:
        return len(self.codings)

    @property
    def has_classes(self) -> bool:
        """Whether every target is one of named classes, as a classifier's are."""
        return all(c.is_class and c.labels is not None for c in self.codings)

    def encode(self, y: Any, name: str = "y", n_docs: int | None = None) -> np.ndarray:
        """Numbers for the families, documents x targets, NaN where one is missing."""
        return self.encode_columns(
            target_columns(y, len(y) if n_docs is None else n_docs, name), name
        )

    def encode_columns(self, columns: list[np.ndarray], name: str = "y") -> np.ndarray:
        """As `encode`, for targets that were read already."""
        if len(columns) != self.n_targets:
            raise ValueError(
                f"{name} has {len(columns)} targets, but the model has {self.n_targets}."
            )
        return np.column_stack(
            [c.encode(column, name) for c, column in zip(self.codings, columns, strict=True)]
        )

    def check_numbers(self, columns: list[np.ndarray]) -> None:
        """Values that the families of a regressor cannot have, in a batch that comes later."""
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
                    f"family={coding.kind!r} needs targets that are one of the levels "
                    f"{coding.labels.tolist()} of the first call to partial_fit or fit; pass "
                    f"levels=[...] with all of them at the first call, but row {row} of y is "
                    f"{values[row]:g}."
                )

    def with_values(self, codes: np.ndarray, weight: np.ndarray) -> TargetModel:
        """The same after more targets, documents x targets, were seen."""
        codings = [c.with_values(codes[:, t], weight) for t, c in enumerate(self.codings)]
        return replace(self, codings=tuple(codings))

    def start(self, codes: np.ndarray, weight: np.ndarray) -> Any:
        """The family (of several targets: `Several`) to start from, given the targets."""
        families = [c.start(codes[:, t], weight) for t, c in enumerate(self.codings)]
        return families[0] if len(families) == 1 else several(families)

    def family_of(self, documents: Documents) -> Any:
        """The family to start from, given documents."""
        assert documents.target is not None
        return self.start(documents.target, documents.weights)

    def offset(self, exposure: Any, n_docs: int, name: str = "exposure") -> np.ndarray | None:
        """log E, for the predictors of targets that are proportional to an exposure."""
        log_exposure = read_exposure(exposure, n_docs, name)
        if log_exposure is None:
            return None
        counted = np.array(
            [c.takes_exposure for c in self.codings for _ in range(c.n_predictors)], dtype=float
        )
        if not counted.any():
            raise ValueError(f"{name} is for counts: use family='poisson'.")
        return log_exposure[:, None] * counted

    # ---- predictors as targets -----------------------------------------------------------------

    def parts(self, family: Any) -> list[TargetPart]:
        """Coding, family and predictors of each target."""
        return [
            TargetPart(coding, own, where)
            for coding, (own, where) in zip(self.codings, split(family), strict=True)
        ]

    def mean(self, family: Any, predictor: np.ndarray) -> np.ndarray:
        """E[y | f], documents x targets."""
        parts = self.parts(family)
        return np.column_stack([p.coding.mean(p.family, predictor[:, p.where]) for p in parts])

    def variance(self, family: Any, predictor: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Var y, documents x targets, from f and what the words leave open of it (`spread`)."""
        return np.column_stack(
            [
                p.coding.variance(p.family, predictor[:, p.where], spread[:, p.where])
                for p in self.parts(family)
            ]
        )

    def intervals(
        self, family: Any, predictor: np.ndarray, spread: np.ndarray, coverage: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the intervals of targets, documents x targets, within what these can be."""
        ends = [
            p.coding.interval(p.family, predictor[:, p.where], spread[:, p.where], coverage)
            for p in self.parts(family)
        ]
        return np.column_stack([a for a, _ in ends]), np.column_stack([b for _, b in ends])

    def probabilities(self, family: Any, predictor: np.ndarray) -> list[np.ndarray]:
        """P(y = label), documents x labels, one array a target."""
        parts = self.parts(family)
        return [p.coding.probabilities(p.family, predictor[:, p.where]) for p in parts]

    def responses(self, family: Any, predictor: np.ndarray) -> np.ndarray:
        """What each predictor says, documents x predictors: E[y | f], or P of its class."""
        return np.concatenate(
            [p.coding.response(p.family, predictor[:, p.where]) for p in self.parts(family)], axis=1
        )

    def predictor_names(self) -> tuple[str, ...]:
        """What each linear predictor is about: "y", or "y is good" for a class."""
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
