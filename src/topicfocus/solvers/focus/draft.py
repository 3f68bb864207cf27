"""Draft: a fit that is only to be compared with others, for a part of the cost.

Whoever searches for a setting fits hundreds of models of which one is used in the end. In a block
of `drafting`, fits are drafts:

- the first pass makes its choices (share, penalties, shrinkage, δ) from the topics that shaping
  would start with, as the path of shares does (`share`), without shaping them;
- topics are shaped once, on all documents, and go on from those of the draft before them in the
  same block where there is one with as many topics: of a neighbouring share, say. Few steps are
  then enough.

A draft is no model for use: its topics have taken fewer steps, and δ is of the start. Only graded
plans have drafts; others are fitted as always.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from topicfocus.solvers.focus.result import Candidate
from topicfocus.solvers.focus.settings import FocusSettings
from topicfocus.solvers.focus.start import Start, carry_over

#: Steps of shaping for the first draft of a path, and for those that go on from another.
FIRST_STEPS, LATER_STEPS = 6, 3


@dataclass
class Drafts:
    """The drafts of a block so far: the last one, by its number of topics."""

    last: dict[int, Candidate] = field(default_factory=dict)

    def begin(self, start: Start, kept: np.ndarray) -> tuple[Start, int]:
        """A start that goes on from the last draft, and the number of steps it takes.

        Topics are paired by the products of their words in both, since which cells of themes and
        directions become topics may depend on the share.
        """
        before = self.last.get(start.logits.shape[1])
        if before is None:
            return start, FIRST_STEPS
        _, there, here = np.intersect1d(before.cut.kept, kept, return_indices=True)
        alike = np.exp(start.logits[here]).T @ before.state.topic_word[there]
        mine, theirs = linear_sum_assignment(-alike / np.maximum(alike.max(axis=0), 1e-300))
        order = theirs[np.argsort(mine)]
        state = replace(before.state, topic_word=before.state.topic_word[:, order])
        begin = carry_over(replace(before, state=state), kept, start.logits)
        return replace(start, begin=begin), LATER_STEPS


_DRAFTS: ContextVar[Drafts | None] = ContextVar("topicfocus_drafts", default=None)


@contextmanager
def drafting(drafts: Drafts | None) -> Iterator[None]:
    """Fits in this block are drafts, or, with None, fits as always."""
    token = _DRAFTS.set(drafts)
    try:
        yield
    finally:
        _DRAFTS.reset(token)


def drafts_for(settings: FocusSettings) -> Drafts | None:
    """The drafts of the block this is called in, where the settings have any."""
    return _DRAFTS.get() if settings.plan.graded and settings.refit else None
