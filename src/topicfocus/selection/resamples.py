"""Documents with targets and further arrays, folds and halves of them, and scores.

Splits are those of scikit-learn.
"""

from __future__ import annotations

import copy
import inspect
import numbers
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial, update_wrapper
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from topicfocus.corpus import make_corpus
from topicfocus.counts import ChunkedCounts, is_dask, is_mapped, take_rows
from topicfocus.estimators.targets import is_missing, read_classes, target_columns

Split = tuple[np.ndarray, np.ndarray]

#: Arrays with one row per document that `fit` of a model takes besides X and y.
ARRAYS = ("sample_weight", "covariates", "exposure")


@dataclass(frozen=True, kw_only=True)
class Data:
    """Documents X (texts or counts) with y, groups, and further arrays by name."""

    X: Any
    y: Any = None
    groups: Any = None
    arrays: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_docs(self) -> int:
        return int(_num_samples(self.X))

    def rows(self, index: np.ndarray) -> Data:
        """Some of the documents."""
        take = take_rows if isinstance(self.X, ChunkedCounts) else _safe_indexing
        return Data(
            X=take(self.X, index),
            y=None if self.y is None else _safe_indexing(self.y, index),
            groups=None if self.groups is None else _safe_indexing(self.groups, index),
            arrays={name: _safe_indexing(values, index) for name, values in self.arrays.items()},
        )

    def known(self) -> np.ndarray:
        """Mask of the documents that have a target, or at least one of several."""
        if self.y is None:
            return np.ones(self.n_docs, dtype=bool)
        missing = [is_missing(column) for column in target_columns(self.y, self.n_docs)]
        return ~np.all(missing, axis=0)

    @property
    def for_fit(self) -> dict[str, Any]:
        """The arrays that fits depend on; the validation part of a fit has whole groups, too."""
        return {**self.arrays, **({} if self.groups is None else {"groups": self.groups})}

    @property
    def for_prediction(self) -> dict[str, Any]:
        """The arrays that predictions depend on."""
        return {name: v for name, v in self.arrays.items() if name != "sample_weight"}


def read_data(X: Any, y: Any, groups: Any, arrays: Mapping[str, Any], step: str | None) -> Data:
    """The arguments of `fit` with their lengths checked; `step` is the last step of a pipeline."""
    X = _indexable(X)
    n_docs = _num_samples(X)
    given = {}
    for name, values in arrays.items():
        short = name.removeprefix(f"{step}__") if step else name
        if short not in ARRAYS:
            raise TypeError(f"fit got an unknown argument {name!r}; it takes {', '.join(ARRAYS)}.")
        if values is not None:
            given[short] = values if hasattr(values, "shape") else np.asarray(values)
    for name, values in (("y", y), ("groups", groups), *given.items()):
        if values is not None and _num_samples(values) != n_docs:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n_docs} "
                f"documents, {name} has {_num_samples(values)}."
            )
    y = np.asarray(y) if y is not None and not hasattr(y, "shape") else y
    return Data(X=X, y=y, groups=groups, arrays=given)


def _indexable(X: Any) -> Any:
    """Documents with indexing by rows: as in scikit-learn, or counts in chunks."""
    if is_dask(X):
        from topicfocus.distributed import DaskCounts

        return DaskCounts(X)
    if is_mapped(X):
        return make_corpus(X, fractions=True).counts
    return X if isinstance(X, ChunkedCounts) else indexable(X)[0]


def plain_targets(y: Any) -> Any:
    """Known targets as an array of their own type instead of objects."""
    values = np.asarray(y)
    return np.array(values.tolist()) if values.dtype == object else values


