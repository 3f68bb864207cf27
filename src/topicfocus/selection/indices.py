"""How alike sets of chosen words are: Jaccard, Nogueira, and the bound of Shah and Samworth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm


class StabilityIndex(NamedTuple):
    """Nogueira's index and the ends of its interval."""

    value: float
    low: float
    high: float


def jaccard(first: np.ndarray, second: np.ndarray) -> float:
    """|A ∩ B| / |A ∪ B| of two masks; 1 for two empty sets."""
    union = np.count_nonzero(first | second)
    return np.count_nonzero(first & second) / union if union else 1.0


def mean_jaccard(chosen: np.ndarray) -> float:
    """Over all pairs of rows; NaN where there is one row only."""
    pairs = [jaccard(a, b) for a, b in combinations(chosen, 2)]
    return float(np.mean(pairs)) if pairs else math.nan


def masks(sets: Sequence[Sequence[Any]], everything: Sequence[Any] | None = None) -> np.ndarray:
    """Sets x members: which set holds what. Members are those named, or all that any set holds."""
    members = sorted({item for one in sets for item in one}, key=str)
    members = list(members if everything is None else everything)
    place = {item: i for i, item in enumerate(members)}
    out = np.zeros((len(sets), len(members)), dtype=bool)
    for row, one in enumerate(sets):
        out[row, [place[item] for item in one]] = True
    return out


def nogueira_index(chosen: Any, level: float = 0.95) -> StabilityIndex:
    """Stability of a selection over M samples (Nogueira, Sechidis and Brown, 2018).

    Φ = 1 - mean_v s_v² / (k̄/V (1 - k̄/V)), with s_v² = M/(M-1) p_v (1 - p_v), p_v the share of
    samples in which word v is chosen, k̄ the mean number of words chosen and V that of all words. 1
    if all samples choose the same words, 0 expected if they choose at random. The interval is
    normal; it takes the samples to be independent.

    Parameters
    ----------
    chosen : array of bool (samples, words)
    level : float, default=0.95
        Of the interval.

    Returns
    -------
    StabilityIndex
        (value, low, high); NaN with one sample, or if all or no words are chosen.

    Examples
    --------
    >>> from topicfocus.selection import nogueira_index
    >>> print(nogueira_index([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]).value.round(3))
    0.333
    """
    z = np.asarray(chosen, dtype=float)
    n_samples, n_words = z.shape
    often, size = z.mean(axis=0), z.sum(axis=1)
    share = size.mean() / n_words
    chance = share * (1 - share)
    if n_samples < 2 or chance == 0:
        return StabilityIndex(math.nan, math.nan, math.nan)
    spread = n_samples / (n_samples - 1) * often * (1 - often)
    value = 1 - spread.mean() / chance
    own = size / n_words
    each = (z @ often) / n_words - own * share
    each = (each + value / 2 * (2 * share * own - own - share + 1)) / chance
    error = 2 / n_samples * math.sqrt(float(np.sum((each - each.mean()) ** 2)))
    reach = float(norm.ppf(0.5 + level / 2)) * error
    return StabilityIndex(np.float64(value), float(value - reach), float(min(value + reach, 1.0)))


def false_words_bound(
    n_kept: float, n_words: int, threshold: float, n_pairs: int, unimodal: bool = False
) -> float:
    """How many words of low selection probability are expected among those kept often.

    A word is *low* if a half keeps it with a probability of at most q/V, q being the mean number of
    words that a half keeps and V that of all words: less often than a word drawn at random. Of
    the words kept in a share of at least τ of the halves, at most

        q² / ((2τ - 1) V)

    are low, in expectation (Shah and Samworth, 2013, Theorem 1). This supposes nothing about the
    selection or the words; documents are independent draws. It is a statement on the words of
    a half sample: a word may be low and yet say something about the target.

    Parameters
    ----------
    n_kept : float
        q, the mean number of words kept in a half.
    n_words : int
        V.
    threshold : float in (0.5, 1]
        τ.
    n_pairs : int
        B, of complementary halves.
    unimodal : bool, default=False
        Whether to suppose that the share of pairs in which a low word is kept by both halves has a
        unimodal distribution. The bound is then C(τ, B) q²/V, with C = 1/(2(2τ - 1 - 1/2B)) for
        τ ≤ 3/4 and 4(1 - τ + 1/2B)/(1 + 1/B) above (Theorem 2), which is sharper by a factor of
        two and more.

    Returns
    -------
    float
        At most `n_kept`.

    Raises
    ------
    ValueError
        If ``threshold`` is not above 0.5 and at most 1.

    Examples
    --------
    >>> from topicfocus.selection import false_words_bound
    >>> false_words_bound(50, 1000, 0.75, 50)
    5.0
    >>> round(false_words_bound(50, 1000, 0.9, 50, unimodal=True), 2)
    1.08
    """
    if not 0.5 < threshold <= 1:
        raise ValueError(f"threshold must be above 0.5 and at most 1, got {threshold!r}.")
    square = n_kept**2 / n_words
    worst = square / (2 * threshold - 1)
    if not unimodal:
        return float(min(worst, n_kept))
    half = 1 / (2 * n_pairs)
    share = n_kept / n_words
    lowest = min(0.5 + share**2, 0.5 + half + 0.75 * share**2)
    if share > 1 / math.sqrt(3) or threshold <= lowest or 2 * threshold - 1 <= half:
        factor = math.inf  # the theorem says nothing here
    elif threshold > 0.75:
        factor = 4 * (1 - threshold + half) / (1 + 2 * half)
    else:
        factor = 1 / (2 * (2 * threshold - 1 - half))
    return float(min(factor * square, worst, n_kept))
