"""Facts about a fit: settings, training curves, the frontier of a search, stability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from topicfocus.report.evaluation import rounded
from topicfocus.report.inputs import Inputs
from topicfocus.selection.replication import Stability

#: Fitted attributes and their names in the page.
_FITTED = {
    "n_iter_": "steps",
    "converged_": "converged",
    "shaping_": "optimisation of the topics",
    "inclusion_prior_": "inclusion prior",
    "supervision_weight_": "supervision weight",
    "doc_topic_prior_": "document-topic prior",
    "noise_variance_": "noise variance",
    "thresholds_": "thresholds between levels",
}
#: Settings along a frontier; everything else in a row is a metric.
SEARCHED = ("n_topics", "inclusion_prior")
#: Settings of a run, not of the model.
_RUN_SETTINGS = ("n_jobs", "verbose")
#: Keys of `Stability.to_dict`.
_OF_STABILITY = {"resamples", "topics", "words", "substitutes"}


def fit_summary(inputs: Inputs, frontier: Any = None) -> dict[str, Any]:
    """Settings, results and data of the fit."""
    model = inputs.model
    history = {
        name: rounded(values)
        for name, values in getattr(model, "history_", {}).items()
        if len(values) and np.issubdtype(np.asarray(values).dtype, np.number)
    }
    settings = sorted(model.get_params(deep=False).items())
    n_words, selected = len(inputs.vocabulary), inputs.fitted.selected_words
    tokens = float(inputs.counts.sum())
    return {
        "history": history,
        "settings": {name: _shown(v) for name, v in settings if name not in _RUN_SETTINGS},
        "fitted": {n: _shown(getattr(model, a)) for a, n in _FITTED.items() if hasattr(model, a)},
        "data": {
            "documents given": inputs.n_docs,
            "words in the vocabulary": n_words,
            "words kept": n_words if selected is None else int(selected.sum()),
            "tokens": tokens,
            "tokens of an average document": round(tokens / max(inputs.n_docs, 1), 1),
        },
        "frontier": read_frontier(frontier),
    }


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (float, np.floating)):
        return f"{value:.3g}"
    if isinstance(value, np.ndarray):
        numbers = [f"{v:.3g}" for v in value.ravel()[:20]]
        # The same prior for all topics is one number.
        return f"{numbers[0]} each" if len(numbers) > 1 == len(set(numbers)) else ", ".join(numbers)
    text = "not set" if value is None else str(value)
    return text if len(text) <= 200 else text[:200] + " …"


# ---- frontier ------------------------------------------------------------------------------------


def read_frontier(given: Any) -> list[dict[str, Any]] | None:
    """Rows of metrics by number of topics and inclusion prior, from dicts or a DataFrame.

    Missing metrics are left out, and so are settings that failed.
    """
    if given is None:
        return None
    rows = []
    for row in given.to_dict("records") if hasattr(given, "to_dict") else given:
        numbers = {
            str(k): float(v)
            for k, v in dict(row).items()
            if isinstance(v, (int, float, np.number)) and not isinstance(v, bool) and np.isfinite(v)
        }
        if not set(SEARCHED) & set(numbers):
            raise ValueError(
                "every row of frontier needs inclusion_prior or n_topics, and metrics."
            )
        if not dict(row).get("error") or "score" in numbers:
            rows.append(numbers)
    return sorted(rows, key=lambda r: tuple(r.get(name, 0.0) for name in SEARCHED))


def frontier_axis(rows: Sequence[Mapping[str, Any]]) -> str:
    """The setting along the frontier: topics if each row has another number of them."""
    tried = {row.get("n_topics") for row in rows}
    return "n_topics" if 1 < len(tried) == len(rows) else "inclusion_prior"


# ---- stability -----------------------------------------------------------------------------------


def read_stability(given: Any, vocabulary: Sequence[str] = ()) -> dict[str, Any] | None:
    """A `Stability`, or its `to_dict`, as {"topics": {name: one value per topic}, "whole", ...}.

    "whole" has results about the whole fit by name; "words" and "halves" have the details of words
    and topics.
    """
    if given is None:
        return None
    if isinstance(given, Stability):
        given = given.to_dict(list(vocabulary) or None)
    if not isinstance(given, Mapping) or not set(given) >= _OF_STABILITY:
        raise TypeError(
            "stability must be what topicfocus.stability returns, or its to_dict(); got "
            f"{type(given).__name__}."
        )
    topics = given["topics"]
    return {
        "topics": {
            "cosine": [t["cosine"] for t in topics],
            "replicates": [t["same"] for t in topics],
            f"difference ({given['level']:.0%})": [_interval(t["low"], t["high"]) for t in topics],
            "words that replicate": [" ".join(_returning(t, given)) or "none" for t in topics],
        },
        "whole": {
            "pairs of halves": given["resamples"],
            "Nogueira's index": given["nogueira"],
            "Jaccard of disjoint halves": given["disjoint_jaccard"],
            "words kept in 90% of halves": given["stable_words"],
            "expected false among these, at most": given["false_words"],
            "correlation of predictions of two halves": given["prediction_correlation"],
        },
        "words": _word_stability(given, vocabulary),
        "halves": _topic_stability(given),
    }


def _returning(topic: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Top words of a topic that return in nearly all halves."""
    return [w["word"] for w in topic["words"] if w["returns"] >= found["often"]]


def _interval(low: Any, high: Any) -> str | None:
    """Ends of an interval as text, one after the other for several classes."""
    pairs = [(a, b) for a, b in zip(np.ravel(low), np.ravel(high), strict=True) if a is not None]
    return ", ".join(f"{a:+.2g} to {b:+.2g}".replace("-", "−") for a, b in pairs) or None


def _topic_stability(found: Mapping[str, Any]) -> dict[str, Any]:
    """For each topic whether it replicates, its cosine, and which of its top words return."""
    topics = [
        {name: t[name] for name in ("same", "cosine", "low", "high")}
        | {"returning": _returning(t, found)}
        for t in found["topics"]
    ]
    return {"level": found["level"], "topics": topics}


def _word_stability(found: Mapping[str, Any], vocabulary: Sequence[str]) -> dict[str, Any]:
    """Frequency of each word in halves, and rows (word, interchangeable word, share of halves).

    The share is that of the halves that keep one of the two. Words are columns of the page.
    """
    column = {str(word): v for v, word in enumerate(vocabulary)}
    frequency = [0.0] * len(column)
    for row in found["words"]:
        if row["word"] in column:
            frequency[column[row["word"]]] = round(row["frequency"], 4)
    others = [
        [column[row["word"]], column[other["word"]], round(other["either"], 4)]
        for row in found["substitutes"]
        for other in row["others"]
        if row["word"] in column and other["word"] in column
    ]
    return {"frequency": frequency, "others": others, "often": found["often"]}
