"""Weights of classes: ``class_weight`` of a fit, by the names of classes in the file.

The estimator takes them as they are; the regressions for comparison and the held-out metrics use
the same weights.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from topicfocus.text import Target
from topicfocus.text.errors import nearest
from topicfocus.workflow.errors import SettingError, setting

log = logging.getLogger(__name__)


def _check(given: str | Mapping[str, float], target: Target) -> None:
    """Raise an error unless the target has classes, and all that are named."""
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
    given: str | Mapping[str, float] | None, target: Target, weight: np.ndarray | None
) -> Callable[[np.ndarray], np.ndarray | None]:
    """A function from the training documents to the factor of every document.

    It is 1 where the class is unknown; None if there are no weights of classes. "balanced" is
    n / (K n_c), with n_c the weight of class c among the n training documents. The classes are
    checked at once.
    """
    if given is None:
        return lambda train: None
    _check(given, target)
    how = "so that all have the same weight" if isinstance(given, str) else "as asked for"
    log.info(
        f"Classes are weighted {how} ({setting('class_weight')}), in held-out metrics too; "
        "probabilities of classes with more weight are higher than their proportions in the file."
    )
    codes, classes = target.values, target.classes
    assert classes is not None
    known = np.isfinite(codes)

    def factors_of(train: np.ndarray) -> np.ndarray:
        if isinstance(given, str):
            mine = train[known[train]]
            own = None if weight is None else weight[mine]
            size = np.bincount(codes[mine].astype(int), weights=own, minlength=len(classes))
            factors = size.sum() / (len(classes) * np.where(size > 0, size, np.inf))
        else:
            factors = np.array([float(given.get(name, 1.0)) for name in classes])
        out = np.ones(len(codes))
        out[known] = factors[codes[known].astype(int)]
        return out

    return factors_of
