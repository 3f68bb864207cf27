"""Word selection: the words with the largest screening statistic per token, up to the inclusion.

The inclusion is the fraction of tokens that are kept. A given inclusion is reached, as far as words
have any association; an automatic one is a limit for significant words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import erfc

from topicfocus.focused.data import FocusData
from topicfocus.focused.screening import Screening
from topicfocus.focused.settings import FocusSettings
from topicfocus.model import Problem

#: False discovery rate at which words fill an automatic inclusion.
FALSE_DISCOVERY_RATE = 0.1
#: Smallest number of words kept.
FEWEST_WORDS = 10
#: Relevant tokens of an average document, of which automatic inclusions are multiples.
RELEVANT_TOKENS = 10.0
#: Smallest fraction of the words that may be selected.
SMALLEST_VOCABULARY = 0.25
#: Smallest and largest automatic inclusion.
SMALLEST_INCLUSION, LARGEST_INCLUSION = 0.05, 0.8


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The columns kept, and the rule of their selection.

    `limit` is the inclusion up to which words were selected, None for all significant words (or all
    stable ones). `inclusion` is that limit, or the inclusion that the words reach. `word_cost` is
    the threshold of the statistic, None without selection.
    """

    kept: np.ndarray
    limit: float | None
    inclusion: float
    word_cost: float | None


# ---- rules --------------------------------------------------------------------------------------


def description_cost(
    statistic: np.ndarray, inclusion: float, vocabulary: float = SMALLEST_VOCABULARY
) -> float:
    """c: the smaller of 2 log V and the quantile that leaves a fraction `vocabulary` of the words.

    2 log V is the largest statistic of V words without association that is expected by chance.
    `statistic` has the words that occur. A larger `inclusion` leaves that fraction of the words.
    """
    quantile = 1 - max(vocabulary, inclusion)
    return min(float(np.quantile(statistic, quantile)), 2 * math.log(max(len(statistic), 2)))


def least_discovery(statistic: np.ndarray, n_signals: int = 1) -> float:
    """The smallest statistic that is significant at a false discovery rate of 10%.

    Without association z² is χ² of one degree, and E_v less. With p_(k) the k-th smallest of the V
    values P(χ² > E_v), it is that of the last k with p_(k) ≤ 0.1 k/V (Benjamini & Hochberg 1995);
    infinite if there is none. `statistic` is the largest of `n_signals`, which multiplies the
    probability.
    """
    # P(χ² > E) of one degree is erfc √(E/2); scipy.stats takes twenty times as long.
    chance = n_signals * np.sort(erfc(np.sqrt(np.maximum(statistic, 0.0) / 2)))
    limit = FALSE_DISCOVERY_RATE * np.arange(1, len(chance) + 1) / len(chance)
    good = np.flatnonzero(chance <= limit)
    return float(np.sort(statistic)[::-1][good[-1]]) if len(good) else math.inf


def select_words(
    statistic: np.ndarray,
    word_count: np.ndarray,
    inclusion: float,
    *,
    vocabulary: float = SMALLEST_VOCABULARY,
    keep: np.ndarray | None = None,
    drop: np.ndarray | None = None,
    limit: bool = False,
    n_signals: int = 1,
) -> np.ndarray:
    """Columns of the words with the largest (E_v - c)/n_v, up to a fraction of all tokens.

    c is the `description_cost`. If these words do not reach the inclusion, words with smaller
    statistics follow; if it is a `limit`, only significant ones. Words are sorted once, so that a
    larger inclusion keeps a superset. `keep` and `drop` are columns that the user names.
    """
    seen = word_count > 0
    n_tokens = np.maximum(word_count, 1)
    cost = description_cost(statistic[seen], 0.0, vocabulary)
    first = np.where(seen & (statistic > cost), (statistic - cost) / n_tokens, -1.0)
    others = seen & (first <= 0)
    others &= statistic > description_cost(statistic[seen], inclusion, vocabulary)
    if limit:
        others &= statistic >= least_discovery(statistic[seen], n_signals)
    return _best_scores(first, others, statistic / n_tokens, word_count, inclusion, keep, drop)


def significance_threshold(statistic: np.ndarray, n_signals: int = 1) -> float:
    """The smaller of `least_discovery` and the largest statistic expected by chance, 2 log V."""
    chance = 2 * math.log(max(len(statistic) * n_signals, 2))
    return min(least_discovery(statistic, n_signals), chance)


def select_significant_words(
    statistic: np.ndarray,
    word_count: np.ndarray,
    *,
    keep: np.ndarray | None = None,
    drop: np.ndarray | None = None,
    n_signals: int = 1,
) -> np.ndarray:
    """Columns of the words above the `significance_threshold`, at least ten."""
    seen = word_count > 0
    least = significance_threshold(statistic[seen], n_signals)
    best = np.sort(np.where(seen, statistic, -np.inf))[-min(FEWEST_WORDS, len(statistic))]
    first = np.where(seen & (statistic > 0) & (statistic >= min(least, best)), 1.0, -1.0)
    none = np.zeros(len(statistic), dtype=bool)
    return _best_scores(first, none, statistic, word_count, 1.0, keep, drop)


