"""`TopicSearchCV`: choose the number of topics and further parameters by cross-validation.

Settings are fitted fold by fold. The settings of one fold, or a part of them if there are more
processes than folds, are fitted one after the other in one process, with the same `SharedStages`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import ParameterGrid
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from topicfocus.counts import take_rows
from topicfocus.estimators.arguments import check_choice, check_flag
from topicfocus.estimators.effects import observed_response
from topicfocus.estimators.focused_training import screening_key
from topicfocus.estimators.training import FitOptions, fit_with
from topicfocus.focused import SharedStages
from topicfocus.kernels.threads import n_threads
from topicfocus.metrics import coherence, target_agreement, topic_diversity
from topicfocus.selection.replication import TOP, kept_words, shown_topics
from topicfocus.selection.resamples import (
    CountedFold,
    Data,
    Split,
    accepted,
    check_topic_model,
    count_fold,
    make_folds,
    read_data,
    read_scoring,
    ready_to_fit,
    split_estimator,
    validation_score,
    with_setting,
)
from topicfocus.selection.runner import Record, fingerprint, n_processes, run_fits
from topicfocus.selection.stability_measures import mean_jaccard, nogueira_index

METRICS = (
    *("npmi", "smoothed_pmi", "target_agreement", "diversity", "words", "inclusion"),
    "completeness",
)
RULES = ("one-standard-error", "best")

# ---- fits ----------------------------------------------------------------------------------------

#: The results of a fit that failed.
_FAILED: Record = {
    "kept": [],
    "vocabulary": 0,
    **dict.fromkeys(
        ("score", "seconds", "score_seconds", "n_topics", "inclusion_prior", *METRICS), math.nan
    ),
}


def fit_setting(
    item: tuple[Any, Split],
    shared: dict[Any, Any],
    *,
    data: Data,
    scorer: Any,
    low_fidelity: bool,
) -> Record:
    """Fit an estimator to the training documents of a fold; its score and metrics.

    Counts of the fold and the stages that fits have in common are kept in `shared`.
    """
    estimator, split = item
    parts = split_estimator(estimator)
    model, counting = clone(parts.model), fingerprint([parts.front])
    if counting not in shared:
        shared[counting] = count_fold(parts.front, data, split)
    fold: CountedFold = shared[counting]
    stages = shared.setdefault((counting, screening_key(model)), SharedStages())
    options = FitOptions(low_fidelity=low_fidelity, shared=stages)
    began = time.perf_counter()
    fit_with(model, options, fold.train.X, fold.train.y, **fold.train.for_fit)
    fitted = time.perf_counter()
    score = validation_score(model, fold.test, scorer)
    scored = time.perf_counter()
    columns = np.flatnonzero(kept_words(model))
    return {
        "score": score,
        "seconds": fitted - began,
        "score_seconds": scored - fitted,
        "n_topics": float(model.n_topics),
        "inclusion_prior": float(getattr(model, "inclusion_prior_", math.nan)),
        # By name if every fold has a vocabulary of its own.
        "kept": (columns if fold.words is None else fold.words[columns]).tolist(),
        "vocabulary": model.n_features_in_,
        **topic_metrics(model, fold),
    }


# ---- one model -----------------------------------------------------------------------------------


def topic_metrics(model: Any, fold: CountedFold) -> dict[str, float]:
    """Coherence and diversity on training documents, target agreement on test documents.

    NaN where a metric is not defined.
    """
    topics, counts, kept = shown_topics(model), fold.train.X, kept_words(model)
    tokens = model.fitted_.corpus(counts).word_counts
    found = getattr(model, "completeness_", None)
    return {
        # Topics of one word have no pairs of words.
        "npmi": _or_nan(lambda: coherence(topics, counts, "npmi", TOP)),
        "smoothed_pmi": _or_nan(lambda: coherence(topics, counts, "smoothed_pmi", TOP)),
        "target_agreement": _or_nan(lambda: _agreement(model.fitted_, topics, fold.test)),
        "diversity": _or_nan(lambda: topic_diversity(topics, TOP)),
        "words": float(kept.sum()),
        "inclusion": float(tokens[kept].sum() / max(tokens.sum(), 1.0)),
        "completeness": math.nan if found is None else found.share,
    }


def _agreement(fitted: Any, topics: np.ndarray, test: Data) -> float:
    """`target_agreement`, the mean over linear predictors (of classes and of several targets)."""
    if fitted.targets is None or test.y is None:
        return math.nan
    documents = fitted.documents(test.X, test.y, **test.for_prediction)
    coef, found = np.atleast_2d(fitted.coef), []
    for t, part in enumerate(fitted.parts):
        known = np.flatnonzero(np.isfinite(documents.target[:, t]))
        counts = take_rows(documents.corpus.counts, known)
        columns = observed_response(part, documents, t)[0][known].T
        for row, column in zip(coef[part.where], columns, strict=True):
            found.append(target_agreement(topics, row, counts, column))
    return float(np.mean(found))


def _or_nan(metric: Callable[[], Any]) -> float:
    try:
        return float(metric())
    except ValueError:
        return math.nan


# ---- all settings --------------------------------------------------------------------------------


def frontier_row(setting: Mapping[str, Any], records: Sequence[Record]) -> Record:
    """Means over the folds of a setting; NaN if a fit failed."""
    scores = np.array([r["score"] for r in records], dtype=float)
    n = len(scores)
    errors = [r["error"] for r in records if r["error"]]

    def mean(name: str) -> float:
        return float(np.mean([r[name] for r in records]))

    row: Record = dict(setting)
    for name in ("n_topics", "inclusion_prior"):  # for "auto", the value that was chosen
        if not isinstance(row.get(name), (int, float)):
            row[name] = mean(name)
    row["score"] = float(scores.mean())
    row["score_se"] = float(scores.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    row |= {name: mean(name) for name in METRICS}
    row["jaccard"] = row["nogueira"] = math.nan
    sets = [r["kept"] for r in records]
    if not errors and any(sets):
        chosen = MultiLabelBinarizer().fit_transform(sets)
        row["jaccard"] = mean_jaccard(chosen)
        # Words that no fold keeps are part of the vocabulary, too.
        missing = max(max(int(r["vocabulary"]) for r in records) - chosen.shape[1], 0)
        row["nogueira"] = nogueira_index(np.pad(chosen, ((0, 0), (0, missing))))
    row["seconds"] = mean("seconds")
    row["error"] = errors[0] if errors else None
    return row


def cv_results(
    settings: list[dict[str, Any]], by_setting: list[list[Record]], rows: list[Record]
) -> dict[str, Any]:
    """The results in the format of scikit-learn's GridSearchCV."""

    def table(name: str) -> np.ndarray:
        return np.array([[r[name] for r in records] for records in by_setting], dtype=float)

    results: dict[str, Any] = {}
    for ours, theirs in (("seconds", "fit_time"), ("score_seconds", "score_time")):
        results[f"mean_{theirs}"] = table(ours).mean(axis=1)
        results[f"std_{theirs}"] = table(ours).std(axis=1)
    for name in sorted({name for setting in settings for name in setting}):
        values = results[f"param_{name}"] = np.ma.masked_all(len(settings), dtype=object)
        for i, setting in enumerate(settings):
            if name in setting:
                values[i] = setting[name]
    results["params"] = settings
    scores = table("score")
    results |= {f"split{fold}_test_score": column for fold, column in enumerate(scores.T)}
    means = results["mean_test_score"] = scores.mean(axis=1)
    results["std_test_score"] = scores.std(axis=1)
    results["se_test_score"] = np.array([row["score_se"] for row in rows])
    worst_last = np.where(np.isnan(means), np.inf, -means)
    results["rank_test_score"] = rankdata(worst_last, method="min").astype(np.int32)
    results["error"] = [row["error"] for row in rows]
    return results


