"""What estimators of classes share: two (Bernoulli), more (softmax), or several targets of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from topicfocus.estimators.base import TopicModel
from topicfocus.estimators.class_weight import check_batches, class_weighted
from topicfocus.estimators.coding import as_labels, is_missing, read_classes, target_columns
from topicfocus.estimators.documents import with_groups
from topicfocus.estimators.fitted import FittedAttribute
from topicfocus.estimators.reading import (
    Beside,
    given_validation,
    labels_for_each,
    read_batch,
    read_training,
    read_validation,
)
from topicfocus.estimators.targets import TargetModel


def _one_target(model: Any) -> bool:
    return not hasattr(model, "fitted_") or model.fitted_.targets.n_targets == 1


class TopicClassifier(ClassifierMixin, TopicModel):
    """fit and predict of classes."""

    _supervised = True
    class_weight: Any

    classes_ = FittedAttribute(lambda f: f.classes, "The labels; a list for several targets.")
    coef_ = FittedAttribute(lambda f: f.coef, "η, one row a class where there are more than two.")
    intercept_ = FittedAttribute(lambda f: f.intercept, "b.")
    covariate_coef_ = FittedAttribute(lambda f: f.covariate_coef, "ζ, if there are covariates.")
    n_covariates_ = FittedAttribute(lambda f: f.target_model.n_covariates, "Number of covariates.")
    family_ = FittedAttribute(lambda f: f.state.family, "The fitted family.")

    def _targets_of(self, columns: list[np.ndarray], weight: np.ndarray) -> TargetModel:
        return TargetModel(tuple(read_classes(columns, weight)))

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        covariates: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        covariates_val: Any = None,
        groups: Any = None,
    ):
        """Fit to counts (documents x words) and classes.

        Parameters
        ----------
        X : counts, documents x words
        y : array (documents,) or (documents, targets)
            Labels of any kind. NaN or None marks a document whose class is not known: it teaches
            only the words. -1 is a label like any other.
        sample_weight : array (documents,), optional
            A document of weight 2 counts like two copies of it.
        covariates : array (documents, covariates), optional
            Numbers that enter the linear predictor beside the topics; pass them to predict, too.
        X_val, y_val, sample_weight_val, covariates_val : optional
            Documents to make choices on. Without them, models of the constrained objective set a
            part of X aside (`validation_fraction`), each class in its proportion, and joint
            models keep their last epoch; with them, a joint model keeps the epoch that predicts
            these documents best.

        groups : array (documents,), optional
            What documents belong to, such as patients or authors: where a part of X is set aside
            for choices, a group is set aside as a whole.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If ``X`` is no matrix of counts, the target does not fit it or is constant, or a
            parameter is out of its range. The message names the row.

        Examples
        --------
        >>> from topicfocus import FocusedTopicClassifier
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> liked = reviews.target > 5
        >>> FocusedTopicClassifier(3, random_state=0).fit(reviews.counts, liked).classes_
        array([False,  True])
        """
        corpus = self._read_counts(X, reset=True)
        beside = Beside(sample_weight=sample_weight, covariates=covariates)
        documents, targets = read_training(corpus, y, self._targets_of, beside)
        documents = with_groups(documents, groups, corpus.n_docs, beside.sample_weight)
        documents = class_weighted(documents, targets, self.class_weight)
        beside = Beside(sample_weight=sample_weight_val, covariates=covariates_val)
        given = given_validation(X_val, y_val, beside)
        return self._train(documents, targets, read_validation(given, targets, corpus.n_words))

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        covariates: Any = None,
    ):
        """Learn from a batch, after those of earlier calls. See docs/streaming.md.

        Parameters
        ----------
        X, y, sample_weight, covariates
            As for fit. The first batch must have documents of two classes or more.
        classes : array
            All classes there will be (a list of arrays for several targets). Must be given at the
            first call.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the first call has no ``classes``; else as in `fit`.

        Examples
        --------
        >>> from topicfocus import FocusedTopicClassifier
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(400, random_state=0)
        >>> liked = reviews.target > 5
        >>> model = FocusedTopicClassifier(3, random_state=0)
        >>> for batch in (slice(0, 200), slice(200, 400)):
        ...     model = model.partial_fit(
        ...         reviews.counts[batch], liked[batch], classes=[False, True]
        ...     )
        >>> float(model.n_samples_seen_)
        400.0
        """

        def first_targets(columns: list[np.ndarray], weight: np.ndarray) -> TargetModel:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            given = labels_for_each(classes, len(columns), "classes")
            codings = [read_classes([np.asarray(c)], np.ones(len(c)), "classes") for c in given]
            return TargetModel(tuple(coding for (coding,) in codings))

        check_batches(self.class_weight)
        known = self.fitted_.targets if hasattr(self, "fitted_") else None
        if known is not None:
            self._check_stream()
            _check_classes(known, classes)
        corpus = self._read_counts(X, reset=known is None)
        beside = Beside(sample_weight=sample_weight, covariates=covariates)
        documents, targets = read_batch(corpus, y, known, first_targets, beside)
        return self._learn(class_weighted(documents, targets, self.class_weight), targets)

    @available_if(_one_target)
    def decision_function(self, X: Any, covariates: Any = None) -> np.ndarray:
        """f: log odds of the second class of two, else one column a class.

        Not there for several targets, for which scikit-learn knows no form of it.

        Parameters
        ----------
        X : counts, documents x words
        covariates : optional
            As for fit.

        Returns
        -------
        array (documents,) or (documents, classes)

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` does not have the columns that training saw, or holds what is no count.

        Examples
        --------
        >>> from topicfocus import FocusedTopicClassifier
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicClassifier(3, random_state=0)
        >>> model.fit(reviews.counts, reviews.target > 5).decision_function(reviews.counts).shape
        (300,)
        """
        documents = self._new_documents(X, covariates=covariates)
        predictor = self.fitted_.predictors(documents, n_jobs=self.n_jobs)
        return predictor[:, 0] if predictor.shape[1] == 1 else predictor

    def predict_proba(self, X: Any, covariates: Any = None) -> np.ndarray | list[np.ndarray]:
        """Probabilities of the classes, in the order of `classes_`; a list for several targets.

        Parameters
        ----------
        X : counts, documents x words
        covariates : optional
            As for fit.

        Returns
        -------
        array (documents, classes), or a list of them

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` does not have the columns that training saw, or holds what is no count.

        Examples
        --------
        >>> from topicfocus import FocusedTopicClassifier
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicClassifier(3, random_state=0)
        >>> model.fit(reviews.counts, reviews.target > 5).predict_proba(reviews.counts[:4]).shape
        (4, 2)
        """
        out = self._probabilities(self._new_documents(X, covariates=covariates))
        return out[0] if len(out) == 1 else out

    def predict(self, X: Any, covariates: Any = None) -> np.ndarray:
        """The likeliest class of each document.

        Parameters
        ----------
        X : counts, documents x words
        covariates : optional
            As for fit.

        Returns
        -------
        array (documents,) or (documents, targets)

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``X`` does not have the columns that training saw, or holds what is no count.

        Examples
        --------
        >>> from topicfocus import FocusedTopicClassifier
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicClassifier(3, random_state=0)
        >>> model.fit(reviews.counts, reviews.target > 5).predict(reviews.counts[:4]).shape
        (4,)
        """
        found = self._probabilities(self._new_documents(X, covariates=covariates))
        codings = self.fitted_.target_model.codings
        labels = [np.asarray(c.labels) for c in codings]
        chosen = [l[np.argmax(p, axis=1)] for l, p in zip(labels, found, strict=True)]
        if len(chosen) == 1:
            return chosen[0]
        if len({c.dtype.kind for c in chosen}) > 1:  # numbers would become text beside text
            chosen = [c.astype(object) for c in chosen]
        return np.column_stack(chosen)

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Accuracy over the documents whose classes are known (the mean over several targets).

        Parameters
        ----------
        X, y, sample_weight, covariates
            As for fit.

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
        >>> from topicfocus import FocusedTopicClassifier
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> liked = reviews.target > 5
        >>> model = FocusedTopicClassifier(3, random_state=0).fit(reviews.counts, liked)
        >>> model.score(reviews.counts, liked) > 0.7
        True
        """
        predicted = self.predict(X, covariates)
        predicted = predicted.reshape(-1, self.fitted_.target_model.n_targets)
        columns = target_columns(y, len(predicted))
        weight = np.ones(len(predicted)) if sample_weight is None else np.asarray(sample_weight)
        scores = []
        for t, column in enumerate(columns):
            known = ~is_missing(column)
            right = predicted[known, t] == as_labels(column[known])
            scores.append(np.average(right, weights=weight[known]))
        return float(np.mean(scores))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        # As scikit-learn's naive Bayes models of counts have it: 83% right are asked on two columns
        # of normal numbers, of which a topic model sees the proportion.
        tags.classifier_tags.poor_score = True
        return tags


def _check_classes(targets: TargetModel, classes: Any) -> None:
    if classes is None:
        return
    each = labels_for_each(classes, targets.n_targets, "classes")
    for coding, own in zip(targets.codings, each, strict=True):
        if not np.array_equal(np.asarray(coding.labels), np.unique(np.asarray(own))):
            raise ValueError(
                f"`classes={own!r}` is not the same as on last call to partial_fit, was: "
                f"{coding.labels!r}"
            )
