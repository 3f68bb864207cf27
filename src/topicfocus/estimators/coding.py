"""Targets as numbers and back: what kind each one is, and the labels its numbers stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.families import (
    Bernoulli,
    Categorical,
    Gaussian,
    Ordinal,
    Poisson,
    admissible,
    expected_target,
    family_name,
    initial_family,
    is_complete,
    is_family,
    label_kind,
    label_probabilities,
    n_predictors,
    takes_exposure,
    target_interval,
    target_kind,
    target_limits,
    target_variance,
)

#: Families that a regressor may be asked for by name. "bernoulli" is of use beside other targets.
REGRESSION_FAMILIES = {
    family_name(family): family
    for family in (Gaussian(), Poisson(), Ordinal(np.zeros(0)), Bernoulli())
}
#: An ordinal target with more levels than this is a real one.
MOST_LEVELS = 100


@dataclass(frozen=True)
class Coding:
    """One target: its family, and the values behind the codes 0, 1, ... where it has such.

    Attributes
    ----------
    family : NamedTuple
        An example of the family; its own parameters (noise, thresholds) are those of the start.
    labels : array or None
        Classes of a classifier, levels of an ordinal target.
    observed : tuple of two floats or None
        The smallest and the largest target of the training documents, of a number.
    limits : tuple of two floats or None
        Those of the two that are ends of a scale, else -∞ or ∞ (`seen_values`).
    """

    family: Any
    labels: np.ndarray | None = None
    observed: tuple[float, float] | None = None
    limits: tuple[float, float] | None = None

    @property
    def kind(self) -> str:
        """The family's name: "gaussian", "poisson", "ordinal", "bernoulli", "categorical", ..."""
        return family_name(self.family)

    @property
    def is_class(self) -> bool:
        """Whether the target is one of some classes, or 0 and 1."""
        return label_kind(self.family) == "classes"

    @property
    def is_rating(self) -> bool:
        """Whether the target is one of some levels with an order."""
        return label_kind(self.family) == "levels"

    @property
    def n_labels(self) -> int:
        """Labels there are; a yes or no without names has two, a number none."""
        if self.labels is not None:
            return len(self.labels)
        return 2 if self.is_class else 0

    @property
    def n_predictors(self) -> int:
        return n_predictors(self.family)

    @property
    def takes_exposure(self) -> bool:
        return takes_exposure(self.family)

    def encode(self, column: np.ndarray, name: str = "y") -> np.ndarray:
        """Numbers for the family, NaN where the target is missing; unknown labels are an error."""
        if self.labels is None:
            return as_numbers(column, name)
        missing = is_missing(column)
        codes = np.full(len(column), np.nan)
        if missing.all():
            return codes
        known = as_labels(column[~missing], name)
        if (known.dtype.kind in "biuf") == (self.labels.dtype.kind in "biuf"):
            place = np.minimum(np.searchsorted(self.labels, known), len(self.labels) - 1)
            wrong = self.labels[place] != known
        else:  # text where the labels are numbers, or the other way round
            place, wrong = np.zeros(len(known), dtype=int), np.ones(len(known), dtype=bool)
        if np.any(wrong):
            row = int(np.flatnonzero(~missing)[np.argmax(wrong)])
            what = "a level" if self.is_rating else "a class"
            raise ValueError(
                f"{name} has {what} never seen in fit at row {row}: {shown(column[row])}"
            )
        codes[~missing] = place
        return codes

    def start(self, codes: np.ndarray, weight: np.ndarray) -> Any:
        """The family to start from."""
        known = np.isfinite(codes) & (weight > 0)
        return initial_family(self.family, codes[known], weight[known], self.n_labels)

    def in_units(self, codes: np.ndarray) -> np.ndarray:
        """Targets in their own units: levels of a rating, else the codes themselves."""
        if self.is_rating and self.labels is not None:
            return self.labels.astype(float)[codes.astype(int)]
        return codes

    def mean(self, family: Any, predictor: np.ndarray) -> np.ndarray:
        """E[y | f] in the units of the target; `predictor` documents x its predictors."""
        return expected_target(family, predictor, self.labels)

    def variance(self, family: Any, predictor: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Var y in the units of the target, `spread` being Var f of its (first) predictor."""
        return target_variance(family, predictor[:, 0], spread[:, 0], self.labels)

    def probabilities(self, family: Any, predictor: np.ndarray) -> np.ndarray:
        """P(y = label), documents x labels."""
        return label_probabilities(family, predictor)

    def response(self, family: Any, predictor: np.ndarray) -> np.ndarray:
        """What each predictor says, documents x its predictors: E[y | f], or P of its class."""
        if predictor.shape[1] > 1:
            return self.probabilities(family, predictor)
        return self.mean(family, predictor)[:, None]

    # ---- what a target can be ------------------------------------------------------------------

    def bounds(self, family: Any) -> tuple[float, float]:
        """The smallest and the largest value that the target can have, infinite if not known."""
        low, high = target_limits(family, self.labels)
        if self.limits is not None:
            low, high = max(low, self.limits[0]), min(high, self.limits[1])
        return low, high

    @property
    def range_seen(self) -> tuple[float, float]:
        """The smallest and the largest target of a number that was seen; NaN if not known."""
        if self.is_rating and self.labels is not None:
            return float(self.labels[0]), float(self.labels[-1])
        return (np.nan, np.nan) if self.observed is None else self.observed

    def interval(
        self, family: Any, predictor: np.ndarray, spread: np.ndarray, coverage: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ends of an interval of the target, within its limits; `predictor` and `spread` as above.

        Of a number mean ± z·std; counts and levels have whole numbers and levels for ends.
        """
        low, high = self.bounds(family)
        ends = target_interval(family, predictor[:, 0], spread[:, 0], coverage, self.labels)
        return np.clip(ends[0], low, high), np.clip(ends[1], low, high)

    def with_values(self, values: np.ndarray, weight: np.ndarray) -> Coding:
        """The same after more targets of a number were seen; where they go beyond, so do limits."""
        if self.observed is None or self.limits is None or not np.any(np.isfinite(values)):
            return self
        (low, high), (first, last) = seen_values(self.family, values, weight)
        first = first if low < self.observed[0] else self.limits[0]
        last = last if high > self.observed[1] else self.limits[1]
        observed = (min(low, self.observed[0]), max(high, self.observed[1]))
        return replace(self, observed=observed, limits=(first, last))


#: An end of the values seen is the end of a scale if this share of the documents has it, two at
#: least: many reviews have 5 stars, and one document has the highest price.
_SHARE_AT_END = 0.005
_LEAST_AT_END = 2.0


def seen_values(
    family: Any, values: np.ndarray, weight: np.ndarray
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The smallest and largest of numbers, and those of the two that are ends of a scale.

    -∞ and ∞ where there seems to be no end; counts have none. Intervals that are cut at the ends
    cover as many targets as before, of documents like these.
    """
    known = np.isfinite(values) & (weight > 0)
    if not known.any():
        return (np.inf, -np.inf), (-np.inf, np.inf)
    values, weight = values[known], weight[known]
    low, high = float(values.min()), float(values.max())
    needed = max(_LEAST_AT_END, _SHARE_AT_END * float(weight.sum()))
    if target_kind(family) != "real":
        needed = np.inf
    first, last = (float(weight[values == end].sum()) >= needed for end in (low, high))
    return (low, high), (low if first else -np.inf, high if last else np.inf)


# ---- reading ----------------------------------------------------------------------------------


def target_columns(y: Any, n_docs: int, name: str = "y") -> list[np.ndarray]:
    """One array a target: y is one value or a row of values for each document."""
    if y is None:
        raise ValueError(
            f"requires y to be passed, but the target {name} is None. Use LDA for documents "
            "without a target."
        )
    if sparse.issparse(y):
        y = y.toarray()
    values = np.asarray(y)
    if values.dtype.kind == "U" and not isinstance(y, np.ndarray):
        values = np.asarray(y, dtype=object)  # NumPy made the text "nan" of a missing label
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers or labels")
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] == 0):
        raise ValueError(
            f"{name} has shape {values.shape}; it must be one value for each document, "
            f"({n_docs},), or one row of values"
        )
    if len(values) != n_docs:
        raise ValueError(f"{name} has {len(values)} values but X has {n_docs} documents")
    return [values] if values.ndim == 1 else [values[:, t] for t in range(values.shape[1])]


def is_missing(column: np.ndarray) -> np.ndarray:
    """None and NaN: the document has no such target."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind == "O":
        return np.array([_is_nothing(v) for v in column], dtype=bool)
    return np.zeros(len(column), dtype=bool)


def _is_nothing(value: Any) -> bool:
    """None, NaN, and pandas' NA, by name because pandas need not be installed."""
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or type(value).__name__ == "NAType"


def shown(value: Any) -> str:
    """A value as the user would write it: 'ugly', not np.str_('ugly')."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def as_numbers(column: np.ndarray, name: str = "y") -> np.ndarray:
    """Floats, None as NaN; text and infinity are errors that name the row."""
    if column.dtype.kind in "biuf":
        values = column.astype(float)
    else:
        values = np.empty(len(column))
        for row, value in enumerate(column):
            try:
                values[row] = np.nan if _is_nothing(value) else float(value)
            except (TypeError, ValueError):
                raise ValueError(
                    f"Unknown label type: {name} must hold numbers, but row {row} is "
                    f"{shown(value)}. "
                    "For labels use a classifier."
                ) from None
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(f"Input {name} contains infinity at row {row}.")
    return values


def as_labels(known: np.ndarray, name: str = "y") -> np.ndarray:
    """Labels as an array of one plain type, so that they can be sorted; none is missing."""
    if known.dtype.kind != "O":
        return known
    text = [isinstance(v, str) for v in known]
    number = [isinstance(v, (bool, int, float, np.bool_, np.number)) for v in known]
    if all(text):
        return known.astype(str)
    if all(number):
        return np.array(list(known))
    if any(text) or any(number):
        types = ", ".join(sorted({type(v).__name__ for v in known}))
        raise ValueError(
            f"Unknown label type: {name} has labels of types that do not mix ({types}). Make them "
            "all text or all numbers."
        )
    raise ValueError(
        f"Unknown label type: {name} has labels such as {shown(known[0])}. Labels are text, "
        "numbers or truth values."
    )


def read_families(given: Any, n_targets: int) -> list[Any]:
    """The family of each target: `given` is a name or a family, or a list of these."""
    alone = is_family(given) or not isinstance(given, (list, tuple, np.ndarray))
    families = [given] * n_targets if alone else list(given)
    if len(families) != n_targets:
        raise ValueError(f"family names {len(families)} targets, but y has {n_targets}.")
    return [_regression_family(one, n_targets) for one in families]


def _regression_family(given: Any, n_targets: int) -> Any:
    if isinstance(given, str) and given in REGRESSION_FAMILIES:
        return REGRESSION_FAMILIES[given]
    names = ", ".join(map(repr, REGRESSION_FAMILIES))
    if not is_family(given):
        raise ValueError(
            f"family must be one of {names}, a family of your own (docs/families.md), or a list of "
            f"them for several targets; got {given!r}."
        )
    ours = family_name(given) in REGRESSION_FAMILIES
    if n_predictors(given) > 1:
        raise ValueError(f"{given!r} has several predictors: for classes use a classifier.")
    if not ours and n_targets > 1:
        raise ValueError(
            f"{type(given).__name__} is a family of your own, which cannot be one of several "
            f"targets; those are {names}. Fit a model to it alone."
        )
    if not is_complete(given):
        raise ValueError(
            f"{type(given).__name__} is not complete: register log_likelihood, derivatives and "
            "mean_response for it (docs/families.md)."
        )
    return given


def read_regression(
    columns: list[np.ndarray], families: Sequence[Any], weight: np.ndarray, name: str = "y"
) -> list[Coding]:
    """How each target of a regressor is coded; values that its family cannot have are errors."""
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
        if label_kind(family) == "levels":
            labels = np.unique(known)
            if len(labels) > MOST_LEVELS:
                raise ValueError(
                    f"family={family_name(family)!r} is for ratings of a few levels, but {name} "
                    f"has {len(labels)} different values. Use family='gaussian'."
                )
        seen_ends = () if label_kind(family) else seen_values(family, values, weight)
        out.append(Coding(family, labels, *seen_ends))
    return out


def check_values(family: Any, values: np.ndarray, seen: np.ndarray, name: str = "y") -> None:
    """Targets that a family cannot have are an error that names the row."""
    good, wanted = admissible(family, values[seen])
    if not good.all():
        row = int(np.flatnonzero(seen)[np.argmin(good)])
        raise ValueError(
            f"family={family_name(family)!r} needs targets that are {wanted}, but row {row} of "
            f"{name} is {values[row]:g}."
        )


def read_classes(columns: list[np.ndarray], weight: np.ndarray, name: str = "y") -> list[Coding]:
    """How each target of a classifier is coded: Bernoulli for two classes, else categorical."""
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
            if np.any(known != np.floor(known)):
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
