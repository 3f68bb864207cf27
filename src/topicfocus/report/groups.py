"""Topics by group and over time: what documents that belong together are made of and come to.

Of a group's documents: mean compositions; the mean prediction and target; and what each topic adds
to the difference between their mean linear predictor and that of all documents, the difference of
the mean amounts (n_k/N)(η_k - η·ā) of `explain`, which add up to it (with those of covariates).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.inference.words import mix_weights
from topicfocus.report.documents import Predictions
from topicfocus.report.inputs import Inputs

#: Groups shown by themselves; the others, the rarest, are one.
MOST_GROUPS = 20
#: Points in time shown as they are; more are put into stretches.
MOST_TIMES = 30
_STRETCHES = 12
_OTHERS = "all others"


@dataclass(frozen=True)
class Outcome:
    """A target with one predictor, by document: `amounts` of the topics, documents x topics."""

    predicted: np.ndarray
    actual: np.ndarray | None
    amounts: np.ndarray


def outcomes(inputs: Inputs, found: Predictions) -> list[Outcome | None]:
    """Of every target; None of more than two classes, whose scores mean nothing alone."""
    state, fitted = inputs.fitted.state, inputs.fitted
    seen = fitted.seen(Corpus(inputs.counts)).counts
    size = state.doc_topic_prior.sum() + seen @ mix_weights(state).table.multiplicity
    explained = found.mixes - state.doc_topic_prior / size[:, None]
    base = state.coef_rows @ (state.doc_topic_prior / state.doc_topic_prior.sum())
    out: list[Outcome | None] = []
    for t, part in enumerate(fitted.parts):
        l = part.where.start
        if part.where.stop - l > 1:
            out.append(None)
            continue
        mean, actual = found.mean[t], None
        if inputs.codes is not None:
            actual = part.coding.decode_levels(inputs.codes[:, t])
        mean = mean[:, 1] if mean.ndim > 1 else mean
        out.append(Outcome(mean, actual, explained * (state.coef_rows[l] - base[l])))
    return out


def group_summary(
    by: Any, time: Any, composition: np.ndarray, targets: Sequence[Outcome | None] = ()
) -> list[dict[str, Any]] | None:
    """What the page shows of groups and of times, None if neither was given.

    Parameters
    ----------
    by, time : one value a document, a pandas series, or a dict of name to values; or None
    composition : array (documents, topics)
    targets : sequence of Outcome, one a target

    Returns
    -------
    list of dict, or None
        "name", "kind" ("group" or "time"), "labels", and for each of these "n" documents, the mean
        "share" of every topic and its standard "error" (None of a single document); and for every
        target (None of several classes) the mean "predicted" and "actual", and what each topic
        "adds" beside all documents.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.report.groups import group_summary
    >>> found = group_summary({"shop": ["a", "b", "a"]}, None, np.eye(3))
    >>> found[0]["labels"], found[0]["n"]
    (['a', 'b'], [2, 1])
    """
    out = []
    for kind, given in (("group", by), ("time", time)):
        for name, values in _named(given, kind):
            if len(values) != len(composition):
                raise ValueError(
                    f"{name} has {len(values)} values, but there are {len(composition)} documents."
                )
            labels, place = _groups(values) if kind == "group" else _times(name, values)
            record = {"name": name, "kind": kind, **_shares(labels, place, composition)}
            groups = [place == i for i in range(len(labels))]
            record["targets"] = [None if o is None else _means(o, groups) for o in targets]
            out.append(record)
    return out or None


def _named(given: Any, kind: str) -> list[tuple[str, list[Any]]]:
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [(str(name), list(values)) for name, values in given.items()]
    name = getattr(given, "name", None)
    return [(str(kind if name is None else name), list(given))]


def _missing(value: Any) -> bool:
    return value is None or value == "" or bool(value != value)


def _is_number(label: str) -> bool:
    try:
        return np.isfinite(float(label))
    except ValueError:
        return False


def _groups(values: list[Any]) -> tuple[list[str], np.ndarray]:
    """Labels, the most frequent first (numbers in their order), and the place of each document.

    A document without a group has the place -1.
    """
    named = [None if _missing(v) else str(v) for v in values]
    often = Counter(v for v in named if v is not None).most_common()
    labels = [label for label, _ in often[:MOST_GROUPS]]
    if all(_is_number(label) for label in labels):
        labels.sort(key=float)
    if len(often) > MOST_GROUPS:
        labels.append(_OTHERS)
    number = {label: i for i, label in enumerate(labels[:MOST_GROUPS])}
    last = len(labels) - 1
    return labels, np.array([-1 if v is None else number.get(v, last) for v in named], dtype=int)


def _times(name: str, values: list[Any]) -> tuple[list[str], np.ndarray]:
    """Points or stretches of time in their order, and the place of each document."""
    known = np.array([not _missing(v) for v in values], dtype=bool)
    if not known.any():
        return [], np.full(len(values), -1)
    some = [v for v, there in zip(values, known, strict=True) if there]
    numbers, no_number = _read(some, _number)
    if no_number is None:
        labels, place = _number_stretches(np.array(numbers))
    else:
        days, no_day = _read(some, _day)
        if no_day is not None:
            wrong = max(no_number, no_day)  # what the others are is read further
            raise ValueError(
                f"{name}: times are numbers, or dates such as 2024-05-31; got "
                f"{str(some[wrong])[:40]!r} (document {np.flatnonzero(known)[wrong] + 1})."
            )
        labels, place = _dates(np.array(days, dtype="datetime64[D]"))
    out = np.full(len(values), -1)
    out[known] = place
    return labels, out


def _read(values: list[Any], convert: Callable[[Any], Any]) -> tuple[list[Any], int | None]:
    """Values converted, up to the first that cannot be, and its place."""
    out: list[Any] = []
    for i, value in enumerate(values):
        try:
            out.append(convert(value))
        except (TypeError, ValueError):
            return out, i
    return out, None


def _number(value: Any) -> float:
    if not math.isfinite(number := float(value)):
        raise ValueError
    return number


def _day(value: Any) -> np.datetime64:
    if np.isnat(day := np.datetime64(str(value)[:10], "D")):
        raise ValueError
    return day


def _number_stretches(numbers: np.ndarray) -> tuple[list[str], np.ndarray]:
    points, place = np.unique(numbers, return_inverse=True)
    if len(points) <= MOST_TIMES:
        return [f"{p:g}" for p in points], place
    edges = np.linspace(points[0], points[-1], _STRETCHES + 1)
    place = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, _STRETCHES - 1)
    labels = [f"{a:.4g} to {b:.4g}" for a, b in itertools.pairwise(edges)]
    return labels, place


def _dates(dates: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Days, months or years: the finest that are not too many."""
    for unit in ("D", "M", "Y"):
        points, place = np.unique(dates.astype(f"datetime64[{unit}]"), return_inverse=True)
        if len(points) <= MOST_TIMES:
            break
    return [str(p) for p in points], place


