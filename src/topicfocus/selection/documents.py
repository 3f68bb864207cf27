"""Documents with targets, groups and further arrays, and estimators split into their parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from topicfocus.corpus import make_corpus
from topicfocus.counts import ChunkedCounts, is_dask, is_mapped, take_rows
from topicfocus.estimators.targets import is_missing, target_columns

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
    """Documents of which some can be chosen: as scikit-learn reads them, or counts in chunks."""
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


def split_estimator(estimator: Any) -> Parts:
    """The model, and the steps that count words for it."""
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


def give_seed(model: Any, seed: int | None) -> Any:
    """Set the `random_state` of a model that has none: all fits use the same validation part."""
    if model.get_params(deep=False).get("random_state", 0) is None:
        model.set_params(random_state=seed)
    return model


def ready_to_fit(estimator: Any, seed: int | None, n_processes: int) -> Any:
    """A clone with a seed; it uses one thread where several processes share the cores."""
    new = clone(estimator)
    model = give_seed(split_estimator(new).model, seed)
    if n_processes > 1 and "n_jobs" in model.get_params(deep=False):
        model.set_params(n_jobs=1)
    return new


def column_names(front: Any, X: Any) -> np.ndarray | None:
    """Names of the columns of the counts, if they have any."""
    if front is not None:
        names = getattr(front[-1], "get_feature_names_out", None)
        return None if names is None else np.asarray(names(), dtype=object)
    names = getattr(X, "vocabulary" if isinstance(X, ChunkedCounts) else "columns", None)
    return None if names is None else np.asarray([str(name) for name in names], dtype=object)


@dataclass(frozen=True)
class CountedFold:
    """Counts of the training and test documents of a fold, and the names of their columns."""

    train: Data
    test: Data
    words: np.ndarray | None


def count_fold(front: Any, data: Data, train: np.ndarray, test: np.ndarray) -> CountedFold:
    """A fold with the vocabulary of its training documents."""
    mine, theirs = data.rows(train), data.rows(test)
    if front is None:
        return CountedFold(mine, theirs, column_names(None, data.X))
    front = clone(front)
    counts = _as_csr(front.fit_transform(mine.X, mine.y))
    others = _as_csr(front.transform(theirs.X))
    names = column_names(front, counts)
    return CountedFold(replace(mine, X=counts), replace(theirs, X=others), names)


def _as_csr(counts: Any) -> Any:
    return sparse.csr_array(counts) if sparse.issparse(counts) else counts
