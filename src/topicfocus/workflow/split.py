"""Split: choose the documents that are held out, and warn of copies of them in the training set."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np

from topicfocus.estimators.validation_split import choose_groups
from topicfocus.inference.marks import marks
from topicfocus.text import ReadError, Target
from topicfocus.workflow.errors import setting

log = logging.getLogger(__name__)

#: Training and test documents.
Parts = tuple[np.ndarray, np.ndarray]

#: Fewest documents with a target for which metrics are meaningful.
LEAST_DOCUMENTS = 10
#: With fewer held-out groups the metrics depend on which these are.
FEW_GROUPS = 5
#: Documents with fewer different words may be equal by chance.
LEAST_WORDS = 5
#: A larger proportion of held-out documents with a copy in the training set is a warning.
NOTABLE = 0.01


def split_source(source: Any, config: Any) -> Parts:
    """Training and test documents, with messages about groups and copies."""
    group = source.columns.group
    parts = split(source.target, config.test_share, config.seed, source.path, group)
    train, test = parts
    if group is not None and len(test):
        held, n = len(np.unique(group[test])), len(np.unique(group))
        log.info("Held out: %s documents, %s of %s groups.", f"{len(test):,}", held, n)
        if held < FEW_GROUPS:
            warnings.warn(
                f"only {held} of {n} groups {'is' if held == 1 else 'are'} held out: metrics may "
                "be quite different for others.",
                stacklevel=2,
            )
        neither = source.n_docs - len(train) - len(test)
        if neither:
            log.info(
                "%s documents without a target belong to held-out groups: not used.",
                f"{neither:,}",
            )
    return parts


def split(
    target: Target, share: float, seed: int, path: str, group: np.ndarray | None = None
) -> Parts:
    """Training and test documents, in their order; classes in their proportions.

    Documents without a target are in the training set, for their words. With groups, a group is
    held out as a whole; its documents without a target are then in neither part. With a `share` of
    0 no document is held out.
    """
    known = np.flatnonzero(np.isfinite(target.values))
    if len(known) < LEAST_DOCUMENTS:
        raise ReadError(
            f"{path}: {len(known)} documents have a target; at least {LEAST_DOCUMENTS} are needed."
        )
    rng = np.random.default_rng(seed)
    strata = [known]
    if target.classes is not None:
        codes = target.values[known]
        strata = [known[codes == code] for code in np.unique(codes)]
        _check_classes(len(strata), len(known), path)
    if not share:
        held, train = np.empty(0, dtype=np.intp), np.arange(len(target.values))
    elif group is None:
        held = _some_of_each(strata, share, rng)
        train = np.setdiff1d(np.arange(len(target.values)), held)
    else:
        out = choose_groups(group, strata, np.ones(len(group)), share, rng)[group]
        held, train = np.intersect1d(np.flatnonzero(out), known), np.flatnonzero(~out)
        _check_groups(group, held, target, path)
    values = target.values[train]
    if np.ptp(values[np.isfinite(values)]) == 0:
        raise ReadError(
            f"{path}: the target has one value only in the training part. Try another "
            f"{setting('seed')} or a smaller {setting('test_share')}."
        )
    return train, held


def _some_of_each(strata: list[np.ndarray], share: float, rng: np.random.Generator) -> np.ndarray:
    test = []
    for documents in strata:
        # At least one document of each class is trained on.
        n = min(max(round(share * len(documents)), 1), len(documents) - 1)
        test.append(rng.permutation(documents)[:n])
    return np.sort(np.concatenate(test))


def _check_groups(group: np.ndarray, held: np.ndarray, target: Target, path: str) -> None:
    if len(held):
        return
    n = len(np.unique(group))
    if n == 1:
        raise ReadError(
            f"{path}: all documents are of one group, so none can be held out. Name another "
            f"column, or leave {setting('group')} out."
        )
    what = "class" if target.classes is not None else "target"
    raise ReadError(
        f"{path}: none of the {n} groups can be held out without the last documents of a {what}. "
        f"Name another column, or leave {setting('group')} out."
    )


def _check_classes(n_classes: int, n_docs: int, path: str) -> None:
    if 2 * n_classes > n_docs:
        raise ReadError(
            f"{path}: the target has {n_classes:,} classes for {n_docs:,} documents, most of "
            "them with one document: nothing can be learned about such a class. Name another "
            f"column, or, if these are numbers, say {setting('kind', 'real')}."
        )


def report_copies(source: Any, counts: Any, parts: Parts) -> None:
    """Report held-out documents with the same counts as a training document."""
    train, test = parts
    pairs = copies(counts, train, test)
    if not pairs:
        return
    i, j = pairs[0]
    said = (
        f"{len(pairs):,} of {len(test):,} held-out documents also "
        f"{'appear' if len(pairs) > 1 else 'appears'} in the training set, such as "
        f"{source.where(j)} and {source.where(i)}"
    )
    if len(pairs) < NOTABLE * len(test):
        log.info("%s.", said)
        return
    warnings.warn(
        f"{said}: metrics are too good. Remove copies, or name a column that keeps them together, "
        f"{setting('group')}.",
        stacklevel=2,
    )


def copies(counts: Any, train: np.ndarray, test: np.ndarray) -> list[tuple[int, int]]:
    """Held-out documents with the same counts as a training document, and the first of these."""
    long_enough = np.diff(counts.indptr) >= LEAST_WORDS
    mine, held = train[long_enough[train]], test[long_enough[test]]
    if not len(mine) or not len(held):
        return []
    first, second = marks(counts)
    mine = mine[np.argsort(first[mine], kind="stable")]  # the first of several copies comes first
    place = np.minimum(np.searchsorted(first[mine], first[held]), len(mine) - 1)
    other = mine[place]
    same = (first[other] == first[held]) & (second[other] == second[held])
    return list(zip(held[same].tolist(), other[same].tolist(), strict=True))
