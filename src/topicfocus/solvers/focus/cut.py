"""Cut: the words with most evidence per token, up to the inclusion prior's share of the tokens.

If the evidence runs out before a share the user gave, words that follow the same topics fill it
(`inference.focused.factors`). φ is exactly 0 or 1 from here on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicfocus.inference.focused.evidence import cut, description_cost, least_discovery
from topicfocus.inference.focused.factors import complete_by_factors
from topicfocus.inference.state import Problem
from topicfocus.solvers.focus.data import FocusData
from topicfocus.solvers.focus.evidence import WordEvidence
from topicfocus.solvers.focus.held import held_share
from topicfocus.solvers.focus.settings import FocusSettings

#: Relevant tokens of an average document that the automatic inclusion prior aims at.
RELEVANT_TOKENS = 10.0


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Columns kept, the share of tokens they were cut at, and c, what a word had to exceed.

    Without selection the share is 1 and there is no cost.
    """

    kept: np.ndarray
    share: float
    word_cost: float | None


def automatic_inclusion(problem: Problem) -> float:
    """About ten relevant tokens a document, but at least 5% and at most 80% of the tokens."""
    return float(np.clip(RELEVANT_TOKENS / max(problem.mean_length(), 1e-300), 0.05, 0.8))


def possible_shares(data: FocusData, settings: FocusSettings) -> tuple[float, ...]:
    """The shares of tokens that may be kept, rising: the user's alone, or those of the plan.

    A stable selection takes the largest: the fewer words are kept, the more it matters which.
    """
    if settings.inclusion_prior is not None:
        return (float(settings.inclusion_prior),)
    held = held_share()
    if held is not None:
        return (held,)
    if settings.stable:
        return (settings.plan.largest_share,)
    plan, least = settings.plan, automatic_inclusion(data.train)
    return tuple(sorted({min(least * step, plan.largest_share) for step in plan.share_steps}))


def cut_vocabulary(
    data: FocusData, evidence: WordEvidence, settings: FocusSettings, share: float
) -> Cut:
    """The words that topics will be shaped on: up to a share of the tokens."""
    if not settings.select:
        return Cut(kept=np.flatnonzero(data.word_counts > 0), share=1.0, word_cost=None)
    plan = settings.plan
    amount = evidence.amount(plan.marginal_share)
    # "auto" is a limit and no knowledge of how much is relevant: words that say no more than noise
    # are not kept to reach it (`least_discovery`).
    limit = settings.inclusion_prior is None and not settings.stable
    kept = cut(
        amount,
        data.word_counts,
        share,
        vocabulary=plan.smallest_vocabulary,
        keep=settings.keep,
        drop=settings.drop,
        limit=limit,
    )
    if len(kept) == 0:
        raise ValueError(
            "No word says anything about the target beyond noise, so none is kept. Force some with "
            "keep_words, or check that documents and targets belong together."
        )
    occurring = amount[data.word_counts > 0]
    cost = description_cost(occurring, share, plan.smallest_vocabulary)
    if limit:
        most = description_cost(occurring, 0.0, plan.smallest_vocabulary)
        cost = min(most, max(cost, least_discovery(occurring)))
    evident = np.flatnonzero((amount > cost) & (data.word_counts > 0))
    if settings.drop is not None:
        evident = np.setdiff1d(evident, settings.drop)
    if settings.inclusion_prior is not None and np.isin(evident, kept).all():
        # The user knows how much is relevant: words without evidence of their own fill the rest.
        kept = complete_by_factors(kept, data.train, share, settings.n_topics, drop=settings.drop)
    return Cut(kept=kept, share=share, word_cost=cost)
