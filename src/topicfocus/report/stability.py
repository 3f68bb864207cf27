"""How stable a fit was found to be: whatever a check has to say, by topic and of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def read_stability(given: Any, n_topics: int) -> dict[str, Any] | None:
    """{"topics": {name: one value a topic}, "whole": {name: value}} of a plain dict.

    A list of as many entries as there are topics, or a dict whose keys are numbers of topics, is
    about topics; a dict of other things is opened ("words: kept always"); all else is about the
    whole and shown as it is.

    Parameters
    ----------
    given : dict or None
    n_topics : int

    Returns
    -------
    dict or None

    Examples
    --------
    >>> from topicfocus.report.stability import read_stability
    >>> read_stability({"share": [0.9, 0.4], "fits": 10}, 2)
    {'topics': {'share': [0.9, 0.4]}, 'whole': {'fits': 10}}
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise TypeError(f"stability must be a dict of results, got {type(given).__name__}.")
    topics: dict[str, list[Any]] = {}
    whole: dict[str, Any] = {}
    _sort(given, "", n_topics, topics, whole)
    return {"topics": topics, "whole": whole}


def _sort(
    given: Mapping[Any, Any],
    before: str,
    n_topics: int,
    topics: dict[str, list[Any]],
    whole: dict[str, Any],
) -> None:
    for key, value in given.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            numbers = all(isinstance(k, (int, np.integer)) and 0 <= k < n_topics for k in value)
            if value and numbers:
                topics[name] = [_plain(value.get(k)) for k in range(n_topics)]
            else:
                _sort(value, f"{name}: ", n_topics, topics, whole)
        elif isinstance(value, (list, tuple, np.ndarray)) and len(value) == n_topics:
            topics[name] = [_plain(v) for v in value]
        else:
            whole[name] = _plain(value)


def _plain(value: Any) -> Any:
    """A number, a truth or None as it is; anything else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple, np.ndarray)):
        return ", ".join(str(_plain(v)) for v in value)[:400]
    return str(value)[:400]