def select_stable_words(
    statistic: np.ndarray,
    word_count: np.ndarray,
    n_words: int,
    inclusion: float | None = None,
    *,
    keep: np.ndarray | None = None,
    drop: np.ndarray | None = None,
) -> np.ndarray:
    """Columns of the `n_words` words with the largest statistic.

    They are not ranked per token, because rare words change most from sample to sample. With an
    inclusion, those with the largest (E_v - c)/n_v come first, c being the statistic of the first
    word left out, and then the other words.
    """
    statistic = np.where(word_count > 0, np.maximum(statistic, 0.0), 0.0)
    if drop is not None:
        statistic[drop] = 0.0
    inside = np.argsort(-statistic, kind="stable")[: max(n_words, FEWEST_WORDS)]
    inside = inside[statistic[inside] > 0]
    cost = np.delete(statistic, inside).max(initial=0.0)
    first = np.full(len(statistic), -1.0)
    # A word with the same statistic as the first one left out precedes that one.
    gain = np.maximum(statistic - cost, 1e-9 * statistic) / np.maximum(word_count, 1)
    first[inside] = gain[inside]
    others = (first <= 0) & (statistic > 0) & (inclusion is not None)
    most = 1.0 if inclusion is None else inclusion
    return _best_scores(first, others, statistic, word_count, most, keep, drop)


def _best_scores(
    first: np.ndarray,
    others: np.ndarray,
    rank: np.ndarray,
    word_count: np.ndarray,
    inclusion: float,
    keep: np.ndarray | None,
    drop: np.ndarray | None,
) -> np.ndarray:
    """Columns in the order of positive scores `first`, then `others` by `rank`, up to a limit."""
    lowest = 0.5 * first[first > 0].min(initial=1.0)
    second = lowest * rank / max(float(rank.max(initial=0.0)), 1e-300)
    score = np.where(others, np.maximum(second, 1e-300), first)
    forced = np.zeros(len(score), dtype=bool)
    if drop is not None:
        score[drop] = -1.0
    if keep is not None:
        forced[keep] = True
        score[keep] = np.inf
    order = np.argsort(-score, kind="stable")
    reached = np.cumsum(word_count[order]) / max(word_count.sum(), 1.0)
    within = (reached <= inclusion) | (np.arange(len(score)) < FEWEST_WORDS)
    return np.sort(order[((score[order] > 0) & within) | forced[order]])


# ---- selections of a fit ------------------------------------------------------------------------


def automatic_inclusion(problem: Problem, factor: float) -> float:
    """The inclusion of `factor` times ten tokens per document."""
    tokens = RELEVANT_TOKENS / max(problem.mean_length(), 1e-300)
    return min(factor * max(tokens, SMALLEST_INCLUSION), LARGEST_INCLUSION)


def possible_selections(
    data: FocusData, screening: Screening, settings: FocusSettings
) -> tuple[Selection, ...]:
    """The selections to compare, by number of words; one if there is nothing to choose.

    These are the significant words, since where few words are associated with the target those that
    fill an inclusion are noise, and some automatic inclusions. Equal selections are compared once.
    """
    plan, inclusions = settings.plan, [settings.inclusion]
    if settings.select and settings.inclusion is None and not settings.stable:
        inclusions = [
            automatic_inclusion(data.train, factor)
            for factor in sorted(plan.token_factors, reverse=True)
        ]
        inclusions += [None] if len(inclusions) > 1 else []
    found = {len(s.kept): s for s in (select(data, screening, settings, i) for i in inclusions)}
    return tuple(found[size] for size in sorted(found))


def select(
    data: FocusData, screening: Screening, settings: FocusSettings, limit: float | None
) -> Selection:
    """The words kept up to an inclusion, or all significant (or stable) words."""
    count = data.word_counts
    if not settings.select:
        every = np.flatnonzero(count > 0)
        return Selection(kept=every, limit=1.0, inclusion=1.0, word_cost=None)
    amount, n_signals = screening.amount(), screening.n_signals
    given: Any = {"keep": settings.keep, "drop": settings.drop}
    if settings.stable:
        kept = select_stable_words(amount, count, screening.n_stable, limit, **given)
        own = kept if settings.keep is None else np.setdiff1d(kept, settings.keep)
        cost = float(amount[own].min()) if len(own) else 0.0
    elif limit is None:
        kept = select_significant_words(amount, count, n_signals=n_signals, **given)
        cost = significance_threshold(amount[count > 0], n_signals)
    else:
        # An automatic inclusion may exceed the fraction of relevant tokens.
        automatic, vocabulary = settings.inclusion_prior is None, SMALLEST_VOCABULARY
        if automatic:
            vocabulary = max(vocabulary, settings.plan.vocabulary_per_inclusion * limit)
        more: Any = {"limit": automatic, "n_signals": n_signals, "vocabulary": vocabulary}
        kept = select_words(amount, count, limit, **given, **more)
        cost = description_cost(amount[count > 0], limit, vocabulary)
        if automatic:
            most = description_cost(amount[count > 0], 0.0, vocabulary)
            cost = min(most, max(cost, least_discovery(amount[count > 0], n_signals)))
    if len(kept) == 0:
        raise ValueError(
            "No word is associated with the target beyond chance, so none is kept. Force some with "
            "keep_words, or check that documents and targets belong together."
        )
    reached = float(count[kept].sum() / max(count.sum(), 1e-300))
    inclusion = reached if limit is None else limit
    return Selection(kept=kept, limit=limit, inclusion=inclusion, word_cost=cost)
