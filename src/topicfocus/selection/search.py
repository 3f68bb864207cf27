"""`TopicSearchCV`: how many topics, how many words? Every setting on folds, in one call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

import topicfocus
from topicfocus.estimators.parameters import check_choice, check_flag
from topicfocus.kernels.threads import n_threads
from topicfocus.selection.documents import (
    Data,
    Fold,
    counted_fold,
    named_for,
    read_data,
    take_apart,
    with_setting,
)
from topicfocus.selection.figures import FIGURES
from topicfocus.selection.finished import Finished, fingerprint
from topicfocus.selection.fitting import failed, fit_setting
from topicfocus.selection.folds import Split, make_folds
from topicfocus.selection.indices import masks, mean_jaccard, nogueira_index
from topicfocus.selection.parallel import forget_stages, progress_of, run_all
from topicfocus.selection.rule import RULES, choose
from topicfocus.selection.scoring import held_out_score, read_scoring

Record = dict[str, Any]


def _delegated(name: str) -> Any:
    """Whether the best estimator, or before fit the one given, has a method."""

    def has(search: Any) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return available_if(has)


class TopicSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Topics, share of words and any other parameter chosen on folds, with the whole frontier.

    Every setting is fitted to every training part and judged on documents it has not seen. Taken is
    the simplest setting that predicts as well as the best one (one-standard-error rule): the fewest
    topics, then the fewest words; it is then fitted to all documents. `frontier_` has for every
    setting how well it predicts, how readable its topics are, how many words it keeps, and whether
    other folds keep the same.

    Fits of a fold share what does not depend on the setting: counting words, the evidence of words.

    Parameters
    ----------
    estimator : a topic model, or a pipeline that ends in one
    param_grid : dict of lists, or a list of these
        As for scikit-learn's GridSearchCV. A parameter of the last step of a pipeline may be
        called by its own name.
    cv : int, splitter or iterable, default=5
        A whole number is that many folds of shuffled documents, classes in their proportions, and
        of whole `groups` where `fit` is given these. Otherwise as in scikit-learn.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn; by default the model's own score (R², or accuracy). Predictions
        that are scored know covariates and exposure.
    rule : {"one-standard-error", "best"}, default="one-standard-error"
    least_diversity : float, default=0.8
        Settings whose diversity@10 (the share of distinct words among the ten top words of all
        topics) is below it are taken only if there is no other. 0 leaves it out of account.
    refit : bool, default=True
        Whether the setting taken is fitted to all documents.
    n_jobs : int, optional
        Processes; all cores by default.
    checkpoint : path, optional
        A folder in which the figures of each finished fit are kept: `fit` with the same data and
        settings goes on from there. The folder stays.
    random_state : int, default=0
        Decides the folds, and which documents a model without a `random_state` of its own sets
        aside: the same for all settings.
    verbose : bool, default=False
        A bar on a terminal.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As GridSearchCV has it, with "se_test_score" and "error".
    frontier_ : dataframe, or list of dicts where pandas is not installed
        A row a setting: its parameters, `score` and `score_se` (standard error over folds), and
        means over folds of `npmi`, `log_ratio`, `agreement`, `diversity` (of the ten top words;
        docs/metrics.md), `words` kept, their `token_share`, `jaccard` and `nogueira` (how alike
        the words are that folds keep; training parts of k folds share (k-2)/(k-1) of their
        documents, so see `stability` for what another sample would keep), `seconds` of a fit,
        `error`, and whether it is the `best` of those with enough diversity, `within` a standard
        error of that, and `chosen`.
    frontier_rows_ : list of dicts
        The same, whether pandas is installed or not.
    best_index_ : int
    best_params_ : dict
    best_score_ : float
    best_estimator_ : estimator fitted to all documents, if `refit`
    n_splits_ : int
    scorer_ : callable or None

    See Also
    --------
    stability : what another sample of documents would keep.
    compare_models : whether one of two models predicts better.

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
        covariates: Any = None,
        exposure: Any = None,
        **named: Any,
    ) -> TopicSearchCV:
        """Fit every setting to every fold, choose, and fit the choice to all documents.

        Parameters
        ----------
        X : counts (documents x words), or texts for a pipeline that counts them
        y : targets, as the model takes them
            Documents without a target are never judged on, and in all training parts.
        groups : array (documents,), optional
            Documents of one group (a patient, an author) are never on both sides of a fold.
        sample_weight, covariates, exposure : optional
            As for the model's `fit`; scores take them into account, too.
        **named
            The same under a pipeline's names, such as ``focusedtopicregressor__covariates``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If every setting failed; with the first error.

        Examples
        --------
        >>> from sklearn.feature_extraction.text import CountVectorizer
        >>> from sklearn.pipeline import make_pipeline
        >>> from topicfocus import FocusedTopicRegressor, TopicSearchCV
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> model = make_pipeline(CountVectorizer(), FocusedTopicRegressor(max_epochs=5))
        >>> search = TopicSearchCV(model, {"n_topics": [2, 3]}, cv=2, n_jobs=1)
        >>> search.fit(reviews.texts, reviews.target).predict(["an awful mess"]).shape
        (1,)
        """
        check_choice("rule", self.rule, RULES)
        check_flag("refit", self.refit)
        n_threads(self.n_jobs)
        if y is None and get_tags(self.estimator).target_tags.required:
            raise ValueError("requires y to be passed, but the target y is None.")
        self.scorer_ = read_scoring(self.scoring)
        settings, estimators = self._settings()
        given = {"sample_weight": sample_weight, "covariates": covariates, "exposure": exposure}
        data = read_data(X, y, groups, {**given, **named}, take_apart(self.estimator).name)
        classes = is_classifier(take_apart(self.estimator).model)
        splits = make_folds(data, self.cv, classes, self.random_state)
        records = self._records(data, splits, estimators)
        self._report(settings, records, len(splits))
        if self.refit:
            best = estimators[self.best_index_]
            _seed(take_apart(best).model, self.random_state)
            self.best_estimator_ = _fit_whole(best, data)
        return self

    # ---- stages ----------------------------------------------------------------------------------

    def _settings(self) -> tuple[list[dict[str, Any]], list[Any]]:
        """Every setting, and the estimator with it: a name that is wrong is an error now."""
        settings = [dict(setting) for setting in ParameterGrid(self.param_grid)]
        if not settings:
            raise ValueError("param_grid has no setting: give at least one value a parameter.")
        return settings, [with_setting(self.estimator, setting) for setting in settings]

    def _records(self, data: Data, splits: list[Split], estimators: list[Any]) -> list[Record]:
        """A record for every setting and fold, from the checkpoint where it is there."""
        mark = fingerprint(
            topicfocus.__version__, data.X, data.y, data.beside, splits, estimators, self.scoring
        )
        finished = Finished(self.checkpoint, mark, "search")
        found: dict[str, Record] = {}
        names = [_name(i, f) for f in range(len(splits)) for i in range(len(estimators))]
        for name in names:
            record = finished.get(name)
            if record is not None and record.get("error") is None:
                found[name] = record
        tasks = self._tasks(data, splits, estimators, found, mark)
        with progress_of("fits", len(names), self.verbose) as advance:
            for _ in found:
                advance("")
            try:
                for record in run_all(fit_setting, tasks, self.n_jobs):
                    found[record["name"]] = record
                    finished.put(record["name"], record)
                    advance(_note(found.values()))
            except KeyboardInterrupt:
                raise KeyboardInterrupt(_interrupted(self.checkpoint)) from None
            finally:
                forget_stages()
        return [found[name] for name in names]

    def _tasks(
        self,
        data: Data,
        splits: list[Split],
        estimators: list[Any],
        found: dict[str, Record],
        mark: str,
    ) -> list[tuple[Any, ...]]:
        """What is left to do, fold by fold; settings that count words alike share the counts."""
        alone = n_threads(self.n_jobs) == 1
        tasks: list[tuple[Any, ...]] = []
        for f, (train, test) in enumerate(splits):
            folds: dict[str, Fold | Exception] = {}
            for i, estimator in enumerate(estimators):
                if _name(i, f) in found:
                    continue
                parts = take_apart(estimator)
                way = fingerprint(parts.front)
                if way not in folds:
                    folds[way] = _counted(f, parts.front, data, train, test)
                fold = folds[way]
                if isinstance(fold, Exception):
                    found[_name(i, f)] = failed(_name(i, f), fold)
                    continue
                model = _prepared(parts.model, self.random_state, alone)
                tasks.append((_name(i, f), model, fold, self.scorer_, f"{mark} {f} {way}"))
        return tasks

    def _report(self, settings: list[dict[str, Any]], records: list[Record], n: int) -> None:
        """cv_results_, frontier_ and the choice."""
        by_setting = [records[i :: len(settings)] for i in range(len(settings))]
        rows = [_row(s, r) for s, r in zip(settings, by_setting, strict=True)]
        if not any(math.isfinite(row["score"]) for row in rows):
            errors = [r["error"] for r in records if r["error"]]
            first = errors[0] if errors else "their scores are not numbers"
            kind = TypeError if first.startswith("TypeError") else ValueError
            raise kind(f"All {len(rows)} settings failed. The first error: {first}")
        choice = choose(rows, self.rule, self.least_diversity)
        self.best_index_ = choice.taken
        for i, row in enumerate(rows):
            row["best"], row["within"] = i == choice.best, i in choice.within
            row["chosen"] = i == choice.taken
        self.best_params_ = settings[self.best_index_]
        self.best_score_ = rows[self.best_index_]["score"]
        self.n_splits_ = n
        self.frontier_rows_ = rows
        self.frontier_ = as_table(rows)
        self.cv_results_ = _cv_results(settings, by_setting, rows)

    # ---- the model taken -------------------------------------------------------------------------

    def _best(self) -> Any:
        check_is_fitted(self, "best_index_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                "this search was run with refit=False, so there is no model: fit one with "
                "best_params_."
            )
        return self.best_estimator_

    @_delegated("predict")
    def predict(self, X: Any, **params: Any) -> Any:
        """Predictions of the model taken.

        Parameters
        ----------
        X : as for fit
        **params
            Of the model's own `predict`: covariates, exposure.

        Returns
        -------
        array

        Raises
        ------
        NotFittedError
            If the search was not fitted, or fitted with ``refit=False``.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor, TopicSearchCV
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> model = FocusedTopicRegressor(max_epochs=5)
        >>> search = TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
        >>> search.fit(reviews.counts, reviews.target).predict(reviews.counts[:2]).shape
        (2,)
        """
        return self._best().predict(X, **params)

    @_delegated("predict_proba")
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Probabilities of classes, of the model taken.

        Parameters
        ----------
        X, **params
            As for `predict`.

        Returns
        -------
        array (documents, classes)

        Raises
        ------
        NotFittedError
            If the search was not fitted, or fitted with ``refit=False``.

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
        return self._best().predict_proba(X, **params)

    @_delegated("decision_function")
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Log odds of two classes, or scores of more, of the model taken.

        Parameters
        ----------
        X, **params
            As for `predict`.

        Returns
        -------
        array

        Raises
        ------
        NotFittedError
            If the search was not fitted, or fitted with ``refit=False``.

        Examples
        --------
        >>> from topicfocus import FocusedTopicClassifier, TopicSearchCV
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> model = FocusedTopicClassifier(max_epochs=5)
        >>> search = TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
        >>> liked = reviews.target > 5
        >>> search.fit(reviews.counts, liked).decision_function(reviews.counts[:3]).shape
        (3,)
        """
        return self._best().decision_function(X, **params)

    @_delegated("transform")
    def transform(self, X: Any) -> Any:
        """Topic mixes, of the model taken.

        Parameters
        ----------
        X : as for fit

        Returns
        -------
        array (documents, topics)

        Raises
        ------
        NotFittedError
            If the search was not fitted, or fitted with ``refit=False``.

        Examples
        --------
        >>> from topicfocus import FocusedTopicRegressor, TopicSearchCV
        >>> from topicfocus.datasets import make_reviews
        >>> reviews = make_reviews(200, random_state=0)
        >>> model = FocusedTopicRegressor(max_epochs=5)
        >>> search = TopicSearchCV(model, {"n_topics": [2]}, cv=2, n_jobs=1)
        >>> search.fit(reviews.counts, reviews.target).transform(reviews.counts[:3]).shape
        (3, 2)
        """
        return self._best().transform(X)

    @_delegated("transform")
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
        return self.fit(X, y, **params).transform(X)

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
            If the search was not fitted, or fitted with ``refit=False``.

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
        parts = take_apart(self._best())
        data = read_data(X, y, None, params, parts.name)
        counts = data.X if parts.front is None else parts.front.transform(data.X)
        return held_out_score(parts.model, replace(data, X=counts), self.scorer_)

    @property
    def classes_(self) -> Any:
        """Labels of the classes."""
        return self._best().classes_

    @property
    def n_features_in_(self) -> int:
        """Columns that `fit` has seen."""
        try:
            check_is_fitted(self, "best_index_")
        except ValueError as error:
            raise AttributeError(f"{type(self).__name__} is not fitted yet.") from error
        return self._best().n_features_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_index_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.transformer_tags = inner.transformer_tags
        tags.target_tags = inner.target_tags
        tags.input_tags = inner.input_tags
        return tags


