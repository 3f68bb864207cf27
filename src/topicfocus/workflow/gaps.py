"""Covariates that documents lack: how many do, what stands for them, and that it is said."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from topicfocus.config import ColumnNames
from topicfocus.estimators.documents import Filling
from topicfocus.text import ReadError
from topicfocus.workflow.columns import Columns
from topicfocus.workflow.errors import setting

log = logging.getLogger(__name__)


class Gaps:
    """How many documents lack each covariate, counted in blocks."""

    def __init__(self, names: ColumnNames) -> None:
        self.names = names.covariates
        self.missing = np.zeros(len(self.names), dtype=int)
        self.n = 0

    def add(self, columns: Columns) -> None:
        if columns.covariates is not None:
            self.missing += np.isnan(columns.covariates).sum(axis=0)
            self.n += len(columns.covariates)

    def say(self, what: str | Sequence[str]) -> None:
        """One line a covariate that somebody lacks, with what is done about it."""
        each = [what] * len(self.names) if isinstance(what, str) else what
        for name, missing, done in zip(self.names, self.missing, each, strict=True):
            if missing:
                log.info(f"{name!r} is missing in {missing:,} of {self.n:,} documents: {done}.")


def say_gaps(columns: Columns, train: np.ndarray) -> None:
    """Which covariates are missing where, and what stands for them in the fit."""
    values = columns.covariates
    if values is None:
        return
    gaps = Gaps(columns.names)
    gaps.add(columns)
    weight = np.ones(len(train)) if columns.weight is None else columns.weight[train]
    counts = np.isfinite(values[train]) & (weight > 0)[:, None]
    for name, known in zip(gaps.names, counts.any(axis=0), strict=True):
        if not known:
            raise ReadError(
                f"the covariate {name!r} is missing in every training document. Leave it out of "
                f"{setting('covariates')}."
            )
    filling = Filling.of(values[train], weight)
    each = []
    for j, median in enumerate(filling.median):
        beside = ", and an indicator column is added" if j in filling.indicated else ""
        each.append(f"replaced by the median of the training set, {median:g}{beside}")
    gaps.say(each)
