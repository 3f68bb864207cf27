"""How stable a fit was found to be: what a check has to say, by topic, by word, of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from topicfocus.selection.replication import Stability


def read_stability(
    given: Any, n_topics: int, vocabulary: Sequence[str] = ()
) -> dict[str, Any] | None:
    """{"topics": {name: one value a topic}, "whole": {name: value}} of a plain dict.

    A list of as many entries as there are topics, or a dict whose keys are numbers of topics, is
    about topics; a dict of other things is opened ("words: kept always"); all else is about the
    whole and shown as it is. What `topicfocus.stability` returns, or its `to_dict`, is put into
    this form, with what it says about words ("words"; `_words_of`) and, for sentences, topics
    ("halves").

    Parameters
    ----------
    given : dict, Stability or None
    n_topics : int
    vocabulary : list of str, optional
        The words of the page.

    Returns
    -------
    dict or None

    Raises
    ------
    TypeError
        If it is neither a dict nor a Stability.

    Examples
    --------
    >>> from topicfocus.report.stability import read_stability
    >>> read_stability({"share": [0.9, 0.4], "fits": 10}, 2)
    {'topics': {'share': [0.9, 0.4]}, 'whole': {'fits': 10}, 'words': None, 'halves': None}
    """
    if given is None:
        return None
    if isinstance(given, Stability):
        given = given.to_dict(list(vocabulary) or None)
    if not isinstance(given, Mapping):
        raise TypeError(f"stability must be a dict of results, got {type(given).__name__}.")
    words = halves = None
    if {"resamples", "topics", "words", "substitutes"} <= set(given):  # of Stability.to_dict
        words, halves = _words_of(given, vocabulary), _topics_of(given)
        given = for_page(given)
    topics: dict[str, list[Any]] = {}
    whole: dict[str, Any] = {}
    _sort(given, "", n_topics, topics, whole)
    return {"topics": topics, "whole": whole, "words": words, "halves": halves}


def for_page(found: Mapping[str, Any]) -> dict[str, Any]:
    """`Stability.to_dict` in the form of the page: a list with an entry a topic, facts of all."""
    topics, often = found["topics"], found["often"]
    return {
        "cosine": [t["cosine"] for t in topics],
        "comes back": [t["same"] for t in topics],
        f"effect ({found['level']:.0%})": [_interval(t["low"], t["high"]) for t in topics],
        "words that always return": [
            " ".join(w["word"] for w in t["words"] if w["returns"] >= often) or "none"
            for t in topics
        ],
        "pairs of halves": found["resamples"],
        "Nogueira's index": found["nogueira"],
        "Jaccard of disjoint halves": found["disjoint_jaccard"],
        "words kept in 90% of halves": found["stable_words"],
        "of these expected false, at most": found["false_words"],
        "correlation of predictions of two halves": found["prediction_correlation"],
    }


def _interval(low: Any, high: Any) -> str | None:
    """From where to where; of several classes one after the other."""
    pairs = [(a, b) for a, b in zip(np.ravel(low), np.ravel(high), strict=True) if a is not None]
    return ", ".join(f"{a:+.2g} to {b:+.2g}".replace("-", "−") for a, b in pairs) or None


def _topics_of(found: Mapping[str, Any]) -> dict[str, Any]:
    """For each topic whether it comes back, how alike, and which of its top words return."""
    often = found["often"]
    return {
        "level": found["level"],
        "topics": [
            {
                "same": t["same"],
                "cosine": t["cosine"],
                "returning": [w["word"] for w in t["words"] if w["returns"] >= often],
                "low": t["low"],
                "high": t["high"],
            }
            for t in found["topics"]
        ],
    }


def _words_of(found: Mapping[str, Any], vocabulary: Sequence[str]) -> dict[str, Any]:
    """How often halves keep each word of the page, and the words that stand for it.

    "frequency" has an entry a word, 0 for those that no half keeps. "others" has rows (word,
    substitute, share of the halves that keep one of the two), words by their numbers on the page.
    """
    place = {str(word): v for v, word in enumerate(vocabulary)}
    frequency = [0.0] * len(place)
    for row in found["words"]:
        if row["word"] in place:
            frequency[place[row["word"]]] = round(row["frequency"], 4)
    others = [
        [place[row["word"]], place[other["word"]], round(other["either"], 4)]
        for row in found["substitutes"]
        for other in row["others"]
        if row["word"] in place and other["word"] in place
    ]
    return {"frequency": frequency, "others": others, "often": found["often"]}


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
