"""Cut: the words with most evidence per token, up to the inclusion prior's share of the tokens.

If the evidence runs out before a share the user gave, words that follow the same topics fill it
(`inference.focused.factors`). φ is exactly 0 or 1 from here on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicfocus.inference.focused.cutting import (
    cut,
    cut_lasting,
    description_cost,
    discovery_cost,
    least_discovery,
    most_lasting,
)
from topicfocus.inference.focused.factors import complete_by_factors
from topicfocus.inference.state import Problem
from topicfocus.solvers.focus.data import FocusData
from topicfocus.solvers.focus.evidence import WordEvidence
from topicfocus.solvers.focus.settings import FocusSettings

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
    kept = most_lasting(amount, count, evidence.n_lasting, keep=settings.keep, drop=settings.drop)
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
    n_words = evidence.n_lasting
    kept = cut_lasting(amount, count, share, n_words, keep=settings.keep, drop=settings.drop)
    return kept, _least_of(amount, kept, settings)
