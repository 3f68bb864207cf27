"""What an estimator is given besides counts: weights, exposures, covariates, each checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.estimators.units import mean_and_size, median, rounded
from topicfocus.inference.state import ModelState, Problem, make_problem

#: Beyond these squares or sums would be no numbers: an error that names the row.
LARGEST_WEIGHT = 1e15
LARGEST_COVARIATE = 1e150
MOST_LOG_EXPOSURE = 30 * np.log(10) + 1e-9


@dataclass(frozen=True)
class Documents:
    """Documents as read: counts, targets as numbers, and what goes with them.

    `target` is documents x targets with NaN where one is missing, or None. `group` has the same
    number for documents that belong together.
    """

    corpus: Corpus
    target: np.ndarray | None
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None
    covariates: np.ndarray | None = None
    group: np.ndarray | None = None

    def problem(self, supervision_weight: float, n_jobs: int | None) -> Problem:
        return make_problem(
            self.corpus,
            self.target,
            supervision_weight,
            n_jobs,
            offset=self.offset,
            covariates=self.covariates,
            doc_weight=self.weight,
        )

    def rows(self, index: np.ndarray) -> Documents:
        parts = (self.target, self.weight, self.offset, self.covariates, self.group)
        return Documents(self.corpus.rows(index), *(None if p is None else p[index] for p in parts))

    def that_count(self, *, allow_empty: bool = False) -> Documents:
        """Without documents of weight 0: nothing, random numbers included, depends on them.

        The one place where they are dropped. What is left must have words, unless `allow_empty`.
        """
        if self.weight is None or np.all(self.weight > 0):
            return self
        left = self.rows(np.flatnonzero(self.weight))
        if left.corpus.n_tokens == 0 and not allow_empty:
            raise ValueError("every document of X with a weight above 0 is empty.")
        # Weights of 0 and 1 are no weights: the same numbers, to the last bit, as without them.
        return replace(left, weight=None) if np.all(left.weight == 1) else left

    @property
    def weights(self) -> np.ndarray:
        """The weight of every document."""
        return np.ones(self.corpus.n_docs) if self.weight is None else self.weight


def read_weight(sample_weight: Any, n_docs: int, name: str = "sample_weight") -> np.ndarray | None:
    """Weights of documents, 0 or more, at least one above 0; None stays None."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=float)
    if weight.ndim == 0:
        weight = np.full(n_docs, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"{name} must be 1D array or scalar, got shape {weight.shape}")
    if len(weight) != n_docs:
        raise ValueError(
            f"{name}.shape == {weight.shape}, expected {(n_docs,)}: one weight for each document"
        )
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        row = int(np.argmax(~(weight >= 0) | np.isinf(weight)))
        raise ValueError(f"{name} must be 0 or more and finite, but row {row} is {weight[row]}.")
    if np.any(weight > LARGEST_WEIGHT):
        row = int(np.argmax(weight))
        raise ValueError(
            f"{name} must be at most {LARGEST_WEIGHT:g}, but row {row} is {weight[row]:g}. A "
            "weight is how many copies a document stands for."
        )
    if weight.sum() == 0:
        raise ValueError(f"every {name} is zero: there is nothing to learn from.")
    return None if np.all(weight == 1) else weight


def with_groups(documents: Documents, groups: Any, n_docs: int, sample_weight: Any) -> Documents:
    """Documents with what they belong to; `groups` is for all, those of weight 0 included."""
    if groups is None:
        return documents
    given = np.asarray(groups)
    if given.shape != (n_docs,):
        raise ValueError(f"groups has shape {given.shape}, but there are {n_docs} documents")
    weight = read_weight(sample_weight, n_docs)
    if weight is not None:
        given = given[weight > 0]
    return replace(documents, group=np.unique(given, return_inverse=True)[1])


def read_covariates(
    covariates: Any, n_docs: int, expected: int | None, name: str = "covariates"
) -> np.ndarray | None:
    """Numeric columns, one row a document; at predict as many columns as at fit.

    NaN is a value that is not known: `Filling` knows what to do with it.
    """
    if covariates is None:
        if expected:
            raise ValueError(
                f"the model was fitted with {expected} covariates: pass {name} for these documents "
                "too, with the same columns."
            )
        return None
    if expected == 0:
        raise ValueError(f"the model was fitted without covariates, but {name} was passed.")
    try:
        values = np.asarray(covariates, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be numbers: {error}. Turn categories into columns of 0 and 1 first "
            "(OneHotEncoder)."
        ) from error
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) != n_docs:
        raise ValueError(f"{name} has shape {values.shape}, but there are {n_docs} documents")
    if np.any(np.isinf(values)):
        row, column = (int(i[0]) for i in np.nonzero(np.isinf(values)))
        raise ValueError(f"{name} contains {values[row, column]} at row {row}, column {column}.")
    if np.any(np.abs(values) > LARGEST_COVARIATE):
        row, column = (int(i[0]) for i in np.nonzero(np.abs(values) > LARGEST_COVARIATE))
        raise ValueError(
            f"{name} has {values[row, column]:g} at row {row}, column {column}, which is too large "
            "to compute with. Correct it, or measure the column in other units."
        )
    if expected is not None and values.shape[1] != expected:
        raise ValueError(
            f"{name} has {values.shape[1]} columns, but the model was fitted with {expected}."
        )
    return np.ascontiguousarray(values) if values.shape[1] else None


