"""`compare_models`: does one model predict better than another, or is it noise?

Both are fitted to the same training parts and judged on the same documents. Training parts overlap,
so the scores of folds are not independent, and a plain t test finds differences where there are
none. The corrected resampled t test (Nadeau and Bengio, 2003) takes the overlap into account.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone, is_classifier
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

import topicfocus
from topicfocus.estimators.parameters import check_choice, check_count, check_share
from topicfocus.kernels.threads import n_threads
from topicfocus.selection.documents import Data, named_for, plain_targets, read_data, take_apart
from topicfocus.selection.finished import Finished, fingerprint
from topicfocus.selection.folds import Split, make_folds
from topicfocus.selection.parallel import jobs_for, progress_of, refusing_interrupts, run_all
from topicfocus.selection.scoring import accepted, held_out_score, read_scoring

METHODS = ("corrected t", "bootstrap")


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Which of two models predicts better, and how sure that is.

    Attributes
    ----------
    names : (str, str)
    scores : array (folds, 2)
        Held-out score of each model on each fold; higher is better.
    difference : float
        Mean score of the first less that of the second ("corrected t"), or mean loss of the second
        less that of the first, over documents ("bootstrap"): above 0, the first is better.
    low, high : float
        Ends of its interval.
    p_value : float
        Two-sided, of no difference.
    level : float
        Of the interval.
    method : {"corrected t", "bootstrap"}

    Examples
    --------
    >>> from topicfocus.selection import Comparison
    >>> found = Comparison(names=("a", "b"), scores=None, difference=0.1, low=-0.1, high=0.3,
    ...                    p_value=0.3, level=0.95, method="corrected t")
    >>> print(found)
    No difference that these documents can tell: a - b is +0.1 (95% interval -0.1 to +0.3, p = 0.3).
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
        """The name of the better model; None where the interval contains 0."""
        if self.low > 0:
            return self.names[0]
        return self.names[1] if self.high < 0 else None

    def __str__(self) -> str:
        first, second = self.names
        verdict = "No difference that these documents can tell"
        if self.better is not None:
            verdict = f"{self.better} predicts better"
        what = f"{first} - {second}"
        if self.method == "bootstrap":
            what = f"the loss of {second} less that of {first}"
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
    **beside: Any,
) -> Comparison:
    """Whether one model predicts better than another on the same folds.

    "corrected t": d_j being the difference of the scores on fold j of J, n₁ documents fitted to and
    n₂ judged,

        t = mean(d) / √((1/J + n₂/n₁) var(d)),   J - 1 degrees of freedom

    (Nadeau and Bengio, 2003). It is about models of n₁ documents. "bootstrap": documents (or
    groups) are drawn again with the losses of their held-out predictions, squared error or
    -log probability, the mean over repeats. It is about these two fits, how sure the *documents
    judged* are, and leaves out that another training part would give another model.

    Parameters
    ----------
    first, second : estimators or pipelines, not necessarily topic models
    X, y : documents and targets, as for fit
    names : (str, str), optional
        By default those of the classes.
    cv : int, splitter or iterable, optional
        As for TopicSearchCV; by default 5 folds, three times, or 5 folds of groups.
    scoring : str, callable or None
        As for TopicSearchCV; for "corrected t".
    method : {"corrected t", "bootstrap"}, default="corrected t"
    level : float, default=0.95
    n_bootstraps : int, default=2000
    groups : array (documents,), optional
        Documents of a group are on one side of a fold.
    n_jobs, checkpoint, random_state, verbose
        As for TopicSearchCV.
    **beside
        sample_weight, covariates, exposure; given to models that take them.

    Returns
    -------
    Comparison
        Printed, it is a sentence.

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
    models = [clone(model) for model in (first, second)]
    called = names or _names(models)
    data = read_data(X, y, groups, beside, take_apart(first).name)
    classes = is_classifier(take_apart(first).model)
    if classes != is_classifier(take_apart(second).model):
        raise ValueError("one model predicts classes and the other numbers: not comparable.")
    splits = make_folds(data, _folds(cv, classes, groups, random_state), classes, random_state)
    records = _run(models, data, splits, scorer, n_jobs, checkpoint, random_state, verbose)
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
        names=called,
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
    """Mean, ends of its interval and p value; `ratio` is n₂/n₁, judged over fitted to."""
    d = np.asarray(differences, dtype=float)
    n = len(d)
    if n < 2:
        raise ValueError("one fold has no spread: give two or more.")
    mean, variance = float(d.mean()), float(d.var(ddof=1))
    error = math.sqrt((1 / n + ratio) * variance)
    if error == 0:
        return mean, mean, mean, float(mean == 0)
    reach = float(student.ppf(0.5 + level / 2, n - 1)) * error
    p = 2 * float(student.sf(abs(mean) / error, n - 1))
    return mean, mean - reach, mean + reach, p


