"""Which words are kept, given the evidence of each: what it has to exceed, and the cut."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfc

#: Of the words that are kept for saying more than noise, how many may say nothing.
FALSE_SHARE = 0.1


def description_cost(evidence: np.ndarray, share: float, vocabulary: float = 0.25) -> float:
    """c of `cut`: what a word's evidence has to exceed. `evidence` of the words that occur."""
    quantile = 1 - max(vocabulary, share)
    return min(float(np.quantile(evidence, quantile)), 2 * math.log(max(len(evidence), 2)))


def least_discovery(evidence: np.ndarray, n_signals: int = 1) -> float:
    """The least evidence of words that say more than noise, but for a tenth of them.

    Of a word that says nothing z² is χ² of one degree, and E_v less. With p_(k) the k-th smallest
    of the V values P(χ² > E_v), it is that of the last k with p_(k) ≤ 0.1 k/V (Benjamini & Hochberg
    1995); infinite if there is none. `evidence` of the words that occur, the largest of `n_signals`
    for each (classes, targets), which is so many times as probable to be as large by chance.
    """
    # P(χ² > E) of one degree is erfc √(E/2); scipy.stats takes twenty times as long to say so.
    chance = n_signals * np.sort(erfc(np.sqrt(np.maximum(evidence, 0.0) / 2)))
    good = np.flatnonzero(chance <= FALSE_SHARE * np.arange(1, len(chance) + 1) / len(chance))
    return float(np.sort(evidence)[::-1][good[-1]]) if len(good) else math.inf


def discovery_cost(evidence: np.ndarray, n_signals: int = 1) -> float:
    """What a word must have to be a discovery: as above, or more than the best of V S of noise."""
    noise = 2 * math.log(max(len(evidence) * n_signals, 2))
    return min(least_discovery(evidence, n_signals), noise)


def cut(
    evidence: np.ndarray,
    word_count: np.ndarray,
    share: float,
    *,
    vocabulary: float = 0.25,
    keep: np.ndarray | None = None,
    drop: np.ndarray | None = None,
    smallest: int = 10,
    limit: bool = False,
    discoveries: bool = False,
    n_signals: int = 1,
) -> np.ndarray:
    """Columns kept: the words with the most evidence per token, up to a share of all tokens.

    A word's score is (E_v - c)/n_v. c is its description length: the evidence that pure noise is
    expected to show in the best of V words, 2 log V, or less when that would leave fewer than
    `vocabulary` of the words to choose from. A `share` above that goes on with words of less
    evidence, as many of all words, after those. Sorted by score and cut where the kept tokens
    reach `share`, so that a larger share keeps a superset. Where it is a `limit` only, words of
    less evidence must have that of a `least_discovery`; `discoveries`: all words must have their
    `discovery_cost`. The `smallest` number of words is kept in any case. `keep` and `drop` are
    columns decided by the user.
    """
    n_words = len(evidence)
    seen = word_count > 0
    often = np.maximum(word_count, 1)
    cost = description_cost(evidence[seen], 0.0, vocabulary)
    first = np.where(seen & (evidence > cost), (evidence - cost) / often, -1.0)
    less = seen & (evidence > description_cost(evidence[seen], share, vocabulary)) & (first <= 0)
    if limit:
        less &= evidence >= least_discovery(evidence[seen], n_signals)
    # Those of less evidence come after all others, in the same order whatever the share.
    smallest_score = first[first > 0].min(initial=np.inf)
    lowest = 0.5 * (smallest_score if np.isfinite(smallest_score) else 1.0)
    rank = evidence / often
    second = lowest * rank / max(float(rank.max()), 1e-300)
    score = np.where(less, np.maximum(second, 1e-300), first)
    if discoveries:
        least = discovery_cost(evidence[seen], n_signals)
        best = np.sort(np.where(seen, evidence, -np.inf))[-min(smallest, n_words)]
        score[evidence < min(least, best)] = -1.0
    return _best_scores(score, word_count, share, keep=keep, drop=drop, smallest=smallest)


def most_lasting(
    evidence: np.ndarray,
    word_count: np.ndarray,
    n_words: int,
    *,
    keep: np.ndarray | None = None,
    drop: np.ndarray | None = None,
    smallest: int = 10,
) -> np.ndarray:
    """The columns of most evidence, so many, whatever their frequency; those without have no place.

    None is in for being rare, which is what changes most from sample to sample.
    """
    evidence = _of_candidates(evidence, word_count, drop)
    first = np.argsort(-evidence, kind="stable")[: max(n_words, smallest)]
    first = first[evidence[first] > 0]
    return np.union1d(first, [] if keep is None else keep).astype(np.intp)


def _of_candidates(
    evidence: np.ndarray, word_count: np.ndarray, drop: np.ndarray | None
) -> np.ndarray:
    """The evidence, none of words that do not occur or are dropped by the user."""
    found = np.where(word_count > 0, np.maximum(evidence, 0.0), 0.0)
    if drop is not None:
        found[drop] = 0.0
    return found


def cut_lasting(
    evidence: np.ndarray,
    word_count: np.ndarray,
    share: float,
    n_words: int,
    *,
    keep: np.ndarray | None = None,
    drop: np.ndarray | None = None,
    smallest: int = 10,
) -> np.ndarray:
    """Columns kept of the `most_lasting`, up to a share of all tokens; a larger one goes on.

    Of so many words the most evidence per token beyond that of the first left out, (E_v - c)/n_v,
    then the other words by E_v: a larger share keeps a superset.
    """
    inside = most_lasting(evidence, word_count, n_words, drop=drop, smallest=smallest)
    evidence = _of_candidates(evidence, word_count, drop)
    cost = np.delete(evidence, inside).max(initial=0.0)
    # Words as good as the first left out come last of these, but before it.
    first = np.maximum(evidence - cost, 1e-9 * evidence) / np.maximum(word_count, 1)
    lowest = 0.5 * first[inside].min(initial=1.0)
    others = lowest * evidence / max(float(evidence.max(initial=0.0)), 1e-300)
    score = np.where(evidence > 0, others, -1.0)
    score[inside] = first[inside]
    return _best_scores(score, word_count, share, keep=keep, drop=drop, smallest=smallest)


def _best_scores(
    score: np.ndarray,
    word_count: np.ndarray,
    share: float,
    *,
    keep: np.ndarray | None,
    drop: np.ndarray | None,
    smallest: int,
) -> np.ndarray:
    """Columns of the highest scores up to a share of the tokens; none of a score below zero."""
    n_words = len(score)
    forced = np.zeros(n_words, dtype=bool)
    if drop is not None:
        score[drop] = -1.0
    if keep is not None:
        forced[keep] = True
        score[keep] = np.inf
    order = np.argsort(-score, kind="stable")
    reached = np.cumsum(word_count[order]) / max(word_count.sum(), 1.0)
    chosen = (score[order] > 0) & ((reached <= share) | (np.arange(n_words) < smallest))
    return np.sort(order[chosen | forced[order]])
