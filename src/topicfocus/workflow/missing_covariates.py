"""Covariates that are missing in some documents: how many, and what replaces them."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from topicfocus.config import ColumnNames
from topicfocus.estimators.scaling import Imputation
from topicfocus.text import ReadError
from topicfocus.workflow.columns import Columns
from topicfocus.workflow.errors import setting

log = logging.getLogger(__name__)


class MissingCovariates:
    """The number of documents without each covariate, counted in blocks."""

    def __init__(self, names: ColumnNames) -> None:
        self.names = names.covariates
        self.missing = np.zeros(len(self.names), dtype=int)
        self.n = 0

    def add(self, columns: Columns) -> None:
        """Count a block."""
        if columns.covariates is not None:
            self.missing += np.isnan(columns.covariates).sum(axis=0)
            self.n += len(columns.covariates)

    def report(self, replacement: str | Sequence[str]) -> None:
        """Log one line per covariate that is missing somewhere, with what replaces it."""
        each = [replacement] * len(self.names) if isinstance(replacement, str) else replacement
        for name, missing, done in zip(self.names, self.missing, each, strict=True):
            if missing:
                log.info(f"{name!r} is missing in {missing:,} of {self.n:,} documents: {done}.")


def report_missing(columns: Columns, train: np.ndarray) -> None:
    """Report missing covariates of a fit; raise if one is missing in all training documents."""
    values = columns.covariates
    if values is None:
        return
    counted = MissingCovariates(columns.names)
    counted.add(columns)
    weight = np.ones(len(train)) if columns.weight is None else columns.weight[train]
    usable = np.isfinite(values[train]) & (weight > 0)[:, None]
    for name, known in zip(counted.names, usable.any(axis=0), strict=True):
        if not known:
            raise ReadError(
                f"the covariate {name!r} is missing in every training document. Leave it out of "
                f"{setting('covariates')}."
            )
    imputation = Imputation.estimate(values[train], weight)
    each = []
    for j, median in enumerate(imputation.median):
        beside = ", and an indicator column is added" if j in imputation.indicated else ""
        each.append(f"replaced by the median of the training set, {median:g}{beside}")
    counted.report(each)
