"""Validated documents of `fit` and `partial_fit`, and their split into training and validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.estimators.arguments import read_covariates, read_groups, read_weight
from topicfocus.estimators.scaling import CovariateScaling
from topicfocus.estimators.targets import TargetModel, check_values, target_columns
from topicfocus.model import Problem, make_problem
from topicfocus.passes import dot

#: Makes targets from the columns of y and the weights of the documents.
MakeTargets = Callable[[list[np.ndarray], np.ndarray], TargetModel]


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


# ---- documents -----------------------------------------------------------------------------------


def read_training(
    corpus: Corpus,
    y: Any,
    make_targets: MakeTargets | None,
    *,
    sample_weight: Any = None,
    covariates: Any = None,
    groups: Any = None,
    exposure: Any = None,
    is_batch: bool = False,
) -> tuple[Documents, TargetModel | None]:
    """Documents of `fit`, or of the first batch of `partial_fit`, and their targets."""
    n = corpus.n_docs
    weight = read_weight(sample_weight, n)
    if make_targets is None:
        documents = Documents(corpus, None, weight)
        return documents.drop_zero_weight(allow_empty=is_batch), None
    weights = np.ones(n) if weight is None else weight
    columns = target_columns(y, n)
    if is_batch:
        _check_differences(columns, weights)
    targets = make_targets(columns, weights)
    values = read_covariates(covariates, n, None)
    if values is not None:
        targets = replace(targets, covariates=CovariateScaling.estimate(values, weights))
    # The label of a document of weight 0 may occur in no other document.
    if np.any(weights == 0):
        columns = [np.where(weights > 0, c, np.full(n, None, dtype=object)) for c in columns]
    target = targets.encode_columns(columns)
    documents = _documents(corpus, target, targets, weight, exposure, values)
    documents = replace(documents, group=read_groups(groups, n))
    return documents.drop_zero_weight(allow_empty=is_batch), targets


def _documents(
    corpus: Corpus,
    target: np.ndarray,
    targets: TargetModel,
    sample_weight: Any = None,
    exposure: Any = None,
    covariates: Any = None,
    suffix: str = "",
) -> Documents:
    """Documents with encoded targets; targets and covariates are scaled here."""
    n = corpus.n_docs
    values = read_covariates(covariates, n, targets.n_covariates, f"covariates{suffix}")
    return Documents(
        corpus,
        targets.scale(target, f"y{suffix}"),
        read_weight(sample_weight, n, f"sample_weight{suffix}"),
        targets.offset(exposure, n, f"exposure{suffix}"),
        None if values is None else targets.covariates.scale(values),
    )


def read_validation(
    targets: TargetModel, n_words: int, X_val: Any = None, y_val: Any = None, **arrays: Any
) -> Documents | None:
    """Validation documents given by the user, encoded and scaled as the training documents."""
    if (X_val is None) != (y_val is None):
        raise ValueError("Give both X_val and y_val, or neither.")
    if X_val is None:
        if any(part is not None for part in arrays.values()):
            raise ValueError("sample_weight_val and the like belong to X_val, which was not given.")
        return None
    corpus = make_corpus(X_val, name="X_val", allow_empty=True, fractions=True)
    if corpus.n_words != n_words:
        raise ValueError(f"X_val has {corpus.n_words} features, but X has {n_words}.")
    target = targets.encode(y_val, "y_val", corpus.n_docs)
    for coding, column in zip(targets.codings, target.T, strict=True):
        known = column[np.isfinite(column)]
        if len(known) == 0 or (coding.labels is not None and np.ptp(known) == 0):
            raise ValueError("y_val has one class only: no choice can be made on it.")
    given = {name.removesuffix("_val"): values for name, values in arrays.items()}
    return _documents(corpus, target, targets, **given, suffix="_val")


def read_batch(
    corpus: Corpus, y: Any, targets: TargetModel, **arrays: Any
) -> tuple[Documents, TargetModel]:
    """Documents of a later batch of `partial_fit`, and the targets with updated ranges."""
    target = targets.encode(y, n_docs=corpus.n_docs)
    for coding, codes in zip(targets.codings, target.T, strict=True):
        check_values(coding.family, codes, np.isfinite(codes))
    documents = _documents(corpus, target, targets, **arrays)
    targets = targets.with_values(target, documents.weights)
    return documents.drop_zero_weight(allow_empty=True), targets


def _check_differences(columns: list[np.ndarray], weight: np.ndarray) -> None:
    """Raise an error if a target of the first batch is constant."""
    if any(pd.Series(column[weight > 0]).nunique() < 2 for column in columns):
        raise ValueError(
            "The first batch must contain two or more different targets (two or more classes): "
            "make it larger, or shuffle the documents."
        )


# ---- training and validation documents -----------------------------------------------------------


def split_validation(
    documents: Documents,
    targets: TargetModel,
    share: float,
    rng: np.random.Generator,
    of_targets: np.random.Generator | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows for training and for validation, stratified by class.

    Documents are ordered by a random hash of their words and targets (with the generator
    `of_targets` for the targets, if given), so that copies are never separated and a document of
    weight 2 is treated as two copies. Groups are kept together. If there are too few documents, all
    of them are used for both, and δ is underestimated.
    """
    everyone = np.arange(documents.corpus.n_docs)
    weight = documents.weights
    target = documents.target
    assert target is not None
    strata = _strata(target, targets)
    if documents.group is not None:
        held = choose_groups(documents.group, strata, weight, share, rng)[documents.group]
        if not (_varies(target[held]) and _varies(target[~held])):
            return everyone, everyone
        return everyone[~held], everyone[held]
    hashes = _hashes(documents, target, rng, rng if of_targets is None else of_targets)
    held = np.zeros(len(everyone), dtype=bool)
    for group in strata:
        group = group[weight[group] > 0]
        # The trailing digits, so that similar documents are not neighbours in this order.
        order = group[np.argsort(np.modf(np.abs(hashes[group]) * 1e4)[0], kind="stable")]
        before = np.cumsum(weight[order]) - weight[order]
        wanted = max(1.0, round(share * weight[order].sum()))
        values = hashes[order]
        chosen = before < wanted
        chosen |= np.isin(values, values[chosen])  # copies go together
        if weight[order][~chosen].sum() < 2:
            return everyone, everyone
        held[order[chosen]] = True
    train = ~held & (weight > 0)
    if not all(_varies(target[part & (weight > 0)]) for part in (train, held)):
        return everyone, everyone
    return everyone[train], everyone[held]


