"""Held-out scores: the model's own, or any of scikit-learn's, with covariates and weights."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import get_scorer
from sklearn.utils.metaestimators import available_if

from topicfocus.selection.documents import Data, plain_targets


def read_scoring(scoring: Any) -> Any:
    """A scorer, or None for the model's own score; before any fit."""
    if scoring is None or callable(scoring):
        return scoring
    if not isinstance(scoring, str):
        raise TypeError(
            f"scoring must be one name of scikit-learn's scorers, a function of (estimator, X, y), "
            f"or None; got {scoring!r}. Every row of frontier_ has more figures."
        )
    return get_scorer(scoring)


def held_out_score(model: Any, data: Data, scorer: Any) -> float:
    """The score of documents whose targets are known; higher is better."""
    data = data.rows(np.flatnonzero(data.known()))
    y = None if data.y is None else plain_targets(data.y)
    if scorer is None:
        return float(model.score(data.X, y, **accepted(model.score, data.beside)))
    weights = {}
    if "sample_weight" in data.beside and hasattr(scorer, "_score_func"):
        weights = {"sample_weight": data.beside["sample_weight"]}
    return float(scorer(_bound(model, data), data.X, y, **weights))


def accepted(function: Any, beside: Any) -> dict[str, Any]:
    """Those of the named arrays that a function takes."""
    names = inspect.signature(function).parameters
    return {name: values for name, values in beside.items() if name in names}


class _Bound(BaseEstimator):
    """A fitted model with the covariates of the very documents that a scorer shows it."""

    def __init__(self, model: Any = None, beside: Any = None) -> None:
        self.model = model
        self.beside = beside

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> Any:
        return self.model.classes_

    def _call(self, name: str, X: Any) -> Any:
        method = getattr(self.model, name)
        return method(X, **accepted(method, self.beside))

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


def _bound(model: Any, data: Data) -> _Bound:
    kind = _BoundClassifier if is_classifier(model) else _BoundRegressor
    return kind(model, {k: v for k, v in data.beside.items() if k != "sample_weight"})
