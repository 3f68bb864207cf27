"""Topics by group and over time: mean compositions of the documents that belong together."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

#: Groups shown by themselves; the others, the rarest, are one.
MOST_GROUPS = 20
#: Points in time shown as they are; more are put into stretches.
MOST_TIMES = 30
_STRETCHES = 12
_OTHERS = "all others"


def group_summary(by: Any, time: Any, composition: np.ndarray) -> list[dict[str, Any]] | None:
    """What the page shows of groups and of times, None if neither was given.

    Parameters
    ----------
    by, time : one value a document, a pandas series, or a dict of name to values; or None
    composition : array (documents, topics)

    Returns
    -------
    list of dict, or None
        "name", "kind" ("group" or "time"), "labels", and for each of these "n" documents, the mean
        "share" of every topic and its standard "error" (None of a single document).

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
            out.append({"name": name, "kind": kind, **_shares(labels, place, composition)})
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


def _groups(values: list[Any]) -> tuple[list[str], np.ndarray]:
    """Labels, the most frequent first, and the place of each document, -1 without a group."""
    named = [None if _missing(v) else str(v) for v in values]
    often = Counter(v for v in named if v is not None).most_common()
    labels = [label for label, _ in often[:MOST_GROUPS]]
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
    try:
        numbers = np.array([float(v) for v in some])
        labels, place = _number_stretches(numbers)
    except (TypeError, ValueError):
        try:
            labels, place = _dates(np.array([str(v)[:10] for v in some], dtype="datetime64[D]"))
        except ValueError:
            raise ValueError(
                f"{name}: times are numbers, or dates such as 2024-05-31; got {some[0]!r}."
            ) from None
    out = np.full(len(values), -1)
    out[known] = place
    return labels, out


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
