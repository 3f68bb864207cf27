"""The targets of a model: encoding, scaling, and predictions from linear predictors.

    f = b + o + ζᵀz + ηᵀθ̂,   E[y | f] by the family's inverse link.

`TargetModel` depends on neither words nor topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from topicfocus.estimators.arguments import LARGEST, RowError, read_exposure
from topicfocus.estimators.scaling import CovariateScaling, TargetScaling
from topicfocus.families import (
    Bernoulli,
    Categorical,
    Family,
    Gaussian,
    Multiple,
    Ordinal,
    Poisson,
)
from topicfocus.model import ModelState

#: Families that a regressor accepts by name; "bernoulli" is useful beside other targets.
REGRESSION_FAMILIES = {
    family.name: family for family in (Gaussian(), Poisson(), Ordinal(np.zeros(0)), Bernoulli())
}
#: Largest number of levels of an ordinal target.
MOST_LEVELS = 100
#: The smallest or largest value is the end of a scale if this fraction of the documents has it, and
#: at least this weight: many reviews have 5 stars, but one document has the highest price.
_FRACTION_AT_END, _WEIGHT_AT_END = 0.005, 2.0


@dataclass(frozen=True)
class Coding:
    """The family of one target, and the labels behind its codes 0, 1, ... if it has labels.

    Attributes
    ----------
    family : Family
        An instance of the family with its starting parameters.
    labels : array or None
        Classes of a classifier, levels of an ordinal target.
    observed : tuple of two floats or None
        Smallest and largest training target (numbers only).
    limits : tuple of two floats or None
        Those of the two that are ends of a scale, else -∞ or ∞ (`seen_values`).
    """

    family: Any
    labels: np.ndarray | None = None
    observed: tuple[float, float] | None = None
    limits: tuple[float, float] | None = None

    @property
    def kind(self) -> str:
        """Name of the family: "gaussian", "poisson", "ordinal", "bernoulli", "categorical", ..."""
        return self.family.name

    @property
    def is_class(self) -> bool:
        """Whether the target is a class, or 0 and 1."""
        return self.family.label_kind == "classes"

    @property
    def is_rating(self) -> bool:
        """Whether the target has ordered levels."""
        return self.family.label_kind == "levels"

    @property
    def n_labels(self) -> int:
        """Number of labels: 2 for unnamed 0 and 1, 0 for a number."""
        if self.labels is not None:
            return len(self.labels)
        return 2 if self.is_class else 0

    @property
    def events(self) -> list[Any]:
        """The class of each predictor: the second of two classes, None for a number."""
        if not self.is_class:
            return [None]
        labels = [0, 1] if self.labels is None else self.labels.tolist()
        return labels if self.n_predictors > 1 else labels[1:]

    @property
    def n_predictors(self) -> int:
        """Number of linear predictors."""
        return self.family.n_predictors

    def encode(self, column: np.ndarray, name: str = "y") -> np.ndarray:
        """Numbers for the family, NaN for missing targets; unknown labels raise an error."""
        if self.labels is None:
            return as_numbers(column, name)
        missing = is_missing(column)
        codes = np.full(len(column), np.nan)
        if missing.all():
            return codes
        known = as_labels(column[~missing], name)
        place, wrong = np.zeros(len(known), dtype=int), np.ones(len(known), dtype=bool)
        if (known.dtype.kind in "biuf") == (self.labels.dtype.kind in "biuf"):
            place = np.minimum(np.searchsorted(self.labels, known), len(self.labels) - 1)
            wrong = self.labels[place] != known
        if np.any(wrong):
            row = int(np.flatnonzero(~missing)[np.argmax(wrong)])
            what, remedy = "a class", ""
            if self.is_rating:
                what = "a level"
                remedy = ". Pass all levels at the first call of partial_fit: levels=[...]."
            raise ValueError(
                f"{name} has {what} never seen in fit at row {row}: {shown(column[row])}{remedy}"
            )
        codes[~missing] = place
        return codes

    def decode_levels(self, codes: np.ndarray) -> np.ndarray:
        """Levels of a rating from their codes; other codes are returned unchanged."""
        if self.is_rating and self.labels is not None:
            return self.labels.astype(float)[codes.astype(int)]
        return codes

    def bounds(self, family: Any) -> tuple[float, float]:
        """Smallest and largest possible target, infinite if unknown."""
        low, high = family.limits(self.labels)
        if self.limits is not None:
            low, high = max(low, self.limits[0]), min(high, self.limits[1])
        return low, high

    @property
    def range_seen(self) -> tuple[float, float]:
        """Smallest and largest training target, NaN if unknown."""
        if self.is_rating and self.labels is not None:
            return float(self.labels[0]), float(self.labels[-1])
        return (np.nan, np.nan) if self.observed is None else self.observed

    def with_values(self, values: np.ndarray, weight: np.ndarray) -> Coding:
        """Update the observed range and the limits by the targets of another batch."""
        if self.observed is None or self.limits is None or not np.any(np.isfinite(values)):
            return self
        (low, high), (first, last) = seen_values(self.family, values, weight)
        first = first if low < self.observed[0] else self.limits[0]
        last = last if high > self.observed[1] else self.limits[1]
        observed = (min(low, self.observed[0]), max(high, self.observed[1]))
        return replace(self, observed=observed, limits=(first, last))


def seen_values(
    family: Any, values: np.ndarray, weight: np.ndarray
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Smallest and largest number, and those of the two that are ends of a scale (else ∓∞)."""
    known = np.isfinite(values) & (weight > 0)
    if not known.any():
        return (np.inf, -np.inf), (-np.inf, np.inf)
    values, weight = values[known], weight[known]
    low, high = float(values.min()), float(values.max())
    needed = max(_WEIGHT_AT_END, _FRACTION_AT_END * float(weight.sum()))
    if family.kind != "real":
        needed = np.inf
    first, last = (float(weight[values == end].sum()) >= needed for end in (low, high))
    return (low, high), (low if first else -np.inf, high if last else np.inf)


