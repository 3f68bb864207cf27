"""What documents of a class count for: ``class_weight`` of a fit, by the names in the file.

The estimator gets it as it is (`estimators/class_weight.py`). Regressions to compare with and held-
out figures get the same factors: a model that was told that a class counts ten times is judged by
what counts, and "worse than a constant" means the best constant of that kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicfocus.text import Target
from topicfocus.text.errors import nearest
from topicfocus.workflow.errors import SettingError
from topicfocus.workflow.wording import setting, spoken


def check_class_weight(given: str | Mapping[str, float] | None, target: Target) -> None:
    """That there are classes, and that those which are named are among them."""
    if given is None:
        return
    classes = target.classes
    if classes is None:
        kind = setting("kind", "classes")
        raise SettingError(
            f"{setting('class_weight')} is for classes, but the target is a number. If these are "
            f"classes: {kind}."
        )
    unknown = [] if isinstance(given, str) else [name for name in given if name not in classes]
    if unknown:
        listed = ", ".join(classes[:20]) + (", ..." if len(classes) > 20 else "")
        raise SettingError(
            f"{setting('class_weight')}: {unknown[0]!r} is no class of the target."
            f"{nearest(unknown[0], list(classes))} Classes: {listed}."
        )


def for_estimator(given: str | Mapping[str, float] | None, labels: np.ndarray) -> Any:
    """As an estimator takes it: by the labels of y, which may be numbers."""
    if given is None or isinstance(given, str):
        return given
    named = {str(label): label for label in labels.tolist() if label is not None}
    return {named[name]: float(factor) for name, factor in given.items() if name in named}


def class_factors(
    given: str | Mapping[str, float] | None,
    target: Target,
    train: np.ndarray,
    weight: np.ndarray | None,
) -> np.ndarray | None:
    """The factor of every document, 1 where its class is not known; None if none were given.

    "balanced" is n / (K n_c), n_c the weight of class c among the n training documents.
    """
    if given is None:
        return None
    codes, classes = target.values, target.classes
    assert classes is not None
    if isinstance(given, str):
        mine = train[np.isfinite(codes[train])]
        own = None if weight is None else weight[mine]
        size = np.bincount(codes[mine].astype(int), weights=own, minlength=len(classes))
        factors = size.sum() / (len(classes) * np.where(size > 0, size, np.inf))
    else:
        factors = np.array([float(given.get(name, 1.0)) for name in classes])
    known = np.isfinite(codes)
    out = np.ones(len(codes))
    out[known] = factors[codes[known].astype(int)]
    return out


def said(given: str | Mapping[str, float]) -> str:
    """What a user should know of probabilities and figures of such a fit."""
    how = "so that all weigh the same" if isinstance(given, str) else "as asked for"
    return (
        f"Classes are weighted {how} ({spoken('--class-weight', 'class_weight')}): held-out "
        "figures, too, and probabilities are higher than shares in the file for classes that "
        "count more."
    )
