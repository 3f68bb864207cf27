"""Base classes of the regressors (numbers, counts, ratings) and of the classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.metaestimators import available_if

from topicfocus.estimators.arguments import labels_for_each
from topicfocus.estimators.base import TopicModel
from topicfocus.estimators.documents import Documents
from topicfocus.estimators.fitted import FittedAttribute
from topicfocus.estimators.targets import (
    Coding,
    TargetModel,
    as_labels,
    as_numbers,
    is_missing,
    read_classes,
    read_families,
    read_regression,
    shown,
    target_columns,
)


def squeezed(columns: np.ndarray) -> np.ndarray:
    """A vector if there is one column."""
    return columns[:, 0] if columns.shape[1] == 1 else columns


# ---- regressors ----------------------------------------------------------------------------------


def _one_rating(model: Any) -> bool:
    """Whether there is one ordinal target."""
    if hasattr(model, "fitted_"):
        return model.fitted_.levels is not None
    return getattr(model, "family", None) == "ordinal"


@dataclass(eq=False, repr=False, kw_only=True)
class TopicRegressor(RegressorMixin, TopicModel):
    """Base class of the regressors."""

    family: Any = "gaussian"

    noise_variance_ = FittedAttribute(lambda f: f.noise_variance, "δ of Gaussian targets.")
    levels_ = FittedAttribute(lambda f: f.levels, "Values of the levels of an ordinal target.")
    thresholds_ = FittedAttribute(
        lambda f: None if f.levels is None else f.parts[0].family.thresholds,
        "τ of an ordinal target.",
    )

    def _make_targets(self, columns: list[np.ndarray], weight: np.ndarray) -> TargetModel:
        families = read_families(self.family, len(columns))
        targets = TargetModel(tuple(read_regression(columns, families, weight)))
        is_scaled = getattr(self, "standardize", True)
        return targets.with_target_scaling(columns, weight) if is_scaled else targets

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        exposure: Any = None,
        covariates: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        exposure_val: Any = None,
        covariates_val: Any = None,
        groups: Any = None,
    ):
        """Fit to counts (documents x words) and targets.

        Parameters
        ----------
        X : counts, documents x words
        y : array (documents,) or (documents, targets)
            NaN or None marks a missing target: such a document contributes only its words.
        sample_weight : array (documents,), optional
            A document of weight 2 counts like two copies of it.
        exposure : array (documents,), optional
            E of ``family="poisson"``: y ~ Poisson(E e^f).
        covariates : array (documents, covariates), optional
            Numbers that enter the linear predictor in addition to the topics; pass them to predict,
            too. NaN is replaced by the median of the training documents, and a column that says
            where it was is added if it is missing in ten of them or more, and known in as many.
        X_val, y_val, sample_weight_val, exposure_val, covariates_val : optional
            Validation documents. Without them, models of the constrained objective use a part of X
            (`validation_fraction`), and joint models keep their last epoch. With them, a joint
            model keeps the epoch that predicts these documents best.
        groups : array (documents,), optional
            Groups such as patients or authors. A group is never split between training and
            validation documents.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If ``X`` is not a matrix of counts, the target has another length or is constant, or a
            parameter is out of its range. The message names the row.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> model.components_.shape == (3, reviews.counts.shape[1])
        True
        """
        return self._fit(
            X,
            y,
            sample_weight=sample_weight,
            exposure=exposure,
            covariates=covariates,
            X_val=X_val,
            y_val=y_val,
            sample_weight_val=sample_weight_val,
            exposure_val=exposure_val,
            covariates_val=covariates_val,
            groups=groups,
        )

    def partial_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        exposure: Any = None,
        covariates: Any = None,
        levels: Any = None,
    ):
        """Learn from a batch, after those of earlier calls. See docs/scale.md.

        Parameters
        ----------
        X, y, sample_weight, exposure, covariates
            As for fit. The targets of the first batch must not all be the same.
        levels : array, optional
            For ``family="ordinal"``: all levels of all batches (for several targets one array per
            target, None if it is not ordinal). By default the levels of the first batch. Only
            needed at the first call.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If ``X`` is not a matrix of counts, the target has another length or is constant, or a
            parameter is out of its range. The message names the row.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(400, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0)
        >>> for batch in (slice(0, 200), slice(200, 400)):
        ...     model = model.partial_fit(reviews.counts[batch], reviews.target[batch])
        >>> float(model.n_samples_seen_)
        400.0
        """

        def first_targets(columns: list[np.ndarray], weight: np.ndarray) -> TargetModel:
            return _with_levels(self._make_targets(columns, weight), levels)

        return self._partial_fit(
            X,
            y,
            first_targets,
            {"levels": levels},
            sample_weight=sample_weight,
            exposure=exposure,
            covariates=covariates,
        )

    def predict(
        self, X: Any, return_std: bool = False, exposure: Any = None, covariates: Any = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """E[y | f] of each document: b + η·θ̂, its exponential, or the expected level.

        If at least 0.5% of the training targets, and two or more, are at the smallest or at the
        largest value of a real-valued target, that is an end of its scale, such as 1 and 5 stars.
        Predictions are not beyond the ends of the scale.

        Parameters
        ----------
        X : counts, documents x words
        return_std : bool, default=False
            Whether to return the standard deviation of y as well: the noise, and the uncertainty of
            θ (Laplace covariance at θ̂).
        exposure, covariates : optional
            As for fit.

        Returns
        -------
        array (documents,) or (documents, targets), or a pair of them

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
        >>> mean, std = model.predict(reviews.counts[:5], return_std=True)
        >>> mean.shape, bool((std > 0).all())
        ((5,), True)
        """
        documents = self._new_documents(X, exposure=exposure, covariates=covariates)
        fitted = self.fitted_
        if not return_std:
            return squeezed(fitted.mean(fitted.predictors(documents, n_jobs=self.n_jobs)))
        predictor, spread = fitted.outlook(documents, self.n_jobs)
        deviation = np.sqrt(fitted.variance(predictor, spread))
        return squeezed(fitted.mean(predictor)), squeezed(deviation)

    def predict_interval(
        self, X: Any, coverage: float = 0.8, exposure: Any = None, covariates: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Prediction intervals.

        For a real-valued target, mean ± z·std of `predict(return_std=True)` with a quantile z of
        the normal distribution, within the ends of its scale if the training documents show one
        (docs/intervals.md). For a count, quantiles of a negative binomial distribution with this
        mean and standard deviation; for a rating, quantiles of its levels. Both limits belong to
        the interval, so that intervals of small counts have a larger coverage.

        Parameters
        ----------
        X : counts, documents x words
        coverage : float, default=0.8
            Probability that an interval contains the target.
        exposure, covariates : optional
            As for fit.

        Returns
        -------
        low, high : arrays (documents,) or (documents, targets)

        Raises
        ------
        NotFittedError
            If the estimator is not fitted yet.
        ValueError
            If ``coverage`` is not between 0 and 1, or ``X`` has other columns than the training
            documents.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> low, high = model.predict_interval(reviews.counts[:5], coverage=0.5)
        >>> bool((low < high).all())
        True
        """
        if not (isinstance(coverage, (int, float)) and 0 < coverage < 1):
            raise ValueError(f"coverage must be between 0 and 1, such as 0.8, got {coverage!r}.")
        documents = self._new_documents(X, exposure=exposure, covariates=covariates)
        outlook = self.fitted_.outlook(documents, self.n_jobs)
        low, high = self.fitted_.intervals(*outlook, coverage)
        return squeezed(low), squeezed(high)

    @available_if(_one_rating)
    def predict_proba(self, X: Any, covariates: Any = None) -> np.ndarray:
        """Probabilities of the levels of an ordinal target, in the order of `levels_`.

        Parameters
        ----------
        X : counts, documents x words
        covariates : optional
            As for fit.

        Returns
        -------
        array (documents, levels)

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
        >>> stars = np.digitize(reviews.target, [4, 7])
        >>> model = FocusedTopicRegressor(3, family="ordinal", random_state=0)
        >>> model.fit(reviews.counts, stars).predict_proba(reviews.counts[:2]).shape
        (2, 3)
        """
        return self._probabilities(self._new_documents(X, covariates=covariates))[0]

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        exposure: Any = None,
        covariates: Any = None,
    ) -> float:
        """R² of the predictions for documents without missing targets.

        Parameters
        ----------
        X, y, sample_weight, exposure, covariates
            As for fit.

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
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> model.score(reviews.counts, reviews.target) > 0.5
        True
        """
        predicted = self.predict(X, exposure=exposure, covariates=covariates)
        truth = np.column_stack([as_numbers(c) for c in target_columns(y, len(predicted))])
        known = np.all(np.isfinite(truth), axis=1)
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(r2_score(truth[known], predicted[known], sample_weight=weight))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # scikit-learn's check asks for R² > ½ on ten columns of shifted normal numbers. A topic
        # model uses their proportions only and reaches 0.3 to 0.6.
        tags.regressor_tags.poor_score = True
        return tags


