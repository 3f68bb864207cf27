"""Base class of the regressors: real, count and ordinal targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.metaestimators import available_if

from topicfocus.estimators.coding import (
    Coding,
    as_numbers,
    read_families,
    read_regression,
    target_columns,
)
from topicfocus.estimators.documents import check_differences, labels_for_each, read_batch
from topicfocus.estimators.fitted import FittedAttribute
from topicfocus.estimators.parameters import check_flag
from topicfocus.estimators.supervised import SupervisedTopicModel
from topicfocus.estimators.targets import TargetModel


def _one_rating(model: Any) -> bool:
    """Whether there is one ordinal target."""
    if hasattr(model, "fitted_"):
        return model.fitted_.levels is not None
    return getattr(model, "family", None) == "ordinal"


@dataclass(eq=False, repr=False, kw_only=True)
class TopicRegressor(RegressorMixin, SupervisedTopicModel):
    """Base class of the regressors."""

    family: Any = "gaussian"

    noise_variance_ = FittedAttribute(lambda f: f.noise_variance, "δ of Gaussian targets.")
    levels_ = FittedAttribute(lambda f: f.levels, "Values of the levels of an ordinal target.")
    thresholds_ = FittedAttribute(lambda f: f.thresholds, "τ of an ordinal target.")

    def _make_targets(self, columns: list[np.ndarray], weight: np.ndarray) -> TargetModel:
        families = read_families(self.family, len(columns))
        targets = TargetModel(tuple(read_regression(columns, families, weight)))
        if not check_flag("standardize", getattr(self, "standardize", True)):
            return targets
        return targets.with_target_scaling(columns, weight)

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
            NaN or None marks a document (or one of its targets) that is not known: it teaches
            only the words.
        sample_weight : array (documents,), optional
            A document of weight 2 counts like two copies of it.
        exposure : array (documents,), optional
            E of ``family="poisson"``: y ~ Poisson(E e^f).
        covariates : array (documents, covariates), optional
            Numbers that enter the linear predictor beside the topics; pass them to predict, too.
        X_val, y_val, sample_weight_val, exposure_val, covariates_val : optional
            Documents to make choices on. Without them, models of the constrained objective set a
            part of X aside (`validation_fraction`), and joint models keep their last epoch; with
            them, a joint model keeps the epoch that predicts these documents best.

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
        >>> from topicfocus import FocusedTopicRegressor
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(300, random_state=0)
        >>> model = FocusedTopicRegressor(3, random_state=0).fit(reviews.counts, reviews.target)
        >>> model.components_.shape == (3, reviews.counts.shape[1])
        True
        """
        extras = {
            "sample_weight": sample_weight,
            "exposure": exposure,
            "covariates": covariates,
            "groups": groups,
        }
        validation = {
            "X": X_val,
            "y": y_val,
            "sample_weight": sample_weight_val,
            "exposure": exposure_val,
            "covariates": covariates_val,
        }
        return self._fit(X, y, extras, validation)

    def partial_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        exposure: Any = None,
        covariates: Any = None,
        levels: Any = None,
    ):
        """Learn from a batch, after those of earlier calls. See docs/streaming.md.

        Parameters
        ----------
        X, y, sample_weight, exposure, covariates
            As for fit. The targets of the first batch must not all be the same.
        levels : array, optional
            Of ``family="ordinal"``: all levels there will be (one array for each target, None for
            one that is not ordinal, where there are several). By default those of the first batch.
            Only needed at the first call.

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
            check_differences(np.column_stack([as_numbers(c) for c in columns]), weight)
            return _with_levels(self._make_targets(columns, weight), levels)

        known = self.fitted_.targets if hasattr(self, "fitted_") else None
        if known is not None:
            self._check_stream()
            _check_levels(known, levels)
        corpus = self._read_counts(X, reset=known is None)
        documents, targets = read_batch(
            corpus,
            y,
            known,
            first_targets,
            sample_weight=sample_weight,
            exposure=exposure,
            covariates=covariates,
        )
        return self._learn(documents, targets)

    def predict(
        self, X: Any, return_std: bool = False, exposure: Any = None, covariates: Any = None
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """E[y | f] of each document: b + η·θ̂, its exponential, or the expected level.

        Parameters
        ----------
        X : counts, documents x words
        return_std : bool, default=False
            Also the standard deviation of y: noise, and what the words leave open of θ (the Laplace
            covariance at θ̂).
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
            If ``X`` does not have the columns that training saw, or holds what is no count.

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
        family = fitted.state.family
        targets = fitted.target_model
        one = targets.n_targets == 1
        if not return_std:
            mean = targets.mean(family, fitted.predictors(documents, n_jobs=self.n_jobs))
            return mean[:, 0] if one else mean
        predictor, spread = fitted.outlook(documents, self.n_jobs)
        mean = targets.mean(family, predictor)
        std = np.sqrt(targets.variance(family, predictor, spread))
        return (mean[:, 0], std[:, 0]) if one else (mean, std)

    def predict_interval(
        self, X: Any, coverage: float = 0.8, exposure: Any = None, covariates: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where the targets of documents are expected, with a given probability.

        Of a real target mean ± z·std of `predict(return_std=True)`, z being the quantile of a
        normal distribution, within the ends of its scale, where the training documents show one
        (docs/estimators.md). Cutting an interval there leaves out no target that is on the scale.
        Of a count the quantiles of a negative binomial distribution with this mean and standard
        deviation, and of a rating those of its levels: whole numbers and levels, which both belong
        to the interval. So it has at least the share asked for, and more where counts are small.

        Parameters
        ----------
        X : counts, documents x words
        coverage : float, default=0.8
            Share of the targets that the intervals are to contain.
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
            If ``coverage`` is not between 0 and 1, or ``X`` does not have the
            columns that training saw.

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
        fitted = self.fitted_
        ends = fitted.target_model.intervals(
            fitted.state.family, *fitted.outlook(documents, self.n_jobs), coverage
        )
        low, high = (end[:, 0] if end.shape[1] == 1 else end for end in ends)
        return low, high

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
            If ``X`` does not have the columns that training saw, or holds what is no count.

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
        """R² of the predictions, over the documents whose targets are all known.

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
            If ``X`` does not have the columns that training saw, or holds what is no count.

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


def _check_levels(targets: TargetModel, levels: Any) -> None:
    if levels is None:
        return
    each = labels_for_each(levels, targets.n_targets, "levels")
    for coding, own in zip(targets.codings, each, strict=True):
        if own is not None and not np.array_equal(np.asarray(coding.labels), _levels(own)):
            raise ValueError(f"levels={own!r} is not what the model has: {coding.labels}.")
