"""Columns of a table besides the text: targets, covariates, weights, exposure, groups."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from topicfocus.config import NO_NAMES, ColumnNames, SettingError, setting
from topicfocus.estimators.scaling import CovariateScaling
from topicfocus.text import ReadError, Target
from topicfocus.text.errors import nearest

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Columns:
    """Their values, one row per document; None for what there is none of.

    `class_factor` is the weight of a document that is due to its class.
    """

    names: ColumnNames = NO_NAMES
    covariates: np.ndarray | None = None
    weight: np.ndarray | None = None
    exposure: np.ndarray | None = None
    group: np.ndarray | None = None
    class_factor: np.ndarray | None = None

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
        parts = (self.covariates, self.weight, self.exposure, self.group, self.class_factor)
        return Columns(self.names, *(None if part is None else part[documents] for part in parts))

    def with_class_weights(self) -> Columns:
        """With weights multiplied by the weights of the classes."""
        factor = self.class_factor
        if factor is None:
            return self
        return replace(self, weight=factor if self.weight is None else self.weight * factor)

    def for_fit(self) -> dict[str, Any]:
        """Arguments of an estimator's fit."""
        more = {"sample_weight": self.weight, "groups": self.group}
        known = {name: value for name, value in more.items() if value is not None}
        return {**self.for_predict(), **known}

    def for_predict(self) -> dict[str, Any]:
        """Arguments of predict, explain and so on."""
        more = {"covariates": self.covariates, "exposure": self.exposure}
        return {name: value for name, value in more.items() if value is not None}


NO_COLUMNS = Columns()


def group_numbers(names: Sequence[str | None]) -> np.ndarray:
    """A number for each document, the same for those of one group; one of no group is alone."""
    numbers, known = pd.factorize(np.array(names, dtype=object), sort=True)
    alone = numbers < 0
    numbers[alone] = len(known) + np.arange(np.count_nonzero(alone))
    return numbers


def _check(good: np.ndarray, what: str, rule: str, values: np.ndarray, rows: np.ndarray) -> None:
    if not good.all():
        i = int(np.argmin(good))
        raise ReadError(f"{what} must be {rule}, but in row {rows[i]} it is {values[i]:g}.")


#: Attributes of a model with the columns that it was fitted to: its file may be copied alone.
_REMEMBERED = {
    "text": "text_column_",
    "target": "target_column_",
    "covariates": "covariate_names_",
    "exposure": "exposure_name_",
}


def remember(model: Any, columns: dict[str, Any], components: Sequence[int]) -> None:
    """Write into a model the names of columns, and its components in the order of the topics."""
    for role, attribute in _REMEMBERED.items():
        if columns.get(role):
            names = columns[role]
            setattr(model, attribute, list(names) if role == "covariates" else str(names))
    model.shown_components_ = [int(k) for k in components]


def remembered(model: Any) -> dict[str, Any]:
    """What `remember` has written; nothing in a model from Python."""
    found = {role: getattr(model, name, None) for role, name in _REMEMBERED.items()}
    return {role: names for role, names in found.items() if isinstance(names, (str, list))}


def shown_components(model: Any) -> list[int]:
    """The components of a model in the order in which topics are shown."""
    n = len(model.components_)
    found = getattr(model, "shown_components_", None)
    if isinstance(found, list) and sorted(found) == list(range(n)):
        return found
    return list(range(n))


def named_for_new(
    model: Any, covariates: Sequence[str], exposure: str | None, path: str
) -> ColumnNames:
    """The columns that new documents need: those of the fit, or as the user calls them now."""
    known = remembered(model)
    before = tuple(map(str, known.get("covariates", ())))
    names = tuple(covariates) or before
    n = model.n_covariates_
    if n and not names:
        example = setting("covariates", "COL,COL")
        raise SettingError(
            f"{path} was fitted with {n} covariates and does not say which. Name their columns, in "
            f"the order of the fit: {example}."
        )
    if len(names) != n:
        called = f" ({', '.join(before)})" if before else ""
        raise SettingError(
            f"{path} was fitted with {n or 'no'} covariates{called}, but {setting('covariates')} "
            f"names {len(names)}."
        )
    return ColumnNames(covariates=names, exposure=exposure or known.get("exposure"))


def value_of_one(model: Any, given: Any, exposure: float | None, path: str) -> Columns:
    """Covariates and exposure of one text: a number for each name, in any order."""
    known, n = tuple(remembered(model).get("covariates", ())), model.n_covariates_
    names = known or tuple(given)
    if set(names) != set(given) or len(names) != n:
        if not n:
            raise SettingError(f"{path} was fitted without covariates.")
        called = known or ("COL",) * n
        example = setting("covariates", ",".join(f"{name}=..." for name in called))
        raise SettingError(
            f"{path} was fitted with covariates; name the values of this text: {example}."
        )
    values = np.array([[given[name] for name in names]]) if n else None
    exposures = None if exposure is None else np.array([exposure])
    return Columns(ColumnNames(covariates=names), values, None, exposures)