# ---- columns of y --------------------------------------------------------------------------------


def target_columns(y: Any, n_docs: int, name: str = "y") -> list[np.ndarray]:
    """One array per target, from one value or one row of values per document."""
    if y is None:
        raise ValueError(
            f"requires y to be passed, but the target {name} is None. Use LDA for documents "
            "without a target."
        )
    if sparse.issparse(y):
        y = y.toarray()
    values = np.asarray(y)
    if values.dtype.kind == "U" and not isinstance(y, np.ndarray):
        values = np.asarray(y, dtype=object)  # NumPy turns a missing label into the text "nan"
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers or labels")
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] == 0):
        raise ValueError(
            f"{name} has shape {values.shape}; it must be one value for each document, "
            f"({n_docs},), or one row of values"
        )
    if len(values) != n_docs:
        raise ValueError(f"{name} has {len(values)} values but X has {n_docs} documents")
    return [values] if values.ndim == 1 else list(values.T)


def is_missing(column: np.ndarray) -> np.ndarray:
    """Mask of None, NaN and pandas.NA."""
    return pd.isna(column)


def shown(value: Any) -> str:
    """A value as the user would write it: 'ugly', not np.str_('ugly')."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def as_numbers(column: np.ndarray, name: str = "y") -> np.ndarray:
    """Floats with NaN for missing values; text and infinity raise an error that names the row."""
    values = pd.to_numeric(pd.Series(column), errors="coerce").to_numpy(float)
    wrong = np.isnan(values) & ~is_missing(column)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"Unknown label type: {name} must hold numbers, but row {row} is "
            f"{shown(column[row])}. For labels use a classifier."
        )
    large = np.abs(values) > LARGEST
    if large.any():
        row = int(np.argmax(large))
        raise ValueError(
            f"Input {name} contains infinity or a value too large to compute with at row {row}: "
            f"{values[row]:g}."
        )
    return values


def as_labels(known: np.ndarray, name: str = "y") -> np.ndarray:
    """Labels as an array of one sortable type; none is missing."""
    if known.dtype.kind != "O":
        return known
    if all(isinstance(v, str) for v in known):
        return known.astype(str)
    if all(isinstance(v, (bool, int, float, np.bool_, np.number)) for v in known):
        return np.array(list(known))
    types = ", ".join(sorted({type(v).__name__ for v in known}))
    raise ValueError(
        f"Unknown label type: {name} has labels such as {shown(known[0])} (types: {types}). Labels "
        "must be all text, or all numbers or truth values."
    )


# ---- codings from the targets of a fit -----------------------------------------------------------


def read_families(given: Any, n_targets: int) -> list[Any]:
    """The family of each target; `given` is a name or a family, or a list of these."""
    alone = isinstance(given, Family) or not isinstance(given, (list, tuple, np.ndarray))
    families = [given] * n_targets if alone else list(given)
    if len(families) != n_targets:
        raise ValueError(f"family names {len(families)} targets, but y has {n_targets}.")
    return [_regression_family(one, n_targets) for one in families]


def _regression_family(given: Any, n_targets: int) -> Any:
    if isinstance(given, str) and given in REGRESSION_FAMILIES:
        return REGRESSION_FAMILIES[given]
    names = ", ".join(map(repr, REGRESSION_FAMILIES))
    if not isinstance(given, Family):
        raise ValueError(
            f"family must be one of {names}, a family of your own (docs/families.md), or a list of "
            f"them for several targets; got {given!r}."
        )
    ours = given.name in REGRESSION_FAMILIES
    if given.n_predictors > 1:
        raise ValueError(f"{given!r} has several predictors: for classes use a classifier.")
    if not ours and n_targets > 1:
        raise ValueError(
            f"{type(given).__name__} is a family of your own, which cannot be one of several "
            f"targets; those are {names}. Fit a model to it alone."
        )
    missing = given.missing_methods()
    if missing:
        raise ValueError(
            f"{type(given).__name__} is not complete: define {', '.join(missing)} "
            "(docs/families.md)."
        )
    return given


def read_regression(
    columns: list[np.ndarray], families: Sequence[Any], weight: np.ndarray, name: str = "y"
) -> list[Coding]:
    """Codings of the targets of a regressor; values outside the family's range raise an error."""
    out = []
    for column, family in zip(columns, families, strict=True):
        values = as_numbers(column, name)
        seen = np.isfinite(values) & (weight > 0)
        known = values[seen]
        if len(known) == 0:
            raise ValueError(
                f"Input {name} contains NaN only: no document has a target. At least one must."
            )
        if np.ptp(known) == 0:
            raise ValueError(
                f"{name} is constant (n_samples={known.size}, all {known[0]:g}): there is nothing "
                "to predict. Check the column, or use LDA, which needs no target."
            )
        check_values(family, values, seen, name)
        labels = None
        if family.label_kind == "levels":
            labels = np.unique(known)
            if len(labels) > MOST_LEVELS:
                raise ValueError(
                    f"family={family.name!r} is for ratings of a few levels, but {name} "
                    f"has {len(labels)} different values. Use family='gaussian'."
                )
        seen_ends = () if family.label_kind else seen_values(family, values, weight)
        out.append(Coding(family, labels, *seen_ends))
    return out


