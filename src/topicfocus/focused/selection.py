"""Word selection: the words with the largest screening statistic per token, up to the inclusion.

The inclusion is the fraction of tokens that is kept. If the statistic runs out before an inclusion
that the user gave, words that correlate with the same topics fill it (`correlated_words`). After
selection φ is exactly 0 or 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfc

from topicfocus.focused.correlated_words import complete_by_factors
from topicfocus.focused.data import FocusData
from topicfocus.focused.screening import WordEvidence
from topicfocus.focused.settings import FocusSettings
from topicfocus.inference.state import Problem

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


# ---- selections of a fit ------------------------------------------------------------------------

#: Relevant tokens of an average document that the automatic inclusion prior aims at.
RELEVANT_TOKENS = 10.0


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Columns kept, the share of tokens they were cut at, and c, what a word had to exceed.

    Without selection the share is 1 and there is no cost. `discoveries`: kept are words that say
    more than noise, and no others; the share is what their tokens come to.
    """

    kept: np.ndarray
    share: float
    word_cost: float | None
    discoveries: bool = False


def automatic_inclusion(problem: Problem) -> float:
    """About ten relevant tokens a document, but at least 5% and at most 80% of the tokens."""
    return float(np.clip(RELEVANT_TOKENS / max(problem.mean_length(), 1e-300), 0.05, 0.8))


def is_chosen(settings: FocusSettings) -> bool:
    """Whether the data choose how many words are kept: not the user, a plan or an earlier fit."""
    fixed = settings.fixed_inclusion is not None
    given = settings.inclusion_prior is not None or fixed or settings.stable
    return settings.select and not given and len(settings.plan.share_steps) > 1


def possible_shares(data: FocusData, settings: FocusSettings) -> tuple[float, ...]:
    """The shares of tokens that may be kept, rising: the user's alone, or those of the plan."""
    if settings.inclusion_prior is not None:
        return (float(settings.inclusion_prior),)
    if settings.fixed_inclusion is not None:
        return (settings.fixed_inclusion.inclusion,)
    plan, least = settings.plan, automatic_inclusion(data.train)
    return tuple(sorted({min(least * step, plan.largest_share) for step in plan.share_steps}))


def automatic_cuts(
    data: FocusData, evidence: WordEvidence, settings: FocusSettings
) -> tuple[Cut, ...]:
    """The words of each possible share, and discoveries alone, fewest first.

    A larger share that has no words to add is left out. Discoveries are tried where there is a
    choice: where few words say anything, those that a share is filled up with are noise. A stable
    selection keeps what lasts, and has no other; with a fixed inclusion, as much of it: with fewer
    documents, fewer words say more than noise.
    """
    fixed = settings.fixed_inclusion
    automatic = settings.select and settings.inclusion_prior is None
    if automatic and fixed and fixed.discoveries and not settings.stable:
        return (cut_discoveries(data, evidence, settings, fixed.inclusion),)
    if automatic and not fixed and settings.stable:
        return (cut_discoveries(data, evidence, settings),)
    shares = possible_shares(data, settings) if settings.select else (1.0,)
    cuts = [cut_vocabulary(data, evidence, settings, share) for share in shares]
    if is_chosen(settings):
        cuts.append(cut_discoveries(data, evidence, settings))
    found: list[Cut] = []
    for one in sorted(cuts, key=lambda one: len(one.kept)):
        if not found or len(one.kept) > len(found[-1].kept):
            found.append(one)
    return tuple(found)


def cut_again(data: FocusData, evidence: WordEvidence, settings: FocusSettings, before: Cut) -> Cut:
    """The words that other documents keep by the rule of an earlier cut."""
    if before.discoveries:
        # What lasts is not compared with shares of a path: it has no name to keep.
        share = None if settings.stable else before.share
        return cut_discoveries(data, evidence, settings, share)
    return cut_vocabulary(data, evidence, settings, before.share)


def cut_discoveries(
    data: FocusData,
    evidence: WordEvidence,
    settings: FocusSettings,
    share: float | None = None,
) -> Cut:
    """The words that say more than noise; if they are to last, in other samples, too.

    `share`: what they came to when they were chosen, which goes on being their name.
    """
    count, amount = data.word_counts, evidence.amount(settings.plan.marginal_share)
    by_rule = _lasting_discoveries if settings.stable else _discoveries
    kept, cost = by_rule(amount, count, evidence, settings)
    _check_some(kept)
    if share is None:
        share = float(count[kept].sum() / max(count.sum(), 1e-300))
    return Cut(kept=kept, share=share, word_cost=cost, discoveries=True)