# ---- missing covariates --------------------------------------------------------------------------


def log_missing(
    names: Sequence[str], missing: np.ndarray, n_docs: int, replacement: Sequence[str]
) -> None:
    """Log one line per covariate that is missing in some documents, with what replaces it."""
    for name, n, done in zip(names, missing.tolist(), replacement, strict=True):
        if n:
            log.info(f"{name!r} is missing in {n:,} of {n_docs:,} documents: {done}.")


def report_missing(columns: Columns, train: np.ndarray) -> None:
    """Report missing covariates of a fit; raise if one is missing in all training documents."""
    values, names = columns.covariates, columns.names.covariates
    if values is None:
        return
    weight = np.ones(len(train)) if columns.weight is None else columns.weight[train]
    usable = np.isfinite(values[train]) & (weight > 0)[:, None]
    for name, known in zip(names, usable.any(axis=0), strict=True):
        if not known:
            raise ReadError(
                f"the covariate {name!r} is missing in every training document. Leave it out of "
                f"{setting('covariates')}."
            )
    imputation = CovariateScaling.estimate(values[train], weight)
    each = []
    for j, median in enumerate(imputation.median):
        beside = ", and an indicator column is added" if j in imputation.indicated else ""
        each.append(f"replaced by the median of the training set, {median:g}{beside}")
    log_missing(names, np.isnan(values).sum(axis=0), len(values), each)


# ---- weights of classes --------------------------------------------------------------------------


def check_class_weight(given: str | Mapping[str, float] | None, target: Target) -> None:
    """Raise an error unless the target has classes, and all that are named; log the weights."""
    if given is None:
        return
    classes = target.classes
    if classes is None:
        kind = setting("kind", "classes")
        raise SettingError(
            f"{setting('class_weight')} is for classes, but the target is a number. If these are "
            f"classes: {kind}."
        )
    unknown = [] if isinstance(given, str) else [name for name in given if name not in classes]
    if unknown:
        listed = ", ".join(classes[:20]) + (", ..." if len(classes) > 20 else "")
        raise SettingError(
            f"{setting('class_weight')}: {unknown[0]!r} is no class of the target."
            f"{nearest(unknown[0], list(classes))} Classes: {listed}."
        )
    how = "so that all have the same weight" if isinstance(given, str) else "as asked for"
    log.info(
        f"Classes are weighted {how} ({setting('class_weight')}), in held-out metrics too; "
        "probabilities of classes with more weight are higher than their proportions in the file."
    )


def class_factors(
    given: str | Mapping[str, float] | None,
    target: Target,
    weight: np.ndarray | None,
    train: np.ndarray,
) -> np.ndarray | None:
    """The factor of every document: 1 where the class is unknown; None without class weights.

    "balanced" is n / (K n_c), with n_c the weight of class c among the n training documents.
    """
    if given is None:
        return None
    codes, classes = target.values, target.classes
    assert classes is not None
    known = np.isfinite(codes)
    if isinstance(given, str):
        mine = train[known[train]]
        own = None if weight is None else weight[mine]
        size = np.bincount(codes[mine].astype(int), weights=own, minlength=len(classes))
        factors = size.sum() / (len(classes) * np.where(size > 0, size, np.inf))
    else:
        factors = np.array([float(given.get(name, 1.0)) for name in classes])
    out = np.ones(len(codes))
    out[known] = factors[codes[known].astype(int)]
    return out


def for_estimator(given: str | Mapping[str, float] | None, labels: np.ndarray) -> Any:
    """As an estimator takes it: by the labels of y, which may be numbers."""
    if given is None or isinstance(given, str):
        return given
    named = {str(label): label for label in labels.tolist() if label is not None}
    return {named[name]: float(factor) for name, factor in given.items() if name in named}


# ---- targets ----------------------------------------------------------------------------------


def target_values(target: Target) -> np.ndarray:
    """The target for `fit`: numbers, or labels, which are numbers again if all of them were."""
    if target.classes is None:
        return target.values
    labels = target.labels().tolist()
    if all(map(_is_number, target.classes)):  # class 1 of a file is the number 1 in Python, too
        labels = [None if label is None else int(label) for label in labels]
    return np.array(labels, dtype=object if target.n_missing else None)


def _is_number(label: str) -> bool:
    """Whether a label is a whole number as Python writes it; longer ones are names."""
    digits = label.removeprefix("-")
    whole = digits.isascii() and digits.isdecimal() and len(digits) <= 18
    return whole and str(int(label)) == label
