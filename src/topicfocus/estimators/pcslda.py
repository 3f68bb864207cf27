"""Prediction-constrained supervised LDA: the focused model with every word kept."""

from __future__ import annotations

from typing import Any

from topicfocus.estimators.classifier import TopicClassifier
from topicfocus.estimators.fitted import FittedAttribute
from topicfocus.estimators.focused_training import FocusedTrainer, focused_trainer
from topicfocus.estimators.regressor import TopicRegressor


class PCSLDARegressor(TopicRegressor):
    """Prediction-constrained sLDA: the focused model with every word kept.

    Parameters
    ----------
    n_topics : int, default=5
    family : str, family, or a list of these, default="gaussian"
        As for :class:`SLDARegressor`.
    doc_topic_prior, supervision_weight
        As for :class:`FocusedTopicRegressor`.
    max_epochs : int, optional
        L-BFGS steps at most; 60 by default.
    early_stopping : bool, default=True
        It matters more here, since all words can overfit.
    validation_fraction, n_jobs, random_state, verbose
        As for :class:`FocusedTopicRegressor`.

    Attributes
    ----------
    components_, coef_, intercept_, evidence_, noise_variance_, explained_, history_, n_iter_
        As for :class:`FocusedTopicRegressor`, without those that concern selection.

    Examples
    --------
    >>> from topicfocus import PCSLDARegressor
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = PCSLDARegressor(3, random_state=0)
    >>> model.fit(reviews.counts, reviews.target).coef_.shape
    (3,)
    """

    evidence_ = FittedAttribute(lambda f: f.evidence, "What each word says about the target.")
    explained_ = FittedAttribute(lambda f: f.explained, "Held-out share that each way explains.")
    supervision_weight_ = FittedAttribute(lambda f: f.supervision_weight, "λ as used.")

    def __init__(
        self,
        n_topics: int = 5,
        *,
        family: Any = "gaussian",
        doc_topic_prior: Any = "auto",
        supervision_weight: Any = "auto",
        max_epochs: int | None = None,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.family = family
        self.doc_topic_prior = doc_topic_prior
        self.supervision_weight = supervision_weight
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _trainer(self, n_words: int) -> FocusedTrainer:
        return focused_trainer(self, select=False)


class PCSLDAClassifier(TopicClassifier):
    """Prediction-constrained sLDA for classes: the focused model with every word kept.

    Parameters
    ----------
    n_topics : int, default=5
    doc_topic_prior, supervision_weight, max_epochs, early_stopping
        As for :class:`PCSLDARegressor`.
    validation_fraction, n_jobs, random_state, verbose
        As for :class:`PCSLDARegressor`.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of the documents of each class, as scikit-learn has them; "balanced"
        makes every class weigh the same.

    Attributes
    ----------
    classes_ : array, or a list of arrays for several targets
    components_, coef_, intercept_, evidence_, explained_, history_, n_iter_
        As for :class:`PCSLDARegressor`; `coef_` has one row a class where there are more than two.

    Examples
    --------
    >>> from topicfocus import PCSLDAClassifier
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = PCSLDAClassifier(3, random_state=0)
    >>> model.fit(reviews.counts, reviews.target > 5).coef_.shape
    (3,)
    """

    evidence_ = FittedAttribute(lambda f: f.evidence, "What each word says about the target.")
    explained_ = FittedAttribute(lambda f: f.explained, "Held-out share that each way explains.")
    supervision_weight_ = FittedAttribute(lambda f: f.supervision_weight, "λ as used.")

    def __init__(
        self,
        n_topics: int = 5,
        *,
        doc_topic_prior: Any = "auto",
        supervision_weight: Any = "auto",
        max_epochs: int | None = None,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.doc_topic_prior = doc_topic_prior
        self.supervision_weight = supervision_weight
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _trainer(self, n_words: int) -> FocusedTrainer:
        return focused_trainer(self, select=False)
