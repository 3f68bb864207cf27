"""Word selection: the words with the largest screening statistic per token, up to the inclusion.

The inclusion is the fraction of tokens that is kept. An inclusion that a user gives is reached as
far as words have any association; an automatic one is a limit. After selection φ is exactly 0
or 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import erfc

from topicfocus.focused.data import FocusData
from topicfocus.focused.screening import WordEvidence
from topicfocus.focused.settings import FocusSettings
from topicfocus.inference.state import Problem

#: False discovery rate at which words fill an automatic inclusion.
FALSE_DISCOVERY_RATE = 0.1
#: Words kept, at least, whatever the inclusion.
FEWEST_WORDS = 10
#: Relevant tokens of an average document, of which automatic inclusions are multiples.
RELEVANT_TOKENS = 10.0
#: Smallest automatic inclusion.
SMALLEST_INCLUSION = 0.05


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The columns kept, the inclusion, and c, which the statistic of a word had to exceed.

    Without selection the inclusion is 1 and there is no c.
    """

    kept: np.ndarray
    inclusion: float
    word_cost: float | None


# ---- rules --------------------------------------------------------------------------------------


def description_cost(evidence: np.ndarray, inclusion: float, vocabulary: float = 0.25) -> float:
    """c: the smaller of 2 log V and the quantile that leaves a fraction `vocabulary` of the words.

    2 log V is what the largest of V words without association shows by chance. `evidence` is that
    of the words that occur. A larger `inclusion` leaves that fraction of the words.
    """
    quantile = 1 - max(vocabulary, inclusion)
    return min(float(np.quantile(evidence, quantile)), 2 * math.log(max(len(evidence), 2)))


def least_discovery(evidence: np.ndarray, n_signals: int = 1) -> float:
    """The smallest statistic that is significant at a false discovery rate of 10%.

    Without association z² is χ² of one degree, and E_v less. With p_(k) the k-th smallest of the V
    values P(χ² > E_v), it is that of the last k with p_(k) ≤ 0.1 k/V (Benjamini & Hochberg 1995);
    infinite if there is none. `evidence` of a word that occurs is the largest of `n_signals`, which
    multiplies the probability.
    """
    # P(χ² > E) of one degree is erfc √(E/2); scipy.stats takes twenty times as long.
    chance = n_signals * np.sort(erfc(np.sqrt(np.maximum(evidence, 0.0) / 2)))
    limit = FALSE_DISCOVERY_RATE * np.arange(1, len(chance) + 1) / len(chance)
    good = np.flatnonzero(chance <= limit)
    return float(np.sort(evidence)[::-1][good[-1]]) if len(good) else math.inf


def select_words(
    evidence: np.ndarray,
    word_count: np.ndarray,
    inclusion: float,
    *,
    vocabulary: float = 0.25,
    keep: np.ndarray | None = None,
    drop: np.ndarray | None = None,
    limit: bool = False,
    n_signals: int = 1,
) -> np.ndarray:
    """Columns of the words with the largest (E_v - c)/n_v, up to a fraction of all tokens.

    c is the `description_cost`. An inclusion above what these words have continues with words of
    less evidence; where it is a `limit`, with those that are significant only. Words are sorted
    once, so that a larger inclusion keeps a superset. `keep` and `drop` are decided by the user.
    """
    seen = word_count > 0
    n_tokens = np.maximum(word_count, 1)
    cost = description_cost(evidence[seen], 0.0, vocabulary)
    first = np.where(seen & (evidence > cost), (evidence - cost) / n_tokens, -1.0)
    others = seen & (first <= 0)
    others &= evidence > description_cost(evidence[seen], inclusion, vocabulary)
    if limit:
        others &= evidence >= least_discovery(evidence[seen], n_signals)
    return _best_scores(first, others, evidence / n_tokens, word_count, inclusion, keep, drop)


