"""Draft: a fit that is only to be compared with others, for a part of the cost.

Whoever searches for a setting fits hundreds of models of which one is used in the end. In a block
of `drafting`, fits are drafts:

- the first pass makes its choices (share, penalties, shrinkage, δ) from the topics that shaping
  would start with, as the path of shares does (`share`), without shaping them;
- topics are shaped once, on all documents, in a few steps: the first ones move them most;
- topic mixes are found to four digits and not to ten, coefficients are not drawn.

Each draft begins by itself, as a whole fit does. They went on from each other once, in half of the
steps; but topics that had gone astray in one of a row stayed so in all that followed
(docs/choosing-measured.md). A draft is no model for use: its topics have taken fewer steps, and δ
is of the start. Only graded plans have drafts; others are fitted as always.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from topicfocus.solvers.focus.refit import Care
from topicfocus.solvers.focus.settings import FocusSettings

#: Steps of shaping.
DRAFT_STEPS = 4
#: Of the regressions that choices are made by: shrinkage and noise are two numbers.
CHOICES = Care(1e-2, 2_000)
#: Of those that predict.
ROUGH = Care(1e-2, math.inf)

_DRAFTING: ContextVar[bool] = ContextVar("topicfocus_drafting", default=False)


@contextmanager
def drafting(drafts: bool = True) -> Iterator[None]:
    """Fits in this block are drafts, or fits as always."""
    token = _DRAFTING.set(drafts)
    try:
        yield
    finally:
        _DRAFTING.reset(token)


def is_draft(settings: FocusSettings) -> bool:
    """Whether a fit with these settings, here, is a draft."""
    return _DRAFTING.get() and settings.plan.graded and settings.refit
