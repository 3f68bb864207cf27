"""Supervised LDA: topics that explain the words and a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from topicfocus.estimators.joint_training import JointTrainer, joint_trainer, read_supervision
from topicfocus.estimators.lda import JointTopicModel
from topicfocus.estimators.supervised import TopicClassifier, TopicRegressor


def _slda_trainer(model: Any) -> JointTrainer:
    """Every word is explained by the topics: φ ≡ 1."""
    weight = read_supervision(model.supervision_weight)
    return joint_trainer(model, {"selects": False, "supervision_weight": weight})


@dataclass(eq=False, repr=False, kw_only=True)
class SLDARegressor(JointTopicModel, TopicRegressor):
    """Supervised LDA: y ~ Normal(η·θ, δ), or another family.

    Every word is explained by the topics.

    Parameters
    ----------
    n_topics : int, default=5
    doc_topic_prior, solver, max_epochs, tol, batch_size, learning_rate, warm_start, n_jobs
        As for :class:`LDA`.
    random_state, verbose
        As for :class:`LDA`.
    supervision_weight : float or "auto", default="auto"
        λ, the weight of log p(y) in the objective; "auto" is 1.
    family : str, family, or a list of these, default="gaussian"
        Family of the target: "gaussian" (a real number), "poisson" (a count, with `exposure`),
        "ordinal" (a rating), "bernoulli" (0 or 1), or a family of your own (docs/families.md). A
        list has one per column of y; a single name is for all columns.
    standardize : bool, default=True
        Whether real-valued targets are scaled by their standard deviation, so that the model does
        not depend on their units. The algorithm of Ren, Kunes and Doshi-Velez (2020) does not scale
        them.
    noise_start : float, "random" or None, default=None
        Starting value of δ for ``solver="gradient"``, in the units of the fit: the square of a
        normal random number, at least 0.05 (None) or without that bound, as in the original code
        ("random"), or a number.
    coef_penalty : float, default=0.001
        Precision of the Normal(0, ·) prior on η and ζ, in the units of the fit. The original has 0.

    Attributes
    ----------
    components_, doc_topic_prior_, n_iter_, converged_, history_ : as for :class:`LDA`
    coef_ : array (topics,) or (targets, topics)
        η, the linear predictor of a document that consists of one topic, in the units of the
        target. `elbo` and `log_likelihood` are densities per unit of it; the objective in
        `history_` is that of the scaled target.
    intercept_ : float or array (targets,)
        0, because θ sums to one and η includes the intercept.
    covariate_coef_ : array (covariates,) or (targets, covariates)
        ζ, if there were covariates.
    noise_variance_ : float or array (targets,)
        δ of Gaussian targets.
    thresholds_, levels_ : arrays
        Of an ordinal target: τ, and the values its levels have.
    family_ : the fitted family

    Examples
    --------
    >>> from topicfocus import SLDARegressor
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = SLDARegressor(3, max_epochs=20, random_state=0)
    >>> model.fit(reviews.counts, reviews.target).coef_.shape
    (3,)
    """

    supervision_weight: Any = "auto"
    standardize: bool = True
    noise_start: Any = None
    coef_penalty: float = 1e-3

    def _trainer(self, n_words: int) -> JointTrainer:
        return _slda_trainer(self)


@dataclass(eq=False, repr=False, kw_only=True)
class SLDAClassifier(JointTopicModel, TopicClassifier):
    """Supervised LDA for classes: y ~ Bernoulli(σ(η·θ)), or softmax for more than two.

    Parameters
    ----------
    n_topics : int, default=5
    supervision_weight : float or "auto", default="auto"
        As for :class:`SLDARegressor`.
    doc_topic_prior, solver, max_epochs, tol, batch_size, learning_rate, warm_start, n_jobs
        As for :class:`LDA`.
    random_state, verbose
        As for :class:`LDA`.
    coef_penalty : float, default=0.001
        Precision of the Normal(0, ·) prior on η and ζ, so that separable classes have an optimum.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of the documents of each class, as in scikit-learn; "balanced" gives
        all classes the same total weight.

    Attributes
    ----------
    classes_ : array, or a list of arrays for several targets
        The labels.
    coef_ : array (topics,) or (classes, topics)
        Log odds of the second class in a document that consists of one topic; for more classes, one
        row per class.
    components_, doc_topic_prior_, intercept_, n_iter_, converged_, history_
        As for :class:`SLDARegressor`.

    Examples
    --------
    >>> from topicfocus import SLDAClassifier
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = SLDAClassifier(3, max_epochs=20, random_state=0)
    >>> model.fit(reviews.counts, reviews.target > 5).coef_.shape
    (3,)
    """

    supervision_weight: Any = "auto"
    coef_penalty: float = 1e-3

    def _trainer(self, n_words: int) -> JointTrainer:
        return _slda_trainer(self)
