"""Supervised LDA: topics that explain the words and a target."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from topicfocus.corpus import check_target
from topicfocus.estimators.joint import JointTopicModel
from topicfocus.estimators.parameters import check_positive
from topicfocus.families import Bernoulli, Gaussian, mean_response
from topicfocus.inference.state import Hyperparameters


class SupervisedJointModel(JointTopicModel):
    """What supervised joint models share: the linear predictor η·θ̂."""

    def _supervision(self) -> float:
        """λ; "auto" is 1, the evidence lower bound itself."""
        if isinstance(self.supervision_weight, str):
            if self.supervision_weight != "auto":
                raise ValueError(
                    f"supervision_weight must be 'auto' or a number, got {self.supervision_weight!r}."
                )
            return 1.0
        return check_positive("supervision_weight", self.supervision_weight)

    def _predictor(self, X: Any) -> np.ndarray:
        """f = η·θ̂. θ sums to one, so the intercept is part of η and `intercept_` is 0."""
        return self.transform(X) @ self.coef_ + self.intercept_


class RegressorPart(RegressorMixin):
    """fit and predict of a real target, y ~ Normal(η·θ, δ)."""

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
        corpus = self._read_counts(X, reset=True)
        target = check_target(y, corpus.n_docs, kind="real")
        result = self._fit_joint(corpus, target, Gaussian(float(np.var(target))))
        self.coef_ = result.model.coef
        self.intercept_ = 0.0
        self.noise_variance_ = result.model.family.noise_variance
        return self

    def _family(self) -> Gaussian:
        return Gaussian(float(self.noise_variance_))

    def predict(self, X: Any) -> np.ndarray:
        """η·θ̂ of each document."""
        predictor = self._predictor(X)
        return mean_response(self._family(), predictor)


class ClassifierPart(ClassifierMixin):
    """fit and predict of a target with two classes, y ~ Bernoulli(σ(η·θ))."""

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
        result = self._fit_joint(corpus, codes.astype(float), Bernoulli())
        self.classes_ = classes
        self.coef_ = result.model.coef
        self.intercept_ = 0.0
        return self

    def _family(self) -> Bernoulli:
        return Bernoulli()

    def decision_function(self, X: Any) -> np.ndarray:
        """η·θ̂: the log odds of the second class."""
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


class _SLDA(SupervisedJointModel):
    """Parameters of supervised LDA."""

    def __init__(
        self,
        n_topics: int = 5,
        *,
        doc_topic_prior: Any = 1.0,
        supervision_weight: Any = "auto",
        solver: str = "auto",
        max_epochs: int | None = None,
        tol: float | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.doc_topic_prior = doc_topic_prior
        self.supervision_weight = supervision_weight
        self.solver = solver
        self.max_epochs = max_epochs
        self.tol = tol
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _hyperparameters(self, n_topics: int, learn_prior: bool) -> Hyperparameters:
        return Hyperparameters(
            n_topics,
            selects=False,
            supervision_weight=self._supervision(),
            learn_prior=learn_prior,
        )


class SLDARegressor(RegressorPart, _SLDA):
    """Supervised LDA for a real target: y ~ Normal(η·θ, δ).

    Every word is explained by the topics. Parameters are those of :class:`LDA`, and:

    Parameters
    ----------
    supervision_weight : float or "auto", default="auto"
        λ, the weight of log p(y) in the objective; "auto" is 1.

    Attributes
    ----------
    components_, doc_topic_prior_, n_iter_, converged_, history_ : as for :class:`LDA`
    coef_ : array (topics,)
        η: the expected target of a document that is all of one topic.
    intercept_ : float
        0: θ sums to one, so η carries it.
    noise_variance_ : float
        δ.
    """


class SLDAClassifier(ClassifierPart, _SLDA):
    """Supervised LDA for two classes: y ~ Bernoulli(σ(η·θ)).

    Parameters are those of :class:`SLDARegressor`; `classes_` are the labels, `coef_` the log odds
    of the second one in a document that is all of one topic.
    """
