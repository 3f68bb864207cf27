"""Prediction-focused supervised LDA, the paper's model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from topicfocus.estimators.arguments import check_choice, check_share, is_auto
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
    search = is_auto("inclusion_prior", model.inclusion_prior)
    prior = 0.1 if search else check_share("inclusion_prior", model.inclusion_prior)
    hyper = {
        "selects": True,
        "inclusion_prior": prior,
        "bound": model.bound,
        "supervision_weight": read_supervision(model.supervision_weight),
    }
    # The gradient solver optimises the paper's bound; `selection` is about coordinate ascent.
    schedule = model.bound == "paper" and model.selection == "auto"
    return joint_trainer(
        model, hyper, CoordinateSolver(selection=selection), schedule=schedule, search=search
    )


@dataclass(eq=False, repr=False, kw_only=True)
class PFSLDARegressor(JointTopicModel, TopicRegressor):
    """Prediction-focused supervised LDA (AISTATS 2020) for a real target, or another family.

    Each token has a switch ξ ~ Bernoulli(p): relevant ones come from the topics, the others from
    one background distribution π. q(ξ) depends on the word alone, so the model learns which words
    are relevant to y ~ Normal(η·θ, δ).

    Parameters
    ----------
    n_topics : int, default=5
    inclusion_prior : float in (0, 1) or "auto", default=0.1
        p: the expected fraction of tokens that are relevant. "auto" compares 0.05, 0.1, 0.15, 0.2
        and 0.3 on ``X_val``, or on a fifth of the documents, and takes the smallest whose error is
        within one standard error (of the paired difference) of the least; then the model is fitted
        to all documents as if this p had been given. The values are compared along one path, which
        takes about 1.2 times the steps of a fit. Needs ``solver="auto"``.
    doc_topic_prior : float, array (n_topics,) or "learn", default=1.0
    supervision_weight : float or "auto", default="auto"
        λ, the weight of log p(y); "auto" is 1.
    family : as for :class:`SLDARegressor`
    bound : {"paper", "tight"}, default="paper"
        The paper's bound, or the one with z integrated out where ξ = 0, which is never lower.
    solver : {"auto", "coordinate", "stochastic", "gradient"}, default="auto"
        "auto" is the algorithm of Ren, Kunes and Doshi-Velez (2020), Adam on all parameters at once
        from a nearly symmetric start, with a larger step that falls to zero, about 8,500 steps, and
        a start without a plateau. "gradient" has the settings of the original: more steps, the same
        quality. "coordinate" is coordinate ascent, whose bound never falls; it predicts worse, but
        does not depend on the order of documents, learns α, and takes counts that are not in memory
        ("auto" is "coordinate" for these, for ``doc_topic_prior="learn"``, for ``bound="tight"``
        and where ``selection`` is given). "stochastic" is for very many documents. docs/pfslda.md
        compares them.
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
    inclusion_prior_ : float
        p, as given or as chosen.
    inclusion_path_ : tuple of (p, explained fraction, standard error)
        With ``inclusion_prior="auto"``: what was compared on validation documents. The error is
        that of the difference from the best.

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
    inclusion_prior_ = FittedAttribute(lambda f: f.inclusion_prior, "p, as given or as chosen.")
    inclusion_path_ = FittedAttribute(lambda f: f.shares, "Inclusion priors compared.")
    background_ = FittedAttribute(lambda f: f.background, "π, sums to one.")

    inclusion_prior: Any = 0.1
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
    inclusion_prior_ = FittedAttribute(lambda f: f.inclusion_prior, "p, as given or as chosen.")
    inclusion_path_ = FittedAttribute(lambda f: f.shares, "Inclusion priors compared.")
    background_ = FittedAttribute(lambda f: f.background, "π, sums to one.")

    inclusion_prior: Any = 0.1
    supervision_weight: Any = "auto"
    bound: str = "paper"
    selection: str = "auto"
    coef_penalty: float = 1e-3

    def _trainer(self, n_words: int) -> JointTrainer:
        return _pfslda_trainer(self, n_words)