def make_folds(
    documents: Documents, targets: TargetModel, n: int, most: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of `n` folds; no folds if there are too few documents.

    Folds are made one after the other by `split_validation` with fixed seeds, so that they depend
    on the documents only. At most about `most` documents are used.
    """

    def split_off(share: float, step: int) -> tuple[np.ndarray, np.ndarray]:
        first, second = (np.random.default_rng((step, use)) for use in (0, 1))
        return split_validation(documents, targets, share, first, second)

    used = np.arange(documents.corpus.n_docs)
    size = float(documents.weights.sum())
    if size > most:
        used = split_off(most / size, 0)[1]
        documents = documents.rows(used)
    left, parts = np.arange(len(used)), []
    for i in range(n, 1, -1):
        rest, part = split_off(1 / i, i)
        if len(part) == len(left):
            return []
        parts.append(left[part])
        left, documents = left[rest], documents.rows(rest)
    everyone = np.arange(len(used))
    return [(used[np.setdiff1d(everyone, part)], used[part]) for part in [*parts, left]]


def choose_groups(
    group: np.ndarray,
    strata: list[np.ndarray],
    weight: np.ndarray,
    share: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Choose whole groups for the test part, about a fraction `share` of every stratum.

    In random order, a group is chosen if it brings the fractions closer to `share`. No stratum is
    chosen entirely.

    Parameters
    ----------
    group : array of int
        Group of each document, numbered from 0.
    strata : list of arrays
        Rows of each class, or all rows.
    weight : array of float
    share : float
    rng : Generator

    Returns
    -------
    array of bool, one per group
    """
    size = np.zeros((int(group.max()) + 1, len(strata)))
    for s, documents in enumerate(strata):
        np.add.at(size[:, s], group[documents], weight[documents])
    total = size.sum(axis=0)
    held, taken = np.zeros(len(size), dtype=bool), np.zeros(len(strata))

    def distance(amount: np.ndarray) -> np.ndarray:
        return np.sum((amount - share * total) ** 2 / np.maximum(total, 1e-300), axis=-1)

    order = rng.permutation(len(size))
    for g in order:
        more = taken + size[g]
        if np.all((more < total) | (size[g] == 0)) and distance(more) < distance(taken):
            held[g], taken = True, more
    if not held.any():
        # Every group is too large: choose the best one.
        possible = order[np.all(size[order] < total, axis=1) & (size[order].sum(axis=1) > 0)]
        if len(possible):
            held[possible[np.argmin(distance(size[possible]))]] = True
    return held


def _hashes(
    documents: Documents,
    target: np.ndarray,
    rng: np.random.Generator,
    of_targets: np.random.Generator,
) -> np.ndarray:
    """Row hashes: random projections of words and targets."""
    hashes = dot(documents.corpus.counts, rng.standard_normal(documents.corpus.n_words))
    for column in target.T:
        hashes = hashes + of_targets.standard_normal() * np.nan_to_num(column, nan=7.7)
    return hashes


def _strata(target: np.ndarray, targets: TargetModel) -> list[np.ndarray]:
    """Rows of each class of a single target, else one stratum."""
    known = np.all(np.isfinite(target), axis=1)
    if targets.n_targets == 1 and targets.codings[0].is_class:
        groups = [np.flatnonzero(target[:, 0] == c) for c in np.unique(target[known, 0])]
    else:
        groups = [np.flatnonzero(known)]
    rest = np.flatnonzero(~known)
    return [g for g in [*groups, rest] if len(g)] if len(rest) >= 10 else groups


def _varies(target: np.ndarray) -> bool:
    """Whether every target has two or more different known values."""
    return all(len(np.unique(column[np.isfinite(column)])) > 1 for column in target.T)
