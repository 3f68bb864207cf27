"""Columns besides text and target: covariates, weights of documents, their exposure."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from topicfocus.cli.errors import UsageError
from topicfocus.text import ReadError

if TYPE_CHECKING:
    from topicfocus.cli.models import Saved


@dataclass(frozen=True)
class ColumnNames:
    """What the columns are called in a file."""

    covariates: tuple[str, ...] = ()
    weight: str | None = None
    exposure: str | None = None

    @property
    def every(self) -> tuple[str, ...]:
        """All of them, each once, in the order that `Columns.read` expects."""
        named = [*self.covariates, self.weight, self.exposure]
        return tuple(dict.fromkeys(name for name in named if name is not None))


NO_NAMES = ColumnNames()


@dataclass(frozen=True)
class Columns:
    """Their values, one row a document; None for what there is none of."""

    names: ColumnNames = NO_NAMES
    covariates: np.ndarray | None = None
    weight: np.ndarray | None = None
    exposure: np.ndarray | None = None

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
        return cls(names, covariates, weight, exposure)

    def of(self, documents: np.ndarray) -> Columns:
        """Those of some documents."""
        parts = (self.covariates, self.weight, self.exposure)
        return Columns(self.names, *(None if part is None else part[documents] for part in parts))

    def known(self) -> list[np.ndarray]:
        """The arrays there are."""
        parts = (self.covariates, self.weight, self.exposure)
        return [part for part in parts if part is not None]

    def for_fit(self) -> dict[str, Any]:
        """Arguments of an estimator's fit."""
        more = {} if self.weight is None else {"sample_weight": self.weight}
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


def _check(good: np.ndarray, what: str, rule: str, values: np.ndarray, rows: np.ndarray) -> None:
    if not good.all():
        i = int(np.argmin(good))
        raise ReadError(f"{what} must be {rule}, but in row {rows[i]} it is {values[i]:g}.")


def named_for_fit(args: Any) -> ColumnNames:
    """What fit was told, checked before anything is read."""
    names = ColumnNames(tuple(args.covariates), args.weight, args.exposure)
    for option, name in (
        *(("--covariates", name) for name in names.covariates),
        ("--weight", names.weight),
        ("--exposure", names.exposure),
    ):
        if name is not None and name in (args.target, args.text):
            what = "target" if name == args.target else "text"
            raise UsageError(f"{option} {name}: this column is the {what}.")
    if names.exposure is not None and args.kind != "count":
        raise UsageError("--exposure is for counts: add --kind count.")
    return names


def remember(model: Any, names: ColumnNames) -> None:
    """Write the names into the model, so that its file alone says which columns it needs."""
    if names.covariates:
        model.covariate_names_ = list(names.covariates)
    if names.exposure is not None:
        model.exposure_name_ = names.exposure


def remembered(model: Any) -> ColumnNames:
    """The names that `remember` has written; none in a model from Python."""
    names = getattr(model, "covariate_names_", ())
    return ColumnNames(tuple(map(str, names)), None, getattr(model, "exposure_name_", None))


def named_for_new(model: Any, covariates: Any, exposure: str | None, path: str) -> ColumnNames:
    """The columns that new documents need: those of the fit, or as the user calls them now."""
    known = remembered(model)
    names = tuple(covariates) or known.covariates
    n = model.n_covariates_
    if n and not names:
        raise UsageError(
            f"{path} was fitted with {n} covariates and does not say which. Name their columns, in "
            "the order of the fit: --covariates COL,COL."
        )
    if len(names) != n:
        before = f" ({', '.join(known.covariates)})" if known.covariates else ""
        raise UsageError(
            f"{path} was fitted with {n or 'no'} covariates{before}, but --covariates names "
            f"{len(names)}."
        )
    return ColumnNames(names, None, exposure or known.exposure)


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """The options of every command that reads a file, as `read_table` takes them."""
    names = ("format", "delimiter", "encoding", "skip_bad", "vocabulary")
    return {name: getattr(args, name) for name in names}


def read_new(args: argparse.Namespace, saved: Saved, **more: Any) -> tuple[ColumnNames, Any]:
    """`read_table` of new documents for a saved model, and the columns that it needs.

    Of a missing column it is said why it is needed.
    """
    from topicfocus.text import read_table

    model = args.model
    names = named_for_new(saved.estimator, args.covariates, args.exposure, model)
    try:
        table = read_table(
            path=args.file,
            text=args.text or saved.settings.get("text"),
            numbers=names.every,
            **reading(args),
            **more,
        )
    except ReadError as error:
        missing = next((n for n in names.every if f"no column {n!r}" in str(error)), None)
        if missing is None:
            raise
        option = "--exposure" if missing == names.exposure else "--covariates"
        raise ReadError(
            f"{error} {model} was fitted with such a column; say what it is called here: {option}."
        ) from None
    return names, table
