"""Supervised LDA: topics that explain the words and a target."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.estimators.joint import JointTopicModel
from topicfocus.estimators.parameters import check_positive
from topicfocus.estimators.targets import ClassifierPart, RegressorPart
from topicfocus.inference.state import Hyperparameters, ModelState


class SupervisedJointModel(JointTopicModel):
    """What supervised joint models share. θ sums to one, so η carries the intercept."""

    def _supervision(self) -> float:
        """λ; "auto" is 1, the evidence lower bound itself."""
        if isinstance(self.supervision_weight, str):
            if self.supervision_weight != "auto":
                given = self.supervision_weight
                raise ValueError(f"supervision_weight must be 'auto' or a number, got {given!r}.")
            return 1.0
        return check_positive("supervision_weight", self.supervision_weight)

    def _fit_target(self, corpus: Corpus, target: np.ndarray, family: Any) -> ModelState:
        return self._fit_joint(corpus, target, family).model


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