# ---- pieces --------------------------------------------------------------------------------------


def _name(setting: int, fold: int) -> str:
    return f"setting-{setting}-fold-{fold}"


def _counted(
    number: int, front: Any, data: Data, train: np.ndarray, test: np.ndarray
) -> Fold | Exception:
    """A fold, or why its words cannot be counted."""
    try:
        return counted_fold(number, front, data, train, test)
    except ValueError as error:
        return error


def _prepared(model: Any, seed: int | None, alone: bool) -> Any:
    """A clone for one fit: the same documents are set aside for all settings, threads are few.

    A model whose `random_state` is None may set any documents aside, so also the same ones.
    """
    model = clone(model)
    _seed(model, seed)
    if "n_jobs" in model.get_params(deep=False) and not alone:
        model.set_params(n_jobs=1)
    return model


def _seed(model: Any, seed: int | None) -> None:
    """A seed for a model that has none of its own."""
    if model.get_params(deep=False).get("random_state", 0) is None:
        model.set_params(random_state=seed)


def _fit_whole(estimator: Any, data: Data) -> Any:
    more = named_for(estimator, data.beside)
    return (
        estimator.fit(data.X, **more) if data.y is None else estimator.fit(data.X, data.y, **more)
    )


def _note(records: Any) -> str:
    n = sum(record["error"] is not None for record in records)
    return f"{n} failed" if n else ""


