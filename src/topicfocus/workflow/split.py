"""Split: which documents are held out."""

from __future__ import annotations

import numpy as np

from topicfocus.estimators.holding_out import choose_groups
from topicfocus.text import ReadError, Target
from topicfocus.workflow.wording import setting

#: Training and test documents.
Parts = tuple[np.ndarray, np.ndarray]

#: With fewer documents that have a target, figures would mean nothing.
LEAST_DOCUMENTS = 10


def split(
    target: Target, share: float, seed: int, path: str, group: np.ndarray | None = None
) -> Parts:
    """Training and test documents, in their order; classes in their proportions.

    Documents without a target are in the training part: they still say something about words. With
    groups, a group is held out as a whole; what it has without a target is then in neither part.
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
    if group is None:
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
        # Of each class one document at least is trained on.
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
