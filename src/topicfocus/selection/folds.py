"""Folds: which documents are fitted to and which are judged on, with groups and missing targets."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from topicfocus.estimators.coding import read_classes
from topicfocus.selection.documents import Data, plain_targets

Split = tuple[np.ndarray, np.ndarray]


def make_folds(data: Data, cv: Any, classes: bool, seed: int | None) -> list[Split]:
    """Training and test documents of each fold.

    A whole number is that many folds, shuffled by `seed`: of groups where there are groups, of
    classes in their proportions. Anything else is taken as scikit-learn takes it. Documents without
    a target are in every training part, but for those whose group is judged.
    """
    known = np.flatnonzero(data.known())
    if len(known) < 2:
        raise ValueError(
            f"n_samples={len(known)}: at least 2 documents with a target are needed for folds."
        )
    labelled = data.rows(known)
    y = None if labelled.y is None else plain_targets(labelled.y)
    one = y is not None and y.ndim == 1
    if classes and y is not None and y.ndim == 1:
        read_classes([y], np.ones(len(y)))  # labels that are none are an error now
    splitter = _splitter(cv, y if classes and one else None, labelled.groups, len(known), seed)
    if splitter is None:
        splitter = check_cv(cv, y if one else None, classifier=classes and one)
    by = y if one else np.zeros(len(known))
    splits = [
        tuple(map(np.asarray, s)) for s in splitter.split(np.zeros(len(known)), by, labelled.groups)
    ]
    if not splits:
        raise ValueError(f"cv={cv!r} gives no folds.")
    rest = np.setdiff1d(np.arange(data.n_docs), known)
    return [_with_rest(data, known[a], known[b], rest) for a, b in splits]


def _with_rest(data: Data, train: np.ndarray, test: np.ndarray, rest: np.ndarray) -> Split:
    """Documents without a target teach words, unless somebody of their group is judged."""
    if data.groups is not None and len(rest):
        groups = np.asarray(data.groups)
        rest = rest[~np.isin(groups[rest], groups[test])]
    return np.sort(np.concatenate([train, rest])), np.sort(test)


def _splitter(cv: Any, y: Any, groups: Any, n_docs: int, seed: int | None) -> Any:
    """The splitter of a number of folds; None where `cv` is something else."""
    if cv is None:
        cv = 5
    if isinstance(cv, bool) or not isinstance(cv, numbers.Integral):
        return None
    n_folds = int(cv)
    if n_folds < 2:
        raise ValueError(f"cv must be at least 2 folds, got {n_folds}.")
    if n_folds > n_docs:
        raise ValueError(
            f"cv={n_folds} folds need as many documents with a target, but n_samples={n_docs}."
        )
    if groups is not None:
        n_groups = len(np.unique(np.asarray(groups)))
        if n_folds > n_groups:
            raise ValueError(f"cv={n_folds} folds need as many groups, but there are {n_groups}.")
    if y is not None:
        _check_classes(y, n_folds)
    if groups is not None:
        kind: Any = GroupKFold if y is None else StratifiedGroupKFold
    else:
        kind = KFold if y is None else StratifiedKFold
    return kind(n_folds, shuffle=True, random_state=seed)


def _check_classes(y: np.ndarray, n_folds: int) -> None:
    labels, often = np.unique(y, return_counts=True)
    if often.min() < n_folds:
        rarest = labels[np.argmin(often)]
        raise ValueError(
            f"class {rarest!s} has {often.min()} documents, too few for n_splits={n_folds} folds "
            f"with one in each: use cv={max(2, int(often.min()))} at most, join rare classes, or "
            "leave them out."
            if often.min() > 1
            else f"class {rarest!s} has one document only: no fold can learn and judge it. Join "
            "rare classes, or leave them out."
        )


def halves(data: Data, classes: bool, rng: np.random.Generator) -> Split:
    """Two disjoint halves of the documents, of whole groups, classes in their proportions."""
    if data.groups is not None:
        groups = np.asarray(data.groups)
        every = rng.permutation(np.unique(groups))
        mine = np.isin(groups, every[: len(every) // 2])
        return np.flatnonzero(mine), np.flatnonzero(~mine)
    known = data.known()
    strata = [np.flatnonzero(~known), np.flatnonzero(known)]
    y = None if data.y is None else np.asarray(data.y)
    if classes and y is not None and y.ndim == 1:
        labels = np.array([str(value) for value in y[known].tolist()])
        strata = [strata[0], *(strata[1][labels == label] for label in np.unique(labels))]
    first: list[np.ndarray] = []
    extra = 0
    for stratum in strata:
        # An odd one out goes to the halves in turn, so that these are of one size.
        size = (len(stratum) + extra % 2) // 2
        extra += len(stratum) % 2
        first.append(rng.permutation(stratum)[:size])
    mine = np.sort(np.concatenate(first))
    return mine, np.setdiff1d(np.arange(data.n_docs), mine)