def check_values(family: Any, values: np.ndarray, seen: np.ndarray, name: str = "y") -> None:
    """Raise an error that names the first row with a value outside the family's range."""
    good, wanted = family.admissible(values[seen])
    if not good.all():
        row = int(np.flatnonzero(seen)[np.argmin(good)])
        raise RowError(
            f"family={family.name!r} needs targets that are {wanted}, but row {row} of "
            f"{name} is {values[row]:g}.",
            row,
        )


def read_classes(columns: list[np.ndarray], weight: np.ndarray, name: str = "y") -> list[Coding]:
    """Codings of the targets of a classifier: Bernoulli for two classes, else categorical."""
    out = []
    for column in columns:
        missing = is_missing(column)
        known = column[~missing & (weight > 0)]
        if len(known) == 0:
            raise ValueError(
                f"Input {name} contains NaN only: no document has a class. At least two must."
            )
        known = as_labels(known, name)
        if known.dtype.kind == "f":
            if not np.all(np.isfinite(known)):
                raise ValueError(f"Input {name} contains infinity.")
            if np.any(known % 1):
                raise ValueError(
                    f"Unknown label type: continuous. {name} holds numbers that are not whole, and "
                    "a classifier needs classes. Use a regressor."
                )
            if missing.any():  # NaN made floats of whole-number labels
                known = known.astype(np.int64)
        labels = np.unique(known)
        if len(labels) < 2:
            raise ValueError(
                f"{name} has one class only ({shown(labels[0])}): there is nothing to tell apart. "
                "Pass documents of two or more classes."
            )
        out.append(Coding(Bernoulli() if len(labels) == 2 else Categorical(len(labels)), labels))
    return out


