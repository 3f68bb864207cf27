"""Latent Dirichlet allocation, and the base class of the joint models (LDA, sLDA, pf-sLDA)."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from topicfocus.estimators.arguments import check_count
from topicfocus.estimators.base import TopicModel, has_targets
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import FittedAttribute
from topicfocus.estimators.joint_training import JointTrainer, joint_trainer
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
        problem, state, gamma = self._infer(self._new_documents(X, y, **extras))
        per_unit = self._per_unit(problem.target_weights > 0)
        if exact:
            return exact_log_likelihood(problem, state, self._hyper) - per_unit
        return self._sampled(problem, state, gamma, n_samples, random_state) - per_unit

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
        fitted = self.fitted_
        tokens = float((corpus.counts @ fitted.known_words.astype(float)).sum())
        if tokens == 0:
            raise ValueError("X has no tokens of words in the training documents: no perplexity.")
        problem, state, gamma = self._infer(Documents(corpus, None))
        value = self._sampled(problem, state, gamma, n_samples, random_state).sum()
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
        if targets is not None and targets.target_scaling is not None:
            state = targets.target_scaling.apply(state, into_coef=True)
            if documents.target is not None:
                documents = replace(documents, target=targets.scale(documents.target))
        problem = documents.problem(hyper.supervision_weight, self.n_jobs)
        gamma = initial_concentration(problem.n_docs, state.doc_topic_prior, problem.mean_length())
        collect(problem, state, hyper, gamma, max_steps=200, tolerance=1e-7)
        return problem, state, gamma

    def _per_unit(self, weights: np.ndarray) -> np.ndarray | float:
        """log p of the scaled minus the original targets; `weights` is documents x targets."""
        targets = self.fitted_.targets
        scaling = None if targets is None else targets.target_scaling
        if scaling is None or weights.shape[1] != len(scaling.size):
            return 0.0  # no target is known
        return scaling.log_density(weights)

    def _sampled(
        self,
        problem: Problem,
        state: ModelState,
        gamma: np.ndarray,
        n_samples: int,
        random_state: Any,
    ) -> np.ndarray:
        n_samples = check_count("n_samples", n_samples)
        rng = np.random.default_rng(random_state)
        return importance_log_likelihood(problem, state, self._hyper, gamma, n_samples, rng)


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
        return joint_trainer(self, {"selects": False})

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
