"""From the arguments of `fit` and `partial_fit` to documents and targets, each checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.estimators.coding import target_columns
from topicfocus.estimators.documents import Documents, read_covariates, read_weight
from topicfocus.estimators.targets import TargetModel

#: Targets of a fit from columns of y and weights of the documents.
ReadTargets = Callable[[list[np.ndarray], np.ndarray], TargetModel]


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What documents may have besides words and targets, as the user gave it."""

    sample_weight: Any = None
    exposure: Any = None
    covariates: Any = None


@dataclass(frozen=True, kw_only=True)
class Validation:
    """Documents to make choices on, as the user gave them."""

    X: Any
    y: Any
    beside: Beside


def read_training(
    corpus: Corpus, y: Any, read: ReadTargets, beside: Beside
) -> tuple[Documents, TargetModel]:
    """Documents to fit to, and what their targets are."""
    n = corpus.n_docs
    weight = read_weight(beside.sample_weight, n)
    every = np.ones(n) if weight is None else weight
    columns = target_columns(y, n)
    targets = read(columns, every)
    covariates = read_covariates(beside.covariates, n, None)
    targets = targets.with_covariates(covariates, every)
    # A document of weight 0 is as good as absent: so is its label, if no other has it.
    if np.any(every == 0):
        nobody = np.full(n, None, dtype=object)
        columns = [np.where(every > 0, c, nobody) for c in columns]
    documents = Documents(
        corpus,
        targets.for_fitting(targets.encode_columns(columns)),
        weight,
        targets.offset(beside.exposure, n),
        targets.scaling.scale(targets.filled(covariates)),
    )
    return documents.that_count(), targets


def read_validation(
    given: Validation | None, targets: TargetModel, n_words: int
) -> Documents | None:
    """Documents to make choices on, in the same coding and units."""
    if given is None:
        return None
    corpus = make_corpus(given.X, name="X_val", allow_empty=True, fractions=True)
    if corpus.n_words != n_words:
        raise ValueError(f"X_val has {corpus.n_words} features, but X has {n_words}.")
    n = corpus.n_docs
    target = targets.encode(given.y, "y_val", n)
    for coding, column in zip(targets.codings, target.T, strict=True):
        known = column[np.isfinite(column)]
        if len(known) == 0 or (coding.labels is not None and np.ptp(known) == 0):
            raise ValueError("y_val has one class only: no choice can be made on it.")
    beside = given.beside
    covariates = read_covariates(beside.covariates, n, targets.n_covariates, "covariates_val")
    return Documents(
        corpus,
        targets.for_fitting(target, "y_val"),
        read_weight(beside.sample_weight, n, "sample_weight_val"),
        targets.offset(beside.exposure, n, "exposure_val"),
        targets.scaling.scale(targets.filled(covariates, "covariates_val")),
    )


def given_validation(X_val: Any, y_val: Any, beside: Beside) -> Validation | None:
    """Both or neither of X_val and y_val; what goes with them belongs to them."""
    if (X_val is None) != (y_val is None):
        raise ValueError("Give both X_val and y_val, or neither.")
    if X_val is None and any(part is not None for part in vars(beside).values()):
        raise ValueError("sample_weight_val and the like belong to X_val, which was not given.")
    return None if X_val is None else Validation(X=X_val, y=y_val, beside=beside)


def read_batch(
    corpus: Corpus, y: Any, known: TargetModel | None, read: ReadTargets, beside: Beside
) -> tuple[Documents, TargetModel]:
    """Documents of a batch; the first one (`known` is None) settles what the targets are."""
    n = corpus.n_docs
    weight = read_weight(beside.sample_weight, n)
    every = np.ones(n) if weight is None else weight
    columns = target_columns(y, n)
    targets = read(columns, every) if known is None else known
    if not targets.has_classes:
        targets.check_numbers(columns)
    target = targets.encode_columns(columns)
    if known is not None:
        targets = targets.with_values(target, every)
    expected = None if known is None else known.n_covariates
    covariates = read_covariates(beside.covariates, n, expected)
    if known is None:
        check_differences(target, every)
        # Units to compute in, nothing more: those of the first batch serve all.
        targets = targets.with_covariates(covariates, every)
    documents = Documents(
        corpus,
        targets.for_fitting(target, "y"),
        weight,
        targets.offset(beside.exposure, n),
        targets.scaling.scale(targets.filled(covariates)),
    )
    return documents.that_count(allow_empty=True), targets


def check_differences(target: np.ndarray, weight: np.ndarray) -> None:
    """Targets of a first batch must not all be the same."""
    for column in target[weight > 0].T:
        known = column[np.isfinite(column)]
        if len(known) == 0 or np.ptp(known) == 0:
            raise ValueError(
                "The first batch must hold documents with two or more different targets (two or "
                "more classes), or there is nothing to tell apart: make it larger, or shuffle the "
                "documents."
            )


def labels_for_each(labels: Any, n_targets: int, name: str) -> list:
    """One list of labels a target."""
    if n_targets == 1 and (len(labels) == 0 or np.ndim(labels[0]) == 0):
        return [labels]
    if len(labels) != n_targets:
        raise ValueError(f"{name} is for {len(labels)} targets, but y has {n_targets}.")
    return list(labels)
