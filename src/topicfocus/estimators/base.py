"""Base class of all estimators: topic proportions, words of topics, explanations, saving.

An estimator makes a trainer from its parameters; the result of training is `fitted_`, from which
all public attributes and predictions are read.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, BinaryIO, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.counts import is_dask
from topicfocus.estimators import effects, words
from topicfocus.estimators.arguments import (
    check_columns,
    check_count,
    check_parameters,
    labels_for_each,
    read_weight,
)
from topicfocus.estimators.corrections import with_merged, with_names
from topicfocus.estimators.documents import (
    Documents,
    read_batch,
    read_training,
    read_validation,
)
from topicfocus.estimators.explain import Explanation, explain
from topicfocus.estimators.fitted import Fitted, FittedAttribute
from topicfocus.estimators.focused_training import FocusedTrainer
from topicfocus.estimators.joint_training import JointTrainer
from topicfocus.estimators.targets import TargetModel
from topicfocus.estimators.training import (
    RESERVOIR_SIZE,
    FitOptions,
    in_data_units,
    warn_if_useless,
    warn_of_empty,
)
from topicfocus.interrupts import keyboard_interrupts
from topicfocus.persistence import save


class WordSelection:
    """Attributes of the models that select words, and the words that they drop."""

    inclusion_ = FittedAttribute(
        lambda f: f.inclusion,
        "φ, the probability of being relevant; 0 or 1 in focused models.",
    )
    selected_words_ = FittedAttribute(
        lambda f: f.selected_words, "Words that are kept; in pf-sLDA those with φ > ½."
    )
    inclusion_prior_ = FittedAttribute(
        lambda f: f.inclusion_prior, "Fraction of relevant tokens, as given or as chosen."
    )
    inclusion_path_ = FittedAttribute(lambda f: f.shares, "Fractions compared.")
    background_ = FittedAttribute(lambda f: f.state.background, "π, of the words of no topic.")

    def context_words(self: Any, n: int = 10, vocabulary: Any = None) -> list[list[str]]:
        """Dropped words that documents of a topic use more than other documents.

        They are ordered by √C_vk log((C_vk + 5) / (E_vk + 5)), where C_vk = Σ_d c_dv r_dk counts
        co-occurrences of word v and topic k in the training documents (r_d are their
        `token_proportions`; c_dv is √count in focused models), and E_vk = C_v· C_·k / C_·· is its
        expectation under independence. After `partial_fit`, of the documents in memory.

        Parameters
        ----------
        n : int, default=10
        vocabulary : list of str, dict or vectoriser, optional
            As for `top_words`.

        Returns
        -------
        list of lists of str, one per topic
            Only words that occur more often than expected.

        Raises
        ------
        ValueError
            If a model file lacks the counts of dropped words.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> [len(words) for words in model.context_words(4, reviews.vocabulary)]
        [4, 4, 4]
        """
        check_is_fitted(self)
        n = check_count("n", n)
        names = self._column_names(vocabulary)
        context, kept = self.fitted_.context, self.fitted_.selected_words
        if context is None or kept is None:
            raise ValueError("the model has no counts of words beside topics. Fit it again.")
        return words.first_words(words.context_scores(context, ~kept), n, names, lambda s: s > 0)


def has_targets(model: Any) -> bool:
    """Whether a model is a regressor or a classifier."""
    return isinstance(model, (RegressorMixin, ClassifierMixin))


@dataclass(eq=False, repr=False)
class TopicModel(TransformerMixin, BaseEstimator, ABC):
    """Base class of all estimators, with and without targets."""

    #: Largest number of documents that `partial_fit` keeps in memory.
    reservoir_size = RESERVOIR_SIZE

    #: With fewer different words that the topics contain, a prediction is near the average.
    FEW_WORDS = 3

    #: Makes targets from the columns of y and the weights of the documents; None without targets.
    _make_targets: ClassVar[Callable[[Any, list[np.ndarray], np.ndarray], TargetModel] | None] = (
        None
    )

    #: Documents and statistics that the next `partial_fit` continues from.
    _stream = None
    #: The model of the last epoch, if validation documents chose another one.
    _last_epoch = None

    n_topics: int = 5
    _: KW_ONLY
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False
    fitted_: Fitted = field(init=False)

    components_ = FittedAttribute(lambda f: f.components, "β, topics x words, rows sum to one.")
    doc_topic_prior_ = FittedAttribute(lambda f: f.state.doc_topic_prior, "α, of every topic.")
    topic_names_ = FittedAttribute(lambda f: list(f.names), "Name of each topic, None without one.")
    n_iter_ = FittedAttribute(lambda f: f.n_iter, "Epochs, steps or batches.")
    history_ = FittedAttribute(lambda f: f.history, "Lists by name, one entry an epoch.")
    n_samples_seen_ = FittedAttribute(
        lambda f: f.n_samples_seen, "Documents fitted to, by their weights."
    )

    coef_ = FittedAttribute(lambda f: f.coef, "η, one row per class or target if several.")
    intercept_ = FittedAttribute(lambda f: f.intercept, "b.")
    covariate_coef_ = FittedAttribute(lambda f: f.covariate_coef, "ζ, if there are covariates.")
    n_covariates_ = FittedAttribute(
        lambda f: f.targets and f.targets.n_covariates, "Number of covariates."
    )
    family_ = FittedAttribute(lambda f: f.targets and f.state.family, "The fitted family.")

    @abstractmethod
    def _trainer(self, n_words: int) -> JointTrainer | FocusedTrainer:
        """The trainer; parameters that have a rule by themselves have been checked."""

    # ---- training --------------------------------------------------------------------------------

    def _read_counts(self, X: Any, *, reset: bool) -> Corpus:
        """Check counts; `reset` stores the names of the columns, else they must agree."""
        if not reset:
            check_is_fitted(self)
        if is_dask(X):
            from topicfocus.distributed import DaskCounts

            X = DaskCounts(X)
        corpus = make_corpus(X, allow_empty=not reset, fractions=True)
        check_columns(self, X, reset=reset)
        return corpus

    def _weight_classes(self, documents: Documents, targets: TargetModel) -> Documents:
        """Multiply the weights of documents by `class_weight`, in classifiers."""
        return documents

    @keyboard_interrupts()
    def _fit(
        self,
        X: Any,
        y: Any = None,
        options: FitOptions = FitOptions(),  # noqa: B008 - frozen
        **arrays: Any,
    ):
        """Read and check all arguments of `fit`, then fit."""
        check_parameters(self)
        validation = {name: arrays.pop(name) for name in list(arrays) if name.endswith("_val")}
        corpus = self._read_counts(X, reset=True)
        documents, targets = read_training(corpus, y, self._make_targets, **arrays)
        validation_documents = None
        if targets is not None:
            documents = self._weight_classes(documents, targets)
            validation_documents = read_validation(targets, corpus.n_words, **validation)
        warn_of_empty(documents, type(self).__name__)
        trainer = self._trainer(corpus.n_words)
        fitted, last = trainer.fit(documents, targets, validation_documents, options)
        self._stream = None
        self._last_epoch = None if last is None else in_data_units(last)
        self.fitted_ = in_data_units(fitted)
        warn_if_useless(self)
        return self

    @keyboard_interrupts()
    def _partial_fit(
        self,
        X: Any,
        y: Any = None,
        first_targets: Callable[..., TargetModel] | None = None,
        labels: Mapping[str, Any] | None = None,
        **arrays: Any,
    ):
        """Fit to a batch, after earlier ones; `labels` are the classes or levels by argument."""
        check_parameters(self)
        before = getattr(self, "fitted_", None)
        if before is not None:
            self._check_unchanged(before, labels or {})
        corpus = self._read_counts(X, reset=before is None)
        targets = None if before is None else before.targets
        if targets is None:
            documents, targets = read_training(corpus, y, first_targets, is_batch=True, **arrays)
        else:
            documents, targets = read_batch(corpus, y, targets, **arrays)
        if targets is not None:
            documents = self._weight_classes(documents, targets)
        trainer: Any = self._trainer(corpus.n_words)
        if self._stream is None:
            self._stream = trainer.stream(documents, targets, before)
        self._stream, fitted = trainer.advance(self._stream, documents, before, targets)
        self.fitted_ = in_data_units(fitted)
        return self

    def _check_unchanged(self, before: Fitted, labels: Mapping[str, Any]) -> None:
        """Raise an error if parameters or labels changed that must not change between batches."""
        if before.state.n_topics != self.n_topics and not before.lacks_words:
            raise ValueError(
                f"partial_fit goes on with {before.state.n_topics} topics, but n_topics is now "
                f"{self.n_topics}. Call fit, or clone the model, to start anew."
            )
        for name, given in labels.items():
            codings = before.target_model.codings
            each = [None] * len(codings)
            if given is not None:
                each = labels_for_each(given, len(codings), name)
            for coding, own in zip(codings, each, strict=True):
                if own is not None and not np.array_equal(coding.labels, np.unique(own)):
                    raise ValueError(
                        f"`{name}={own!r}` is not the same as on last call to partial_fit, was: "
                        f"{coding.labels!r}"
                    )

    # ---- new documents ---------------------------------------------------------------------------

    def _new_documents(
        self, X: Any, y: Any = None, exposure: Any = None, covariates: Any = None
    ) -> Documents:
        corpus = self._read_counts(X, reset=False)
        return self.fitted_.documents(corpus, y, exposure, covariates)

    # ---- topics ----------------------------------------------------------------------------------

    def transform(self, X: Any) -> np.ndarray:
        """Infer topic proportions θ̂ of documents from their words.

        θ̂ maximises Σ_v c_v φ_v log(β_v·θ) + Σ_k α_k log θ_k on the simplex. Words that do not occur
        in the training documents are ignored; a document without words gets α/Σα.

        Parameters
        ----------
        X : counts, documents x words

        Returns
        -------
        array (documents, topics), rows sum to one

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
        >>> LDA(3, max_epochs=5, random_state=0).fit(counts).transform(counts[:2]).shape
        (2, 3)
        """
        corpus = self._read_counts(X, reset=False)
        return self.fitted_.mixes(corpus, self.n_jobs)

    def topic_tokens(self, X: Any) -> np.ndarray:
        """Expected number of relevant tokens of each topic.

        Σ_v c_v φ_v r_vk with r_vk = β_vk θ̂_k / Σ_j β_vj θ̂_j and θ̂ of `transform`. c are the counts
        themselves, also in models that infer θ̂ from square roots of counts. A row sums to the
        number of tokens of the document that topics contain.

        Parameters
        ----------
        X : counts, documents x words

        Returns
        -------
        array (documents, topics)

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` has other columns than the training documents, or invalid counts.

        Examples
        --------
        >>> import numpy as np
        >>> from topicfocus import LDA
        >>> from topicfocus.datasets import make_reviews
        >>> counts = make_reviews(200, random_state=0).counts
        >>> tokens = LDA(3, max_epochs=5, random_state=0).fit(counts).topic_tokens(counts)
        >>> bool(np.allclose(tokens.sum(axis=1), counts.sum(axis=1)))
        True
        """
        return self.fitted_.tokens(self._read_counts(X, reset=False), n_jobs=self.n_jobs)

    def token_proportions(self, X: Any) -> np.ndarray:
        """Proportion of each topic in the relevant tokens of documents.

        `topic_tokens` divided by its row sums. Predictions use `transform`, which is shrunk toward
        α/Σα by the prior, most for documents of few words. To read what a document is about, token
        proportions are better.

        Parameters
        ----------
        X : counts, documents x words

        Returns
        -------
        array (documents, topics), rows sum to one
            α/Σα for documents without relevant words.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` has other columns than the training documents, or invalid counts.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> tokens = model.token_proportions(reviews.counts)
        >>> bool(tokens.std(axis=0).mean() > model.transform(reviews.counts).std(axis=0).mean())
        True
        """
        return self.fitted_.token_proportions(self._read_counts(X, reset=False), n_jobs=self.n_jobs)

    def relevant_words(self, X: Any) -> np.ndarray:
        """Number of different words of each document that the topics contain.

        A document without such words gets the prediction of a document without words, and one with
        few of them a similar prediction. The command line marks documents with fewer than
        `FEW_WORDS` (3).

        Parameters
        ----------
        X : counts, documents x words

        Returns
        -------
        array of int (documents,)

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` has other columns than the training documents, or invalid counts.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> int(model.relevant_words(0 * reviews.counts[:1])[0])
        0
        """
        return self.fitted_.relevant_words(self._read_counts(X, reset=False))

    # ---- words of topics -------------------------------------------------------------------------

    def top_words(
        self,
        n: int = 10,
        vocabulary: Any = None,
        order: str | None = None,
        *,
        named: bool = False,
    ) -> list[list[str]] | dict[str, list[str]]:
        """The top words of each topic.

        Parameters
        ----------
        n : int, default=10
        vocabulary : list of str, dict or vectoriser, optional
            Names of the columns: a list, the `vocabulary_` of a vectoriser, or the vectoriser; by
            default the feature names seen in fit (a dataframe's columns), else column numbers.
        order : {"distinctive", "probability", "relevance", "frex"}, optional
            By default "distinctive" for focused models with themes, else "probability". Distinctive
            words co-occur with the *other* words of the topic more often than by chance, are
            exclusive to it, and have an association with the target of the same sign:
            (C_vk - E_vk) √r_vk t_vk (experiments/READING_TOPICS.md). "probability" orders by β_vk;
            "relevance" by λ log β_vk + (1-λ) log(β_vk / p_v) with λ = 0.4 and p_v the training
            frequency of the word among the words of all topics (Sievert and Shirley, 2014); "frex"
            by the harmonic mean of the ranks of β_vk and of β_vk / Σ_j β_vj among the words of the
            topic (Bischof and Airoldi, 2012).
        named : bool, default=False
            Whether to return a dict from the names of the topics, or topic0, topic1, ... for those
            without one.

        Returns
        -------
        list of lists of str, one per topic; or a dict of these
            Words of probability zero are not listed; for "distinctive", only words with
            r_vk ≥ 1/K are listed.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If the order is unknown, or "distinctive" words cannot be computed for this model.

        Examples
        --------
        >>> from topicfocus import LDA
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> model = LDA(2, max_epochs=5, random_state=0).fit(reviews.counts)
        >>> [len(words) for words in model.top_words(4, reviews.vocabulary, order="frex")]
        [4, 4]
        """
        check_is_fitted(self)
        n = check_count("n", n)
        scores = words.topic_scores(self.fitted_, order)
        names = self._column_names(vocabulary)
        found = words.first_words(scores, n, names, lambda s: s > -np.inf)
        return dict(zip(self.fitted_.labels, found, strict=True)) if named else found

    def word_ranks(self, order: str | None = None) -> np.ndarray:
        """Reciprocal ranks of the words in each topic: 1 for the first, 1/2 for the second, ...

        Metrics of the words that are shown take them in place of `components_`, for example
        ``coherence(model.word_ranks(), counts, "npmi", 10)``.

        Parameters
        ----------
        order : {"distinctive", "probability", "relevance", "frex"}, optional
            As for `top_words`.

        Returns
        -------
        ndarray of shape (n_topics, n_words)
            Zero for words that are not listed.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            As for `top_words`.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> from topicfocus.metrics import topic_diversity
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(2, random_state=0).fit(reviews.counts, reviews.target)
        >>> topic_diversity(model.word_ranks(), 5)
        1.0
        """
        check_is_fitted(self)
        return words.reciprocal_ranks(words.topic_scores(self.fitted_, order))

    def _column_names(self, vocabulary: Any) -> np.ndarray:
        """The given names of the columns, else those of fit, else column numbers."""
        n_words = self.fitted_.state.n_words
        if vocabulary is None:
            vocabulary = getattr(self, "feature_names_in_", range(n_words))
        return words.word_names(vocabulary, n_words)

    # ---- corrections -----------------------------------------------------------------------------

    def rename_topics(self, names: Mapping[Any, str | None]):
        """Give names to topics, which all tables, explanations and model files then show.

        `fit` removes the names, and so does `partial_fit` when it fits new topics.

        Parameters
        ----------
        names : dict
            From the index (from 0) or the present name of a topic to its new name; None removes it.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If there is no such topic, or two topics would have the same name.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> model.rename_topics({0: "praise"}).topic_names_
        ['praise', None, None]
        """
        check_is_fitted(self)
        self.fitted_ = with_names(self.fitted_, names)
        return self

    def merge_topics(self, topics: Any, name: str | None = None, X: Any = None):
        """Make one topic of several.

        The new topic has the place of the first of them. Its words are the mean of theirs, weighted
        by their mean proportions in the training documents, its prior is the sum of theirs, and its
        coefficients are the weighted mean. Predictions change least if the topics have similar
        coefficients, or occur together; `explain` stays exact. With X, all coefficients are
        fitted again, so that the predictions for X change as little as possible. δ and other
        measures of the error stay those of the fit.

        Parameters
        ----------
        topics : list of int or str
            Indices (from 0) or names of two or more topics.
        name : str, optional
            The name of the new topic. By default that of the first topic with a name.
        X : counts, documents x words, optional
            The training documents, or similar ones.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If there is no such topic, or fewer than two are given.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> model.merge_topics([1, 2], name="complaints").topic_names_
        [None, 'complaints']
        """
        check_is_fitted(self)
        corpus = None if X is None else self._read_counts(X, reset=False)
        self.fitted_ = with_merged(self.fitted_, topics, name, corpus, self.n_jobs)
        self._stream = self._last_epoch = None
        return self

    # ---- targets ---------------------------------------------------------------------------------

    def _probabilities(self, documents: Documents) -> list[np.ndarray]:
        """P(y = label) of every target."""
        predictor = self.fitted_.predictors(documents, n_jobs=self.n_jobs)
        return [part.probabilities(predictor) for part in self.fitted_.parts]

    def _weighted_documents(
        self, X: Any, exposure: Any, covariates: Any, sample_weight: Any, y: Any = None
    ) -> Documents:
        documents = self._new_documents(X, y, exposure, covariates)
        return replace(documents, weight=read_weight(sample_weight, documents.corpus.n_docs))

    @available_if(has_targets)
    def explain(
        self,
        X: Any,
        covariates: Any = None,
        exposure: Any = None,
        vocabulary: Any = None,
    ) -> Explanation:
        """Contributions of words and topics to the linear predictor; they add up exactly.

        The contribution of a word is how far it moves the prediction from that of a document
        without words. For more than two classes, it is what the word adds to the log odds of a
        class against all others (docs/intervals.md has the formula).

        Parameters
        ----------
        X : counts, documents x words
        covariates, exposure : optional
            As for fit.
        vocabulary : list of str, dict or vectoriser, optional
            As for `top_words`.

        Returns
        -------
        Explanation

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` has other columns than the training documents, or invalid counts.

        Examples
        --------
        >>> import numpy as np
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> found = model.explain(reviews.counts[:4], vocabulary=reviews.vocabulary)
        >>> bool(np.allclose((found.predictor + found.limit)[:, 0], found.after[:, 0]))
        True
        """
        documents = self._new_documents(X, exposure=exposure, covariates=covariates)
        names = self._column_names(vocabulary)
        order = words.naming_order(self.fitted_)
        about = tuple(map(", ".join, self.top_words(3, names, order=order)))
        return explain(self.fitted_, documents, names, self.n_jobs, about)

    @available_if(has_targets)
    def topic_effects(
        self,
        X: Any,
        y: Any = None,
        *,
        exposure: Any = None,
        covariates: Any = None,
        sample_weight: Any = None,
        quantiles: tuple[float, float] | None = None,
        confidence: float = 0.95,
        vocabulary: Any = None,
    ) -> pd.DataFrame:
        """Predicted difference over the interdecile range of each topic, in units of the target.

        The prediction of a typical document (averages of the topic proportions, covariates and log
        exposures of X) as the proportion θ̂_k of topic k goes from the 10th to the 90th percentile
        of X and the other topics decrease in proportion.

        Parameters
        ----------
        X : counts, documents x words
            Documents for percentiles and averages: the training documents, or similar ones.
        y : targets, optional
            Only if the documents had **no part in the fit**, such as a test set: the differences
            are then estimated again from these documents, with confidence intervals.
        exposure, covariates, sample_weight : optional
            As for fit.
        quantiles : pair of floats, optional
            By default (0.1, 0.9); with C > 5 classes (0.1, 1 - 1/2C), because fewer than a tenth of
            the documents belong to an average class.
        confidence : float, default=0.95
            Confidence level of the intervals. Given the topics, it is that of a linear regression
            of y on their proportions with a heteroscedasticity-consistent standard error.
        vocabulary : list of str, dict or vectoriser, optional
            As for `top_words`.

        Returns
        -------
        pandas.DataFrame
            One row per topic (and class, for more than two; and target, for several) with the
            columns "topic"; "name" (if a topic has one); "target" (if several); "class" (if there
            are classes); the quantiles "proportion_low" and "proportion_high" of the topic; the
            predictions "low" and "high" at them (a number, or the probability of the class); their
            difference "change"; the difference found in X and y, "estimate", with the limits
            "lower" and "upper" of its interval (NaN without y); "limit_low" and "limit_high", the
            range of the target; "coef", on the scale of the linear predictor; "words", the top
            five.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(500, random_state=0)
        >>> X, y = reviews.counts, reviews.target
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(X[:300], y[:300])
        >>> effects = model.topic_effects(X[300:], y[300:])
        >>> bool((effects["lower"] < effects["upper"]).all())
        True
        """
        documents = self._weighted_documents(X, exposure, covariates, sample_weight, y)
        effects.check_quantiles(effects.QUANTILES if quantiles is None else quantiles, confidence)
        found = effects.topic_effects(
            self.fitted_,
            documents,
            None if y is None else documents,
            quantiles=quantiles,
            confidence=confidence,
            n_jobs=self.n_jobs,
        )
        names = [*map(", ".join, self.top_words(5, vocabulary))]
        return effects.topic_table(self.fitted_, found, names)

    @available_if(has_targets)
    def word_effects(
        self,
        X: Any,
        *,
        exposure: Any = None,
        covariates: Any = None,
        sample_weight: Any = None,
        n_documents: int | None = None,
        vocabulary: Any = None,
    ) -> pd.DataFrame:
        """Mean predicted difference between documents with and without each word.

        Each document of a sample of X is predicted without the word and with one occurrence of it.
        Dropped words change nothing and have no row.

        Parameters
        ----------
        X, exposure, covariates, sample_weight
            As for `topic_effects`.
        n_documents : int, optional
            Size of the random sample of X, which is always the same. By default 100; between 5 and
            100 if there are many topics and words.
        vocabulary
            As for `topic_effects`.

        Returns
        -------
        pandas.DataFrame
            One row per word (and class, for more than two; and target, for several): "word",
            "column" of X, "target", "class", the number of "documents" of X that contain it, and
            the mean "change" of the expected target, or of the probability of the class.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> effects = model.word_effects(reviews.counts)
        >>> bool(len(effects["change"]) == model.selected_words_.sum())
        True
        """
        documents = self._weighted_documents(X, exposure, covariates, sample_weight)
        if n_documents is not None:
            n_documents = check_count("n_documents", n_documents)
        found = effects.word_effects(
            self.fitted_, documents, n_documents=n_documents, n_jobs=self.n_jobs
        )
        return effects.word_table(self.fitted_, found, self._column_names(vocabulary))

    # ---- files and display -----------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the fitted model to one file, without pickle; `topicfocus.load` reads it.

        Parameters
        ----------
        path : str, path or binary file object

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.

        See Also
        --------
        topicfocus.save : also writes a pipeline with its vectoriser.

        Examples
        --------
        >>> import io, topicfocus
        >>> from topicfocus.datasets import make_reviews
        >>> counts = make_reviews(200, random_state=0).counts
        >>> model = topicfocus.LDA(2, max_epochs=5, random_state=0).fit(counts)
        >>> file = io.BytesIO()
        >>> model.save(file)
        >>> bool((topicfocus.load(io.BytesIO(file.getvalue())).components_ ==
        ...       model.components_).all())
        True
        """
        save(self, path)

    def _html_repr(self) -> str:
        """scikit-learn's diagram, and the topics below it."""
        return estimator_html_repr(self) + words.topics_html(self)

    @property
    def _n_features_out(self) -> int:
        return self.fitted_.state.n_topics

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of `transform`.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        array of str: topic0, topic1, ...

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.

        Examples
        --------
        >>> from topicfocus import LDA
        >>> from topicfocus.datasets import make_reviews
        >>> counts = make_reviews(200, random_state=0).counts
        >>> LDA(2, max_epochs=5, random_state=0).fit(counts).get_feature_names_out()
        array(['topic0', 'topic1'], dtype=object)
        """
        check_is_fitted(self)
        return np.array([f"topic{k}" for k in range(self.fitted_.state.n_topics)], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.multi_output = has_targets(self)
        return tags