def _names(models: list[Any]) -> tuple[str, str]:
    one, two = (type(take_apart(model).model).__name__ for model in models)
    return (one, two) if one != two else (f"first {one}", f"second {two}")


def _folds(cv: Any, classes: bool, groups: Any, seed: int) -> Any:
    """5 folds three times; of groups, whose folds cannot be drawn again at will, once."""
    if cv is not None or groups is not None:
        return cv
    kind = RepeatedStratifiedKFold if classes else RepeatedKFold
    return kind(n_splits=5, n_repeats=3, random_state=seed)


def _run(
    models: list[Any],
    data: Data,
    splits: list[Split],
    scorer: Any,
    n_jobs: int | None,
    checkpoint: Any,
    seed: int,
    verbose: bool,
) -> list[dict[str, Any]]:
    """Scores and losses of both models on each fold."""
    jobs = jobs_for(data.X, n_jobs)
    alone = n_threads(jobs) == 1
    for model in models:
        last = take_apart(model).model
        params = last.get_params(deep=False)
        if params.get("random_state", 0) is None:
            last.set_params(random_state=seed)
        if "n_jobs" in params and not alone:
            last.set_params(n_jobs=1)
    mark = fingerprint(topicfocus.__version__, models, data.X, data.y, data.beside, splits, seed)
    finished = Finished(checkpoint, mark, "comparison")
    names = [f"fold-{f}" for f in range(len(splits))]
    found = {name: record for name in names if (record := finished.get(name)) is not None}
    left = [
        (name, models, data, split, scorer)
        for name, split in zip(names, splits, strict=True)
        if name not in found
    ]
    with progress_of("folds", len(names), verbose) as advance:

        def take(record: dict[str, Any]) -> None:
            finished.keep(record, found)
            advance("")

        run_all(judge_both, left, take, jobs)
    return [found[name] for name in names]


def judge_both(
    name: str, models: list[Any], data: Data, split: Split, scorer: Any
) -> dict[str, Any]:
    """Both models on one fold: their scores, and the loss of each document judged."""
    train, test = (data.rows(part) for part in split)
    scores, losses = [], []
    for model in models:
        fitted = clone(model)
        inner = take_apart(fitted)
        mine = accepted(inner.model.fit, train.beside)
        with refusing_interrupts():
            fitted.fit(train.X, train.y, **named_for(fitted, mine))
        X = test.X if inner.front is None else inner.front.transform(test.X)
        counted = Data(X=X, y=test.y, beside=test.beside)
        scores.append(held_out_score(inner.model, counted, scorer))
        losses.append(document_losses(inner.model, counted).tolist())
    return {"name": name, "scores": scores, "losses": losses}


def document_losses(model: Any, data: Data) -> np.ndarray:
    """Squared error, or -log of the probability of the class that it was, of each document."""
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
    return method(data.X, **accepted(method, data.beside))


def _bootstrap(
    losses: np.ndarray, data: Data, level: float, n: int, seed: int
) -> tuple[float, float, float, float]:
    """Loss of the second model less that of the first, documents or groups drawn again."""
    with np.errstate(invalid="ignore"):
        judged = ~np.all(np.isnan(losses[0]), axis=1)
    if not judged.any():
        raise ValueError("the bootstrap has no loss for several targets: use 'corrected t'.")
    each = np.nanmean(losses[1][judged] - losses[0][judged], axis=1)
    weight = np.asarray(data.beside.get("sample_weight", np.ones(data.n_docs)), dtype=float)[judged]
    unit = np.arange(len(each)) if data.groups is None else np.asarray(data.groups)[judged]
    _, unit = np.unique(unit, return_inverse=True)
    total, size = np.bincount(unit, weight * each), np.bincount(unit, weight)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(total), np.full(len(total), 1 / len(total)), size=n)
    means = (drawn @ total) / np.maximum(drawn @ size, 1e-300)
    mean = float(total.sum() / size.sum())
    low, high = (float(q) for q in np.quantile(means, [0.5 - level / 2, 0.5 + level / 2]))
    beyond = min(np.mean(means <= 0), np.mean(means >= 0))
    return mean, low, high, float(min(1.0, 2 * (beyond + 1 / n)))
