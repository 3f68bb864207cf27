"""Which documents choices are made on, where the user gives none: decided by their content."""

from __future__ import annotations

import numpy as np

from topicfocus.estimators.documents import Documents
from topicfocus.estimators.targets import TargetModel


def hold_out(
    documents: Documents, targets: TargetModel, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Documents to train on and to make choices on; classes in their proportions.

    The content of a document decides (with `rng`): copies of one never come to different sides,
    and a document of weight 2 is split like two copies of it. Too few documents to set any aside:
    all serve as both, and δ is then too small.
    """
    everyone = np.arange(documents.corpus.n_docs)
    weight = documents.weights
    target = documents.target
    assert target is not None
    place = _places(documents, target, rng)
    held = np.zeros(len(everyone), dtype=bool)
    for group in _strata(target, targets):
        group = group[weight[group] > 0]
        # Far digits of the number: neighbouring contents are not neighbours in this order.
        order = group[np.argsort(np.modf(np.abs(place[group]) * 1e4)[0], kind="stable")]
        before = np.cumsum(weight[order]) - weight[order]
        wanted = max(1.0, round(share * weight[order].sum()))
        values = place[order]
        chosen = before < wanted
        chosen |= np.isin(values, values[chosen])  # copies go together
        if weight[order][~chosen].sum() < 2:
            return everyone, everyone
        held[order[chosen]] = True
    train = ~held & (weight > 0)
    if not all(_tells(target[part & (weight > 0)]) for part in (train, held)):
        return everyone, everyone
    return everyone[train], everyone[held]


def _places(documents: Documents, target: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random number for each document that depends on nothing but its content."""
    place = documents.corpus.counts @ rng.standard_normal(documents.corpus.n_words)
    for column in target.T:
        place = place + rng.standard_normal() * np.nan_to_num(column, nan=7.7)
    return place


def _strata(target: np.ndarray, targets: TargetModel) -> list[np.ndarray]:
    """Groups to be split in the same proportion: the classes of a single target."""
    known = np.all(np.isfinite(target), axis=1)
    if targets.n_targets == 1 and targets.codings[0].is_class:
        groups = [np.flatnonzero(target[:, 0] == c) for c in np.unique(target[known, 0])]
    else:
        groups = [np.flatnonzero(known)]
    rest = np.flatnonzero(~known)
    return [g for g in [*groups, rest] if len(g)] if len(rest) >= 10 else groups


def _tells(target: np.ndarray) -> bool:
    """Whether every target has two different known values or more."""
    for column in target.T:
        known = column[np.isfinite(column)]
        if len(known) == 0 or np.ptp(known) == 0:
            return False
    return True