def _interrupted(checkpoint: Any) -> str:
    if checkpoint is None:
        return "The search was interrupted. With checkpoint=FOLDER one can go on from there."
    return f"The search was interrupted; fit again with checkpoint={str(checkpoint)!r} to go on."


def _row(setting: Mapping[str, Any], records: Sequence[Record]) -> Record:
    """A setting over its folds; its figures are not known if it failed on one of them."""
    scores = np.array([r["score"] for r in records], dtype=float)
    n = len(scores)
    errors = [r["error"] for r in records if r["error"]]
    row: Record = dict(setting)
    for name in ("n_topics", "inclusion_prior"):  # "auto", or not searched: what was used
        if not isinstance(row.get(name), (int, float)):
            row[name] = _mean(records, name)
    row["score"] = float(scores.mean())
    row["score_se"] = float(scores.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    row |= {name: _mean(records, name) for name in FIGURES}
    sets = [r["kept"] for r in records]
    chosen = masks(sets) if not errors and any(sets) else None
    row["jaccard"] = math.nan if chosen is None else mean_jaccard(chosen)
    row["nogueira"] = math.nan if chosen is None else _nogueira(records, chosen)
    row["seconds"] = _mean(records, "seconds")
    row["error"] = errors[0] if errors else None
    return row


def _nogueira(records: Sequence[Record], chosen: np.ndarray) -> float:
    """Nogueira's index; columns that no fold keeps count, too."""
    n_words = max(int(r.get("vocabulary", 0)) for r in records)
    missing = max(n_words - chosen.shape[1], 0)
    every = np.hstack([chosen, np.zeros((len(chosen), missing), dtype=bool)])
    return float(nogueira_index(every).value)


def _mean(records: Sequence[Record], name: str) -> float:
    return float(np.mean([r[name] for r in records]))


def as_table(rows: list[Record]) -> Any:
    """A dataframe where pandas is installed, else the rows themselves."""
    try:
        import pandas as pd
    except ImportError:
        return rows
    return pd.DataFrame(rows)


def _cv_results(
    settings: list[dict[str, Any]], by_setting: list[list[Record]], rows: list[Record]
) -> dict[str, Any]:
    """What GridSearchCV calls by the same names."""
    results: dict[str, Any] = {}
    for ours, theirs in (("seconds", "fit_time"), ("score_seconds", "score_time")):
        times = np.array([[r[ours] for r in records] for records in by_setting], dtype=float)
        results[f"mean_{theirs}"] = times.mean(axis=1)
        results[f"std_{theirs}"] = times.std(axis=1)
    for name in sorted({name for setting in settings for name in setting}):
        mask = [name not in setting for setting in settings]
        values = np.empty(len(settings), dtype=object)
        values[:] = [setting.get(name) for setting in settings]
        results[f"param_{name}"] = np.ma.MaskedArray(values, mask=mask)
    results["params"] = settings
    scores = np.array([[r["score"] for r in records] for records in by_setting], dtype=float)
    for fold, column in enumerate(scores.T):
        results[f"split{fold}_test_score"] = column
    results["mean_test_score"] = scores.mean(axis=1)
    results["std_test_score"] = scores.std(axis=1)
    results["se_test_score"] = np.array([row["score_se"] for row in rows])
    means = np.where(np.isnan(scores.mean(axis=1)), -np.inf, scores.mean(axis=1))
    results["rank_test_score"] = np.array(
        [1 + int(np.sum(means > m)) for m in means], dtype=np.int32
    )
    results["error"] = [row["error"] for row in rows]
    return results
