"""What every topic model is as an estimator: counts in, topic mixes and words out.

An estimator is its parameters and two objects: what the targets are (`targets.TargetModel`) and how
it is trained (`training.Trainer`). What training found is `fitted_`, frozen; everything public is
read from it.
"""

from __future__ import annotations

import os
from typing import Any, BinaryIO

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.counts import is_dask
from topicfocus.estimators import effect_methods, mix_methods, word_methods
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import Fitted, FittedAttribute
from topicfocus.estimators.html import topics_html
from topicfocus.estimators.targets import TargetModel
from topicfocus.estimators.training import RESERVOIR_SIZE, FitOptions, Trainer, in_data_units
from topicfocus.estimators.usefulness import warn_if_useless, warn_of_empty
from topicfocus.persistence import save


def _is_supervised(model: TopicModel) -> bool:
    return model._supervised


def _drops_words(model: TopicModel) -> bool:
    return hasattr(type(model), "background_")


class TopicModel(TransformerMixin, BaseEstimator):
    """Base of all estimators. A subclass has `_trainer(n_words)`, made from its parameters."""

    #: Documents kept for `partial_fit`, at most; memory does not grow beyond them.
    reservoir_size = RESERVOIR_SIZE

    #: A document with fewer different words than this that the topics contain has too few.
    FEW_WORDS = 3

    #: Whether there are targets.
    _supervised = False
    #: Set for one call of `fit` by `training.fit_with`.
    _fit_options = FitOptions()

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
        if is_dask(X):
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
        trainer = self._trainer(documents.corpus.n_words)
        training = trainer.fit(documents, targets, held_out, self._fit_options)
        self.__dict__.pop("_stream", None)
        self.__dict__.pop("_last_epoch", None)
        if training.last is not None:
            self._last_epoch = in_data_units(training.last)
        self.fitted_ = in_data_units(training.fitted)
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

    # In files by what they tell, and no classes of their own: those would be more to look through.
    topic_tokens = mix_methods.topic_tokens
    composition = mix_methods.composition
    relevant_words = mix_methods.relevant_words
    top_words = word_methods.top_words
    word_ranks = word_methods.word_ranks
    context_words = available_if(_drops_words)(word_methods.context_words)
    explain = available_if(_is_supervised)(effect_methods.explain)
    topic_effects = available_if(_is_supervised)(effect_methods.topic_effects)
    word_effects = available_if(_is_supervised)(effect_methods.word_effects)

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
