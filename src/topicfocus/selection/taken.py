"""The model that a search has taken, used as if the search were that model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from topicfocus.selection.documents import read_data, take_apart
from topicfocus.selection.scoring import held_out_score

#: What every method of the model taken says of itself.
_DOC = """{summary}, of the model taken.

        Parameters
        ----------
        X : documents, as for fit
        **params
            What the model's own `{name}` takes besides: covariates, exposure.

        Returns
        -------
        {returns}

        Raises
        ------
        NotFittedError
            If the search was not fitted.
        AttributeError
            If it was fitted with ``refit=False``.

        Examples
        --------
        >>> from topicfocus import FocusedTopicClassifier, TopicSearchCV
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> model = FocusedTopicClassifier(max_epochs=5)
        >>> search = TopicSearchCV(model, {{"n_topics": [2]}}, cv=2, n_jobs=1)
        >>> liked = reviews.target > 5
        >>> search.fit(reviews.counts, liked).{name}(reviews.counts[:3]).shape
        {shape}
        """


def has_method(name: str) -> Callable[[Any], bool]:
    """Whether the best estimator, or before fit the one given, has a method."""

    def has(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return has


def _delegated(name: str, summary: str, returns: str, shape: str) -> Any:
    """A method that is the same method of the model taken."""

    def method(self: TakenModel, X: Any, **params: Any) -> Any:
        return getattr(self.taken(), name)(X, **params)

    method.__name__, method.__qualname__ = name, f"TakenModel.{name}"
    method.__doc__ = _DOC.format(summary=summary, name=name, returns=returns, shape=shape)
    return available_if(has_method(name))(method)


class TakenModel:
    """What a search delegates to `best_estimator_`: predictions, mixes, scores, tags."""

    estimator: Any
    scorer_: Any

    predict = _delegated("predict", "Predictions", "array", "(3,)")
    predict_proba = _delegated(
        "predict_proba", "Probabilities of classes", "array (documents, classes)", "(3, 2)"
    )
    decision_function = _delegated(
        "decision_function", "Log odds of two classes, or scores of more", "array", "(3,)"
    )
    transform = _delegated("transform", "Topic mixes", "array (documents, topics)", "(3, 2)")

    def taken(self) -> Any:
        """The model taken; an error where there is none.

        Returns
        -------
        estimator

        Raises
        ------
        NotFittedError
            If the search was not fitted.
        AttributeError
            If it was fitted with ``refit=False``.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor, TopicSearchCV
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> model = FocusedTopicRegressor(max_epochs=5)
        >>> search = TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
        >>> search.fit(reviews.counts, reviews.target).taken().n_topics
        2
        """
        check_is_fitted(self, "best_index_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                "this search was run with refit=False, so there is no model: fit one with "
                "best_params_."
            )
        return self.best_estimator_

    @available_if(has_method("transform"))
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, and the topic mixes of the same documents.

        Parameters
        ----------
        X, y, **params
            As for `fit`.

        Returns
        -------
        array (documents, topics)

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor, TopicSearchCV
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> model = FocusedTopicRegressor(max_epochs=5)
        >>> search = TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
        >>> search.fit_transform(reviews.counts, reviews.target).shape
        (200, 2)
        """
        return self.fit(X, y, **params).transform(X)  # type: ignore[attr-defined]

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """The score that settings were judged by, of the model taken.

        Parameters
        ----------
        X, y : as for fit
        **params
            sample_weight, covariates and exposure of these documents.

        Returns
        -------
        float

        Raises
        ------
        NotFittedError
            If the search was not fitted.
        AttributeError
            If it was fitted with ``refit=False``.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor, TopicSearchCV
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> model = FocusedTopicRegressor(max_epochs=5)
        >>> search = TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
        >>> search.fit(reviews.counts, reviews.target).score(reviews.counts, reviews.target) > 0.4
        True
        """
        parts = take_apart(self.taken())
        data = read_data(X, y, None, params, parts.name)
        counts = data.X if parts.front is None else parts.front.transform(data.X)
        return held_out_score(parts.model, replace(data, X=counts), self.scorer_)

    @property
    def classes_(self) -> Any:
        """Labels of the classes."""
        return self.taken().classes_

    @property
    def n_features_in_(self) -> int:
        """Columns that `fit` has seen."""
        try:
            check_is_fitted(self, "best_index_")
        except ValueError as error:
            raise AttributeError(f"{type(self).__name__} is not fitted yet.") from error
        return self.taken().n_features_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_index_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.transformer_tags = inner.transformer_tags
        tags.target_tags = inner.target_tags
        tags.input_tags = inner.input_tags
        return tags
