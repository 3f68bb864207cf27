"""The facts of a fit: data, settings, training curves, the frontier."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.report.evaluation import rounded
from topicfocus.report.inputs import Inputs

#: What a fit found, and how the page calls it.
_FOUND = {
    "n_iter_": "steps",
    "converged_": "converged",
    "shaping_": "shaping",
    "inclusion_prior_": "inclusion prior",
    "supervision_weight_": "supervision weight",
    "doc_topic_prior_": "document-topic prior",
    "noise_variance_": "noise variance",
    "thresholds_": "thresholds between levels",
}
#: What a row of a frontier is about; all else in it are figures.
SEARCHED = ("n_topics", "inclusion_prior")
#: Settings of a run and a machine, not of the model.
_ASIDE = ("n_jobs", "verbose")


def fit_facts(inputs: Inputs, frontier: Any = None) -> dict[str, Any]:
    """How the model was fitted and to what."""
    model = inputs.model
    history = {
        name: rounded(values)
        for name, values in getattr(model, "history_", {}).items()
        if len(values) and np.issubdtype(np.asarray(values).dtype, np.number)
    }
    settings = sorted(model.get_params(deep=False).items())
    found = {n: _shown(getattr(model, a)) for a, n in _FOUND.items() if hasattr(model, a)}
    n_words = len(inputs.vocabulary)
    tokens = float(inputs.counts.sum())
    return {
        "history": history,
        "settings": {name: _shown(v) for name, v in settings if name not in _ASIDE},
        "fitted": found,
        "data": {
            "documents given": inputs.n_docs,
            "words in the vocabulary": n_words,
            "words kept": n_words
            if inputs.fitted.selected_words is None
            else int(inputs.fitted.selected_words.sum()),
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
        # An equal prior for all topics is one number.
        return f"{numbers[0]} each" if len(numbers) > 1 == len(set(numbers)) else ", ".join(numbers)
    text = "not set" if value is None else str(value)
    return text if len(text) <= 200 else text[:200] + " …"


def read_frontier(given: Any) -> list[dict[str, Any]] | None:
    """Rows of numbers by topics and inclusion prior, from a list of dicts or a dataframe.

    A number that is not known is left out; so is a setting that has no figure, as one that failed.
    """
    if given is None:
        return None
    if hasattr(given, "to_dict"):
        given = given.to_dict("records")
    rows = []
    for row in given:
        numbers = {
            str(k): float(v)
            for k, v in dict(row).items()
            if isinstance(v, (int, float, np.number)) and not isinstance(v, bool) and np.isfinite(v)
        }
        if not set(SEARCHED) & set(numbers):
            raise ValueError(
                "every row of frontier needs inclusion_prior or n_topics, and figures beside it."
            )
        if not dict(row).get("error") or "score" in numbers:
            rows.append(numbers)
    return sorted(rows, key=lambda r: tuple(r.get(name, 0.0) for name in SEARCHED))


def frontier_axis(rows: list[dict[str, Any]]) -> str:
    """What rows go along: the share, or the topics if several were tried, each with one share."""
    tried = {row.get("n_topics") for row in rows}
    return "n_topics" if 1 < len(tried) == len(rows) else "inclusion_prior"
