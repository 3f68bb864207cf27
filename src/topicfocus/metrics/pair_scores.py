"""From counts of words together to one number for a topic: the formulas of coherence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: What gensim, and Röder, Both & Hinneburg (2015) before it, add to the probability of a pair.
EPSILON = 1e-12


def score(
    together: NDArray[np.float64], n: int, measure: str, smoothing: float, epsilon: float | None
) -> float:
    """Coherence of a topic.

    ``together`` counts the documents or windows (``n`` of them) with both words, its diagonal those
    with one; words are in order, the most probable first.
    """
    alone = np.diag(together)
    if measure in ("umass", "uci", "c_v") and not alone.all():
        absent = int(np.argmin(alone))
        raise ValueError(
            f"{measure} needs top words that occur; the one of rank {absent + 1} occurs in none"
        )
    if measure == "c_v":
        return _c_v(together / n, EPSILON if epsilon is None else epsilon)
    pairs = np.triu_indices(len(alone), 1)
    joint = together[pairs]
    first, second = alone[pairs[0]], alone[pairs[1]]
    if measure == "smoothed_pmi":
        return float(np.mean(np.log((joint + 1) / (first * second / n + 1))))
    joint, first, second = joint / n, first / n, second / n
    if measure == "pmi":
        s = smoothing
        return float(np.mean(np.log(joint + s) - np.log(first + s) - np.log(second + s)))
    if measure == "npmi" and epsilon is None:
        return float(np.mean(_npmi(joint, first, second)))
    e = EPSILON if epsilon is None else epsilon
    if measure == "umass":
        return float(np.mean(np.log((joint + e) / first)))
    if measure == "uci":
        return float(np.mean(np.log((joint + e) / (first * second))))
    return float(np.mean(_smoothed_npmi(joint, first, second, e)))


def _npmi(joint: NDArray, first: NDArray, second: NDArray) -> NDArray[np.float64]:
    """log(P(u,v)/(P(u)P(v))) / -log P(u,v); its limits -1 for never and 1 for always together."""
    value = np.full(len(joint), -1.0)
    seen = joint > 0
    always = joint >= 1  # log 1 / log 1, as coherent as can be
    apart = seen & ~always
    pmi = np.log(joint[apart] / (first[apart] * second[apart]))
    value[apart] = pmi / -np.log(joint[apart])
    value[always] = 1.0
    return value


def _smoothed_npmi(joint: NDArray, first: NDArray, second: NDArray, e: float) -> NDArray:
    """log((P(u,v)+e)/(P(u)P(v))) / -log(P(u,v)+e); words that never occur may give 0/0.

    Far from -1 for rare words that are never together: -0.58 for P(u) = P(v) = 0.003, e = 1e-12.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log((joint + e) / (first * second)) / -np.log(joint + e)
    return np.where(np.minimum(first, second) > 0, value, -1.0)


def _c_v(joint: NDArray[np.float64], e: float) -> float:
    """Mean over words of cos(c_u, Σ_v c_v), c_u the smoothed npmi of u with every top word."""
    alone = np.diag(joint)
    context = _smoothed_npmi(joint, alone[:, None], alone[None, :], e)
    whole = context.sum(axis=0)
    return float(
        np.mean(context @ whole / (np.linalg.norm(context, axis=1) * np.linalg.norm(whole)))
    )