def _shares(labels: list[str], place: np.ndarray, composition: np.ndarray) -> dict[str, Any]:
    n, share, error = [], [], []
    for i in range(len(labels)):
        own = composition[place == i]
        n.append(len(own))
        share.append(own.mean(axis=0) if len(own) else np.full(composition.shape[1], np.nan))
        spread = own.std(axis=0, ddof=1) if len(own) > 1 else np.full(composition.shape[1], np.nan)
        error.append(spread / np.sqrt(max(len(own), 1)))
    return {"labels": labels, "n": n, "share": share, "error": error}


def _means(outcome: Outcome, groups: list[np.ndarray]) -> dict[str, Any]:
    """Of each group; NaN where there is no document."""

    def mean(values: np.ndarray, mine: np.ndarray) -> float:
        own = values[mine]
        own = own[np.isfinite(own)]
        return float(own.mean()) if len(own) else float("nan")

    nothing = np.full(outcome.amounts.shape[1], np.nan)
    overall = outcome.amounts.mean(axis=0)
    return {
        "predicted": [mean(outcome.predicted, mine) for mine in groups],
        "actual": None
        if outcome.actual is None
        else [mean(outcome.actual, mine) for mine in groups],
        "adds": [
            outcome.amounts[mine].mean(axis=0) - overall if mine.any() else nothing
            for mine in groups
        ],
    }
