"""Split: which documents are held out."""

from __future__ import annotations

import numpy as np

from topicfocus.text import ReadError, Target
from topicfocus.workflow.wording import setting

#: Training and test documents.
Parts = tuple[np.ndarray, np.ndarray]

#: With fewer documents that have a target, figures would mean nothing.
LEAST_DOCUMENTS = 10


def split(target: Target, share: float, seed: int, path: str) -> Parts:
    """Training and test documents, in their order; classes in their proportions.

    Documents without a target are in the training part: they still say something about words.
    """
    known = np.flatnonzero(np.isfinite(target.values))
    if len(known) < LEAST_DOCUMENTS:
        raise ReadError(
            f"{path}: {len(known)} documents have a target; at least {LEAST_DOCUMENTS} are needed."
        )
    rng = np.random.default_rng(seed)
    groups = [known]
    if target.classes is not None:
        codes = target.values[known]
        groups = [known[codes == code] for code in np.unique(codes)]
    test = []
    for group in groups:
        # Of each class one document at least is trained on.
        n = min(max(round(share * len(group)), 1), len(group) - 1)
        test.append(rng.permutation(group)[:n])
    held = np.sort(np.concatenate(test))
    if target.classes is not None and 2 * len(groups) > len(known):
        raise ReadError(
            f"{path}: the target has {len(groups):,} classes for {len(known):,} documents, most of "
            "them with one document: nothing can be learned about such a class. Name another "
            f"column, or, if these are numbers, say {setting('kind', 'real')}."
        )
    train = np.setdiff1d(np.arange(len(target.values)), held)
    values = target.values[train]
    if np.ptp(values[np.isfinite(values)]) == 0:
        raise ReadError(
            f"{path}: the target has one value only in the training part. Try another "
            f"{setting('seed')} or a smaller {setting('test_share')}."
        )
    return train, held
