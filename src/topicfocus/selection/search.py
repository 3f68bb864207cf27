"""`TopicSearchCV`: how many topics, how many words? Every setting on folds, in one call."""

from __future__ import annotations

import math
from typing import Any

from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags

import topicfocus
from topicfocus.estimators.parameters import check_choice, check_flag
from topicfocus.kernels.threads import n_threads
from topicfocus.selection.documents import (
    Data,
    named_for,
    read_data,
    take_apart,
    with_setting,
)
from topicfocus.selection.finished import Finished, fingerprint
from topicfocus.selection.fitting import fit_group
from topicfocus.selection.folds import Split, make_folds
from topicfocus.selection.frontier import Record, as_table, cv_results, row_of
from topicfocus.selection.parallel import forget_stages, jobs_for, progress_of, run_all
from topicfocus.selection.plan import give_seed, groups_of, record_name
from topicfocus.selection.rule import RULES, choose
from topicfocus.selection.scoring import read_scoring
from topicfocus.selection.taken import TakenModel


class TopicSearchCV(TakenModel, MetaEstimatorMixin, BaseEstimator):
    """Topics, share of words and any other parameter chosen on folds, with the whole frontier.

    Every setting is fitted to every training part and judged on documents it has not seen. Taken is
    the simplest setting that predicts as well as the best one (one-standard-error rule): the fewest
    topics, then the fewest words; it is then fitted to all documents. `frontier_` has for every
    setting how well it predicts, how readable its topics are, how many words it keeps, and whether
    other folds keep the same.

    Fits of a fold share what does not depend on the setting: counting words, the evidence of words,
    themes. Focused models are judged by drafts: topics are shaped once and not twice, in the first
    few steps. Scores of drafts are close to those of whole fits and several times cheaper
    (docs/choosing.md); `exact` fits as always.

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
    exact : bool, default=False
        Whether every setting is fitted as `estimator` itself would be. Scores are then those of
        GridSearchCV on the same folds to the last bit, for about as much time.
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
        A bar on a terminal; elsewhere a line from time to time.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As GridSearchCV has it, with "se_test_score" and "error".
    frontier_ : dataframe, or list of dicts where pandas is not installed
        A row a setting: its parameters, `score` and `score_se` (standard error over folds), and
        means over folds of `npmi`, `log_ratio`, `agreement`, `diversity` (of the ten top words;
        docs/metrics.md), `words` kept, their `token_share`, `jaccard` and `nogueira` (how alike
        the words are that folds keep; training parts of k folds share (k-2)/(k-1) of their
        documents, so see `stability` for what another sample would keep), `seconds` of a draft or
        fit,
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
        check_flag("exact", self.exact)
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
            give_seed(take_apart(best).model, self.random_state)
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
            topicfocus.__version__,
            data.X,
            data.y,
            data.beside,
            splits,
            estimators,
            self.scoring,
            self.exact,
        )
        finished = Finished(self.checkpoint, mark, "search")
        found: dict[str, Record] = {}
        names = [record_name(i, f) for f in range(len(splits)) for i in range(len(estimators))]
        for name in names:
            record = finished.get(name)
            if record is not None and record.get("error") is None:
                found[name] = record
        jobs = jobs_for(data.X, self.n_jobs)
        alone = n_threads(jobs) == 1
        how: dict[str, Any] = {
            "mark": mark,
            "seed": self.random_state,
            "alone": alone,
            "exact": self.exact,
        }
        tasks = [(g, self.scorer_) for g in groups_of(data, splits, estimators, found, **how)]
        with progress_of("fits", len(names), self.verbose) as advance:
            for _ in range(len(names) - sum(len(group.models) for group, _ in tasks)):
                advance("")

            def take(records: list[Record]) -> None:
                for record in records:
                    finished.keep(record, found)
                    advance(_note(found.values()))

            try:
                run_all(fit_group, tasks, take, jobs)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(_interrupted(self.checkpoint)) from None
            finally:
                forget_stages()
        return [found[name] for name in names]

    def _report(self, settings: list[dict[str, Any]], records: list[Record], n: int) -> None:
        """cv_results_, frontier_ and the choice."""
        by_setting = [records[i :: len(settings)] for i in range(len(settings))]
        rows = [row_of(s, r) for s, r in zip(settings, by_setting, strict=True)]
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
        self.cv_results_ = cv_results(settings, by_setting, rows)


# ---- pieces --------------------------------------------------------------------------------------


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
