"""`class_weight`, as scikit-learn means it: a factor on the weight of the documents of a class.

"balanced" is n / (K n_c), n_c the weight of class c among the n documents whose class is known, K
the number of classes: every class then weighs the same. Factors of several targets are multiplied.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.estimators.coding import Coding, shown
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.targets import TargetModel

_WANTED = 'class_weight must be None, "balanced" or a dict {class: weight}'


def class_weighted(documents: Documents, targets: TargetModel, class_weight: Any) -> Documents:
    """Documents of a classifier with their weights times those of their classes."""
    if class_weight is None:
        return documents
    assert documents.target is not None
    weight = documents.weights.copy()
    for t, (coding, own) in enumerate(
        zip(targets.codings, _each(class_weight, targets.n_targets), strict=True)
    ):
        known = np.isfinite(documents.target[:, t])
        codes = documents.target[known, t].astype(int)
        weight[known] *= _factors(own, coding, codes, documents.weights[known])[codes]
    return replace(documents, weight=None if np.all(weight == 1) else weight)


def _each(class_weight: Any, n_targets: int) -> list[Any]:
    if isinstance(class_weight, list):
        if len(class_weight) != n_targets:
            raise ValueError(
                f"class_weight is for {len(class_weight)} targets, but y has {n_targets}."
            )
        return class_weight
    if n_targets > 1 and isinstance(class_weight, Mapping):
        raise ValueError("class_weight must be a list of dicts, one a target, for several targets.")
    return [class_weight] * n_targets


def _factors(own: Any, coding: Coding, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The factor of every class of one target."""
    labels = np.asarray(coding.labels)
    if own is None:
        return np.ones(len(labels))
    if isinstance(own, str) and own == "balanced":
        size = np.bincount(codes, weights=weight, minlength=len(labels))
        return size.sum() / (len(labels) * np.maximum(size, 1e-300))
    if not isinstance(own, Mapping):
        raise ValueError(f"{_WANTED}, got {own!r}.")
    unknown = [key for key in own if key not in labels.tolist()]
    if unknown:
        raise ValueError(
            f"class_weight has {shown(unknown[0])}, which is no class of y; these are "
            f"{', '.join(map(shown, labels[:20]))}."
        )
    factors = [own.get(label, 1.0) for label in labels.tolist()]
    for label, factor in zip(labels, factors, strict=True):
        good = isinstance(factor, numbers.Real) and math.isfinite(factor) and float(factor) > 0
        if not good:
            raise ValueError(
                f"class_weight of {shown(label)} must be a number above 0, got {factor!r}."
            )
    return np.array(factors, dtype=float)


def check_batches(class_weight: Any) -> None:
    """ "balanced" needs all documents, which a stream never has."""
    if class_weight == "balanced" or (
        isinstance(class_weight, list) and "balanced" in class_weight
    ):
        raise ValueError(
            'class_weight="balanced" is not for partial_fit, which never sees all documents. Pass '
            "a dict {class: weight}, or sample_weight."
        )
