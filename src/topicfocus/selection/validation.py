"""Cross-validation: folds and halves of documents, and scores on documents not trained on."""

from __future__ import annotations

import inspect
import numbers
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.utils.metaestimators import available_if

from topicfocus.estimators.targets import read_classes
from topicfocus.selection.documents import Data, plain_targets

Split = tuple[np.ndarray, np.ndarray]

# ---- folds ---------------------------------------------------------------------------------------


def make_folds(data: Data, cv: Any, classes: bool, seed: int | None) -> list[Split]:
    """Training and test documents of each fold.

    An integer gives that many shuffled folds: of groups if there are groups, stratified by class.
    Everything else is read as in scikit-learn. Documents without a target are in every training
    part, unless their group is in the test part.
    """
    known = np.flatnonzero(data.known())
    if len(known) < 2:
        raise ValueError(
            f"n_samples={len(known)}: at least 2 documents with a target are needed for folds."
        )
    labelled = data.rows(known)
    y = None if labelled.y is None else plain_targets(labelled.y)
    if y is not None and y.ndim > 1:  # several targets: nothing to stratify by
        y = None
    strata = y if classes else None
    if strata is not None:
        read_classes([strata], np.ones(len(strata)))  # raises an error for invalid labels
    if cv is None or (isinstance(cv, numbers.Integral) and not isinstance(cv, bool)):
        n_folds = 5 if cv is None else int(cv)
        splitter = _shuffled_folds(n_folds, strata, labelled.groups, len(known), seed)
    else:
        splitter = check_cv(cv, y, classifier=strata is not None)
    by = np.zeros(len(known)) if y is None else y
    splits = list(splitter.split(np.zeros(len(known)), by, labelled.groups))
    if not splits:
        raise ValueError(f"cv={cv!r} gives no folds.")
    rest = np.setdiff1d(np.arange(data.n_docs), known)
    return [_add_unlabelled(data, known[a], known[b], rest) for a, b in splits]


def _add_unlabelled(data: Data, train: np.ndarray, test: np.ndarray, rest: np.ndarray) -> Split:
    if data.groups is not None and len(rest):
        groups = np.asarray(data.groups)
        rest = rest[~np.isin(groups[rest], groups[test])]
    return np.sort(np.concatenate([train, rest])), np.sort(test)


def _shuffled_folds(n_folds: int, strata: Any, groups: Any, n_docs: int, seed: int | None) -> Any:
    if n_folds < 2:
        raise ValueError(f"cv must be at least 2 folds, got {n_folds}.")
    if n_folds > n_docs:
        raise ValueError(
            f"cv={n_folds} folds need as many documents with a target, but n_samples={n_docs}."
        )
    n_groups = n_folds if groups is None else len(np.unique(np.asarray(groups)))
    if n_folds > n_groups:
        raise ValueError(f"cv={n_folds} folds need as many groups, but there are {n_groups}.")
    if strata is not None:
        _check_classes(strata, n_folds)
    kinds: Any = (KFold, StratifiedKFold, GroupKFold, StratifiedGroupKFold)
    kind = kinds[2 * (groups is not None) + (strata is not None)]
    return kind(n_folds, shuffle=True, random_state=seed)


def _check_classes(y: np.ndarray, n_folds: int) -> None:
    labels, counts = np.unique(y, return_counts=True)
    rarest, least = labels[np.argmin(counts)], int(counts.min())
    if least == 1:
        raise ValueError(
            f"class {rarest!s} has one document only, which cannot be in both a training and a "
            "test part. Join rare classes, or leave them out."
        )
    if least < n_folds:
        raise ValueError(
            f"class {rarest!s} has {least} documents, too few for n_splits={n_folds} folds with "
            f"one in each: use cv={least} at most, join rare classes, or leave them out."
        )


def halves(data: Data, classes: bool, rng: np.random.Generator) -> Split:
    """Two disjoint halves of the documents, of whole groups, stratified by class."""
    if data.groups is not None:
        groups = np.asarray(data.groups)
        shuffled = rng.permutation(np.unique(groups))
        mine = np.isin(groups, shuffled[: len(shuffled) // 2])
        return np.flatnonzero(mine), np.flatnonzero(~mine)
    known = data.known()
    strata = [np.flatnonzero(~known), np.flatnonzero(known)]
    y = None if data.y is None else np.asarray(data.y)
    if classes and y is not None and y.ndim == 1:
        labels = np.array([str(value) for value in y[known].tolist()])
        strata = [strata[0], *(strata[1][labels == label] for label in np.unique(labels))]
    first: list[np.ndarray] = []
    odd = 0
    for stratum in strata:
        # The halves get the extra document of odd strata in turn, so that their sizes agree.
        size = (len(stratum) + odd % 2) // 2
        odd += len(stratum) % 2
        first.append(rng.permutation(stratum)[:size])
    mine = np.sort(np.concatenate(first))
    return mine, np.setdiff1d(np.arange(data.n_docs), mine)


# ---- scores --------------------------------------------------------------------------------------


def read_scoring(scoring: Any) -> Any:
    """A scorer, or None for the score of the model itself."""
    if scoring is None or callable(scoring):
        return scoring
    if not isinstance(scoring, str):
        raise TypeError(
            f"scoring must be one name of scikit-learn's scorers, a function of (estimator, X, y), "
            f"or None; got {scoring!r}. Every row of frontier_ has further metrics."
        )
    return get_scorer(scoring)


def validation_score(model: Any, data: Data, scorer: Any) -> float:
    """The score on the documents whose targets are known; higher is better."""
    data = data.rows(np.flatnonzero(data.known()))
    y = None if data.y is None else plain_targets(data.y)
    if scorer is None:
        return float(model.score(data.X, y, **accepted(model.score, data.arrays)))
    weights = {}
    if "sample_weight" in data.arrays and hasattr(scorer, "_score_func"):
        weights = {"sample_weight": data.arrays["sample_weight"]}
    kind = _BoundClassifier if is_classifier(model) else _BoundRegressor
    return float(scorer(kind(model, data.for_prediction()), data.X, y, **weights))


def accepted(function: Any, arrays: Any) -> dict[str, Any]:
    """The arrays that a function has parameters for."""
    names = inspect.signature(function).parameters
    return {name: values for name, values in arrays.items() if name in names}


class _Bound(BaseEstimator):
    """A fitted model whose predictions use covariates and exposure of the documents scored."""

    def __init__(self, model: Any = None, arrays: Any = None) -> None:
        self.model = model
        self.arrays = arrays

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> Any:
        return self.model.classes_

    def _call(self, name: str, X: Any) -> Any:
        method = getattr(self.model, name)
        return method(X, **accepted(method, self.arrays))

    def predict(self, X: Any) -> Any:
        return self._call("predict", X)

    @available_if(lambda self: hasattr(self.model, "predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        return self._call("predict_proba", X)

    @available_if(lambda self: hasattr(self.model, "decision_function"))
    def decision_function(self, X: Any) -> Any:
        return self._call("decision_function", X)


class _BoundClassifier(ClassifierMixin, _Bound):
    pass


class _BoundRegressor(RegressorMixin, _Bound):
    pass
