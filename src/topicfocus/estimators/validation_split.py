"""Split documents into training and validation parts by hashing their content."""

from __future__ import annotations

import numpy as np

from topicfocus.estimators.documents import Documents
from topicfocus.estimators.targets import TargetModel
from topicfocus.inference.passes import dot


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
    if documents.group is not None:
        return _whole_groups(documents.group, target, weight, targets, share, rng)
    hashes = _hashes(documents, target, rng, rng if of_targets is None else of_targets)
    held = np.zeros(len(everyone), dtype=bool)
    for group in _strata(target, targets):
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


def _whole_groups(
    group: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    targets: TargetModel,
    share: float,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    everyone = np.arange(len(group))
    held = choose_groups(group, _strata(target, targets), weight, share, rng)[group]
    if not all(_varies(target[part]) for part in (~held, held)):
        return everyone, everyone
    return everyone[~held], everyone[held]


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
    for column in target.T:
        known = column[np.isfinite(column)]
        if len(known) == 0 or np.ptp(known) == 0:
            return False
    return True
