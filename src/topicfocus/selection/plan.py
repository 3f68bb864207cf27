"""What a search has to fit: groups of settings on folds, each group in one process.

Settings of a group differ in the share of words alone, so that they have themes in common besides
the evidence of words. Fits that are no drafts take long, and are groups of one.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from topicfocus.selection.documents import Data, Fold, counted_fold, take_apart
from topicfocus.selection.finished import fingerprint
from topicfocus.selection.folds import Split

#: Settings that differ in this alone make a group.
SHARE = "inclusion_prior"


@dataclass(frozen=True, kw_only=True)
class Group:
    """Models by name, to be fitted one after the other to the same documents.

    `fold` is why these cannot be counted, where they cannot. `documents` is a mark of them.
    """

    models: tuple[tuple[str, Any], ...]
    fold: Fold | Exception
    documents: str
    drafts: bool


def record_name(setting: int, fold: int) -> str:
    return f"setting-{setting}-fold-{fold}"


def groups_of(
    data: Data,
    splits: Sequence[Split],
    estimators: Sequence[Any],
    found: Container[str],
    *,
    mark: str,
    seed: int | None,
    alone: bool,
    exact: bool,
) -> Iterator[Group]:
    """What is left to do, fold by fold; settings that count words alike share the counts."""
    together = _together(estimators, exact)
    for f, (train, test) in enumerate(splits):
        folds: dict[str, Fold | Exception] = {}
        for everyone in together:
            places = [i for i in everyone if record_name(i, f) not in found]
            if not places:
                continue
            names = [record_name(i, f) for i in places]
            parts = [take_apart(estimators[i]) for i in places]
            way = fingerprint(parts[0].front)
            if way not in folds:
                folds[way] = _counted(f, parts[0].front, data, train, test)
            models = [prepared(part.model, seed, alone) for part in parts]
            yield Group(
                models=tuple(zip(names, models, strict=True)),
                fold=folds[way],
                documents=f"{mark} {f} {way}",
                drafts=not exact,
            )


def _together(estimators: Sequence[Any], exact: bool) -> list[list[int]]:
    """Numbers of the settings of each group, the most topics first.

    These take longest, and what is done last should not be waited for alone.
    """
    if exact:
        return [[i] for i in range(len(estimators))]
    groups: dict[str, list[int]] = {}
    for i, estimator in enumerate(estimators):
        parts = take_apart(estimator)
        rest = parts.model.get_params()
        rest.pop(SHARE, None)
        mark = fingerprint(parts.front, type(parts.model).__name__, rest)
        groups.setdefault(mark, []).append(i)

    def n_topics(group: list[int]) -> float:
        number = take_apart(estimators[group[0]]).model.get_params(deep=False).get("n_topics")
        return float(number) if isinstance(number, (int, float)) else 0.0

    return sorted(groups.values(), key=n_topics, reverse=True)


def _counted(
    number: int, front: Any, data: Data, train: np.ndarray, test: np.ndarray
) -> Fold | Exception:
    """A fold, or why its words cannot be counted."""
    try:
        return counted_fold(number, front, data, train, test)
    except ValueError as error:
        return error


def prepared(model: Any, seed: int | None, alone: bool) -> Any:
    """A clone for one fit: the same documents are set aside for all settings, threads are few.

    A model whose `random_state` is None may set any documents aside, so also the same ones.
    """
    model = clone(model)
    give_seed(model, seed)
    if "n_jobs" in model.get_params(deep=False) and not alone:
        model.set_params(n_jobs=1)
    return model


def give_seed(model: Any, seed: int | None) -> None:
    """A seed for a model that has none of its own."""
    if model.get_params(deep=False).get("random_state", 0) is None:
        model.set_params(random_state=seed)