class Choice(NamedTuple):
    """Indices of the chosen row, the best row, and all rows within one standard error of it."""

    chosen: int
    best: int
    within: tuple[int, ...]


def choose(rows: Sequence[Mapping[str, Any]], rule: str, least_diversity: float) -> Choice:
    """Choose a row of the frontier.

    The best row has the highest mean score. By the one-standard-error rule, we choose among all
    rows whose mean score is at least that of the best row minus its standard error: the fewest
    topics, then the fewest words, then the highest score. Rows whose topics have too many top words
    in common are excluded, unless all are.
    """
    fitted = [i for i, row in enumerate(rows) if math.isfinite(row["score"])]
    distinct = [i for i in fitted if not rows[i]["diversity"] < least_diversity]
    allowed = distinct or fitted
    best = max(allowed, key=lambda i: rows[i]["score"])
    error = rows[best]["score_se"]
    least = rows[best]["score"] - (error if math.isfinite(error) else 0.0)
    within = [i for i in allowed if rows[i]["score"] >= least]

    def complexity(i: int) -> tuple[float, float, float]:
        row = rows[i]
        topics, words = (v if math.isfinite(v) else 0.0 for v in (row["n_topics"], row["words"]))
        return topics, words, -row["score"]

    chosen = best if rule == "best" else min(within, key=complexity)
    return Choice(chosen, best, tuple(within))


