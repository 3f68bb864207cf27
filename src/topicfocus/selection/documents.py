"""Documents with everything that goes with them, and estimators taken apart into counter and model.

A search splits documents again and again: texts or counts, targets, groups, weights, covariates
and exposures have to stay together. `Data` keeps them so.
"""

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
from topicfocus.estimators.coding import is_missing, target_columns

#: What `fit` of a model may be given for each document besides X and y.
BESIDE = ("sample_weight", "covariates", "exposure")


@dataclass(frozen=True, kw_only=True)
class Data:
    """Documents: X (texts or counts), y, groups, and arrays by name that go to `fit`."""

    X: Any
    y: Any = None
    groups: Any = None
    beside: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_docs(self) -> int:
        return int(_num_samples(self.X))

    def rows(self, index: np.ndarray) -> Data:
        """Some of the documents."""
        return Data(
            X=rows_of(self.X, index),
            y=None if self.y is None else _safe_indexing(self.y, index),
            groups=None if self.groups is None else _safe_indexing(self.groups, index),
            beside={name: _safe_indexing(values, index) for name, values in self.beside.items()},
        )

    def known(self) -> np.ndarray:
        """Documents that have a target (one of them, where there are several)."""
        if self.y is None:
            return np.ones(self.n_docs, dtype=bool)
        missing = [is_missing(column) for column in target_columns(self.y, self.n_docs)]
        return ~np.all(missing, axis=0)


def rows_of(X: Any, index: np.ndarray) -> Any:
    """Some documents, of counts in parts where they are."""
    return take_rows(X, index) if isinstance(X, ChunkedCounts) else _safe_indexing(X, index)


def read_data(X: Any, y: Any, groups: Any, beside: Mapping[str, Any], prefix: str | None) -> Data:
    """Documents as `fit` was given them, lengths checked; `prefix` is the name of the last step."""
    X = _indexable(X)
    n_docs = _num_samples(X)
    given = {}
    for name, values in beside.items():
        short = name.removeprefix(f"{prefix}__") if prefix else name
        if short not in BESIDE:
            raise TypeError(f"fit got an unknown argument {name!r}; it takes {', '.join(BESIDE)}.")
        if values is not None:
            given[short] = values if hasattr(values, "shape") else np.asarray(values)
    for name, values in (("y", y), ("groups", groups), *given.items()):
        if values is not None and _num_samples(values) != n_docs:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {n_docs} "
                f"documents, {name} has {_num_samples(values)}."
            )
    if y is not None:
        y = y if hasattr(y, "shape") else np.asarray(y)
    return Data(X=X, y=y, groups=groups, beside=given)


def _indexable(X: Any) -> Any:
    """Documents of which some can be chosen: as scikit-learn reads them, or counts in chunks."""
    if is_dask(X):
        from topicfocus.distributed import DaskCounts

        return DaskCounts(X)
    if is_mapped(X):
        return make_corpus(X, fractions=True).counts
    return X if isinstance(X, ChunkedCounts) else indexable(X)[0]


def plain_targets(y: Any) -> Any:
    """Targets without missing ones, as an array of their own type (not of objects)."""
    values = np.asarray(y)
    return np.array(values.tolist()) if values.dtype == object else values


# ---- estimators ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """An estimator: the steps before the model (None where there are none), and the model."""

    front: Any
    model: Any
    name: str | None = None


def take_apart(estimator: Any) -> Parts:
    """The model and what counts words for it."""
    if not isinstance(estimator, Pipeline):
        return Parts(None, estimator)
    name, model = estimator.steps[-1]
    front = None if len(estimator) == 1 else Pipeline(estimator.steps[:-1])
    return Parts(front, model, name)


def words_of(front: Any, X: Any) -> np.ndarray | None:
    """Names of the columns that a model is given, where they have names."""
    if front is not None:
        names = getattr(front[-1], "get_feature_names_out", None)
        return None if names is None else np.asarray(names(), dtype=object)
    if isinstance(X, ChunkedCounts):
        words = getattr(X, "vocabulary", None)
        return None if words is None else np.asarray(words, dtype=object)
    columns = getattr(X, "columns", None)
    return None if columns is None else np.asarray([str(c) for c in columns], dtype=object)


def with_setting(estimator: Any, setting: Mapping[str, Any]) -> Any:
    """A clone with parameters set; a name that only the last step knows is the last step's."""
    new = clone(estimator)
    model = take_apart(new)
    known = new.get_params()
    for name, value in setting.items():
        value = clone(value, safe=False)
        if name not in known and model.name is not None and name in model.model.get_params():
            new.set_params(**{f"{model.name}__{name}": value})
        else:
            new.set_params(**{name: value})
    return new


def named_for(estimator: Any, beside: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of fit and predict as a pipeline, or the model itself, takes them."""
    name = take_apart(estimator).name
    return dict(beside) if name is None else {f"{name}__{key}": v for key, v in beside.items()}


# ---- folds ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Fold:
    """Documents to fit to and to be judged on, counted already.

    Where nothing has to be counted the whole data are kept, once for all folds, and parts are made
    when they are needed.
    """

    number: int
    train: np.ndarray
    test: np.ndarray
    whole: Data | None = None
    counted: tuple[Data, Data] | None = None
    words: np.ndarray | None = None

    def parts(self) -> tuple[Data, Data]:
        if self.counted is not None:
            return self.counted
        assert self.whole is not None
        return self.whole.rows(self.train), self.whole.rows(self.test)


def counted_fold(number: int, front: Any, data: Data, train: np.ndarray, test: np.ndarray) -> Fold:
    """A fold with words counted on its training part, as if the rest had never been seen."""
    if front is None:
        words = words_of(None, data.X)
        return Fold(number=number, train=train, test=test, whole=data, words=words)
    front = clone(front)
    mine, theirs = data.rows(train), data.rows(test)
    counts = front.fit_transform(mine.X, mine.y)
    ready = replace(mine, X=_as_csr(counts)), replace(theirs, X=_as_csr(front.transform(theirs.X)))
    return Fold(number=number, train=train, test=test, counted=ready, words=words_of(front, counts))


def _as_csr(counts: Any) -> Any:
    return sparse.csr_array(counts) if sparse.issparse(counts) else counts
