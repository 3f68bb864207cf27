"""Columns besides text and target: covariates, weights of documents, their exposure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicfocus.config import NO_NAMES, ColumnNames
from topicfocus.text import ReadError
from topicfocus.workflow.errors import SettingError, setting


@dataclass(frozen=True)
class Columns:
    """Their values, one row a document; None for what there is none of."""

    names: ColumnNames = NO_NAMES
    covariates: np.ndarray | None = None
    weight: np.ndarray | None = None
    exposure: np.ndarray | None = None
    group: np.ndarray | None = None

    @classmethod
    def read(cls, names: ColumnNames, table: Any) -> Columns:
        """From the numbers of a table, or of one of its blocks."""
        values = dict(zip(names.every, np.asarray(table.numbers).T, strict=True))
        rows = table.rows
        weight, exposure = values.get(names.weight or ""), values.get(names.exposure or "")
        if weight is not None:
            _check(weight >= 0, f"the weight {names.weight!r}", "0 or more", weight, rows)
            if not weight.any():
                raise ReadError(f"every weight {names.weight!r} is 0. Name another column.")
        if exposure is not None:
            _check(exposure > 0, f"the exposure {names.exposure!r}", "above 0", exposure, rows)
        covariates = None
        if names.covariates:
            covariates = np.column_stack([values[name] for name in names.covariates])
        group = None if names.group is None else group_numbers(table.group)
        return cls(names, covariates, weight, exposure, group)

    def of(self, documents: np.ndarray) -> Columns:
        """Those of some documents."""
        parts = (self.covariates, self.weight, self.exposure, self.group)
        return Columns(self.names, *(None if part is None else part[documents] for part in parts))

    def times(self, factor: np.ndarray | None) -> Columns:
        """With weights multiplied by what each document counts for besides."""
        if factor is None:
            return self
        return replace(self, weight=factor if self.weight is None else self.weight * factor)

    def known(self) -> list[np.ndarray]:
        """The arrays there are."""
        parts = (self.covariates, self.weight, self.exposure, self.group)
        return [part for part in parts if part is not None]

    def for_fit(self) -> dict[str, Any]:
        """Arguments of an estimator's fit."""
        more = {} if self.weight is None else {"sample_weight": self.weight}
        if self.group is not None:
            more["groups"] = self.group
        return {**self.for_predict(), **more}

    def for_predict(self) -> dict[str, Any]:
        """Arguments of predict, explain and so on."""
        out: dict[str, Any] = {}
        if self.covariates is not None:
            out["covariates"] = self.covariates
        if self.exposure is not None:
            out["exposure"] = self.exposure
        return out


NO_COLUMNS = Columns()


def group_numbers(names: Sequence[str | None]) -> np.ndarray:
    """A number for each document, the same for those of one group; one of no group is alone."""
    known = {name: i for i, name in enumerate(sorted({n for n in names if n is not None}))}
    alone = len(known)
    numbers = np.empty(len(names), dtype=np.int64)
    for i, name in enumerate(names):
        numbers[i] = known[name] if name is not None else alone
        alone += name is None
    return numbers


def _check(good: np.ndarray, what: str, rule: str, values: np.ndarray, rows: np.ndarray) -> None:
    if not good.all():
        i = int(np.argmin(good))
        raise ReadError(f"{what} must be {rule}, but in row {rows[i]} it is {values[i]:g}.")


def remember(model: Any, names: ColumnNames) -> None:
    """Write the names into the model, so that its file alone says which columns it needs."""
    if names.covariates:
        model.covariate_names_ = list(names.covariates)
    if names.exposure is not None:
        model.exposure_name_ = names.exposure


#: Attributes of a model that say what was read as what.
_COLUMNS = {"text": "text_column_", "target": "target_column_"}


def remember_columns(model: Any, columns: dict[str, Any]) -> None:
    """Write which columns were text and target into the model, too: its file may be copied."""
    for what, attribute in _COLUMNS.items():
        if columns.get(what) is not None:
            setattr(model, attribute, str(columns[what]))


def remembered_columns(model: Any) -> dict[str, str]:
    """What `remember_columns` has written; nothing in a model from Python."""
    found = {what: getattr(model, attribute, None) for what, attribute in _COLUMNS.items()}
    return {what: name for what, name in found.items() if isinstance(name, str)}


def remembered(model: Any) -> ColumnNames:
    """The names that `remember` has written; none in a model from Python."""
    names = getattr(model, "covariate_names_", ())
    return ColumnNames(
        covariates=tuple(map(str, names)), exposure=getattr(model, "exposure_name_", None)
    )


def named_for_new(
    model: Any, covariates: Sequence[str], exposure: str | None, path: str
) -> ColumnNames:
    """The columns that new documents need: those of the fit, or as the user calls them now."""
    known = remembered(model)
    names = tuple(covariates) or known.covariates
    n = model.n_covariates_
    if n and not names:
        example = setting("covariates", "COL,COL")
        raise SettingError(
            f"{path} was fitted with {n} covariates and does not say which. Name their columns, in "
            f"the order of the fit: {example}."
        )
    if len(names) != n:
        before = f" ({', '.join(known.covariates)})" if known.covariates else ""
        raise SettingError(
            f"{path} was fitted with {n or 'no'} covariates{before}, but {setting('covariates')} "
            f"names {len(names)}."
        )
    return ColumnNames(covariates=names, exposure=exposure or known.exposure)


def value_of_one(model: Any, given: Any, exposure: float | None, path: str) -> Columns:
    """Covariates and exposure of one text: a number for each name, in any order."""
    known, n = remembered(model).covariates, model.n_covariates_
    names = known or tuple(given)
    if set(names) != set(given) or len(names) != n:
        if not n:
            raise SettingError(f"{path} was fitted without covariates.")
        called = known or ("COL",) * n
        example = setting("covariates", ",".join(f"{name}=..." for name in called))
        raise SettingError(
            f"{path} was fitted with {n} covariates; say what they are for this text: {example}."
        )
    values = np.array([[given[name] for name in names]]) if n else None
    exposures = None if exposure is None else np.array([exposure])
    return Columns(ColumnNames(covariates=names), values, None, exposures)