@dataclass(frozen=True)
class Filling:
    """What stands for a covariate that is not known: its median, and a column that says so.

    Attributes
    ----------
    median : array (covariates,)
        Of the training documents, by their weights.
    indicated : array of int
        Covariates that some training document lacks. Each has one more column, 1 where it is not
        known and 0 elsewhere, after all the others.
    """

    median: np.ndarray
    indicated: np.ndarray

    @staticmethod
    def of(covariates: np.ndarray, weight: np.ndarray) -> Filling:
        known = np.isfinite(covariates) & (weight > 0)[:, None]
        if not known.any(axis=0).all():
            column = int(np.argmin(known.any(axis=0)))
            raise ValueError(
                f"column {column} of covariates is NaN in every document: leave it out."
            )
        medians = [
            median(column[seen], weight[seen])
            for column, seen in zip(covariates.T, known.T, strict=True)
        ]
        lacking = np.isnan(covariates[weight > 0]).any(axis=0)
        return Filling(np.array(medians), np.flatnonzero(lacking))

    def fill(self, covariates: np.ndarray) -> np.ndarray:
        missing = np.isnan(covariates)
        if not missing.any() and not len(self.indicated):
            return covariates
        filled = np.where(missing, self.median, covariates)
        return np.column_stack([filled, missing[:, self.indicated].astype(float)])


def check_known(covariates: np.ndarray | None, name: str = "covariates") -> None:
    """No NaN: of a model that was saved before there were fillings."""
    if covariates is not None and np.isnan(covariates).any():
        row, column = (int(i[0]) for i in np.nonzero(np.isnan(covariates)))
        raise ValueError(f"{name} contains nan at row {row}, column {column}.")


@dataclass(frozen=True)
class Scaling:
    """Covariates are fitted centred and in standard deviations, whatever their units."""

    centre: np.ndarray
    size: np.ndarray

    @staticmethod
    def of(covariates: np.ndarray | None, weight: np.ndarray) -> Scaling:
        if covariates is None:
            return Scaling(np.zeros(0), np.ones(0))
        columns = [mean_and_size(column, weight) for column in covariates.T]
        centre, size = (np.array(part) for part in zip(*columns, strict=True))
        return Scaling(centre, np.where(size > 0, size, 1.0))

    def scale(self, covariates: np.ndarray | None) -> np.ndarray | None:
        # Rounded like targets (`units.py`): the same to the last bit in other units, too.
        return None if covariates is None else rounded((covariates - self.centre) / self.size)

    def restore(self, model: ModelState) -> ModelState:
        """ζ and b for covariates in their own units."""
        if model.covariate_coef is None:
            return model
        zeta = model.covariate_coef / self.size[:, None]
        return replace(model, covariate_coef=zeta, intercept=model.intercept - self.centre @ zeta)

    def apply(self, model: ModelState) -> ModelState:
        """The other way round, to go on fitting from a model."""
        if model.covariate_coef is None:
            return model
        return replace(
            model,
            covariate_coef=model.covariate_coef * self.size[:, None],
            intercept=model.intercept + self.centre @ model.covariate_coef,
        )


def read_exposure(exposure: Any, n_docs: int, name: str = "exposure") -> np.ndarray | None:
    """log E of every document, E > 0."""
    if exposure is None:
        return None
    values = np.asarray(exposure, dtype=float)
    if values.shape != (n_docs,):
        raise ValueError(f"{name} has shape {values.shape}, but there are {n_docs} documents")
    if not np.all(np.isfinite(values) & (values > 0)):
        row = int(np.argmin(np.isfinite(values) & (values > 0)))
        raise ValueError(f"{name} must be above 0 and finite, but row {row} is {values[row]}.")
    if np.any(np.abs(np.log(values)) > MOST_LOG_EXPOSURE):
        row = int(np.argmax(np.abs(np.log(values))))
        raise ValueError(
            f"{name} must lie between 1e-30 and 1e30, but row {row} is {values[row]:g}. Measure it "
            "in other units."
        )
    return np.log(values)
