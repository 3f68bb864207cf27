"""What estimators with a target share: reading it, and the linear predictor b + η·θ̂."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from topicfocus.corpus import check_target
from topicfocus.families import Bernoulli, Gaussian, mean_response


class TargetPart:
    """The linear predictor, for targets of every kind."""

    def _predictor(self, X: Any) -> np.ndarray:
        """f = b + η·θ̂."""
        return self.transform(X) @ self.coef_ + self.intercept_


class RegressorPart(TargetPart, RegressorMixin):
    """fit and predict of a real target, y ~ Normal(b + η·θ, δ).

    A subclass has `_fit_target(corpus, target, family, **options)`, which returns a ModelState.
    """

    def _encode_target(self, y: Any, n_docs: int) -> np.ndarray | None:
        if y is None:
            return None
        # One held-out document, or a constant target, is fine when nothing is learned from it.
        y = np.asarray(y, dtype=float).reshape(-1)
        if len(y) != n_docs:
            raise ValueError(f"y has {len(y)} values but X has {n_docs} documents")
        return y

    def fit(self, X: Any, y: Any):
        """Fit to counts (documents x words) and a real target."""
        return self._fit_supervised(X, y)

    def _fit_supervised(self, X: Any, y: Any, **options: Any):
        corpus = self._read_counts(X, reset=True)
        target = check_target(y, corpus.n_docs, kind="real")
        model = self._fit_target(corpus, target, Gaussian(float(np.var(target))), **options)
        self.coef_ = model.coef
        self.intercept_ = float(model.intercept)
        self.noise_variance_ = model.family.noise_variance
        return self

    def _family(self) -> Gaussian:
        return Gaussian(float(self.noise_variance_))

    def predict(self, X: Any) -> np.ndarray:
        """b + η·θ̂ of each document."""
        predictor = self._predictor(X)
        return mean_response(self._family(), predictor)


class ClassifierPart(TargetPart, ClassifierMixin):
    """fit and predict of a target with two classes, y ~ Bernoulli(σ(b + η·θ)).

    A subclass has `_fit_target`, as for `RegressorPart`.
    """

    def _encode_target(self, y: Any, n_docs: int) -> np.ndarray | None:
        if y is None:
            return None
        y = np.asarray(y).reshape(-1)
        if len(y) != n_docs:
            raise ValueError(f"y has {len(y)} values but X has {n_docs} documents")
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            row = int(np.argmax(unknown))
            raise ValueError(f"y has a class never seen in fit at row {row}: {str(y[row])!r}")
        return (y == self.classes_[1]).astype(float)

    def fit(self, X: Any, y: Any):
        """Fit to counts (documents x words) and a target with two classes."""
        return self._fit_supervised(X, y)

    def _fit_supervised(self, X: Any, y: Any, **options: Any):
        corpus = self._read_counts(X, reset=True)
        labels = _check_labels(y, corpus.n_docs)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y has one class only ({str(classes[0])!r}): there is nothing to tell apart. Pass "
                "documents of both classes."
            )
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. y has {len(classes)} classes: "
                "wrap the model in sklearn.multiclass.OneVsRestClassifier."
            )
        self.classes_ = classes
        model = self._fit_target(corpus, codes.astype(float), Bernoulli(), **options)
        self.coef_ = model.coef
        self.intercept_ = float(model.intercept)
        return self

    def _family(self) -> Bernoulli:
        return Bernoulli()

    def decision_function(self, X: Any) -> np.ndarray:
        """b + η·θ̂: the log odds of the second class."""
        return self._predictor(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the two classes, in the order of `classes_`."""
        second = mean_response(self._family(), self._predictor(X))
        return np.column_stack([1 - second, second])

    def predict(self, X: Any) -> np.ndarray:
        """The likelier class of each document."""
        second = self.decision_function(X) > 0
        return self.classes_[second.astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _check_labels(y: Any, n_docs: int) -> np.ndarray:
    """One label a document, none missing."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; it must be one label for each document.")
    if len(labels) != n_docs:
        raise ValueError(f"y has {len(labels)} values but X has {n_docs} documents")
    missing = (
        ~np.isfinite(labels)
        if labels.dtype.kind == "f"
        else np.array([v is None or (isinstance(v, float) and v != v) for v in labels])
    )
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"y contains a missing or infinite value (NaN, inf) at row {row}: {labels[row]}. Drop "
            "documents without a usable target."
        )
    check_classification_targets(labels)
    return labels
