"""Selection stability of words, interchangeable words, and intervals of effects from half samples.

**Interchangeable words.** Which of several collinear words is kept depends on the sample. For every
word v that a model keeps, its substitutes are words u that the model drops, that some half keeps,
and that occur in the same documents as v: the largest correlations of √c_du and √c_dv over
documents, at least 0.15. That u is kept exactly where v is not is no sufficient sign: with 50
halves and thousands of pairs of words, the strongest such patterns are due to chance.

**Intervals.** The documents of one half selected words, optimised topics and estimated
coefficients, so effects estimated from the same documents are too large: with a target of pure
noise they are far from zero. The other half had no part in that. Given the topics of a half, their
effects a₁ estimated from the other half (`held_out_effects`) are unbiased and have a known variance
v₁; likewise a₂ and v₂ of the topics of the other half. For B pairs of halves, topics matched to
those of the model,

    centre = mean_b m_b,   m_b = ½ (a_b1 + a_b2),   σ² = mean_b ¼ (v_b1 + v_b2) - (1 - 1/B) s²,

s² being the variance of m_b over pairs: ¼ (v₁ + v₂) is the variance of one m_b, and the mean over
random splits of the same documents varies less, by the variance between splits. This leaves out the
covariance of the two effects of a pair, which one sample does not show. It is positive under noise,
where both topics were matched to the same chance topic of the model (a correlation of about 0.3;
the mean has about half of the variance of one m_b), so at least half of the first term is kept. The
limits are those of Student's t with B - 1 degrees of freedom. The estimand is the effect of a topic
as it is found in half of the documents.

Rates under noise: experiments/COVERAGE.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from topicfocus.counts import Counts, in_memory, take_columns

#: Largest number of substitutes per word, and their least correlation with it.
MOST, LEAST_CORRELATION = 5, 0.15
#: The error variance of an effect is at least this part of that of a single pair of halves.
_LEAST_VARIANCE = 1 / 2
#: Number of words that are correlated with all others at a time.
_BLOCK = 256


class StabilityIndex(NamedTuple):
    """Nogueira's index and the limits of its confidence interval."""

    value: float
    low: float
    high: float


def jaccard(first: np.ndarray, second: np.ndarray) -> float:
    """|A ∩ B| / |A ∪ B| of two masks; 1 for two empty sets."""
    union = np.count_nonzero(first | second)
    return np.count_nonzero(first & second) / union if union else 1.0


def mean_jaccard(chosen: np.ndarray) -> float:
    """The mean over all pairs of rows; NaN for a single row."""
    pairs = [jaccard(a, b) for a, b in combinations(chosen, 2)]
    return float(np.mean(pairs)) if pairs else math.nan


def masks(sets: Sequence[Sequence[Any]]) -> np.ndarray:
    """Sets x members: which set contains which of all members."""
    members = sorted({item for one in sets for item in one}, key=str)
    column = {item: i for i, item in enumerate(members)}
    out = np.zeros((len(sets), len(members)), dtype=bool)
    for row, one in enumerate(sets):
        out[row, [column[item] for item in one]] = True
    return out


def nogueira_index(chosen: Any, level: float = 0.95) -> StabilityIndex:
    """Stability of a selection over M samples (Nogueira, Sechidis and Brown, 2018).

    Φ = 1 - mean_v s_v² / (k̄/V (1 - k̄/V)), with s_v² = M/(M-1) p_v (1 - p_v), p_v the fraction
    of samples in which word v is chosen, k̄ the mean number of words chosen and V that of all
    words. It is 1 if all samples choose the same words, and 0 in expectation if they choose at
    random. The normal interval assumes independent samples.

    Parameters
    ----------
    chosen : array of bool (samples, words)
    level : float, default=0.95
        Confidence level of the interval.

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
    """Upper bound on the expected number of words of low selection probability among stable words.

    A word has a *low* selection probability if a half keeps it with a probability of at most q/V, q
    being the mean number of words that a half keeps and V that of all words: less often than a word
    drawn at random. Of the words kept in a fraction of at least τ of the halves, at most

        q² / ((2τ - 1) V)

    are low, in expectation (Shah and Samworth, 2013, Theorem 1). The bound assumes independent
    documents, and nothing about the selection or the words. It is about half samples: a word of low
    selection probability may still be associated with the target.

    Parameters
    ----------
    n_kept : float
        q, the mean number of words kept in a half.
    n_words : int
        V.
    threshold : float in (0.5, 1]
        τ.
    n_pairs : int
        B, the number of pairs of complementary halves.
    unimodal : bool, default=False
        Whether to assume that the fraction of pairs in which both halves keep a low word has a
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
        factor = math.inf  # the theorem does not apply
    elif threshold > 0.75:
        factor = 4 * (1 - threshold + half) / (1 + 2 * half)
    else:
        factor = 1 / (2 * (2 * threshold - 1 - half))
    return float(min(factor * square, worst, n_kept))


