"""What every topic model is as an estimator: counts in, topic mixes and words out.

An estimator is its parameters and two objects: what the targets are (`targets.TargetModel`) and how
it is trained (`training.Trainer`). What training found is `fitted_`, frozen; everything public is
read from it.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_html_repr
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.corpus.parts import is_for_cluster
from topicfocus.estimators.documents import Documents, read_weight
from topicfocus.estimators.effect_tables import (
    as_table,
    check_quantiles,
    topic_table,
    word_table,
)
from topicfocus.estimators.effects import QUANTILES, topic_effects, word_effects
from topicfocus.estimators.explanation import Explanation, explain
from topicfocus.estimators.fitted import Fitted, FittedAttribute
from topicfocus.estimators.html import topics_html
from topicfocus.estimators.parameters import check_choice, check_count
from topicfocus.estimators.targets import TargetModel
from topicfocus.estimators.training import RESERVOIR_SIZE, Trainer, in_data_units
from topicfocus.estimators.usefulness import warn_if_useless, warn_of_empty
from topicfocus.estimators.word_order import (
    DEFAULT_ORDER,
    ORDERS,
    context_scores,
    first_words,
    word_scores,
)
from topicfocus.persistence.files import save


class TopicModel(TransformerMixin, BaseEstimator):
    """Base of all estimators. A subclass has `_trainer(n_words)`, made from its parameters."""

    #: Documents kept for `partial_fit`, at most; memory does not grow beyond them.
    reservoir_size = RESERVOIR_SIZE

    #: A document with fewer different words than this that the topics contain has too few.
    FEW_WORDS = 3

    #: Whether there are targets.
    _supervised = False

    fitted_: Fitted
    #: Parameters that every model has.
    n_topics: int
    n_jobs: int | None

    components_ = FittedAttribute(lambda f: f.components, "β, topics x words, rows sum to one.")
    doc_topic_prior_ = FittedAttribute(lambda f: f.state.doc_topic_prior, "α, of every topic.")
    n_iter_ = FittedAttribute(lambda f: f.n_iter, "Epochs, steps or batches.")
    history_ = FittedAttribute(lambda f: f.history, "Lists by name, one entry an epoch.")
    n_samples_seen_ = FittedAttribute(
        lambda f: f.n_samples_seen, "Documents fitted to, by their weights."
    )

    def _trainer(self, n_words: int) -> Trainer:
        """How this model is trained; every parameter is checked here."""
        raise NotImplementedError

    # ---- training --------------------------------------------------------------------------------

    def _read_counts(self, X: Any, *, reset: bool) -> Corpus:
        """Counts as a Corpus; at fit, remember the columns, later insist on the same ones."""
        if not reset:
            check_is_fitted(self)
        if is_for_cluster(X):
            from topicfocus.distributed import DaskCounts

            X = DaskCounts(X)
        corpus = make_corpus(X, allow_empty=not reset, fractions=True)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return corpus

    def _train(
        self, documents: Documents, targets: TargetModel | None, held_out: Documents | None = None
    ):
        """Fit anew to documents that were read."""
        warn_of_empty(documents, type(self).__name__)
        training = self._trainer(documents.corpus.n_words).fit(documents, targets, held_out)
        self.__dict__.pop("_stream", None)
        self.__dict__.pop("_last_epoch", None)
        if training.last is not None:
            self._last_epoch = in_data_units(training.last)
        self.fitted_ = in_data_units(training.fitted)
        if training.interrupted:
            _warn_interrupted(self.fitted_, hasattr(self, "warm_start"))
        warn_if_useless(self)
        return self

    def _learn(self, documents: Documents, targets: TargetModel | None):
        """Learn from a batch, after those before it."""
        trainer = self._trainer(documents.corpus.n_words)
        before = getattr(self, "fitted_", None)
        stream = getattr(self, "_stream", None)
        if before is None:
            stream = trainer.begin(documents, targets)
        elif stream is None:
            stream = trainer.inherit(before, documents)
        stream, training = trainer.advance(stream, documents, before, targets)
        self.fitted_ = in_data_units(training.fitted)
        self._stream = stream
        return self

    def _check_stream(self) -> None:
        """Parameters that may not change while a model learns on."""
        if self.fitted_.state.n_topics != self.n_topics and not self.fitted_.lacks_words:
            raise ValueError(
                f"partial_fit goes on with {self.fitted_.state.n_topics} topics, but n_topics is "
                f"now {self.n_topics}. Call fit, or clone the model, to start anew."
            )
        if not hasattr(self, "_stream") and self.fitted_.n_samples_seen is None:
            raise ValueError(
                "This model does not know how many documents it was fitted to, so partial_fit "
                "cannot go on from it: its file was written by an older version. Fit it again."
            )

    # ---- new documents ---------------------------------------------------------------------------

    def _new_documents(
        self, X: Any, y: Any = None, exposure: Any = None, covariates: Any = None
    ) -> Documents:
        corpus = self._read_counts(X, reset=False)
        return self.fitted_.documents(corpus, y, exposure, covariates)

    def _probabilities(self, documents: Documents) -> list[np.ndarray]:
        """P(y = label) of every target."""
        fitted = self.fitted_
        predictor = fitted.predictors(documents, n_jobs=self.n_jobs)
        return fitted.target_model.probabilities(fitted.state.family, predictor)

    # ---- topics ----------------------------------------------------------------------------------

    def transform(self, X: Any) -> np.ndarray:
        """Topic mixes θ̂ of documents, from their words alone.

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
        check_is_fitted(self)
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
        check_is_fitted(self)
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
        check_is_fitted(self)
        return self.fitted_.relevant_words(self._read_counts(X, reset=False))

    def top_words(
        self, n: int = 10, vocabulary: Any = None, order: str = DEFAULT_ORDER
    ) -> list[list[str]]:
        """The n first words of each topic.

        Parameters
        ----------
        n : int, default=10
        vocabulary : list of str, optional
            Names of the columns; by default the feature names seen in fit, else column numbers.
        order : {"probability", "relevance", "frex"}, default="probability"
            By β_vk; by relevance, λ log β_vk + (1-λ) log(β_vk / p_v) with λ = 0.4 and p_v the
            frequency of the word in training among the words of all topics (Sievert and Shirley,
            2014); or by FREX, the harmonic mean of the ranks of β_vk and of β_vk / Σ_j β_vj among
            the words of the topic (Bischof and Airoldi, 2012). The last two prefer words that
            other topics do not have.

        Returns
        -------
        list of lists of str, one a topic
            Words of probability zero are not listed.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.

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
        check_choice("order", order, ORDERS)
        scores = word_scores(self.components_, self.fitted_.word_share, order)
        return first_words(scores, n, self._word_names(vocabulary), lambda s: s > -np.inf)

    @available_if(lambda self: hasattr(type(self), "background_"))
    def context_words(self, n: int = 10, vocabulary: Any = None) -> list[list[str]]:
        """Dropped words that documents of a topic use more than others: what it is about.

        By √C_vk log((C_vk + 5) / (E_vk + 5)), where C_vk = Σ_d c_dv r_dk counts word v beside topic
        k in the training documents (r_d is their `composition`, c_dv is √count in models that see
        roots) and E_vk = C_v· C_·k / C_·· is what would be expected if the word went with no topic.
        After `partial_fit`, of the documents that were at hand.

        Parameters
        ----------
        n : int, default=10
        vocabulary : list of str, optional
            As for `top_words`.

        Returns
        -------
        list of lists of str, one a topic
            Only words that occur more often than expected.

        Raises
        ------
        ValueError
            If the model was saved by a version that did not count them.

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
        names = self._word_names(vocabulary)
        if self.fitted_.context is None:
            raise ValueError(
                "This model does not know which dropped words its topics go with: it was saved by "
                "a version that did not count them. Fit it again."
            )
        return first_words(context_scores(self.fitted_.context), n, names, lambda s: s > 0)

    def _word_names(self, vocabulary: Any) -> Any:
        """Names of the columns: those given, else those seen in fit, else their numbers."""
        n_words = self.fitted_.state.n_words
        if vocabulary is None:
            vocabulary = getattr(self, "feature_names_in_", None)
        if vocabulary is None:
            vocabulary = [str(v) for v in range(n_words)]
        if len(vocabulary) != n_words:
            raise ValueError(f"vocabulary has {len(vocabulary)} words but the model has {n_words}.")
        return vocabulary

    @available_if(lambda self: self._supervised)
    def explain(self, X: Any, covariates: Any = None, exposure: Any = None) -> Explanation:
        """What words and topics add to the linear predictor of each document; it adds up exactly.

        A word's amount is how far it moves the prediction from that of a document without words. Of
        more than two classes it is what the word adds to the log odds of a class against all
        others (docs/estimators.md has the formula).

        Parameters
        ----------
        X : counts, documents x words
        covariates, exposure : optional
            As for fit.

        Returns
        -------
        Explanation

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` does not have the columns that training saw, or holds what is no count.

        Examples
        --------
        >>> import numpy as np
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> found = model.explain(reviews.counts[:4])
        >>> bool(np.allclose(found.predictor[:, 0], model.predict(reviews.counts[:4])))
        True
        """
        documents = self._new_documents(X, exposure=exposure, covariates=covariates)
        names = getattr(self, "feature_names_in_", None)
        return explain(self.fitted_, documents, names, self.n_jobs)

    @available_if(lambda self: self._supervised)
    def topic_effects(
        self,
        X: Any,
        *,
        exposure: Any = None,
        covariates: Any = None,
        sample_weight: Any = None,
        quantiles: tuple[float, float] | None = None,
        confidence: float = 0.95,
        vocabulary: Any = None,
        as_frame: bool = True,
    ) -> Any:
        """What each topic changes in documents such as these, on the target's own scale.

        The prediction of a typical document (averages of the topic mixes, covariates and log
        exposures of X) as the share θ̂_k of topic k goes from the 10th to the 90th percentile of X,
        the other topics keeping their proportions.

        Parameters
        ----------
        X : counts, documents x words
            Documents to take shares and averages from: the training documents, or others like them.
        exposure, covariates, sample_weight : optional
            As for fit.
        quantiles : pair of floats, optional
            By default (0.1, 0.9); with C > 5 classes (0.1, 1 - 1/2C), where the middle of the
            documents of an average class is.
        confidence : float, default=0.95
            Of the interval of the change. It contains the uncertainty of the coefficients, for as
            many documents as the model was fitted to; not that of the topics themselves
            (docs/estimators.md).
        vocabulary : list of str, optional
            As for `top_words`.
        as_frame : bool, default=True
            A pandas dataframe, else a dict of arrays, which does not need pandas.

        Returns
        -------
        pandas.DataFrame or dict of arrays
            One row a topic, or for more than two classes a topic and class, or for several targets
            a topic and target: "topic"; "target" (of several) and "class" (of classes) it is about;
            "share_low" and "share_high" of the topic; the prediction "low" and "high" with them (a
            number, or the probability of the class); their difference "change" with the ends
            "lower" and "upper" of its interval; "limit_low" and "limit_high", what the target can
            be; "coef", on the scale of the linear predictor; "words", the topic's first five.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ImportError
            If pandas is not installed and `as_frame` is true.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> effects = model.topic_effects(reviews.counts, as_frame=False)
        >>> bool(((effects["low"] > 1) & (effects["high"] < 10)).all())
        True
        """
        documents = self._effect_documents(X, exposure, covariates, sample_weight)
        check_quantiles(QUANTILES if quantiles is None else quantiles, confidence)
        found = topic_effects(
            self.fitted_,
            documents,
            quantiles=quantiles,
            confidence=confidence,
            n_jobs=self.n_jobs,
        )
        names = [" ".join(words) for words in self.top_words(5, vocabulary)]
        return as_table(topic_table(self.fitted_, found, names), as_frame)

    @available_if(lambda self: self._supervised)
    def word_effects(
        self,
        X: Any,
        *,
        exposure: Any = None,
        covariates: Any = None,
        sample_weight: Any = None,
        n_documents: int | None = None,
        vocabulary: Any = None,
        as_frame: bool = True,
    ) -> Any:
        """What the first occurrence of each word changes in documents such as these.

        The mean change of the prediction over a sample of X, each document taken without the word
        and then with it once. Words that no topic contains (dropped ones) change nothing and have
        no row.

        Parameters
        ----------
        X : counts, documents x words
        exposure, covariates, sample_weight : optional
            As for fit.
        n_documents : int, optional
            Documents that words are added to, at most: a random choice from X, always the same. By
            default 100; fewer, 5 at least, where many topics and words make each cost much.
        vocabulary : list of str, optional
            As for `top_words`.
        as_frame : bool, default=True
            A pandas dataframe, else a dict of arrays, which does not need pandas.

        Returns
        -------
        pandas.DataFrame or dict of arrays
            One row a word (and class, of more than two; and target, of several): "word", "column"
            of X, "target", "class", "documents" of X that have it, and the mean "change" of the
            expected target, or of the probability of the class.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ImportError
            If pandas is not installed and `as_frame` is true.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> effects = model.word_effects(reviews.counts, as_frame=False)
        >>> bool(len(effects["change"]) == model.selected_words_.sum())
        True
        """
        documents = self._effect_documents(X, exposure, covariates, sample_weight)
        if n_documents is not None:
            n_documents = check_count("n_documents", n_documents)
        found = word_effects(self.fitted_, documents, n_documents=n_documents, n_jobs=self.n_jobs)
        return as_table(word_table(self.fitted_, found, self._word_names(vocabulary)), as_frame)

    def _effect_documents(
        self, X: Any, exposure: Any, covariates: Any, sample_weight: Any
    ) -> Documents:
        documents = self._new_documents(X, exposure=exposure, covariates=covariates)
        return replace(documents, weight=read_weight(sample_weight, documents.corpus.n_docs))

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the fitted model to one file, without pickle; `topicfocus.load` reads it.

        Parameters
        ----------
        path : str, path or binary file object

        See Also
        --------
        topicfocus.save : also writes a pipeline with its vectoriser.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.

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


def _warn_interrupted(fitted: Fitted, goes_on: bool) -> None:
    message = f"The fit was interrupted after {fitted.n_iter} steps; the model is their result."
    if goes_on:
        message = (
            f"The fit was interrupted in epoch {fitted.n_iter + 1}; the model is that of epoch "
            f"{fitted.n_iter}. Fit again with warm_start=True to go on from it."
        )
    warnings.warn(message, ConvergenceWarning, stacklevel=4)
