"""Latent Dirichlet allocation: topics without a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from topicfocus.estimators.documents import Documents, read_weight
from topicfocus.estimators.joint import JointTopicModel
from topicfocus.estimators.joint_training import JointTrainer, joint_trainer


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
        "auto" is coordinate ascent, whose bound never falls.
    max_epochs : int, optional
        Passes over the documents at most: 200 (coordinate), 60 (stochastic), 500 (gradient).
    tol : float, optional
        Stop when the bound changes by no more than this share of itself in two (coordinate) or
        three (stochastic) epochs in a row; 1e-5, 2e-6, and 0 (never) for "gradient".
    batch_size, learning_rate : optional
        Of the solvers that have minibatches: 0.1 (stochastic), 100 and 0.025 (gradient). A
        stochastic batch is 100 documents, or a hundredth of them if that is more.
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
        epoch, objective (bound per token), kept_words, seconds. One entry an epoch, or a batch of
        `partial_fit` (NaN for the objective where the batch brought no epoch).
    n_samples_seen_ : float
        Documents of `fit` or of all calls to `partial_fit`, by their weights.

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
            If ``X`` is no matrix of counts, or a parameter is out of its range.

        Examples
        --------
        >>> from topicfocus import LDA
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> LDA(3, max_epochs=5, random_state=0).fit(reviews.counts).n_iter_
        5
        """
        corpus = self._read_counts(X, reset=True)
        documents = Documents(corpus, None, read_weight(sample_weight, corpus.n_docs))
        return self._train(documents.drop_zero_weight(), None)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LDA:
        """Learn from a batch of counts, after those of earlier calls. See docs/streaming.md.

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
            If ``X`` is no matrix of counts, or a parameter is out of its range.

        Examples
        --------
        >>> from topicfocus import LDA
        >>> from topicfocus.datasets import make_reviews
        >>> counts = make_reviews(400, random_state=0).counts
        >>> model = LDA(3, random_state=0).partial_fit(counts[:200]).partial_fit(counts[200:])
        >>> float(model.n_samples_seen_)
        400.0
        """
        first = not hasattr(self, "fitted_")
        corpus = self._read_counts(X, reset=first)
        documents = Documents(corpus, None, read_weight(sample_weight, corpus.n_docs))
        if not first:
            self._check_stream()
        return self._learn(documents.drop_zero_weight(allow_empty=True), None)

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
            If ``X`` does not have the columns that training saw, or holds what is no count.

        Examples
        --------
        >>> from topicfocus import LDA
        >>> from topicfocus.datasets import make_reviews
        >>> counts = make_reviews(200, random_state=0).counts
        >>> LDA(3, max_epochs=5, random_state=0).fit(counts).score(counts) < 0
        True
        """
        return self.elbo(X)["bound"]