@dataclass(frozen=True, kw_only=True, eq=False)
class Substitutes:
    """Substitutes of every kept word, most correlated first; -1 where there are fewer than five.

    Attributes
    ----------
    words : array (kept,)
        Columns of the words that the model keeps.
    others : array (kept, 5)
        Columns of their substitutes.
    correlation : array (kept, 5)
    either : array (kept, 5)
        Fraction of the halves that keep the word or this substitute.
    """

    words: np.ndarray
    others: np.ndarray
    correlation: np.ndarray
    either: np.ndarray


def find_substitutes(kept: np.ndarray, halves: np.ndarray, roots: Counts) -> Substitutes:
    """Substitutes of the kept words; `halves` are the words that halves keep, `roots` √counts."""
    words = np.flatnonzero(kept)
    dropped = np.flatnonzero(~kept & halves.any(axis=0))
    shape = (len(words), MOST)
    others, correlation, either = np.full(shape, -1), np.zeros(shape), np.zeros(shape)
    if len(dropped):
        order = np.argsort(np.concatenate([words, dropped]))
        columns = in_memory(take_columns(roots, np.union1d(words, dropped))).tocsc()
        columns = columns[:, np.argsort(order)]  # the kept words first
        mean = np.asarray(columns.mean(axis=0)).ravel()
        square = np.asarray(columns.multiply(columns).mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(square - mean**2, 1e-300))
        theirs = slice(len(words), None)
        for first in range(0, len(words), _BLOCK):
            rows = slice(first, min(first + _BLOCK, len(words)))
            product = (columns[:, rows].T @ columns[:, theirs]).toarray() / roots.shape[0]
            product -= np.outer(mean[rows], mean[theirs])
            product /= np.outer(spread[rows], spread[theirs])
            best = np.argsort(-product, axis=1, kind="stable")[:, :MOST]
            value, size = np.take_along_axis(product, best, axis=1), best.shape[1]
            enough = value >= LEAST_CORRELATION
            others[rows, :size] = np.where(enough, dropped[best], -1)
            correlation[rows, :size] = np.where(enough, value, 0.0)
    for i, j in np.argwhere(others >= 0):
        either[i, j] = np.mean(halves[:, words[i]] | halves[:, others[i, j]])
    return Substitutes(words=words, others=others, correlation=correlation, either=either)


# ---- intervals of effects ---


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """Effects with confidence intervals, arrays of one shape.

    Attributes
    ----------
    estimate : array
        Effects of the model's topics in all documents, which selected them: too large.
    centre : array
        Centre of the interval: the mean of effects estimated from documents that had no part in
        finding the topics.
    error : array
        Standard error.
    low, high : arrays
        Limits of the interval.
    level : float
        Confidence level.
    """

    estimate: np.ndarray
    centre: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float


def crossed_intervals(
    estimate: np.ndarray, crossed: np.ndarray, variances: np.ndarray, level: float
) -> Intervals:
    """Intervals of effects; `crossed` and `variances` are pairs x 2 x the shape of `estimate`.

    `crossed` are effects of the topics of a half in the other half, with their variances.
    """
    n_pairs = len(crossed)
    of_pair = crossed.mean(axis=1)
    variance = variances.sum(axis=1).mean(axis=0) / 4
    over_splits = (1 - 1 / n_pairs) * of_pair.var(axis=0, ddof=1)
    error = np.sqrt(np.maximum(variance - over_splits, _LEAST_VARIANCE * variance))
    centre = of_pair.mean(axis=0)
    reach = float(student.ppf(0.5 + level / 2, n_pairs - 1)) * error
    return Intervals(
        estimate=estimate,
        centre=centre,
        error=error,
        low=centre - reach,
        high=centre + reach,
        level=level,
    )
