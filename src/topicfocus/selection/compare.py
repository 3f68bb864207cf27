"""`compare_models`: test whether one model predicts better than another.

Both are fitted to the same training parts and scored on the same documents. Training parts overlap,
so the scores of folds are not independent, and a plain t test rejects too often. The corrected
resampled t test (Nadeau and Bengio, 2003) accounts for the overlap.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone, is_classifier
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from topicfocus.estimators.arguments import check_choice, check_count, check_share
from topicfocus.selection.resamples import (
    Data,
    Split,
    accepted,
    count_fold,
    make_folds,
    plain_targets,
    read_data,
    read_scoring,
    ready_to_fit,
    split_estimator,
    validation_score,
)
from topicfocus.selection.runner import Record, n_processes, run_fits

METHODS = ("corrected t", "bootstrap")


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """The result of `compare_models`.

    Attributes
    ----------
    names : (str, str)
    scores : array (folds, 2)
        Score of each model on the test part of each fold; higher is better.
    difference : float
        Mean score of the first model minus that of the second ("corrected t"), or mean loss of the
        second minus that of the first over documents ("bootstrap"): if positive, the first is
        better.
    low, high : float
        Limits of its confidence interval.
    p_value : float
        Two-sided p-value of no difference.
    level : float
        Confidence level of the interval.
    method : {"corrected t", "bootstrap"}

    Examples
    --------
    >>> from topicfocus.selection import Comparison
    >>> found = Comparison(names=("a", "b"), scores=None, difference=0.1, low=-0.1, high=0.3,
    ...                    p_value=0.3, level=0.95, method="corrected t")
    >>> print(found)
    No significant difference: a - b is +0.1 (95% interval -0.1 to +0.3, p = 0.3).
    """

    names: tuple[str, str]
    scores: Any
    difference: float
    low: float
    high: float
    p_value: float
    level: float
    method: str

    @property
    def better(self) -> str | None:
        """The name of the better model; None if the interval contains 0."""
        if self.low > 0:
            return self.names[0]
        return self.names[1] if self.high < 0 else None

    def __str__(self) -> str:
        first, second = self.names
        verdict = "No significant difference"
        if self.better is not None:
            verdict = f"{self.better} predicts better"
        what = f"{first} - {second}"
        if self.method == "bootstrap":
            what = f"the loss of {second} minus that of {first}"
        return (
            f"{verdict}: {what} is {self.difference:+.3g} ({self.level:.0%} interval "
            f"{self.low:+.3g} to {self.high:+.3g}, p = {self.p_value:.2g})."
        )


def compare_models(
    first: Any,
    second: Any,
    X: Any,
    y: Any,
    *,
    names: tuple[str, str] | None = None,
    cv: Any = None,
    scoring: Any = None,
    method: str = "corrected t",
    level: float = 0.95,
    n_bootstraps: int = 2000,
    groups: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    verbose: bool = False,
    **arrays: Any,
) -> Comparison:
    """Test whether one model predicts better than another on the same folds.

    "corrected t": with d_j the difference of the scores on fold j of J, n₁ training documents and
    n₂ test documents,

        t = mean(d) / √((1/J + n₂/n₁) var(d)),   J - 1 degrees of freedom

    (Nadeau and Bengio, 2003). It compares models of n₁ documents. "bootstrap": documents (or
    groups) are resampled with the losses of their predictions (squared error or -log probability,
    the mean over repeats). It compares these fits and accounts for the sampling of test documents,
    not for that of training documents.

    Parameters
    ----------
    first, second : estimators or pipelines, not necessarily topic models
    X, y : documents and targets, as for fit
    names : (str, str), optional
        Names of the models; by default those of their classes.
    cv : int, splitter or iterable, optional
        As for TopicSearchCV; by default 5 folds, repeated three times, or 5 folds of groups.
    scoring : str, callable or None
        As for TopicSearchCV; for "corrected t".
    method : {"corrected t", "bootstrap"}, default="corrected t"
    level : float, default=0.95
    n_bootstraps : int, default=2000
    groups : array (documents,), optional
        Documents of one group are in the same part of a fold.
    n_jobs, checkpoint, random_state, verbose
        As for TopicSearchCV.
    **arrays
        sample_weight, covariates, exposure; passed to models that accept them.

    Returns
    -------
    Comparison
        `print` shows it as a sentence.

    Raises
    ------
    ValueError
        If one model predicts classes and the other numbers.

    Examples
    --------
    >>> from topicfocus import FocusedTopicRegressor, compare_models
    >>> from topicfocus.datasets import make_reviews
    >>> reviews = make_reviews(300, random_state=0)
    >>> few, many = (FocusedTopicRegressor(2, inclusion_prior=p, max_epochs=5) for p in (0.02, 0.3))
    >>> found = compare_models(few, many, reviews.counts, reviews.target, cv=3, n_jobs=1,
    ...                        names=("2% of the words", "30%"))
    >>> found.scores.shape
    (3, 2)
    """
    check_choice("method", method, METHODS)
    check_share("level", level)
    check_count("n_bootstraps", n_bootstraps, minimum=100)
    scorer = read_scoring(scoring)
    ours, theirs = split_estimator(first), split_estimator(second)
    data = read_data(X, y, groups, arrays, ours.name)
    classes = is_classifier(ours.model)
    if classes != is_classifier(theirs.model):
        raise ValueError("one model predicts classes and the other numbers: not comparable.")
    splits = make_folds(data, _folds(cv, classes, groups, random_state), classes, random_state)
    jobs = n_processes(data, len(splits), n_jobs)
    models = [ready_to_fit(model, random_state, jobs) for model in (first, second)]
    by_name = run_fits(
        partial(fit_both, models=models, data=data, scorer=scorer),
        [[(f"fold-{f}", split)] for f, split in enumerate(splits)],
        identity=(models, data, splits, scoring),
        checkpoint=checkpoint,
        n_jobs=jobs,
        title="compare_models",
        verbose=verbose,
        raise_errors=True,
    )
    records = [by_name[f"fold-{f}"] for f in range(len(splits))]
    scores = np.array([record["scores"] for record in records])
    if method == "corrected t":
        ratio = float(np.mean([len(b) / len(a) for a, b in splits]))
        found = corrected_t(scores[:, 0] - scores[:, 1], ratio, level)
    else:
        losses = np.full((2, data.n_docs, len(splits)), np.nan)
        for f, ((_, test), record) in enumerate(zip(splits, records, strict=True)):
            losses[:, test, f] = record["losses"]
        found = _bootstrap(losses, data, level, n_bootstraps, random_state)
    difference, low, high, p = found
    return Comparison(
        names=names or _names(ours.model, theirs.model),
        scores=scores,
        difference=difference,
        low=low,
        high=high,
        p_value=p,
        level=level,
        method=method,
    )


def corrected_t(
    differences: Sequence[float] | np.ndarray, ratio: float, level: float = 0.95
) -> tuple[float, float, float, float]:
    """Mean, limits of its interval and p-value; `ratio` is n₂/n₁, test over training documents."""
    d = np.asarray(differences, dtype=float)
    n = len(d)
    if n < 2:
        raise ValueError("the test needs two folds or more.")
    mean, variance = float(d.mean()), float(d.var(ddof=1))
    error = math.sqrt((1 / n + ratio) * variance)
    if error == 0:
        return mean, mean, mean, float(mean == 0)
    reach = float(student.ppf(0.5 + level / 2, n - 1)) * error
    p = 2 * float(student.sf(abs(mean) / error, n - 1))
    return mean, mean - reach, mean + reach, p


def _names(first: Any, second: Any) -> tuple[str, str]:
    one, two = type(first).__name__, type(second).__name__
    return (one, two) if one != two else (f"first {one}", f"second {two}")


def _folds(cv: Any, classes: bool, groups: Any, seed: int) -> Any:
    """By default 5 folds repeated three times; folds of groups are not repeated."""
    if cv is not None or groups is not None:
        return cv
    kind = RepeatedStratifiedKFold if classes else RepeatedKFold
    return kind(n_splits=5, n_repeats=3, random_state=seed)


def fit_both(
    split: Split, shared: dict[Any, Any], *, models: list[Any], data: Data, scorer: Any
) -> Record:
    """Fit both models to one fold; their scores, and the loss of every test document."""
    scores, losses = [], []
    for model in models:
        parts = split_estimator(clone(model))
        fold = count_fold(parts.front, data, split)
        arrays = accepted(parts.model.fit, fold.train.for_fit)
        parts.model.fit(fold.train.X, fold.train.y, **arrays)
        scores.append(validation_score(parts.model, fold.test, scorer))
        losses.append(document_losses(parts.model, fold.test).tolist())
    return {"scores": scores, "losses": losses}


def document_losses(model: Any, data: Data) -> np.ndarray:
    """Squared error, or -log probability of the class, of every document."""
    y = plain_targets(data.y)
    if y.ndim > 1:
        return np.full(len(y), np.nan)
    if not is_classifier(model):
        return (y - _call(model.predict, data)) ** 2
    if not hasattr(model, "predict_proba"):
        return np.asarray(_call(model.predict, data) != y, dtype=float)
    p = np.asarray(_call(model.predict_proba, data))
    place = {label: i for i, label in enumerate(np.asarray(model.classes_).tolist())}
    column = [place.get(label, -1) for label in y.tolist()]
    likely = np.where(np.array(column) < 0, 0.0, p[np.arange(len(y)), column])
    return -np.log(np.maximum(likely, 1e-12))


def _call(method: Callable[..., Any], data: Data) -> Any:
    return method(data.X, **accepted(method, data.arrays))


def _bootstrap(
    losses: np.ndarray, data: Data, level: float, n: int, seed: int
) -> tuple[float, float, float, float]:
    """Loss of the second model minus that of the first; documents or groups are resampled."""
    with np.errstate(invalid="ignore"):
        scored = ~np.all(np.isnan(losses[0]), axis=1)
    if not scored.any():
        raise ValueError("the bootstrap has no loss for several targets: use 'corrected t'.")
    each = np.nanmean(losses[1][scored] - losses[0][scored], axis=1)
    weight = np.asarray(data.arrays.get("sample_weight", np.ones(data.n_docs)), dtype=float)[scored]
    unit = np.arange(len(each)) if data.groups is None else np.asarray(data.groups)[scored]
    _, unit = np.unique(unit, return_inverse=True)
    total, size = np.bincount(unit, weight * each), np.bincount(unit, weight)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(total), np.full(len(total), 1 / len(total)), size=n)
    means = (drawn @ total) / np.maximum(drawn @ size, 1e-300)
    mean = float(total.sum() / size.sum())
    low, high = (float(q) for q in np.quantile(means, [0.5 - level / 2, 0.5 + level / 2]))
    beyond = min(np.mean(means <= 0), np.mean(means >= 0))
    return mean, low, high, float(min(1.0, 2 * (beyond + 1 / n)))
