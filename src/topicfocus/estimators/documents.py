"""Read and check the arguments of `fit` and `partial_fit`: weights, exposures, covariates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.estimators.coding import target_columns
from topicfocus.estimators.scaling import LARGEST
from topicfocus.inference.state import Problem, make_problem

if TYPE_CHECKING:
    from topicfocus.estimators.targets import TargetModel

LARGEST_WEIGHT = 1e15
LARGEST_EXPOSURE = 1e30


@dataclass(frozen=True)
class Documents:
    """Validated documents: counts, numeric targets, weights, offsets, covariates and groups.

    `target` is documents x targets with NaN for missing values, or None. Documents with the same
    number in `group` are never split between training and validation.
    """

    corpus: Corpus
    target: np.ndarray | None
    weight: np.ndarray | None = None
    offset: np.ndarray | None = None
    covariates: np.ndarray | None = None
    group: np.ndarray | None = None

    def problem(self, supervision_weight: float, n_jobs: int | None) -> Problem:
        """The documents as the solvers take them."""
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
        """Some of the documents."""
        parts = (self.target, self.weight, self.offset, self.covariates, self.group)
        return Documents(self.corpus.rows(index), *(None if p is None else p[index] for p in parts))

    def drop_zero_weight(self, *, allow_empty: bool = False) -> Documents:
        """Documents with positive weight; they must contain words unless `allow_empty`."""
        if self.weight is None or np.all(self.weight > 0):
            return self
        left = self.rows(np.flatnonzero(self.weight))
        if left.corpus.n_tokens == 0 and not allow_empty:
            raise ValueError("every document of X with a weight above 0 is empty.")
        return replace(left, weight=None) if np.all(left.weight == 1) else left

    @property
    def weights(self) -> np.ndarray:
        """Document weights, ones by default."""
        return np.ones(self.corpus.n_docs) if self.weight is None else self.weight


# ---- single arguments ------------------------------------------------------------------------


def _read_column(values: Any, n_docs: int, name: str, low: float, high: float) -> np.ndarray:
    """One finite number per document, within limits."""
    column = check_array(values, ensure_2d=False, dtype=float, input_name=name)
    if column.shape != (n_docs,):
        raise ValueError(
            f"{name}.shape == {column.shape}, expected {(n_docs,)}: one number per document"
        )
    bad = (column < low) | (column > high)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"{name} must lie between {low:g} and {high:g}, but row {row} is {column[row]:g}."
        )
    return column


def read_weight(sample_weight: Any, n_docs: int, name: str = "sample_weight") -> np.ndarray | None:
    """Non-negative document weights, at least one of them positive; None if all are one."""
    if sample_weight is None:
        return None
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_docs, sample_weight)
    weight = _read_column(sample_weight, n_docs, name, 0.0, LARGEST_WEIGHT)
    if weight.sum() == 0:
        raise ValueError(f"every {name} is zero: there is nothing to learn from.")
    return None if np.all(weight == 1) else weight


def read_exposure(exposure: Any, n_docs: int, name: str = "exposure") -> np.ndarray | None:
    """Log exposure of every document."""
    if exposure is None:
        return None
    return np.log(_read_column(exposure, n_docs, name, 1 / LARGEST_EXPOSURE, LARGEST_EXPOSURE))


def read_covariates(
    covariates: Any, n_docs: int, expected: int | None, name: str = "covariates"
) -> np.ndarray | None:
    """Numeric columns with NaN for missing values; `expected` is their number at fit."""
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
            f"{name} must be numbers: {error}. Encode categories as columns of 0 and 1 first "
            "(OneHotEncoder)."
        ) from error
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) != n_docs:
        raise ValueError(f"{name} has shape {values.shape}, but there are {n_docs} documents")
    large = np.abs(values) > LARGEST
    if large.any():
        row, column = (int(i[0]) for i in np.nonzero(large))
        raise ValueError(
            f"{name} contains {values[row, column]:g} at row {row}, column {column}, which is too "
            "large to compute with. Correct it, or measure the column in other units."
        )
    if expected is not None and values.shape[1] != expected:
        raise ValueError(
            f"{name} has {values.shape[1]} columns, but the model was fitted with {expected}."
        )
    return np.ascontiguousarray(values) if values.shape[1] else None


def read_groups(groups: Any, n_docs: int) -> np.ndarray | None:
    """Group numbers of the documents."""
    if groups is None:
        return None
    if np.shape(groups) != (n_docs,):
        raise ValueError(f"groups has shape {np.shape(groups)}, but there are {n_docs} documents")
    return np.unique(np.asarray(groups), return_inverse=True)[1]


# ---- documents ---------------------------------------------------------------------------------


def read_training(
    corpus: Corpus,
    y: Any,
    make_targets: Callable[[list[np.ndarray], np.ndarray], TargetModel],
    *,
    sample_weight: Any = None,
    exposure: Any = None,
    covariates: Any = None,
    groups: Any = None,
) -> tuple[Documents, TargetModel]:
    """Documents of `fit`; `make_targets` makes the targets from the columns of y and weights."""
    n = corpus.n_docs
    weight = read_weight(sample_weight, n)
    weights = np.ones(n) if weight is None else weight
    columns = target_columns(y, n)
    targets = make_targets(columns, weights)
    values = read_covariates(covariates, n, None)
    targets = targets.with_covariates(values, weights)
    # The label of a document of weight 0 may occur in no other document.
    if np.any(weights == 0):
        columns = [np.where(weights > 0, c, np.full(n, None, dtype=object)) for c in columns]
    documents = Documents(
        corpus,
        targets.scale(targets.encode_columns(columns)),
        weight,
        targets.offset(exposure, n),
        targets.scaled_covariates(values),
        read_groups(groups, n),
    )
    return documents.drop_zero_weight(), targets


def read_validation(
    targets: TargetModel,
    n_words: int,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    exposure: Any = None,
    covariates: Any = None,
) -> Documents | None:
    """Validation documents given by the user, encoded and scaled as the training documents."""
    if (X is None) != (y is None):
        raise ValueError("Give both X_val and y_val, or neither.")
    if X is None:
        if any(part is not None for part in (sample_weight, exposure, covariates)):
            raise ValueError("sample_weight_val and the like belong to X_val, which was not given.")
        return None
    corpus = make_corpus(X, name="X_val", allow_empty=True, fractions=True)
    if corpus.n_words != n_words:
        raise ValueError(f"X_val has {corpus.n_words} features, but X has {n_words}.")
    n = corpus.n_docs
    target = targets.encode(y, "y_val", n)
    for coding, column in zip(targets.codings, target.T, strict=True):
        known = column[np.isfinite(column)]
        if len(known) == 0 or (coding.labels is not None and np.ptp(known) == 0):
            raise ValueError("y_val has one class only: no choice can be made on it.")
    values = read_covariates(covariates, n, targets.n_covariates, "covariates_val")
    return Documents(
        corpus,
        targets.scale(target, "y_val"),
        read_weight(sample_weight, n, "sample_weight_val"),
        targets.offset(exposure, n, "exposure_val"),
        targets.scaled_covariates(values),
    )


def read_batch(
    corpus: Corpus,
    y: Any,
    known: TargetModel | None,
    make_targets: Callable[[list[np.ndarray], np.ndarray], TargetModel],
    *,
    sample_weight: Any = None,
    exposure: Any = None,
    covariates: Any = None,
) -> tuple[Documents, TargetModel]:
    """Documents of `partial_fit`; the first batch (`known` is None) determines the targets."""
    n = corpus.n_docs
    weight = read_weight(sample_weight, n)
    weights = np.ones(n) if weight is None else weight
    columns = target_columns(y, n)
    targets = make_targets(columns, weights) if known is None else known
    if not targets.has_classes:
        targets.check_numbers(columns)
    target = targets.encode_columns(columns)
    values = read_covariates(covariates, n, None if known is None else known.n_covariates)
    if known is None:
        check_differences(target, weights)
        targets = targets.with_covariates(values, weights)
    else:
        targets = targets.with_values(target, weights)
    documents = Documents(
        corpus,
        targets.scale(target, "y"),
        weight,
        targets.offset(exposure, n),
        targets.scaled_covariates(values),
    )
    return documents.drop_zero_weight(allow_empty=True), targets


def check_differences(target: np.ndarray, weight: np.ndarray) -> None:
    """Raise an error if a target of the first batch is constant."""
    for column in target[weight > 0].T:
        known = column[np.isfinite(column)]
        if len(known) == 0 or np.ptp(known) == 0:
            raise ValueError(
                "The first batch must contain two or more different targets (two or more classes): "
                "make it larger, or shuffle the documents."
            )


def labels_for_each(labels: Any, n_targets: int, name: str) -> list:
    """One list of labels per target."""
    if n_targets == 1 and (len(labels) == 0 or np.ndim(labels[0]) == 0):
        return [labels]
    if len(labels) != n_targets:
        raise ValueError(f"{name} is for {len(labels)} targets, but y has {n_targets}.")
    return list(labels)