def select_stable_words(
    evidence: np.ndarray,
    word_count: np.ndarray,
    n_words: int,
    inclusion: float | None = None,
    *,
    keep: np.ndarray | None = None,
    drop: np.ndarray | None = None,
) -> np.ndarray:
    """Columns of the `n_words` words with the largest statistic.

    No word is preferred for being rare, which changes most from sample to sample. Up to an
    inclusion, those with the largest (E_v - c)/n_v come first, c being the statistic of the first
    word left out, and then the other words.
    """
    evidence = np.where(word_count > 0, np.maximum(evidence, 0.0), 0.0)
    if drop is not None:
        evidence[drop] = 0.0
    inside = np.argsort(-evidence, kind="stable")[: max(n_words, FEWEST_WORDS)]
    inside = inside[evidence[inside] > 0]
    cost = np.delete(evidence, inside).max(initial=0.0)
    first = np.full(len(evidence), -1.0)
    # A word with the statistic of the first one left out comes before that one.
    gain = np.maximum(evidence - cost, 1e-9 * evidence) / np.maximum(word_count, 1)
    first[inside] = gain[inside]
    others = (first <= 0) & (evidence > 0) & (inclusion is not None)
    most = 1.0 if inclusion is None else inclusion
    return _best_scores(first, others, evidence, word_count, most, keep, drop)


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


def automatic_inclusion(problem: Problem, factor: float, largest: float) -> float:
    """A multiple of ten tokens per document, from 5% up to the largest inclusion."""
    tokens = RELEVANT_TOKENS / max(problem.mean_length(), 1e-300)
    return min(factor * float(np.clip(tokens, SMALLEST_INCLUSION, 0.8)), largest)


def possible_selections(
    data: FocusData, evidence: WordEvidence, settings: FocusSettings
) -> tuple[Selection, ...]:
    """The selections to compare, of fewest words first; one where nothing is to be chosen.

    A larger inclusion that adds no words is left out.
    """
    plan, inclusions = settings.plan, [settings.inclusion]
    if settings.select and settings.inclusion is None and not settings.stable:
        inclusions = [
            automatic_inclusion(data.train, factor, plan.largest_inclusion)
            for factor in sorted(plan.token_factors, reverse=True)
        ]
    found = {len(s.kept): s for s in (select(data, evidence, settings, i) for i in inclusions)}
    return tuple(found[size] for size in sorted(found))


def select(
    data: FocusData, evidence: WordEvidence, settings: FocusSettings, inclusion: float | None
) -> Selection:
    """The words kept up to an inclusion; None: all words of a stable selection."""
    count = data.word_counts
    if not settings.select:
        return Selection(kept=np.flatnonzero(count > 0), inclusion=1.0, word_cost=None)
    amount = evidence.amount(settings.plan.marginal_share)
    given: Any = {"keep": settings.keep, "drop": settings.drop}
    if settings.stable:
        kept = select_stable_words(amount, count, evidence.n_stable, inclusion, **given)
        own = kept if settings.keep is None else np.setdiff1d(kept, settings.keep)
        cost = float(amount[own].min()) if len(own) else 0.0
    else:
        assert inclusion is not None
        # An automatic inclusion is no knowledge of how much is relevant: it is a limit.
        limit, vocabulary = settings.inclusion_prior is None, settings.plan.smallest_vocabulary
        more: Any = {"limit": limit, "n_signals": evidence.n_signals}
        kept = select_words(amount, count, inclusion, vocabulary=vocabulary, **given, **more)
        occurring = amount[count > 0]
        cost = description_cost(occurring, inclusion, vocabulary)
        if limit:
            most = description_cost(occurring, 0.0, vocabulary)
            cost = min(most, max(cost, least_discovery(occurring, evidence.n_signals)))
    if len(kept) == 0:
        raise ValueError(
            "No word says anything about the target beyond noise, so none is kept. Force some with "
            "keep_words, or check that documents and targets belong together."
        )
    if inclusion is None:
        inclusion = float(count[kept].sum() / max(count.sum(), 1e-300))
    return Selection(kept=kept, inclusion=inclusion, word_cost=cost)
