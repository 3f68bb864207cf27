"""Supervised LDA: topics that explain the words and a target."""

from __future__ import annotations

import copy
from typing import Any

from sklearn.utils.validation import check_is_fitted

from topicfocus.estimators.documents import Documents
from topicfocus.estimators.parameters import check_positive
from topicfocus.estimators.streaming import JointStreaming
from topicfocus.estimators.streaming_targets import StreamingClassifier, StreamingRegressor
from topicfocus.estimators.targets import ClassifierPart, RegressorPart
from topicfocus.inference.state import Hyperparameters, ModelState


class SupervisedJointModel(JointStreaming):
    """What supervised joint models share. θ sums to one, so η carries the intercept."""

    def _supervision(self) -> float:
        """λ; "auto" is 1, the evidence lower bound itself."""
        if isinstance(self.supervision_weight, str):
            if self.supervision_weight != "auto":
                given = self.supervision_weight
                raise ValueError(f"supervision_weight must be 'auto' or a number, got {given!r}.")
            return 1.0
        return check_positive("supervision_weight", self.supervision_weight)

    def _warm_state(self) -> ModelState:
        return self._scaling.apply(self._state())

    def _fit_documents(
        self, documents: Documents, family: Any, held_out: Documents | None = None
    ) -> ModelState:
        result = self._fit_joint(documents, family, held_out)
        if held_out is not None:
            self._last_epoch = result.last
        elif hasattr(self, "_last_epoch"):
            del self._last_epoch
        return result.model

    def at_last_epoch(self) -> SupervisedJointModel:
        """A copy with the model of the last epoch, where `fit` chose another one on X_val.

        For a model of which the path is of interest, such as the paper's algorithm: what it ends
        with, beside what predicts best. Not kept in model files.
        """
        check_is_fitted(self)
        if not hasattr(self, "_last_epoch"):
            raise ValueError(
                "the last epoch is kept when fit is given X_val and y_val, and not in model files."
            )
        other = copy.copy(self)
        other._keep_words(self._last_epoch)
        other._keep_target(self._scaling.restore(self._last_epoch))
        return other


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
            n_topics=n_topics,
            selects=False,
            supervision_weight=self._supervision(),
            learn_prior=learn_prior,
        )


class SLDARegressor(StreamingRegressor, RegressorPart, _SLDA):
    """Supervised LDA: y ~ Normal(η·θ, δ), or another family.

    Every word is explained by the topics. Parameters are those of :class:`LDA`, and:

    Parameters
    ----------
    supervision_weight : float or "auto", default="auto"
        λ, the weight of log p(y) in the objective; "auto" is 1.
    family : {"gaussian", "poisson", "ordinal", "bernoulli"} or a list of them, default="gaussian"
        Of the target: a real number, a count (with `exposure`), a rating, a probability of 1. A
        list has one for each column of y; one name serves all columns.

    Attributes
    ----------
    components_, doc_topic_prior_, n_iter_, converged_, history_ : as for :class:`LDA`
    coef_ : array (topics,) or (targets, topics)
        η: the linear predictor of a document that is all of one topic.
    intercept_ : float or array (targets,)
        0: θ sums to one, so η carries it.
    covariate_coef_ : array (covariates,) or (targets, covariates)
        ζ, if there were covariates.
    noise_variance_ : float or array (targets,)
        δ of Gaussian targets.
    thresholds_, levels_ : arrays
        Of an ordinal target: τ, and the values its levels have.
    family_ : the fitted family
    """

    def __init__(
        self,
        n_topics: int = 5,
        *,
        family: Any = "gaussian",
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
        super().__init__(
            n_topics,
            doc_topic_prior=doc_topic_prior,
            supervision_weight=supervision_weight,
            solver=solver,
            max_epochs=max_epochs,
            tol=tol,
            batch_size=batch_size,
            learning_rate=learning_rate,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.family = family


class SLDAClassifier(StreamingClassifier, ClassifierPart, _SLDA):
    """Supervised LDA for classes: y ~ Bernoulli(σ(η·θ)), or softmax for more than two.

    Parameters are those of :class:`SLDARegressor`, without `family`. `classes_` are the labels,
    `coef_` the log odds of the second one in a document that is all of one topic; with more
    classes, one row of it a class.
    """