def _levels(given: Any) -> np.ndarray:
    return np.unique(as_numbers(np.asarray(given), "levels"))


def _with_levels(targets: TargetModel, levels: Any) -> TargetModel:
    """Replace the levels of the first batch by those that the user names."""
    if levels is None:
        return targets
    codings = []
    each = labels_for_each(levels, targets.n_targets, "levels")
    for coding, own in zip(targets.codings, each, strict=True):
        if own is not None and not coding.is_rating:
            raise ValueError(f"levels are for family='ordinal', not {coding.kind!r}.")
        codings.append(coding if own is None else Coding(coding.family, _levels(own)))
    return replace(targets, codings=tuple(codings))


# ---- classifiers ---------------------------------------------------------------------------------


def _one_target(model: Any) -> bool:
    return not hasattr(model, "fitted_") or model.fitted_.targets.n_targets == 1


@dataclass(eq=False, repr=False, kw_only=True)
class TopicClassifier(ClassifierMixin, TopicModel):
    """Base class of the classifiers."""

    class_weight: Any = None

    classes_ = FittedAttribute(lambda f: f.classes, "The labels; a list for several targets.")

    def _make_targets(self, columns: list[np.ndarray], weight: np.ndarray) -> TargetModel:
        return TargetModel(tuple(read_classes(columns, weight)))

    def _weight_classes(self, documents: Documents, targets: TargetModel) -> Documents:
        return apply_class_weight(documents, targets, self.class_weight)

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
            Labels of any kind, -1 included. NaN or None marks a missing class: such a document
            contributes only its words.
        sample_weight : array (documents,), optional
            A document of weight 2 counts like two copies of it.
        covariates : array (documents, covariates), optional
            Numbers that enter the linear predictor in addition to the topics; pass them to predict,
            too. NaN is replaced by the median of the training documents, and a column that says
            where it was is added if it is missing in ten of them or more, and known in as many.
        X_val, y_val, sample_weight_val, covariates_val : optional
            Validation documents. Without them, models of the constrained objective use a part of X
            (`validation_fraction`), stratified by class, and joint models keep their last epoch.
            With them, a joint model keeps the epoch that predicts these documents best.
        groups : array (documents,), optional
            Groups such as patients or authors. A group is never split between training and
            validation documents.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If ``X`` is not a matrix of counts, the target has another length or is constant, or a
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
        return self._fit(
            X,
            y,
            sample_weight=sample_weight,
            covariates=covariates,
            X_val=X_val,
            y_val=y_val,
            sample_weight_val=sample_weight_val,
            covariates_val=covariates_val,
            groups=groups,
        )

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        covariates: Any = None,
    ):
        """Learn from a batch, after those of earlier calls. See docs/scale.md.

        Parameters
        ----------
        X, y, sample_weight, covariates
            As for fit. The first batch must have documents of two classes or more.
        classes : array
            All classes of all batches (a list of arrays for several targets). Required at the first
            call.

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

        every = self.class_weight if isinstance(self.class_weight, list) else [self.class_weight]
        if "balanced" in every:
            raise ValueError(
                'class_weight="balanced" is not for partial_fit, which has one batch at a time. '
                "Pass a dict {class: weight}, or sample_weight."
            )
        return self._partial_fit(
            X,
            y,
            first_targets,
            {"classes": classes},
            sample_weight=sample_weight,
            covariates=covariates,
        )

    @available_if(_one_target)
    def decision_function(self, X: Any, covariates: Any = None) -> np.ndarray:
        """f: log odds of the second of two classes, or one column per class.

        Not defined for several targets.

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
            If ``X`` has other columns than the training documents, or invalid counts.

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
        return squeezed(self.fitted_.predictors(documents, n_jobs=self.n_jobs))

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
            If ``X`` has other columns than the training documents, or invalid counts.

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
        """Predict the likeliest class of each document.

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
            If ``X`` has other columns than the training documents, or invalid counts.

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
        """Accuracy for documents without missing classes; the mean over several targets.

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
            If ``X`` has other columns than the training documents, or invalid counts.

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
        # scikit-learn's check asks for 83% accuracy on two columns of normal numbers. A topic model
        # uses their proportion only, as scikit-learn's naive Bayes models of counts.
        tags.classifier_tags.poor_score = True
        return tags


