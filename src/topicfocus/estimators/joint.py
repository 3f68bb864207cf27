"""The joint models: LDA, sLDA and pf-sLDA (Ren, Kunes and Doshi-Velez, 2020).

Their parameters are here; `joint_training` fits them.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from topicfocus.estimators.arguments import check_choice, check_count, is_auto
from topicfocus.estimators.base import TopicModel, WordSelection, has_targets
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import FittedAttribute
from topicfocus.estimators.joint_training import JointTrainer, joint_trainer
from topicfocus.estimators.supervised import TopicClassifier, TopicRegressor
from topicfocus.joint import CoordinateSolver
from topicfocus.joint.bounds import NEGATIVE, bound_terms
from topicfocus.joint.initialize import initial_concentration
from topicfocus.joint.likelihood import exact_log_likelihood, importance_log_likelihood
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.statistics import collect
from topicfocus.model import ModelState, Problem


@dataclass(eq=False, repr=False, kw_only=True)
class JointTopicModel(TopicModel):
    """Base class of the joint models."""

    doc_topic_prior: Any = 1.0
    solver: str = "auto"
    max_epochs: int | None = None
    tol: float | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    warm_start: bool = False

    converged_ = FittedAttribute(lambda f: f.converged, "Whether the stopping rule was met.")

    def elbo(
        self, X: Any, y: Any = None, *, per_document: bool = False, **extras: Any
    ) -> dict[str, Any]:
        """The evidence lower bound of documents, and its eight terms by name.

        Parameters
        ----------
        X : counts
        y : target, optional
            Without it (or if it is NaN) the bound is on log p(w).
        per_document : bool, default=False
            Whether to return arrays over documents instead of sums.
        **extras
            `exposure` and `covariates` of the documents, as for predict.

        Returns
        -------
        dict with "bound" and log_p_theta, log_p_z, log_p_y, log_p_xi, log_p_w, log_q_theta,
        log_q_z, log_q_xi; the bound is the first five minus the last three.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` has other columns than the training documents, or invalid counts.

        Examples
        --------
        >>> from topicfocus import SLDARegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> model = SLDARegressor(3, max_epochs=5, random_state=0)
        >>> model.fit(reviews.counts, reviews.target).elbo(reviews.counts)["bound"] < 0
        True
        """
        problem, state, gamma = self._infer(self._new_documents(X, y, **extras))
        terms = bound_terms(problem, state, self._hyper, gamma)
        terms["log_p_y"] = terms["log_p_y"] - self._per_unit(problem.target_weights)
        bound = np.sum([-v if name in NEGATIVE else v for name, v in terms.items()], axis=0)
        result = {"bound": bound, **terms}
        return result if per_document else {k: float(v.sum()) for k, v in result.items()}

    def log_likelihood(
        self,
        X: Any,
        y: Any = None,
        *,
        n_samples: int = 500,
        exact: bool = False,
        random_state: int | np.random.Generator | None = 0,
        **extras: Any,
    ) -> np.ndarray:
        """log p(w_d), or log p(w_d, y_d) if a target is given, of every document.

        Estimated by importance sampling from q(θ). `exact` enumerates all assignments, for small
        documents (with a target: two topics only). Words that do not occur in the training
        documents are ignored.

        Parameters
        ----------
        X : counts
        y : target, optional
        n_samples : int, default=500
        exact : bool, default=False
        random_state : int or Generator, default=0
        **extras
            `exposure` and `covariates` of the documents, as for predict.

        Returns
        -------
        array (documents,)

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` has other columns than the training documents, or invalid counts.

        Examples
        --------
        >>> from topicfocus import LDA
        >>> from topicfocus.datasets import make_reviews
        >>> counts = make_reviews(200, random_state=0).counts
        >>> model = LDA(3, max_epochs=5, random_state=0).fit(counts)
        >>> bool((model.log_likelihood(counts[:4], n_samples=50) < 0).all())
        True
        """
        documents = self._new_documents(X, y, **extras)
        return self._log_p(documents, None if exact else n_samples, random_state)

    def perplexity(self, X: Any, *, n_samples: int = 500, random_state: Any = 0) -> float:
        """exp(-Σ_d log p(w_d) / number of tokens) of documents; lower is better.

        Parameters
        ----------
        X : counts
        n_samples : int, default=500
        random_state : int or Generator, default=0

        Returns
        -------
        float

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` has other columns than the training documents, or none of their words.

        Examples
        --------
        >>> from topicfocus import LDA
        >>> from topicfocus.datasets import make_reviews
        >>> counts = make_reviews(200, random_state=0).counts
        >>> model = LDA(3, max_epochs=5, random_state=0).fit(counts)
        >>> 1 < model.perplexity(counts, n_samples=50) < counts.shape[1]
        True
        """
        corpus = self._read_counts(X, reset=False)
        tokens = float((corpus.counts @ self.fitted_.known_words.astype(float)).sum())
        if tokens == 0:
            raise ValueError("X has no tokens of words in the training documents: no perplexity.")
        value = self._log_p(Documents(corpus, None), n_samples, random_state).sum()
        return float(np.exp(-value / tokens))

    @available_if(has_targets)
    def at_last_epoch(self):
        """A copy with the model of the last epoch, if `fit` chose another one on X_val.

        For comparing the end of an optimisation, such as the algorithm of Ren, Kunes and
        Doshi-Velez (2020), with the epoch that predicts best. Not stored in model files.

        Returns
        -------
        an estimator of the same class

        Raises
        ------
        ValueError
            If `fit` was not given ``X_val`` and ``y_val``, or the model was loaded from a file.

        Examples
        --------
        >>> from topicfocus import SLDARegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> train, valid = slice(0, 200), slice(200, 300)
        >>> model = SLDARegressor(3, max_epochs=5, random_state=0).fit(
        ...     reviews.counts[train], reviews.target[train],
        ...     X_val=reviews.counts[valid], y_val=reviews.target[valid])
        >>> model.at_last_epoch().n_iter_
        5
        """
        check_is_fitted(self)
        if self._last_epoch is None:
            raise ValueError(
                "the last epoch is kept when fit is given X_val and y_val, and not in model files."
            )
        other = copy.copy(self)
        other.fitted_ = self._last_epoch
        return other

    @property
    def _hyper(self) -> Hyperparameters:
        assert self.fitted_.hyper is not None
        return self.fitted_.hyper

    def _infer(self, documents: Documents) -> tuple[Problem, ModelState, np.ndarray]:
        """The problem of new documents, the model, and the converged γ of q(θ).

        Targets are scaled because Var η·θ, a difference of squares, would be lost to rounding for a
        target with a large mean.
        """
        state, hyper, targets = self.fitted_.state, self._hyper, self.fitted_.targets
        if targets is not None:
            state = targets.scaling.apply(state, into_coef=True)
            if documents.target is not None:
                documents = replace(documents, target=targets.scale(documents.target))
        problem = documents.problem(hyper.supervision_weight, self.n_jobs)
        gamma = initial_concentration(problem.n_docs, state.doc_topic_prior, problem.mean_length())
        collect(problem, state, hyper, gamma, max_steps=200, tolerance=1e-7)
        return problem, state, gamma

    def _per_unit(self, weights: np.ndarray) -> np.ndarray | float:
        """Σ_t w_t log s_t = log p(z) - log p(y); `weights` is documents x targets."""
        targets = self.fitted_.targets
        if targets is None or weights.shape[1] != targets.n_targets:
            return 0.0  # no target is known
        return weights @ np.log(targets.scaling.size)

    def _log_p(self, documents: Documents, n_samples: int | None, random_state: Any) -> np.ndarray:
        """log p of every document: exact, or by importance sampling."""
        problem, state, gamma = self._infer(documents)
        if n_samples is None:
            found = exact_log_likelihood(problem, state, self._hyper)
        else:
            rng, n = np.random.default_rng(random_state), check_count("n_samples", n_samples)
            found = importance_log_likelihood(problem, state, self._hyper, gamma, n, rng)
        return found - self._per_unit(problem.target_weights > 0)


@dataclass(eq=False, repr=False, kw_only=True)
class LDA(JointTopicModel):
    """Latent Dirichlet allocation by variational inference, a transformer.

    θ_d ~ Dirichlet(α), z ~ Categorical(θ_d), w ~ Categorical(β_z), β estimated by maximum
    likelihood. The same objective as :class:`SLDARegressor`, without the target.

    Parameters
    ----------
    n_topics : int, default=5
    doc_topic_prior : float, array (n_topics,) or "learn", default=1.0
        α. "learn": by Newton-Raphson.
    solver : {"auto", "coordinate", "stochastic", "gradient"}, default="auto"
        "auto" is coordinate ascent, which never decreases the bound.
    max_epochs : int, optional
        Largest number of epochs: 200 (coordinate), 60 (stochastic), 500 (gradient) by default.
    tol : float, optional
        Stop if the relative change of the bound is at most this in two (coordinate) or three
        (stochastic) consecutive epochs; 1e-5, 2e-6, and 0 (never) for "gradient".
    batch_size, learning_rate : optional
        Of the solvers with minibatches: 0.1 (stochastic), 100 and 0.025 (gradient). A stochastic
        batch has 100 documents, or 1% of them if that is more.
    warm_start : bool, default=False
        Start the next fit from the topics of the last one.
    n_jobs : int, optional
        Threads; None is all cores. The result does not depend on it.
    random_state : int, Generator or RandomState, optional
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    components_ : array (topics, words), rows sum to one
    doc_topic_prior_ : array (topics,)
    n_iter_ : int
    converged_ : bool
    history_ : dict of lists
        epoch, objective (bound per token), kept_words, seconds. One entry per epoch, or per batch
        of `partial_fit` (NaN for the objective if there was no epoch).
    n_samples_seen_ : float
        Sum of the weights of the documents of `fit`, or of all calls to `partial_fit`.

    Examples
    --------
    >>> from topicfocus import LDA
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(200, random_state=0)
    >>> LDA(3, max_epochs=5, random_state=0).fit_transform(reviews.counts).shape
    (200, 3)
    """

    def _trainer(self, n_words: int) -> JointTrainer:
        return joint_trainer(self, selects=False)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LDA:
        """Learn topics from counts.

        Parameters
        ----------
        X : counts, documents x words
        y : ignored
        sample_weight : array (documents,), optional
            A document of weight 2 counts like two copies of it.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If ``X`` is not a matrix of counts, or a parameter is out of its range.

        Examples
        --------
        >>> from topicfocus import LDA
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> LDA(3, max_epochs=5, random_state=0).fit(reviews.counts).n_iter_
        5
        """
        return self._fit(X, sample_weight=sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LDA:
        """Learn from a batch of counts, after those of earlier calls. See docs/scale.md.

        Parameters
        ----------
        X : counts, documents x words
        y : ignored
        sample_weight : array (documents,), optional

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If ``X`` is not a matrix of counts, or a parameter is out of its range.

        Examples
        --------
        >>> from topicfocus import LDA
        >>> from topicfocus.datasets import make_reviews
        >>> counts = make_reviews(400, random_state=0).counts
        >>> model = LDA(3, random_state=0).partial_fit(counts[:200]).partial_fit(counts[200:])
        >>> float(model.n_samples_seen_)
        400.0
        """
        return self._partial_fit(X, sample_weight=sample_weight)

    def score(self, X: Any, y: Any = None) -> float:
        """The bound on log p(w), summed over the documents.

        Parameters
        ----------
        X : counts, documents x words
        y : ignored

        Returns
        -------
        float

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` has other columns than the training documents, or invalid counts.

        Examples
        --------
        >>> from topicfocus import LDA
        >>> from topicfocus.datasets import make_reviews
        >>> counts = make_reviews(200, random_state=0).counts
        >>> LDA(3, max_epochs=5, random_state=0).fit(counts).score(counts) < 0
        True
        """
        return self.elbo(X)["bound"]


def _supervision(model: Any) -> dict[str, Any]:
    """Settings of the models with a target; λ is 1 by default (the evidence lower bound)."""
    weight = 1.0 if is_auto(model.supervision_weight) else float(model.supervision_weight)
    return {"supervision_weight": weight, "coef_penalty": float(model.coef_penalty)}


@dataclass(eq=False, repr=False, kw_only=True)
class SLDAParameters:
    """Parameters of sLDA, in which every word is explained by the topics: φ ≡ 1."""

    supervision_weight: Any = "auto"
    coef_penalty: float = 1e-3

    def _trainer(self: Any, n_words: int) -> JointTrainer:
        return joint_trainer(self, selects=False, **_supervision(self))


@dataclass(eq=False, repr=False, kw_only=True)
class SLDARegressor(SLDAParameters, JointTopicModel, TopicRegressor):
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

    standardize: bool = True
    noise_start: Any = None


@dataclass(eq=False, repr=False, kw_only=True)
class SLDAClassifier(SLDAParameters, JointTopicModel, TopicClassifier):
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


@dataclass(eq=False, repr=False, kw_only=True)
class PFSLDAParameters(WordSelection):
    """Parameters of pf-sLDA, in which words have switches."""

    inclusion_prior: Any = 0.1
    supervision_weight: Any = "auto"
    bound: str = "paper"
    selection: str = "auto"
    coef_penalty: float = 1e-3

    def _trainer(self: Any, n_words: int) -> JointTrainer:
        check_choice("selection", self.selection, ("auto", "closed_form", "sort_and_cut"))
        if self.selection == "sort_and_cut" and self.solver not in ("auto", "coordinate"):
            raise ValueError(
                f'selection="sort_and_cut" needs solver="coordinate", got solver={self.solver!r}.'
            )
        if n_words < 2:
            raise ValueError(
                "X has n_features=1: with a single word there is nothing to choose between. Give "
                "at least two words, or use SLDARegressor/SLDAClassifier."
            )
        selection = self.selection
        if selection == "auto":
            selection = "sort_and_cut" if self.bound == "tight" else "closed_form"
        search = is_auto(self.inclusion_prior)
        return joint_trainer(
            self,
            CoordinateSolver(selection=selection),
            # The gradient solver optimises the paper's bound; `selection` is about coordinate
            # ascent.
            schedule=self.bound == "paper" and self.selection == "auto",
            search=search,
            inclusion_prior=0.1 if search else float(self.inclusion_prior),
            bound=self.bound,
            **_supervision(self),
        )


@dataclass(eq=False, repr=False, kw_only=True)
class PFSLDARegressor(PFSLDAParameters, JointTopicModel, TopicRegressor):
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

    standardize: bool = True
    noise_start: Any = None


@dataclass(eq=False, repr=False, kw_only=True)
class PFSLDAClassifier(PFSLDAParameters, JointTopicModel, TopicClassifier):
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
