"""Every word: how often, how it goes with the target, whether and why it was kept."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from topicfocus.corpus import Corpus
from topicfocus.estimators.fitted import Fitted
from topicfocus.estimators.targets import Coding
from topicfocus.inference.state import make_problem
from topicfocus.joint.selection import topic_dependence
from topicfocus.report.codes import readable
from topicfocus.report.inputs import Inputs
from topicfocus.report.packing import pack, pack_texts, roughly, whole

#: Words x topics x documents that the dependence on topics is computed from, at most.
_LARGEST = 20_000_000
_BINS = 8
_FEW_BINS = 5
#: Predictors from which on associations are rounded to a fifth.
_MANY = 5


def word_summary(inputs: Inputs, mixes: np.ndarray) -> dict[str, Any]:
    """Columns over words, packed."""
    fitted, counts = inputs.fitted, inputs.counts
    present = counts.copy()
    present.data = np.ones_like(present.data)
    frequency = np.asarray(counts.sum(axis=0)).ravel()
    inclusion = fitted.state.inclusion if fitted.inclusion is None else fitted.inclusion
    out: dict[str, Any] = {
        "names": pack_texts(inputs.vocabulary),
        "labels": _labels(inputs.vocabulary),
        "count": whole(np.round(frequency)),
        "documents": whole(np.asarray(present.sum(axis=0)).ravel()),
        "inclusion": pack(inclusion, "u2", 1 / 65535),
        # Of focused models it is how much a token counts, not how likely a word is relevant.
        "graded": fitted.evidence is None
        and bool(np.any((inclusion > 1e-6) & (inclusion < 1 - 1e-6))),
        "selects": fitted.selects,
        "kept": whole(_kept(fitted).astype(float)),
        "trained": whole(fitted.known_words.astype(float)),
    }
    signals = None
    if inputs.codes is not None and inputs.n_docs:
        signals = _signals(inputs, inputs.codes)
        z = np.column_stack([association(counts, s) for s in signals])
        # Of many classes a rounder number: it is looked at, not computed with.
        out["association"] = pack(z, "i2", 0.02 if z.shape[1] <= _MANY else 0.2)
        out["by_target"] = [
            _by_target(present, coding, inputs.codes[:, t], len(inputs.codings))
            for t, coding in enumerate(inputs.codings)
        ]
    out["why"] = _why(inputs, mixes, frequency, signals)
    return out


def _kept(fitted: Fitted) -> np.ndarray:
    """Words that the model kept; of a model that does not choose, those in its topics."""
    if fitted.selected_words is not None:
        return fitted.selected_words
    return fitted.state.topic_word.max(axis=1) > 0


def _labels(vocabulary: list[str]) -> dict[str, Any] | None:
    """Readable labels; None where the words are that."""
    labels = readable(vocabulary)
    return None if labels == vocabulary else pack_texts(labels)


def _signals(inputs: Inputs, all_codes: np.ndarray) -> list[np.ndarray]:
    """What goes up when a predictor does: the target, or being of a class; NaN if not known."""
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
    """Signed z of every word: √n times the correlation of its √count with the signal."""
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
    """Documents with each word, by class, level or stretch of the target."""
    known = np.isfinite(codes)
    if coding.n_labels:
        n_bins = coding.n_labels
        place = np.where(known, codes, 0).astype(int)
        labels = ["0", "1"] if coding.labels is None else [str(v) for v in coding.labels]
    else:
        wanted = _BINS if n_targets == 1 else _FEW_BINS
        values = coding.decode_levels(codes[known])
        edges = np.array([0.0, 1.0])
        if len(values) and np.ptp(values) > 0:
            # Edges are values themselves: no stretch lies between two whole numbers.
            places = np.linspace(0, 1, wanted + 1)
            edges = np.unique(np.quantile(values, places, method="inverted_cdf"))
        n_bins = len(edges) - 1
        place = np.clip(
            np.searchsorted(edges, np.nan_to_num(codes), side="right") - 1, 0, n_bins - 1
        )
        labels = _stretches(edges, bool(np.all(values == np.round(values))))
    member = np.zeros((len(codes), n_bins))
    member[np.flatnonzero(known), place[known]] = 1.0
    return {
        "labels": labels,
        "size": member.sum(axis=0).astype(int).tolist(),
        "documents": whole((present.T @ member).ravel()),
    }


def _stretches(edges: np.ndarray, whole_numbers: bool) -> list[str]:
    """Names of [a, b), the last with its end: "3 to 4", or the numbers in it if they are whole."""
    if not whole_numbers:
        return [f"{a:.3g} to {b:.3g}" for a, b in itertools.pairwise(edges)]
    ends = np.append(edges[1:-1] - 1, edges[-1])
    return [
        f"{a:,.0f}" if a == b else f"{a:,.0f} to {b:,.0f}"
        for a, b in zip(edges[:-1], ends, strict=True)
    ]


def _why(
    inputs: Inputs, mixes: np.ndarray, frequency: np.ndarray, signals: list[np.ndarray] | None
) -> dict[str, Any]:
    """Advantages and costs on one scale, twice a log likelihood ratio (a squared z score).

    As words: how much better the topic mixes tell where the word occurs than its frequency does;
    the price of its K-1 numbers is (K-1) log(documents). As prediction: the evidence the model
    used, or z² for models without; its price is that of `cutting.cut`, or 2 log V.
    """
    model, fitted, counts = inputs.model, inputs.fitted, inputs.counts
    n_topics, n_words = fitted.state.n_topics, fitted.state.n_words
    out: dict[str, Any] = {
        "words_cost": (n_topics - 1) * math.log(max(inputs.n_docs, 2)),
        "prediction_cost": 2 * math.log(max(n_words, 2)),
        "prediction_source": "evidence",
        "keep": _listed(model, "keep_words", inputs.vocabulary),
        "drop": _listed(model, "drop_words", inputs.vocabulary),
    }
    if inputs.n_docs:
        rows = max(1, int(inputs.n_docs * min(1.0, _LARGEST / max(counts.nnz * n_topics, 1))))
        some = np.linspace(0, inputs.n_docs - 1, rows).astype(int)
        problem = make_problem(Corpus(fitted.seen(Corpus(counts[some])).counts), None)
        columns = np.flatnonzero(frequency > 0)
        dependence = np.zeros(n_words)
        dependence[columns] = 2 * topic_dependence(problem, mixes[some], columns, steps=15)
        out["as_words"] = roughly(np.maximum(dependence, 0) * inputs.n_docs / rows)
    evidence = fitted.evidence
    if evidence is None and signals is not None:
        evidence = np.max([association(counts, s) ** 2 for s in signals], axis=0)
        out["prediction_source"] = "z2"
    if evidence is None:
        return out
    out["as_prediction"] = roughly(evidence)
    if fitted.word_cost is not None:
        out["prediction_cost"] = fitted.word_cost
        out["needed"] = roughly(evidence_needed(fitted, fitted.word_cost, out["drop"]))
    return out


def evidence_needed(fitted: Fitted, cost: float, drop: list[int]) -> np.ndarray:
    """The least evidence with which each dropped word might have been kept, c for the others.

    Words were kept by (E_v - c)/n_v until the share of tokens was full, so a word had to reach the
    best score s that was still dropped: E_v ≥ c + s n_v. Of dropped words the model knows n_v up
    to a factor, which cancels: their background is π_v ∝ n_v.
    """
    background, evidence = fitted.state.background, np.asarray(fitted.evidence)
    rivals = (background > 0) & (evidence > cost)
    rivals[drop] = False  # dropped by the user, whatever their evidence
    score = np.max((evidence[rivals] - cost) / background[rivals], initial=0.0)
    return cost + score * background


def _listed(model: Any, name: str, vocabulary: list[str]) -> list[int]:
    """Columns of a user's list of words."""
    words = getattr(model, name, None)
    words = [] if words is None else words
    place = {w: i for i, w in enumerate(vocabulary)}
    found = [place.get(w, -1) if isinstance(w, str) else int(w) for w in words]
    return sorted(v for v in found if v >= 0)