# ---- the estimator -------------------------------------------------------------------------------


def _has_method(name: str) -> Callable[[Any], bool]:
    """Whether the chosen model, or before `fit` the estimator, has a method."""

    def has(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return has


class TopicSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Choose the number of topics, the inclusion and any other parameter by cross-validation.

    Every setting is fitted to the training part of every fold and scored on its test part. The
    chosen setting is the simplest one that predicts as well as the best (one-standard-error rule):
    the fewest topics, then the fewest words. It is then fitted to all documents. `frontier_` has
    the score of every setting, how readable its topics are, how many words it keeps, and how many
    of these other folds keep as well.

    Fits of a fold share everything that does not depend on the setting: word counts, screening
    statistics of words, subjects. Focused models are compared by low-fidelity fits, whose topics
    are optimised once instead of twice, and in a few steps only. Their scores are close to those of
    full fits and cost several times less (docs/choosing.md).

    Parameters
    ----------
    estimator : a topic model, or a pipeline that ends in one
    param_grid : dict of lists, or a list of these
        As for scikit-learn's GridSearchCV. Parameters of the last step of a pipeline may be given
        without its name.
    cv : int, splitter or iterable, default=5
        An integer is a number of shuffled folds, stratified by class, and of whole `groups` if
        `fit` is given groups. Everything else is used as in scikit-learn.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn; by default the score of the model (R² or accuracy). Predictions
        use covariates and exposure.
    rule : {"one-standard-error", "best"}, default="one-standard-error"
    least_diversity : float, default=0.8
        Settings whose diversity@10 (the fraction of distinct words among the ten top words of all
        topics) is smaller are chosen only if all are. 0 disables this.
    exact : bool, default=False
        Whether every setting is fitted in full. Scores then equal those of GridSearchCV on the same
        folds, in about the same time.
    refit : bool, default=True
        Whether the chosen setting is fitted to all documents.
    n_jobs : int, optional
        Number of processes; all cores by default. Small searches run in one process.
    checkpoint : path, optional
        A folder for the records of finished fits (`joblib.Memory`): an interrupted `fit` with the
        same data and settings continues from them. The folder is not removed.
    random_state : int, default=0
        Seed of the folds, and of models without a `random_state`, so that all settings use the same
        validation documents.
    verbose : bool, default=False
        Whether to show progress: a bar on a terminal, a line from time to time elsewhere.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As in GridSearchCV, with "se_test_score" and "error".
    frontier_ : DataFrame
        One row per setting: its parameters, `score` and `score_se` (standard error over folds);
        means over folds of `npmi`, `smoothed_pmi`, `target_agreement` and `diversity` of the ten
        top words (docs/reading.md), of the number of `words` kept and their `inclusion`, and of
        `completeness` (NaN without ``remainder=True``, which only ``exact=True`` fits);
        `jaccard` and `nogueira`, the overlap of the words kept in different folds (training parts
        of k folds have (k-2)/(k-1) of their documents in common: see `stability` for what another
        sample would keep); `seconds` of a fit; `error`; and whether the setting is the `best` one
        with enough diversity, `within` one standard error of it, and `chosen`.
    frontier_rows_ : list of dicts
        The same as plain data.
    best_index_ : int
    best_params_ : dict
    best_score_ : float
    best_estimator_ : estimator fitted to all documents, if `refit`
    n_splits_ : int
    scorer_ : callable

    See Also
    --------
    stability : which words another sample of documents would keep.
    compare_models : test whether one of two models predicts better.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor, TopicSearchCV
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> grid = {"n_topics": [2, 3], "inclusion_prior": [0.1, 0.3]}
    >>> search = TopicSearchCV(FocusedTopicRegressor(max_epochs=5), grid, cv=3, n_jobs=1)
    >>> sorted(search.fit(reviews.counts, reviews.target).best_params_)
    ['inclusion_prior', 'n_topics']
    >>> len(search.frontier_)
    4
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        cv: Any = 5,
        scoring: Any = None,
        rule: str = "one-standard-error",
        least_diversity: float = 0.8,
        exact: bool = False,
        refit: bool = True,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        random_state: int | None = 0,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.least_diversity = least_diversity
        self.exact = exact
        self.refit = refit
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        **arrays: Any,
    ) -> TopicSearchCV:
        """Fit every setting to every fold, choose one, and fit it to all documents.

        Parameters
        ----------
        X : counts (documents x words), or texts for a pipeline that counts them
        y : targets, as the model takes them
            Documents without a target are in all training parts and in no test part.
        groups : array (documents,), optional
            Documents of one group (a patient, an author) are never on both sides of a fold.
        sample_weight : array (documents,), optional
        **arrays
            covariates, exposure, as for the model's `fit`; scores use them as well. Names may be
            those of a pipeline, such as ``focusedtopicregressor__covariates``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If every setting failed; the message has the first error.

        Examples
        --------
        >>> from sklearn.pipeline import make_pipeline
        >>> from topicfocus import FocusedTopicRegressor, TokenCounter, TopicSearchCV
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> model = make_pipeline(TokenCounter(), FocusedTopicRegressor(max_epochs=5))
        >>> search = TopicSearchCV(model, {"n_topics": [2, 3]}, cv=2, n_jobs=1)
        >>> search.fit(reviews.texts, reviews.target).predict(["an awful mess"]).shape
        (1,)
        """
        check_choice("rule", self.rule, RULES)
        check_flag("exact", self.exact)
        check_flag("refit", self.refit)
        n_threads(self.n_jobs)
        parts = split_estimator(self.estimator)
        check_topic_model(parts.model, "TopicSearchCV")
        if y is None and get_tags(self.estimator).target_tags.required:
            raise ValueError("requires y to be passed, but the target y is None.")
        self.scorer_ = read_scoring(self.scoring)
        settings = [dict(setting) for setting in ParameterGrid(self.param_grid)]
        if not settings:
            raise ValueError("param_grid has no setting: give at least one value per parameter.")
        estimators = [with_setting(self.estimator, setting) for setting in settings]
        data = read_data(X, y, groups, {"sample_weight": sample_weight, **arrays}, parts.name)
        splits = make_folds(data, self.cv, is_classifier(parts.model), self.random_state)
        records = self._fit_all(data, splits, estimators)
        self._summarise(settings, records, len(splits))
        if self.refit:
            best = ready_to_fit(estimators[self.best_index_], self.random_state, n_processes=1)
            targets = () if data.y is None else (data.y,)
            arrays = parts.named(accepted(parts.model.fit, data.for_fit))
            self.best_estimator_ = best.fit(data.X, *targets, **arrays)
        return self

    def _fit_all(
        self, data: Data, splits: list[Split], estimators: list[Any]
    ) -> list[list[Record]]:
        """The records of every setting, one per fold."""
        jobs = n_processes(data, len(estimators) * len(splits), self.n_jobs)
        ready = [ready_to_fit(estimator, self.random_state, jobs) for estimator in estimators]
        # Two groups per process balance the load; every group computes shared stages itself.
        n_parts = math.ceil(2 * jobs / len(splits)) if jobs > 1 else 1
        groups = [
            [(f"setting-{i}-fold-{f}", (ready[i], split)) for i in range(part, len(ready), n_parts)]
            for part in range(n_parts)
            for f, split in enumerate(splits)
        ]
        found = run_fits(
            partial(fit_setting, data=data, scorer=self.scorer_, low_fidelity=not self.exact),
            groups,
            identity=(data, splits, estimators, self.scoring, self.exact, self.random_state),
            checkpoint=self.checkpoint,
            n_jobs=jobs,
            title=type(self).__name__,
            verbose=self.verbose,
        )
        return [
            [_FAILED | found[f"setting-{i}-fold-{f}"] for f in range(len(splits))]
            for i in range(len(estimators))
        ]

    def _summarise(
        self, settings: list[dict[str, Any]], records: list[list[Record]], n_splits: int
    ) -> None:
        """Set the frontier, the results in scikit-learn's format, and the choice."""
        rows = [frontier_row(s, r) for s, r in zip(settings, records, strict=True)]
        if not any(math.isfinite(row["score"]) for row in rows):
            errors = [row["error"] for row in rows if row["error"]]
            first = errors[0] if errors else "the scores are not finite"
            kind = TypeError if first.startswith("TypeError") else ValueError
            raise kind(f"All {len(rows)} settings failed. The first error: {first}")
        choice = choose(rows, self.rule, self.least_diversity)
        for i, row in enumerate(rows):
            row["best"], row["within"] = i == choice.best, i in choice.within
            row["chosen"] = i == choice.chosen
        self.best_index_ = choice.chosen
        self.best_params_ = settings[choice.chosen]
        self.best_score_ = rows[choice.chosen]["score"]
        self.n_splits_ = n_splits
        self.frontier_rows_ = rows
        self.frontier_ = pd.DataFrame(rows)
        self.cv_results_ = cv_results(settings, records, rows)

    # ---- the chosen model ------------------------------------------------------------------------

    @available_if(_has_method("predict"))
    def predict(self, X: Any, **params: Any) -> Any:
        """Predict targets by the chosen model.

        Parameters
        ----------
        X : documents, as for fit
        **params
            Further arguments of the model's `predict`: covariates, exposure.

        Returns
        -------
        array

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
        >>> search = TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
        >>> search.fit(reviews.counts, reviews.target > 5).predict(reviews.counts[:3]).shape
        (3,)
        """
        return self._chosen().predict(X, **params)

    @available_if(_has_method("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Predict class probabilities by the chosen model.

        Parameters
        ----------
        X : documents, as for fit
        **params
            Further arguments of the model's `predict_proba`: covariates, exposure.

        Returns
        -------
        array (documents, classes)

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
        >>> search = TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
        >>> search.fit(reviews.counts, reviews.target > 5).predict_proba(reviews.counts[:3]).shape
        (3, 2)
        """
        return self._chosen().predict_proba(X, **params)

    @available_if(_has_method("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Log odds of two classes, or scores of more classes, by the chosen model.

        Parameters
        ----------
        X : documents, as for fit
        **params
            Further arguments of the model's `decision_function`: covariates, exposure.

        Returns
        -------
        array

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
        >>> search = TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
        >>> found = search.fit(reviews.counts, reviews.target > 5)
        >>> found.decision_function(reviews.counts[:3]).shape
        (3,)
        """
        return self._chosen().decision_function(X, **params)

    @available_if(_has_method("transform"))
    def transform(self, X: Any, **params: Any) -> Any:
        """Infer topic proportions by the chosen model.

        Parameters
        ----------
        X : documents, as for fit
        **params
            Further arguments of the model's `transform`: covariates, exposure.

        Returns
        -------
        array (documents, topics)

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
        >>> search = TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
        >>> search.fit(reviews.counts, reviews.target > 5).transform(reviews.counts[:3]).shape
        (3, 2)
        """
        return self._chosen().transform(X, **params)

    def _chosen(self) -> Any:
        check_is_fitted(self, "best_index_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                "this search was run with refit=False, so there is no model: fit one with "
                "best_params_."
            )
        return self.best_estimator_

    @available_if(_has_method("transform"))
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, and return the topic proportions of the same documents.

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
        return self.fit(X, y, **params).transform(X)

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """The score of the chosen model, by the scorer that settings were compared with.

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
        parts = split_estimator(self._chosen())
        data = read_data(X, y, None, params, parts.name)
        counts = data.X if parts.front is None else parts.front.transform(data.X)
        return validation_score(parts.model, replace(data, X=counts), self.scorer_)

    @property
    def classes_(self) -> Any:
        """Labels of the classes."""
        return self._chosen().classes_

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X in `fit`."""
        return self._chosen().n_features_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_index_")

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)
