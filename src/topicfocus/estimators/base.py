"""What every topic model is as an estimator: counts in, topic mixes and words out."""

from __future__ import annotations

import os
from typing import Any, BinaryIO

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.estimators.html import topics_html
from topicfocus.estimators.parameters import check_count
from topicfocus.inference.mixes import predictor_variance, topic_mixes
from topicfocus.inference.state import ModelState
from topicfocus.persistence.files import save


class TopicModel(TransformerMixin, BaseEstimator):
    """Base of all estimators: reading counts, topic mixes of new documents, top words.

    A subclass has `_family()`, the family of its target.
    """

    def _read_counts(self, X: Any, *, reset: bool) -> Corpus:
        """Counts as a Corpus; at fit, remember the columns, later insist on the same ones."""
        if not reset:
            check_is_fitted(self)
        corpus = make_corpus(X, allow_empty=not reset, fractions=True)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return corpus

    def _state(self) -> ModelState:
        """The fitted attributes as the state the inference layer works with."""
        n_topics, n_words = self.components_.shape
        return ModelState(
            np.ascontiguousarray(self.components_.T),
            getattr(self, "inclusion_", np.ones(n_words)),
            getattr(self, "background_", np.zeros(n_words)),
            np.ascontiguousarray(getattr(self, "coef_", np.zeros(n_topics)).T),
            self._family(),
            self.doc_topic_prior_,
            getattr(self, "intercept_", 0.0),
            self._covariate_coef(),
        )

    def _covariate_coef(self) -> np.ndarray | None:
        """ζ, covariates x predictors."""
        zeta = getattr(self, "covariate_coef_", None)
        return None if zeta is None else np.ascontiguousarray(np.atleast_2d(zeta).T)

    def _seen(self, corpus: Corpus) -> Corpus:
        """Documents as the topics see them; some models look at roots of counts."""
        return corpus

    def _mixes(self, corpus: Corpus) -> np.ndarray:
        return topic_mixes(self._seen(corpus), self._state(), n_jobs=self.n_jobs)

    def _predictor_variance(self, corpus: Corpus, mixes: np.ndarray) -> np.ndarray:
        """What the words leave open of the linear predictors, documents x predictors."""
        return predictor_variance(self._seen(corpus), self._state(), mixes, self.n_jobs)

    def transform(self, X: Any) -> np.ndarray:
        """Topic mixes θ̂ of documents, from their words alone.

        θ̂ maximises Σ_v c_v φ_v log(β_v·θ) + Σ_k α_k log θ_k on the simplex. Words that training
        never saw are ignored; a document without words gets α/Σα.

        Returns
        -------
        array (documents, topics), rows sum to one
        """
        return self._mixes(self._read_counts(X, reset=False))

    def top_words(self, n: int = 10, vocabulary: Any = None) -> list[list[str]]:
        """The n most probable words of each topic, best first.

        `vocabulary` names the columns; by default the feature names seen in fit, else column
        numbers. Words of probability zero are not listed.
        """
        check_is_fitted(self)
        n = check_count("n", n)
        if vocabulary is None:
            vocabulary = getattr(self, "feature_names_in_", None)
        if vocabulary is None:
            vocabulary = [str(v) for v in range(self.components_.shape[1])]
        if len(vocabulary) != self.components_.shape[1]:
            raise ValueError(
                f"vocabulary has {len(vocabulary)} words but the model has "
                f"{self.components_.shape[1]}."
            )
        order = np.argsort(-self.components_, axis=1, kind="stable")[:, :n]
        return [
            [str(vocabulary[v]) for v in words if self.components_[k, v] > 0]
            for k, words in enumerate(order)
        ]

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the fitted model to one file, without pickle; `topicfocus.load` reads it.

        For a pipeline: `topicfocus.save(pipeline, path)`.
        """
        save(self, path)

    def _html_repr(self) -> str:
        """scikit-learn's diagram, which calls this for notebooks, and the topics below it."""
        return estimator_html_repr(self) + topics_html(self)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of `transform`: topic0, topic1, ..."""
        check_is_fitted(self)
        return np.array([f"topic{k}" for k in range(len(self.components_))], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from whatever scikit-learn takes as random_state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)
