"""Shared part of regressors and classifiers: fitting with targets, explanations, effects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from topicfocus.estimators import effects, explanation
from topicfocus.estimators.base import TopicModel
from topicfocus.estimators.documents import Documents, read_training, read_validation, read_weight
from topicfocus.estimators.explanation import Explanation
from topicfocus.estimators.fitted import FittedAttribute
from topicfocus.estimators.parameters import check_count
from topicfocus.estimators.targets import TargetModel
from topicfocus.estimators.words import naming_order


class SupervisedTopicModel(TopicModel):
    """A topic model with targets."""

    coef_ = FittedAttribute(lambda f: f.coef, "η, one row per class or target if several.")
    intercept_ = FittedAttribute(lambda f: f.intercept, "b.")
    covariate_coef_ = FittedAttribute(lambda f: f.covariate_coef, "ζ, if there are covariates.")
    n_covariates_ = FittedAttribute(lambda f: f.target_model.n_covariates, "Number of covariates.")
    family_ = FittedAttribute(lambda f: f.state.family, "The fitted family.")

    def _make_targets(self, columns: list[np.ndarray], weight: np.ndarray) -> TargetModel:
        """Targets from the columns of y and the weights of the documents."""
        raise NotImplementedError

    def _weight_classes(self, documents: Documents, targets: TargetModel) -> Documents:
        """Apply `class_weight`, in classifiers."""
        return documents

    def _fit(self, X: Any, y: Any, extras: dict[str, Any], validation: dict[str, Any]):
        """Read and check all arguments of `fit`, then fit."""
        corpus = self._read_counts(X, reset=True)
        documents, targets = read_training(corpus, y, self._make_targets, **extras)
        documents = self._weight_classes(documents, targets)
        held_out = read_validation(targets, corpus.n_words, **validation)
        return self._train(documents, targets, held_out)

    def _probabilities(self, documents: Documents) -> list[np.ndarray]:
        """P(y = label) of every target."""
        fitted = self.fitted_
        predictor = fitted.predictors(documents, n_jobs=self.n_jobs)
        return fitted.target_model.probabilities(fitted.state.family, predictor)

    def _weighted_documents(
        self, X: Any, exposure: Any, covariates: Any, sample_weight: Any
    ) -> Documents:
        documents = self._new_documents(X, exposure=exposure, covariates=covariates)
        return replace(documents, weight=read_weight(sample_weight, documents.corpus.n_docs))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    def explain(
        self,
        X: Any,
        covariates: Any = None,
        exposure: Any = None,
        vocabulary: Any = None,
    ) -> Explanation:
        """What words and topics add to the linear predictor of each document; it adds up exactly.

        A word's amount is how far it moves the prediction from that of a document without words. Of
        more than two classes it is what the word adds to the log odds of a class against all
        others (docs/estimators.md has the formula).

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
            If ``X`` does not have the columns that training saw, or holds what is no count.

        Examples
        --------
        >>> import numpy as np
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> found = model.explain(reviews.counts[:4], vocabulary=reviews.vocabulary)
        >>> bool(np.allclose(found.predictor[:, 0], model.predict(reviews.counts[:4])))
        True
        """
        documents = self._new_documents(X, exposure=exposure, covariates=covariates)
        names = self._column_names(vocabulary)
        order = naming_order(self.fitted_)
        about = tuple(", ".join(words) for words in self.top_words(3, names, order=order))
        return explanation.explain(self.fitted_, documents, names, self.n_jobs, about)

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
    ) -> pd.DataFrame:
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
        vocabulary : list of str, dict or vectoriser, optional
            As for `top_words`.

        Returns
        -------
        pandas.DataFrame
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

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> effects = model.topic_effects(reviews.counts)
        >>> bool(((effects["low"] > 1) & (effects["high"] < 10)).all())
        True
        """
        documents = self._weighted_documents(X, exposure, covariates, sample_weight)
        effects.check_quantiles(effects.QUANTILES if quantiles is None else quantiles, confidence)
        found = effects.topic_effects(
            self.fitted_,
            documents,
            quantiles=quantiles,
            confidence=confidence,
            n_jobs=self.n_jobs,
        )
        names = [" ".join(words) for words in self.top_words(5, vocabulary)]
        return effects.topic_table(self.fitted_, found, names)

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
        """What the first occurrence of each word changes in documents such as these.

        The mean change of the prediction over a sample of X, each document taken without the word
        and then with it once. Words that no topic contains (dropped ones) change nothing and have
        no row.

        Parameters
        ----------
        X, exposure, covariates, sample_weight
            As for `topic_effects`.
        n_documents : int, optional
            Documents that words are added to, at most: a random choice from X, always the same. By
            default 100; fewer, 5 at least, where many topics and words make each cost much.
        vocabulary
            As for `topic_effects`.

        Returns
        -------
        pandas.DataFrame
            One row a word (and class, of more than two; and target, of several): "word", "column"
            of X, "target", "class", "documents" of X that have it, and the mean "change" of the
            expected target, or of the probability of the class.

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