def _discoveries(
    amount: np.ndarray, count: np.ndarray, evidence: WordEvidence, settings: FocusSettings
) -> tuple[np.ndarray, float]:
    """Words that say more than noise, but for a tenth of them, up to the largest share; c."""
    plan, n_signals = settings.plan, evidence.n_signals
    kept = cut(
        amount,
        count,
        plan.largest_share,
        vocabulary=plan.smallest_vocabulary,
        keep=settings.keep,
        drop=settings.drop,
        limit=True,
        discoveries=True,
        n_signals=n_signals,
    )
    return kept, discovery_cost(amount[count > 0], n_signals)


def _lasting_discoveries(
    amount: np.ndarray, count: np.ndarray, evidence: WordEvidence, settings: FocusSettings
) -> tuple[np.ndarray, float]:
    """As many words of most lasting evidence as are expected to say more than noise, and c."""
    kept = most_lasting(amount, count, evidence.n_stable, keep=settings.keep, drop=settings.drop)
    return kept, _least_of(amount, kept, settings)


def _least_of(amount: np.ndarray, kept: np.ndarray, settings: FocusSettings) -> float:
    """The least evidence of words that are kept for it."""
    own = kept if settings.keep is None else np.setdiff1d(kept, settings.keep)
    return float(amount[own].min()) if len(own) else 0.0


def _check_some(kept: np.ndarray) -> None:
    if len(kept) == 0:
        raise ValueError(
            "No word says anything about the target beyond noise, so none is kept. Force some with "
            "keep_words, or check that documents and targets belong together."
        )


def cut_vocabulary(
    data: FocusData, evidence: WordEvidence, settings: FocusSettings, share: float
) -> Cut:
    """The words that topics will be shaped on: up to a share of the tokens."""
    if not settings.select:
        return Cut(kept=np.flatnonzero(data.word_counts > 0), share=1.0, word_cost=None)
    amount = evidence.amount(settings.plan.marginal_share)
    by_rule = _lasting_words if settings.stable else _predictive_words
    kept, cost = by_rule(amount, data.word_counts, evidence, settings, share)
    _check_some(kept)
    least = 0.0 if settings.stable else cost  # there, a larger share goes on to the last word
    evident = np.flatnonzero((amount > least) & (data.word_counts > 0))
    if settings.drop is not None:
        evident = np.setdiff1d(evident, settings.drop)
    if settings.inclusion_prior is not None and np.isin(evident, kept).all():
        # The user knows how much is relevant: words without evidence of their own fill the rest.
        kept = complete_by_factors(kept, data.train, share, settings.n_topics, drop=settings.drop)
    return Cut(kept=kept, share=share, word_cost=cost)


def _predictive_words(
    amount: np.ndarray,
    count: np.ndarray,
    evidence: WordEvidence,
    settings: FocusSettings,
    share: float,
) -> tuple[np.ndarray, float]:
    """The words of `cut`, and what their evidence had to exceed."""
    # "auto" is a limit and no knowledge of how much is relevant: words that say no more than noise
    # are not kept to reach it (`least_discovery`).
    limit, n_signals = settings.inclusion_prior is None, evidence.n_signals
    vocabulary = settings.plan.smallest_vocabulary
    kept = cut(
        amount,
        count,
        share,
        vocabulary=vocabulary,
        keep=settings.keep,
        drop=settings.drop,
        limit=limit,
        n_signals=n_signals,
    )
    occurring = amount[count > 0]
    cost = description_cost(occurring, share, vocabulary)
    if limit:
        most = description_cost(occurring, 0.0, vocabulary)
        cost = min(most, max(cost, least_discovery(occurring, n_signals)))
    return kept, cost


def _lasting_words(
    amount: np.ndarray,
    count: np.ndarray,
    evidence: WordEvidence,
    settings: FocusSettings,
    share: float,
) -> tuple[np.ndarray, float]:
    """The words of `cut_lasting`, and the least evidence among them."""
    n_words = evidence.n_stable
    kept = cut_lasting(amount, count, share, n_words, keep=settings.keep, drop=settings.drop)
    return kept, _least_of(amount, kept, settings)