# ---- all targets of a model ----------------------------------------------------------------------


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
        """E[y | f] in the units of the target, within the ends of its scale."""
        return np.clip(self._sum(predictor), *self.coding.bounds(self.family))

    def _sum(self, predictor: np.ndarray) -> np.ndarray:
        return self.family.expected_target(predictor[:, self.where], self.coding.labels)

    def limit(self, predictor: np.ndarray) -> np.ndarray:
        """What the ends of the scale change in E[y | f], documents x predictors of the target."""
        if self.coding.is_class:
            return np.zeros((len(predictor), self.width))
        return (self.mean(predictor) - self._sum(predictor))[:, None]

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
    covariates : CovariateScaling
    target_scaling : TargetScaling or None
        Of real targets; None if they are not scaled.
    """

    codings: tuple[Coding, ...]
    covariates: CovariateScaling = CovariateScaling()  # noqa: RUF009 - frozen
    target_scaling: TargetScaling | None = None

    def with_target_scaling(self, columns: list[np.ndarray], weight: np.ndarray) -> TargetModel:
        """Estimate the scaling of real targets."""
        families = [coding.family for coding in self.codings]
        codes = self.encode_columns(columns)
        return replace(self, target_scaling=TargetScaling.estimate(families, codes, weight))

    # ---- covariates ------------------------------------------------------------------------------

    @property
    def n_covariates(self) -> int:
        """Number of covariates before indicator columns are added."""
        return self.covariates.median.size

    def column_names(self, names: Sequence[str]) -> list[str]:
        """Names of all columns, given those of the covariates."""
        return [*names, *(f"{names[j]} is missing" for j in self.covariates.indicated)]

    # ---- scaling ---------------------------------------------------------------------------------

    @property
    def scaling(self) -> TargetScaling:
        """Scaling of the targets, by one where they are not scaled."""
        n = len(self.codings)
        return self.target_scaling or TargetScaling(np.zeros(n), np.ones(n))

    def scale(self, codes: np.ndarray, name: str = "y") -> np.ndarray:
        """Scaled targets; values far from those of the first fit raise an error."""
        return self.scaling.scale(codes, name)

    def restore(self, state: ModelState, into_coef: bool) -> ModelState:
        """Transform a model of scaled data to the original units.

        `into_coef`: the median of the target is added to η because there is no intercept.
        """
        return self.scaling.restore(self.covariates.restore(state), into_coef)

    def apply(self, state: ModelState, into_coef: bool) -> ModelState:
        """Transform a model to scaled data, to continue fitting."""
        return self.covariates.apply(self.scaling.apply(state, into_coef))

    # ---- targets as numbers ----------------------------------------------------------------------

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

    def predictor_names(self) -> tuple[str, ...]:
        """Names of the linear predictors: "y", or "y is good" for a class."""
        names: list[str] = []
        for t, coding in enumerate(self.codings):
            target = f"y{t}" if self.n_targets > 1 else "y"
            named = coding.is_class and coding.labels is not None
            names += [f"{target} is {event}" if named else target for event in coding.events]
        return tuple(names)