def apply_class_weight(documents: Documents, targets: TargetModel, class_weight: Any) -> Documents:
    """Multiply the weights of the documents by the weights of their classes."""
    if class_weight is None:
        return documents
    assert documents.target is not None
    each = class_weight if isinstance(class_weight, list) else [class_weight] * targets.n_targets
    if len(each) != targets.n_targets:
        raise ValueError(f"class_weight is for {len(each)} targets, but y has {targets.n_targets}.")
    if targets.n_targets > 1 and isinstance(class_weight, Mapping):
        raise ValueError("class_weight must be a list of dicts for several targets.")
    weight = documents.weights.copy()
    for own, coding, column in zip(each, targets.codings, documents.target.T, strict=True):
        known = np.isfinite(column)
        codes = column[known].astype(int)
        factors = _class_weights(own, coding, codes, documents.weights[known])
        weight[known] *= factors[codes]
    return replace(documents, weight=None if np.all(weight == 1) else weight)


def _class_weights(own: Any, coding: Coding, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weight of every class of one target."""
    labels = np.asarray(coding.labels)
    if own is not None and own != "balanced":
        if not isinstance(own, Mapping):
            raise ValueError(
                f'class_weight must be None, "balanced" or a dict {{class: weight}}, got {own!r}.'
            )
        unknown = [key for key in own if key not in labels.tolist()]
        if unknown:
            raise ValueError(
                f"class_weight has {shown(unknown[0])}, which is not a class of y; these are "
                f"{', '.join(map(shown, labels[:20]))}."
            )
        bad = {key: value for key, value in own.items() if not 0 < value < np.inf}
        for key, value in bad.items():
            raise ValueError(f"class_weight of {shown(key)} must be above 0, got {value!r}.")
        return np.array([float(own.get(label, 1.0)) for label in labels.tolist()])
    if own is None:
        return np.ones(len(labels))
    size = np.bincount(codes, weights=weight, minlength=len(labels))
    return size.sum() / (len(labels) * np.maximum(size, 1e-300))
