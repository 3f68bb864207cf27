"""The word table that the page finds topic mixes with, as exact as its budget allows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.estimators.fitted import Fitted
from topicfocus.inference.mixes import topic_mixes
from topicfocus.inference.words import mix_weights
from topicfocus.report.packing import pack, size, unpack, whole

#: Characters that the table may take in the page.
TABLE_BUDGET = 770_000
#: Steps of log W where floats do not fit, from fine to coarse.
_STEPS = (0.0005, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
_ZERO = 65535


def word_table(
    fitted: Fitted, counts: Any, exact: bool = False, n_jobs: int | None = None
) -> dict[str, Any]:
    """Rows W_v (largest entry 1), multiplicities and p_v of the words that topics contain.

    In doubles where they fit, then in floats, then as rounded logarithms; `error` is how far
    linear predictors of the documents move by the rounding.
    """
    state = fitted.state
    weights = mix_weights(state).table
    kept = np.flatnonzero(weights.multiplicity > 0)
    rows = weights.table[kept]
    record: dict[str, Any] = {
        "words": whole(np.diff(kept, prepend=0).astype(float)),
        "scale": pack(state.topic_word.max(axis=1)[kept], "f4"),
        "share": pack(fitted.word_share[kept], "f4"),
        "multiplicity": None,
    }
    if np.any(weights.multiplicity[kept] != 1.0):
        record["multiplicity"] = pack(weights.multiplicity[kept], "f8")
    packed, rounded_rows = _fit(rows, exact)
    record["rows"] = packed
    record["error"] = 0.0
    if packed["t"] != "f8":
        record["error"] = _error(fitted, counts, kept, rounded_rows, n_jobs)
    return record


def _fit(rows: np.ndarray, exact: bool) -> tuple[dict[str, Any], np.ndarray]:
    packed = pack(rows, "f8")
    if exact or size(packed) <= TABLE_BUDGET:
        return packed, rows
    packed = pack(rows, "f4")
    if size(packed) <= TABLE_BUDGET:
        return packed, unpack(packed).astype(float).reshape(rows.shape)
    for step in _STEPS:
        packed = pack_logarithms(rows, step)
        if size(packed) <= TABLE_BUDGET:
            break
    return packed, unpack_logarithms(packed).reshape(rows.shape)


def pack_logarithms(rows: np.ndarray, step: float) -> dict[str, Any]:
    """-log W in whole steps; what is too small for that is nothing."""
    with np.errstate(divide="ignore"):
        steps = np.minimum(np.round(-np.log(rows) / step), _ZERO)
    return {**pack(steps, "u2"), "log": step}


def unpack_logarithms(record: dict[str, Any]) -> np.ndarray:
    """What the browser does with a record of `pack_logarithms`."""
    steps = unpack(record).astype(float)
    return np.where(steps == _ZERO, 0.0, np.exp(-steps * record["log"]))


def _error(
    fitted: Fitted, counts: Any, kept: np.ndarray, rows: np.ndarray, n_jobs: int | None
) -> float:
    if counts.shape[0] == 0:
        return float("nan")
    state = fitted.state
    changed = state.topic_word.copy()
    changed[kept] = rows * state.topic_word.max(axis=1)[kept, None]
    corpus = fitted.seen(Corpus(counts))
    before = topic_mixes(corpus, state, n_jobs=n_jobs)
    after = topic_mixes(corpus, replace(state, topic_word=changed), n_jobs=n_jobs)
    return float(np.abs((before - after) @ state.coef_rows.T).max())
