"""Base class of all estimators: topic proportions, words of topics, saving.

An estimator makes a trainer from its parameters; the result of training is `fitted_`, from which
all public attributes and predictions are read.
"""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, BinaryIO

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.counts import is_dask
from topicfocus.estimators.columns import check_columns
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fit_warnings import warn_if_useless, warn_of_empty
from topicfocus.estimators.fitted import Fitted, FittedAttribute
from topicfocus.estimators.focused_training import FocusedTrainer
from topicfocus.estimators.html import topics_html
from topicfocus.estimators.joint_training import JointTrainer
from topicfocus.estimators.parameters import check_choice, check_count
from topicfocus.estimators.targets import TargetModel
from topicfocus.estimators.training import RESERVOIR_SIZE, FitOptions, in_data_units
from topicfocus.estimators.words import (
    ORDERS,
    context_scores,
    first_words,
    has_telling,
    reciprocal_ranks,
    topic_scores,
    word_names,
)
from topicfocus.persistence import save


def _drops_words(model: TopicModel) -> bool:
    return hasattr(type(model), "background_")


@dataclass(eq=False, repr=False)
class TopicModel(TransformerMixin, BaseEstimator):
    """Base of all estimators. A subclass has `_trainer(n_words)`, made from its parameters."""

    #: Largest number of documents that `partial_fit` keeps in memory.
    reservoir_size = RESERVOIR_SIZE

    #: With fewer different words that the topics contain, a prediction is near the average.
    FEW_WORDS = 3

    #: Set for one call of `fit` by `training.fit_with`.
    _fit_options = FitOptions()

    n_topics: int = 5
    _: KW_ONLY
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False
    fitted_: Fitted = field(init=False)

    components_ = FittedAttribute(lambda f: f.components, "β, topics x words, rows sum to one.")
    doc_topic_prior_ = FittedAttribute(lambda f: f.state.doc_topic_prior, "α, of every topic.")
    n_iter_ = FittedAttribute(lambda f: f.n_iter, "Epochs, steps or batches.")
    history_ = FittedAttribute(lambda f: f.history, "Lists by name, one entry an epoch.")
    n_samples_seen_ = FittedAttribute(
        lambda f: f.n_samples_seen, "Documents fitted to, by their weights."
    )

    def _trainer(self, n_words: int) -> JointTrainer | FocusedTrainer:
        """Check all parameters and make the trainer."""
        raise NotImplementedError

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

    def _train(
        self, documents: Documents, targets: TargetModel | None, held_out: Documents | None = None
    ):
        """Fit to documents."""
        warn_of_empty(documents, type(self).__name__)
        trainer = self._trainer(documents.corpus.n_words)
        fitted, last = trainer.fit(documents, targets, held_out, self._fit_options)
        self.__dict__.pop("_stream", None)
        self.__dict__.pop("_last_epoch", None)
        if last is not None:
            self._last_epoch = in_data_units(last)
        self.fitted_ = in_data_units(fitted)
        warn_if_useless(self)
        return self

    def _learn(self, documents: Documents, targets: TargetModel | None):
        """Fit to a batch, after earlier ones."""
        trainer: Any = self._trainer(documents.corpus.n_words)
        before = getattr(self, "fitted_", None)
        stream = getattr(self, "_stream", None)
        if stream is None:
            stream = trainer.stream(documents, targets, before)
        self._stream, fitted = trainer.advance(stream, documents, before, targets)
        self.fitted_ = in_data_units(fitted)
        return self

    def _check_stream(self) -> None:
        """Raise an error if parameters changed that must not change between batches."""
        if self.fitted_.state.n_topics != self.n_topics and not self.fitted_.lacks_words:
            raise ValueError(
                f"partial_fit goes on with {self.fitted_.state.n_topics} topics, but n_topics is "
                f"now {self.n_topics}. Call fit, or clone the model, to start anew."
            )

    # ---- new documents ---------------------------------------------------------------------------

    def _new_documents(
        self, X: Any, y: Any = None, exposure: Any = None, covariates: Any = None
    ) -> Documents:
        corpus = self._read_counts(X, reset=False)
        return self.fitted_.documents(corpus, y, exposure, covariates)

    # ---- topics ----------------------------------------------------------------------------------

    def transform(self, X: Any) -> np.ndarray:
        """Topic proportions θ̂ of documents, inferred from their words only.

        θ̂ maximises Σ_v c_v φ_v log(β_v·θ) + Σ_k α_k log θ_k on the simplex. Words that training
        never saw are ignored; a document without words gets α/Σα.

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
            If ``X`` does not have the columns that training saw, or holds what is no count.

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
        """How many of a document's relevant tokens each topic explains.

        Σ_v c_v φ_v r_vk with r_vk = β_vk θ̂_k / Σ_j β_vj θ̂_j and θ̂ of `transform`; c are the counts
        themselves, also in models that find θ̂ from their roots. A row sums to the number of tokens
        of the document that topics contain.

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
            If ``X`` does not have the columns that training saw, or holds what is no count.

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

    def composition(self, X: Any) -> np.ndarray:
        """What documents are made of: the share of each topic in their relevant tokens.

        `topic_tokens` divided by its row sums. Prediction uses `transform`, which the prior draws
        towards α/Σα, most where words are few; what a document is about is better read from here.

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
            If ``X`` does not have the columns that training saw, or holds what is no count.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> made_of, mix = (f(reviews.counts) for f in (model.composition, model.transform))
        >>> bool(made_of.std(axis=0).mean() > mix.std(axis=0).mean())
        True
        """
        return self.fitted_.composition(self._read_counts(X, reset=False), n_jobs=self.n_jobs)

    def relevant_words(self, X: Any) -> np.ndarray:
        """How many different words of each document the topics contain.

        With none the prediction is that of a document without words, and with few it is near it:
        `FEW_WORDS` (3) is where the command line begins to say so.

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
            If ``X`` does not have the columns that training saw, or holds what is no count.

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

    # ---- words of topics -----------------------------------------------------------------------

    def top_words(
        self, n: int = 10, vocabulary: Any = None, order: str | None = None
    ) -> list[list[str]]:
        """The n first words of each topic.

        Parameters
        ----------
        n : int, default=10
        vocabulary : list of str, dict or vectoriser, optional
            Names of the columns: a list, the `vocabulary_` of a vectoriser, or the vectoriser; by
            default the feature names seen in fit (a dataframe's columns), else column numbers.
        order : {"telling", "probability", "relevance", "frex"}, optional
            By default "telling" for focused models with themes, else "probability". Telling words
            occur beside the *other* words of the topic more often than by chance, are its own, and
            lean the way it does: (C_vk - E_vk) √r_vk t_vk, see docs/reading-topics.md.
            "probability" is by β_vk; "relevance" by λ log β_vk + (1-λ) log(β_vk / p_v) with λ = 0.4
            and p_v the frequency of the word in training among the words of all topics (Sievert and
            Shirley, 2014); "frex" by the harmonic mean of the ranks of β_vk and of β_vk / Σ_j β_vj
            among the words of the topic (Bischof and Airoldi, 2012).

        Returns
        -------
        list of lists of str, one a topic
            Words of probability zero are not listed, and with "telling" none of which the topic has
            less than its part.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If the order is unknown, or is "telling" and the model does not know its telling words.

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
        scores = self._word_scores(order)
        return first_words(scores, n, self._column_names(vocabulary), lambda s: s > -np.inf)

    def word_ranks(self, order: str | None = None) -> np.ndarray:
        """Places of the words in each topic's list: 1 for the first, 1/2 for the second, and so on.

        In place of `components_` where a measure is to be of the words that are shown, for example
        ``coherence(model.word_ranks(), counts, "npmi", 10)``.

        Parameters
        ----------
        order : {"telling", "probability", "relevance", "frex"}, optional
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
        return reciprocal_ranks(self._word_scores(order))

    @available_if(_drops_words)
    def context_words(self, n: int = 10, vocabulary: Any = None) -> list[list[str]]:
        """Dropped words that documents of a topic use more than others: what it is about.

        By √C_vk log((C_vk + 5) / (E_vk + 5)), where C_vk = Σ_d c_dv r_dk counts word v beside topic
        k in the training documents (r_d is their `composition`, c_dv is √count in models that see
        roots) and E_vk = C_v· C_·k / C_·· is what would be expected if the word went with no topic.
        After `partial_fit`, of the documents that were at hand.

        Parameters
        ----------
        n : int, default=10
        vocabulary : list of str, dict or vectoriser, optional
            As for `top_words`.

        Returns
        -------
        list of lists of str, one a topic
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
        return first_words(context_scores(context, ~kept), n, names, lambda s: s > 0)

    def _column_names(self, vocabulary: Any) -> np.ndarray:
        """The given names of the columns, else those of fit, else column numbers."""
        n_words = self.fitted_.state.n_words
        if vocabulary is None:
            vocabulary = getattr(self, "feature_names_in_", range(n_words))
        return word_names(vocabulary, n_words)

    def _word_scores(self, order: str | None) -> np.ndarray:
        """Scores that order the words of each topic, topics x words."""
        if order is not None:
            check_choice("order", order, ORDERS)
            if order == "telling" and not has_telling(self.fitted_):
                raise ValueError(
                    'order="telling" is for focused models: choose another order, such as '
                    '"probability".'
                )
        return topic_scores(self.fitted_, order)

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
        """scikit-learn's diagram, which calls this for notebooks, and the topics below it."""
        return estimator_html_repr(self) + topics_html(self)

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
        return tags
