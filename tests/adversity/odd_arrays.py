"""Odd columns of targets, and odd arrays for every estimator: what Python is given."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from broken import Broken
from scipy import sparse

import topicfocus as package

_TARGETS: tuple[str | None, ...] = (
    *(None, "", "nan", "inf", "-inf", "1e400", "1e300", "1", "2", "2.5", "-3", "1,5", "1.000,5"),
    *("2020-01-01", "01/02/2020", "yes", "no", "é", "\x1b", "9" * 5000, "0x10", "1_000", "٣", "½"),
    *("true", "false", " 4 ", "5 stars", "10%", "$3", "a" * 300, "\ud800", "-0", "1e-320"),
)


def target_case(rng: np.random.Generator, place: Path, fixed: Any) -> None:
    """Columns of targets: a kind, or one line."""
    from topicfocus.text import ReadError, detect_target

    few = rng.choice(len(_TARGETS), int(rng.integers(1, 6)))
    values = [_TARGETS[i] for i in rng.choice(few, int(rng.integers(1, 60)))]
    if rng.random() < 0.5:
        values += [str(i % 5) for i in range(40)]
    kind = rng.choice(np.array([None, "real", "count", "ordinal", "classes"], dtype=object))
    try:
        found = detect_target(values, kind, name="the target")
    except ReadError as error:
        if "\n" in str(error):
            raise Broken(f"{kind}, {values}: {error}") from error
        return
    known = found.values[~np.isnan(found.values)]
    if not np.isfinite(known).all():
        raise Broken(f"{kind}, {values}: an infinite target")


_NUMBERS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 1.0, 0.5, 1e300, 1e-300, 1e9, 3.0)
_CLASSES = (
    *("LDA", "SLDARegressor", "SLDAClassifier", "PFSLDARegressor", "PFSLDAClassifier"),
    *("FocusedTopicRegressor", "FocusedTopicClassifier", "PCSLDARegressor", "PCSLDAClassifier"),
)


def _matrix(rng: np.random.Generator) -> object:
    """Counts, now and then with something odd in them, in some container."""
    n, v = int(rng.integers(0, 14)), int(rng.integers(0, 9))
    values = rng.integers(0, 4, (n, v)).astype(float)
    if n and v and rng.random() < 0.3:
        values[rng.integers(0, n), rng.integers(0, v)] = rng.choice(_NUMBERS)
    how = rng.integers(0, 9)
    if how < 3:
        return sparse.csr_array(values)
    if how == 3:
        return sparse.coo_matrix(values)
    if how == 4:
        with np.errstate(all="ignore"):
            return values.astype(str(rng.choice(["i8", "f4", "u1", "?", "c16"])))
    if how == 5:
        return values.tolist()
    if how == 6:
        return rng.choice(np.array([None, "text", 3.0, object()], dtype=object))
    if how == 7:
        return values.astype(object) if rng.random() < 0.5 else values.reshape(-1)
    return values


def _target(rng: np.random.Generator, X: object) -> object:
    n = len(X) if isinstance(X, list) else (getattr(X, "shape", None) or (3,))[0]
    n = max(0, n + int(rng.choice([0, 0, 0, 0, 0, 1, -1])))
    how = rng.integers(0, 9)
    if how < 3:
        return rng.normal(size=n)
    if how == 3:
        return rng.integers(0, 2, n)
    if how == 4:
        return rng.choice(np.array(["a", "b", "c"]), n)
    if how == 5:
        return np.full(n, rng.choice(_NUMBERS))
    if how == 6:
        return rng.choice(np.array([None, "a", 1.5, np.nan, True], dtype=object), n)
    if how == 7:
        return rng.normal(size=(n, 2))
    out = rng.normal(size=n)
    out[: int(rng.integers(0, 3))] = rng.choice(_NUMBERS)
    return out


def _beside(rng: np.random.Generator, estimator: Any, n: int) -> dict[str, object]:
    """What goes with documents, and settings that depend on the target, now and then."""
    more: dict[str, object] = {}
    if rng.random() < 0.15:
        more["sample_weight"] = np.full(n, rng.choice(_NUMBERS))
        if n and rng.random() < 0.5:
            more["sample_weight"] = np.where(np.arange(n) == 0, rng.choice(_NUMBERS), 1.0)
    if rng.random() < 0.2:
        columns = rng.normal(size=(n, 2))
        columns[: int(rng.integers(0, 4)), 1] = rng.choice(_NUMBERS)
        more["covariates"] = columns
    if "family" in estimator.get_params() and rng.random() < 0.3:
        kinds = ["poisson", "ordinal", "gaussian", "no such"]
        estimator.set_params(family=str(rng.choice(kinds)))
        if rng.random() < 0.3:
            more["exposure"] = np.where(np.arange(n) == 0, rng.choice(_NUMBERS), 2.0)
    if "class_weight" in estimator.get_params() and rng.random() < 0.2:
        some = ["balanced", {"a": 2.0}, {1: 1e9}, {0: np.nan}, "no such"]
        estimator.set_params(class_weight=some[int(rng.integers(0, len(some)))])
    return more


def estimator_case(rng: np.random.Generator, place: Path, fixed: Any) -> None:
    """Odd arrays, targets and settings for an estimator: a model that predicts, or one message."""
    name = str(rng.choice(_CLASSES))
    X = _matrix(rng)
    settings: dict[str, object] = {"n_topics": int(rng.choice([1, 2, 2, 2, 3, 30])), "n_jobs": 1}
    estimator = getattr(package, name)(**settings, random_state=0)
    if "max_epochs" in estimator.get_params():
        estimator.set_params(max_epochs=2)
    y = None if name == "LDA" else _target(rng, X)
    more = {} if y is None else _beside(rng, estimator, len(y))  # type: ignore[arg-type]
    said = f"{name}, X={X!r}, y={y!r}, {settings}, {more}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator.fit(X, y, **more)
            more.pop("sample_weight", None)
            if name == "LDA":
                found = estimator.transform(X)
            elif hasattr(estimator, "predict_proba") and hasattr(estimator, "classes_"):
                found = estimator.predict_proba(X, **more)
            else:
                found = estimator.predict(X, **more)
        except np.linalg.LinAlgError as error:
            raise Broken(f"{said}: {error!r}") from error
        except (ValueError, TypeError) as error:
            if not str(error).strip() or re.search(
                r"has no attribute|nopython|StopIter", str(error)
            ):
                raise Broken(f"{said}: {error!r}") from error
            return
        except Exception as error:
            raise Broken(f"{said}: {error!r}") from error
    for part in found if isinstance(found, list) else [found]:
        if not np.isfinite(np.asarray(part, dtype=float)).all():
            raise Broken(f"{said}: predicts {part!r}")
