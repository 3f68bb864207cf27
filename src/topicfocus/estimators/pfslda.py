"""Prediction-focused supervised LDA, the paper's model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from topicfocus.estimators.arguments import check_choice, check_share
from topicfocus.estimators.fitted import FittedAttribute
from topicfocus.estimators.joint_training import JointTrainer, joint_trainer, read_supervision
from topicfocus.estimators.lda import JointTopicModel
from topicfocus.estimators.supervised import TopicClassifier, TopicRegressor
from topicfocus.joint import CoordinateSolver


def _pfslda_trainer(model: Any, n_words: int) -> JointTrainer:
    """Words have switches; how coordinate ascent moves them depends on the bound."""
    check_choice("bound", model.bound, ("paper", "tight"))
    check_choice("selection", model.selection, ("auto", "closed_form", "sort_and_cut"))
    if model.selection == "sort_and_cut" and model.solver not in ("auto", "coordinate"):
        raise ValueError(
            f'selection="sort_and_cut" needs solver="coordinate", got solver={model.solver!r}.'
        )
    if n_words < 2:
        raise ValueError(
            "X has n_features=1: with a single word there is nothing to choose between. Give at "
            "least two words, or use SLDARegressor/SLDAClassifier."
        )
    selection = model.selection
    if selection == "auto":
        selection = "sort_and_cut" if model.bound == "tight" else "closed_form"
    hyper = {
        "selects": True,
        "inclusion_prior": check_share("inclusion_prior", model.inclusion_prior),
        "bound": model.bound,
        "supervision_weight": read_supervision(model.supervision_weight),
    }
    return joint_trainer(model, hyper, CoordinateSolver(selection=selection))


@dataclass(eq=False, repr=False, kw_only=True)
class PFSLDARegressor(JointTopicModel, TopicRegressor):
    """Prediction-focused supervised LDA (AISTATS 2020) for a real target, or another family.

    Each token has a switch ξ ~ Bernoulli(p): relevant ones come from the topics, the others from
    one background distribution π. q(ξ) depends on the word alone, so the model learns which words
    are relevant to y ~ Normal(η·θ, δ).

    Parameters
    ----------
    n_topics : int, default=5
    inclusion_prior : float in (0, 1), default=0.1
        p: the expected share of tokens that are relevant.
    doc_topic_prior : float, array (n_topics,) or "learn", default=1.0
    supervision_weight : float or "auto", default="auto"
        λ, the weight of log p(y); "auto" is 1.
    family : as for :class:`SLDARegressor`
    bound : {"paper", "tight"}, default="paper"
        The paper's bound, or the one with z integrated out where ξ = 0, which is never lower.
    solver : {"auto", "coordinate", "stochastic", "gradient"}, default="auto"
        "auto" is coordinate ascent, whose bound never falls. "gradient" is the paper's own
        algorithm, Adam on everything from a symmetric start: hundreds of epochs to a result that
        depends on its path. See docs/models.md for what each finds on the same reviews.
    selection : {"auto", "closed_form", "sort_and_cut"}, default="auto"
        How coordinate ascent updates inclusion. "sort_and_cut" (tight bound) anneals to exactly
        disjoint channels and is what "auto" means there.
    max_epochs, tol, batch_size, learning_rate, warm_start, n_jobs, random_state, verbose
        As for :class:`LDA`.
    standardize, noise_start, coef_penalty : as for :class:`SLDARegressor`

    Attributes
    ----------
    components_, doc_topic_prior_, coef_, intercept_, noise_variance_, n_iter_, history_
        As for :class:`SLDARegressor`.
    inclusion_ : array (words,)
        φ_v, the probability that word v is relevant.
    selected_words_ : array of bool (words,)
        φ_v > ½.
    background_ : array (words,)
        π, sums to one.

    Examples
    --------
    >>> from topicfocus import PFSLDARegressor
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = PFSLDARegressor(3, max_epochs=20, random_state=0)
    >>> model.fit(reviews.counts, reviews.target).coef_.shape
    (3,)
    """

    inclusion_ = FittedAttribute(lambda f: f.inclusion, "φ, the probability of being relevant.")
    selected_words_ = FittedAttribute(lambda f: f.selected_words, "φ > ½.")
    background_ = FittedAttribute(lambda f: f.background, "π, sums to one.")

    inclusion_prior: float = 0.1
    supervision_weight: Any = "auto"
    bound: str = "paper"
    selection: str = "auto"
    standardize: bool = True
    noise_start: Any = None
    coef_penalty: float = 1e-3

    def _trainer(self, n_words: int) -> JointTrainer:
        return _pfslda_trainer(self, n_words)


@dataclass(eq=False, repr=False, kw_only=True)
class PFSLDAClassifier(JointTopicModel, TopicClassifier):
    """Prediction-focused supervised LDA for classes, as :class:`SLDAClassifier` has them.

    Parameters
    ----------
    n_topics : int, default=5
    inclusion_prior, doc_topic_prior, supervision_weight, bound, solver, selection, max_epochs
        As for :class:`PFSLDARegressor`.
    tol, batch_size, learning_rate, warm_start, n_jobs, random_state, verbose
        As for :class:`LDA`.
    coef_penalty : float, default=0.001
        Precision of the Normal(0, ·) prior on η and ζ, so that separable classes have an optimum.
    class_weight : None, "balanced" or dict, default=None
        Factors on the weights of the documents of each class, as in scikit-learn; "balanced" gives
        all classes the same total weight.

    Attributes
    ----------
    classes_ : array, or a list of arrays for several targets
    components_, coef_, inclusion_, selected_words_, background_, n_iter_, history_
        As for :class:`PFSLDARegressor`.

    Examples
    --------
    >>> from topicfocus import PFSLDAClassifier
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> model = PFSLDAClassifier(3, max_epochs=20, random_state=0)
    >>> model.fit(reviews.counts, reviews.target > 5).coef_.shape
    (3,)
    """

    inclusion_ = FittedAttribute(lambda f: f.inclusion, "φ, the probability of being relevant.")
    selected_words_ = FittedAttribute(lambda f: f.selected_words, "φ > ½.")
    background_ = FittedAttribute(lambda f: f.background, "π, sums to one.")

    inclusion_prior: float = 0.1
    supervision_weight: Any = "auto"
    bound: str = "paper"
    selection: str = "auto"
    coef_penalty: float = 1e-3

    def _trainer(self, n_words: int) -> JointTrainer:
        return _pfslda_trainer(self, n_words)