# ---- estimators ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """The steps of a pipeline before the model (None without a pipeline), the model, its name."""

    front: Any
    model: Any
    name: str | None = None

    def named(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays under the names that `fit` of the whole estimator takes."""
        prefix = "" if self.name is None else f"{self.name}__"
        return {f"{prefix}{name}": values for name, values in arrays.items()}


def check_topic_model(model: Any, user: str) -> None:
    """Raise an error for the models of other packages."""
    if not hasattr(type(model), "components_"):
        raise TypeError(f"{user} needs a topic model, not {type(model).__name__}.")


def split_estimator(estimator: Any) -> Parts:
    """The model, and the steps that count words for it."""
    if not hasattr(estimator, "fit"):
        raise TypeError(f"an estimator is needed, not {type(estimator).__name__}.")
    if not isinstance(estimator, Pipeline):
        return Parts(None, estimator)
    name, model = estimator.steps[-1]
    front = None if len(estimator) == 1 else Pipeline(estimator.steps[:-1])
    return Parts(front, model, name)


def with_setting(estimator: Any, setting: Mapping[str, Any]) -> Any:
    """A clone with these parameters; a name that only the last step has is the last step's."""
    new = clone(estimator)
    parts, known = split_estimator(new), new.get_params()
    for name, value in setting.items():
        if name not in known and parts.name is not None and name in parts.model.get_params():
            name = f"{parts.name}__{name}"
        new.set_params(**{name: clone(value, safe=False)})
    return new


def ready_to_fit(estimator: Any, seed: int | None, n_processes: int) -> Any:
    """A clone to be fitted in one of several processes.

    A model without a `random_state` gets the seed: all fits use the same validation part. It uses
    one thread where several processes share the cores.
    """
    new = clone(estimator)
    model = split_estimator(new).model
    params = model.get_params(deep=False)
    if params.get("random_state", 0) is None:
        model.set_params(random_state=seed)
    if n_processes > 1 and "n_jobs" in params:
        model.set_params(n_jobs=1)
    return new


def column_names(front: Any, X: Any) -> np.ndarray | None:
    """Names of the columns of the counts, if they have any."""
    if front is not None:
        names = getattr(front[-1], "get_feature_names_out", None)
        return None if names is None else np.asarray(names(), dtype=object)
    names = getattr(X, "vocabulary" if isinstance(X, ChunkedCounts) else "columns", None)
    return None if names is None else np.asarray([str(name) for name in names], dtype=object)


# ---- folds ---------------------------------------------------------------------------------------


def make_folds(data: Data, cv: Any, classes: bool, seed: int | None) -> list[Split]:
    """Training and test documents of each fold.

    An integer gives that many shuffled folds: of groups if there are groups, stratified by class.
    Everything else is read as in scikit-learn. Documents without a target are in every training
    part, unless their group is in the test part.
    """
    known = np.flatnonzero(data.known())
    if len(known) < 2:
        raise ValueError(
            f"n_samples={len(known)}: at least 2 documents with a target are needed for folds."
        )
    labelled = data.rows(known)
    y = None if labelled.y is None else plain_targets(labelled.y)
    if y is not None and y.ndim > 1:  # several targets: nothing to stratify by
        y = None
    strata = y if classes else None
    if strata is not None:
        read_classes([strata], np.ones(len(strata)))  # raises an error for invalid labels
    if cv is None or (isinstance(cv, numbers.Integral) and not isinstance(cv, bool)):
        n_folds = 5 if cv is None else int(cv)
        if strata is not None:
            _check_classes(strata, n_folds)
        kinds: Any = (KFold, StratifiedKFold, GroupKFold, StratifiedGroupKFold)
        kind = kinds[2 * (labelled.groups is not None) + (strata is not None)]
        splitter = kind(n_folds, shuffle=True, random_state=seed)
    else:
        splitter = check_cv(cv, y, classifier=strata is not None)
    by = np.zeros(len(known)) if y is None else y
    splits = list(splitter.split(np.zeros(len(known)), by, labelled.groups))
    if not splits:
        raise ValueError(f"cv={cv!r} gives no folds.")
    rest = np.setdiff1d(np.arange(data.n_docs), known)
    return [_add_unlabelled(data, known[a], known[b], rest) for a, b in splits]


def _add_unlabelled(data: Data, train: np.ndarray, test: np.ndarray, rest: np.ndarray) -> Split:
    if data.groups is not None and len(rest):
        groups = np.asarray(data.groups)
        rest = rest[~np.isin(groups[rest], groups[test])]
    return np.sort(np.concatenate([train, rest])), np.sort(test)


def _check_classes(y: np.ndarray, n_folds: int) -> None:
    labels, counts = np.unique(y, return_counts=True)
    rarest, least = labels[np.argmin(counts)], int(counts.min())
    if least == 1:
        raise ValueError(
            f"class {rarest!s} has one document only, which cannot be in both a training and a "
            "test part. Join rare classes, or leave them out."
        )
    if least < n_folds:
        raise ValueError(
            f"class {rarest!s} has {least} documents, too few for n_splits={n_folds} folds with "
            f"one in each: use cv={least} at most, join rare classes, or leave them out."
        )


def halves(data: Data, classes: bool, random_state: Any) -> Split:
    """Two disjoint halves of the documents, of whole groups, else stratified by class."""
    known = data.known()
    strata = known.astype(int)
    y = None if data.y is None else np.asarray(data.y)
    if classes and y is not None and y.ndim == 1:
        labels = [str(value) for value in y[known].tolist()]
        strata[known] = 1 + np.unique(labels, return_inverse=True)[1]
    kind = StratifiedKFold if data.groups is None else GroupKFold
    splitter = kind(2, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class with one document
        return next(splitter.split(strata, strata, data.groups))


@dataclass(frozen=True)
class CountedFold:
    """Counts of the training and test documents of a fold, and the names of their columns."""

    train: Data
    test: Data
    words: np.ndarray | None


def count_fold(front: Any, data: Data, split: Split) -> CountedFold:
    """A fold with the vocabulary of its training documents."""
    train, test = (data.rows(part) for part in split)
    if front is not None:
        front = clone(front)
        train = replace(train, X=front.fit_transform(train.X, train.y))
        test = replace(test, X=front.transform(test.X))
    return CountedFold(train, test, column_names(front, data.X))


# ---- scores --------------------------------------------------------------------------------------


def own_score(model: Any, X: Any, y: Any) -> float:
    """The scorer that a model brings itself."""
    return float(model.score(X, y))


def read_scoring(scoring: Any) -> Any:
    """A scorer, by default the score of the model itself."""
    if scoring is None:
        return own_score
    if callable(scoring):
        return scoring
    if not isinstance(scoring, str):
        raise TypeError(
            f"scoring must be one name of scikit-learn's scorers, a function of (estimator, X, y), "
            f"or None; got {scoring!r}. Every row of frontier_ has further metrics."
        )
    return get_scorer(scoring)


def validation_score(model: Any, data: Data, scorer: Any) -> float:
    """The score on the documents whose targets are known; higher is better."""
    data = data.rows(np.flatnonzero(data.known()))
    y = None if data.y is None else plain_targets(data.y)
    weights = {}
    if "sample_weight" in data.arrays and hasattr(scorer, "_score_func"):
        weights = {"sample_weight": data.arrays["sample_weight"]}
    return float(scorer(_bind(model, data.arrays), data.X, y, **weights))


def accepted(function: Any, arrays: Any) -> dict[str, Any]:
    """The arrays that a function has parameters for."""
    names = inspect.signature(function).parameters
    return {name: values for name, values in arrays.items() if name in names}


def _bind(model: Any, arrays: Mapping[str, Any]) -> Any:
    """A copy of a model whose predictions and own score use these arrays."""
    if not arrays:
        return model
    bound = copy.copy(model)
    for name in ("predict", "predict_proba", "decision_function", "score"):
        method = getattr(model, name, None)
        if method is not None:
            call = partial(method, **accepted(method, arrays))
            setattr(bound, name, update_wrapper(call, method))
    return bound
