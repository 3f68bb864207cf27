"""The words of the page: frequency, association, selection, weights in topics, remainder."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.targets import Coding
from topicfocus.proportions import proportion_weights, topic_proportions
from topicfocus.remainder import RESOLUTION
from topicfocus.report.inputs import Inputs
from topicfocus.report.render import pack, pack_rounded, pack_texts, roughly, size, unpack, whole

#: Intervals of a numeric target, and of each of several.
_BINS, _FEW_BINS = 8, 5
#: Characters of the weights of words in the page.
TABLE_BUDGET = 400_000
#: Steps of log W where floats do not fit, from fine to coarse.
_STEPS = (0.0005, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
_ZERO = 65535
#: Characters of the coefficients of the remainder, and those they get in the fullest page.
COEF_BUDGET, _LEAST_COEF = 300_000, 60_000
#: By how much the steps of the coefficients grow where they do not fit.
_COARSER = (1, 16, 32, 64, 128, 256, 512, 1024, 2048)


def word_summary(inputs: Inputs) -> dict[str, Any]:
    """One packed column per property of the words."""
    fitted, counts = inputs.fitted, inputs.counts
    present = counts.copy()
    present.data = np.ones_like(present.data)
    frequency = np.asarray(counts.sum(axis=0)).ravel()
    inclusion = fitted.inclusion
    out: dict[str, Any] = {
        "names": pack_texts(inputs.vocabulary),
        "labels": None if inputs.labels == inputs.vocabulary else pack_texts(inputs.labels),
        "count": whole(np.round(frequency)),
        "documents": whole(np.asarray(present.sum(axis=0)).ravel()),
        "inclusion": pack(inclusion, "u2", 1 / 65535),
        # The inclusion of focused models is a weight, not a probability.
        "graded": fitted.evidence is None
        and bool(np.any((inclusion > 1e-6) & (inclusion < 1 - 1e-6))),
        "selects": fitted.selects,
        "kept": whole(_kept(fitted).astype(float)),
        "trained": whole(fitted.known_words.astype(float)),
    }
    if inputs.codes is not None and inputs.n_docs:
        signals = _signals(inputs, inputs.codes)
        out["association"] = pack_rounded(
            np.column_stack([association(counts, s) for s in signals])
        )
        out["by_target"] = [
            _by_target(present, coding, inputs.codes[:, t], len(inputs.codings))
            for t, coding in enumerate(inputs.codings)
        ]
    out["why"] = _selection(inputs)
    return out


def _kept(fitted: Fitted) -> np.ndarray:
    """Words that the model selected, or those in topics if it does not select words."""
    if fitted.selected_words is not None:
        return fitted.selected_words
    return fitted.state.topic_word.max(axis=1) > 0


def _signals(inputs: Inputs, all_codes: np.ndarray) -> list[np.ndarray]:
    """What increases with each predictor: the target, or a class indicator; NaN if missing."""
    out = []
    for t, coding in enumerate(inputs.codings):
        codes = all_codes[:, t]
        if coding.n_predictors > 1:
            for c in range(coding.n_labels):
                out.append(np.where(np.isfinite(codes), (codes == c).astype(float), np.nan))
        else:
            out.append(codes)
    return out


def association(counts: Any, signal: np.ndarray) -> np.ndarray:
    """Signed z of every word: √n times the correlation of √count with the signal."""
    known = np.isfinite(signal)
    n = int(known.sum())
    if n < 2:
        return np.zeros(counts.shape[1])
    y = signal[known] - signal[known].mean()
    spread = float(np.mean(y**2))
    words = counts[np.flatnonzero(known)].sqrt()
    mean = np.asarray(words.sum(axis=0)).ravel() / n
    square = np.asarray(counts[np.flatnonzero(known)].sum(axis=0)).ravel() / n
    variance = square - mean**2
    covariance = words.T @ y
    good = (variance > 1e-12) & (spread > 0)
    scale = np.sqrt(n * np.where(good, variance, 1.0) * max(spread, 1e-300))
    return np.where(good, covariance / scale, 0.0)


def _by_target(present: Any, coding: Coding, codes: np.ndarray, n_targets: int) -> dict[str, Any]:
    """Documents with each word, by class, level or interval of the target."""
    known = np.isfinite(codes)
    if coding.n_labels:
        n_bins = coding.n_labels
        place = np.where(known, codes, 0).astype(int)
        labels = ["0", "1"] if coding.labels is None else [str(v) for v in coding.labels]
    else:
        starts, labels = _intervals(codes[known], _BINS if n_targets == 1 else _FEW_BINS)
        n_bins = len(labels)
        place = np.searchsorted(starts, np.nan_to_num(codes), side="right") - 1
        place = np.clip(place, 0, n_bins - 1)
    member = np.zeros((len(codes), n_bins))
    member[np.flatnonzero(known), place[known]] = 1.0
    return {
        "labels": labels,
        "size": member.sum(axis=0).astype(int).tolist(),
        "documents": whole((present.T @ member).ravel()),
    }


def _intervals(values: np.ndarray, most: int) -> tuple[np.ndarray, list[str]]:
    """Starts and names of at most this number of intervals with similar numbers of values."""
    if not len(values):
        return np.zeros(1), ["unknown"]
    distinct = np.unique(values)
    if len(distinct) <= most:
        return distinct, [f"{v:,.6g}" for v in distinct]
    # Starts are values of the target: no interval lies between two whole numbers.
    edges = np.unique(np.quantile(values, np.linspace(0, 1, most + 1), method="inverted_cdf"))
    if np.any(values != np.round(values)):
        return edges[:-1], [f"{a:.3g} to {b:.3g}" for a, b in itertools.pairwise(edges)]
    pairs = zip(edges[:-1], np.append(edges[1:-1] - 1, edges[-1]), strict=True)
    return edges[:-1], [f"{a:,.0f}" if a == b else f"{a:,.0f} to {b:,.0f}" for a, b in pairs]


def _selection(inputs: Inputs) -> dict[str, Any]:
    """The screening statistic of the words, and the value that each would have needed.

    Both are twice a log likelihood ratio (a squared z). Models without one have only the lists of
    words to keep and to drop.
    """
    model, fitted = inputs.model, inputs.fitted
    out: dict[str, Any] = {
        "keep": _listed(model, "keep_words", inputs.vocabulary),
        "drop": _listed(model, "drop_words", inputs.vocabulary),
    }
    if fitted.evidence is None:
        return out
    out |= {
        "evidence": roughly(fitted.evidence),
        "cost": 2 * math.log(max(fitted.state.n_words, 2)),
    }
    if fitted.word_cost is not None:
        out["cost"] = fitted.word_cost
        out["needed"] = roughly(evidence_needed(fitted, fitted.word_cost, out["drop"]))
    return out


def evidence_needed(fitted: Fitted, cost: float, drop: list[int]) -> np.ndarray:
    """The least screening statistic to keep each dropped word, the cost c for the others.

    Words were kept by (E_v - c)/n_v until their share of tokens was reached, so a word needed the
    best score s of a dropped word: E_v ≥ c + s n_v. The model has n_v of dropped words up to a
    factor, which cancels: their background is π_v ∝ n_v.
    """
    background, evidence = fitted.state.background, np.asarray(fitted.evidence)
    rivals = (background > 0) & (evidence > cost)
    rivals[drop] = False  # dropped by the user
    score = np.max((evidence[rivals] - cost) / background[rivals], initial=0.0)
    return cost + score * background


def _listed(model: Any, name: str, vocabulary: list[str]) -> list[int]:
    """Columns of the words in a parameter of the model."""
    words = getattr(model, name, None)
    words = [] if words is None else words
    place = {w: i for i, w in enumerate(vocabulary)}
    found = [place.get(w, -1) if isinstance(w, str) else int(w) for w in words]
    return sorted(v for v in found if v >= 0)


# ---- weights of words in topics ------------------------------------------------------------------


def word_table(
    fitted: Fitted, counts: Any, exact: bool = False, n_jobs: int | None = None
) -> dict[str, Any]:
    """Weights W_v (largest entry 1), multiplicities and p_v of the words in topics.

    Weights are doubles if they fit into the budget, else floats, else rounded logarithms; `error`
    is the largest change of a linear predictor of these documents by rounding.
    """
    state = fitted.state
    weights = proportion_weights(state).table
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
    packed, rounded_rows = _pack_rows(rows, exact)
    record["rows"] = packed
    record["error"] = 0.0
    if packed["t"] != "f8":
        record["error"] = _rounding_error(fitted, counts, kept, rounded_rows, n_jobs)
    return record


def _pack_rows(rows: np.ndarray, exact: bool) -> tuple[dict[str, Any], np.ndarray]:
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
    """-log W in whole steps; smaller weights become 0."""
    with np.errstate(divide="ignore"):
        steps = np.minimum(np.round(-np.log(rows) / step), _ZERO)
    return {**pack(steps, "u2"), "log": step}


def unpack_logarithms(record: dict[str, Any]) -> np.ndarray:
    """Inverse of `pack_logarithms`, as in the browser."""
    steps = unpack(record).astype(float)
    return np.where(steps == _ZERO, 0.0, np.exp(-steps * record["log"]))


def _rounding_error(
    fitted: Fitted, counts: Any, kept: np.ndarray, rows: np.ndarray, n_jobs: int | None
) -> float:
    if counts.shape[0] == 0:
        return float("nan")
    state = fitted.state
    changed = state.topic_word.copy()
    changed[kept] = rows * state.topic_word.max(axis=1)[kept, None]
    corpus = fitted.seen(Corpus(counts))
    before = topic_proportions(corpus, state, n_jobs=n_jobs)
    after = topic_proportions(corpus, replace(state, topic_word=changed), n_jobs=n_jobs)
    return float(np.abs((before - after) @ state.coef_rows.T).max())


# ---- the remainder -------------------------------------------------------------------------------


def remainder_summary(
    inputs: Inputs, counts: Any, room: int, exact: bool = False
) -> dict[str, Any] | None:
    """What the page computes the remainder with, in about `room` characters; None without one.

    `error` is the largest change of a linear predictor of these documents by rounding, where the
    coefficients do not fit into the page with all digits.
    """
    rest = inputs.fitted.remainder
    if rest is None:
        return None
    names = None if rest.names is None else pack_texts(list(rest.names))
    different, which = np.unique(rest.rarity, return_inverse=True)
    rarity = {"values": pack(different, "f4"), "which": whole(which)}
    room -= sum(size(record) for record in (names, *rarity.values()) if record is not None)
    packed, rounded = _pack_coef(rest.coef, exact, min(COEF_BUDGET, max(room, _LEAST_COEF)))
    error = 0.0
    if counts.shape[0]:
        terms = inputs.fitted.remainder_counts(inputs.fitted.corpus(counts))
        changed = replace(rest, coef=rounded).amounts(terms) - rest.amounts(terms)
        error = float(np.abs(changed).max())
    return {
        "names": names,
        "rarity": rarity,
        "coef": packed,
        "level": rest.level.tolist(),
        "total": int(np.count_nonzero(rest.coef)),
        "kept": int(np.count_nonzero(rounded)),
        "error": error,
    }


def remainder_of_documents(inputs: Inputs, counts: Any) -> dict[str, Any] | None:
    """What the remainder adds to the linear predictors of documents, packed."""
    if inputs.fitted.remainder is None:
        return None
    return pack(inputs.fitted.remainder_amounts(inputs.fitted.corpus(counts)), "f8")


def _pack_coef(
    coef: np.ndarray, exact: bool, budget: int
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """The coefficients of each predictor in steps, and what they are rounded to."""
    largest = np.maximum(np.abs(coef).max(axis=0, initial=0.0), 1e-300)
    for coarser in _COARSER:
        steps = (largest * RESOLUTION * coarser).tolist()
        packed = [pack(column, "i2", step) for column, step in zip(coef.T, steps, strict=True)]
        if exact or sum(map(size, packed)) <= budget:
            break
    rounded = coef if coarser == 1 else np.column_stack([unpack(column) for column in packed])
    return packed, rounded
