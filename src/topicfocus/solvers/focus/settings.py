"""Settings of the focused model: what the user may decide, and the ways of shaping topics."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, kw_only=True)
class ShapingPlan:
    """One way of shaping topics; "auto" settings of the estimators come from here.

    Attributes
    ----------
    inclusion_factor : float
        Factor on the automatic inclusion prior (an explicit one is taken as it is).
    largest_share : float
        What the automatic one is at most.
    marginal_share : float
        Weight of the marginal view in the evidence.
    smallest_vocabulary : float
        Share of the words that may be chosen from, at least.
    supervision_per_token : float
        λ for each relevant token of an average document.
    prior_precision : float
        τ, with which topics are drawn to those they start from (`shape`).
    start_spread : float
        How far starting topics differ: W⁰_vk = log n_v + spread·u_v·e_k, e from -1 to 1.
    ridge_share : float
        u_v mixes the word's ridge weight (this share) and its slope (the rest).
    coef_bound : float
        |η| in standard deviations of the target while shaping.
    graded : bool
        η stays evenly graded between ∓coef_bound while shaping, so that topics keep an order.
    free_volume : bool
        Whether topics may differ in how many relevant words they produce at all.
    max_steps : int
        L-BFGS iterations, at most.
    scaled : bool
        Whether these work in logits scaled by the words' frequencies (`shape`).
    stopping_slack : float
        Share of the best held-out score that shaping may give up before it is stopped.
    theme_sharpness : float or None
        g, the power of a word's lift in a theme (`themes`); None starts without themes.
    polarity : float
        ρ, how far words go to the direction they lean to.
    start_mix : float
        Share of the start without themes that is mixed into the one with them.
    """

    inclusion_factor: float = 1.0
    largest_share: float = 0.95
    marginal_share: float = 2 / 3
    smallest_vocabulary: float = 0.25
    supervision_per_token: float
    prior_precision: float
    start_spread: float
    ridge_share: float
    coef_bound: float
    graded: bool = False
    free_volume: bool = False
    max_steps: int
    scaled: bool = False
    stopping_slack: float = 0.0
    theme_sharpness: float | None = None
    polarity: float = 2.0
    start_mix: float = 0.02


#: Topics that are about something, each with a direction.
THEMED = ShapingPlan(
    largest_share=0.5,
    supervision_per_token=0.3,
    prior_precision=6.0,
    start_spread=3.0,
    ridge_share=0.5,
    coef_bound=1.0,
    graded=True,
    max_steps=40,
    scaled=True,
    stopping_slack=0.3,
    theme_sharpness=2.0,
)
#: The same with more words, where the few leave much of the target to be explained. Many words
#: need more shaping until topics are distinct.
THEMED_WIDER = replace(THEMED, inclusion_factor=6.0, prior_precision=2.0, max_steps=60)
#: Few words, and topics in an order that can be told.
READABLE = ShapingPlan(
    supervision_per_token=0.3,
    prior_precision=6.0,
    start_spread=3.0,
    ridge_share=0.5,
    coef_bound=1.0,
    graded=True,
    max_steps=21,
    scaled=True,
    stopping_slack=0.05,
)
#: More words, held to the regression's weights, in topics that differ in volume.
PREDICTIVE = ShapingPlan(
    inclusion_factor=2.0,
    marginal_share=1 / 3,
    smallest_vocabulary=0.5,
    supervision_per_token=1.5,
    prior_precision=300.0,
    start_spread=0.3,
    ridge_share=1.0,
    coef_bound=3.0,
    free_volume=True,
    max_steps=40,
)
#: pc-sLDA: all words, topics free to follow words and target.
UNFOCUSED = ShapingPlan(
    supervision_per_token=1.0,
    prior_precision=1.0,
    start_spread=1.0,
    ridge_share=1.0,
    coef_bound=3.0,
    max_steps=60,
)


@dataclass(frozen=True, kw_only=True)
class FocusSettings:
    """What the user may decide; None is automatic.

    `select` False keeps every word (pc-sLDA). `keep` and `drop` are columns. `refit`: whether
    what was chosen is fitted again to all documents. `themes`: whether topics are themes with
    directions, by one of the plans `themed`, of few words or of more, or places among the
    predictors alone, by one of `plans`, readable or predictive.
    """

    n_topics: int
    select: bool = True
    inclusion_prior: float | None = None
    supervision_weight: float | None = None
    doc_topic_prior: np.ndarray | None = None
    max_steps: int | None = None
    keep: np.ndarray | None = None
    drop: np.ndarray | None = None
    refit: bool = True
    early_stopping: bool = True
    themes: bool = False
    themed: tuple[ShapingPlan, ...] = (THEMED, THEMED_WIDER)
    plans: tuple[ShapingPlan, ...] = (READABLE, PREDICTIVE)

    @property
    def plans_tried(self) -> tuple[ShapingPlan, ...]:
        if not self.select:
            return (UNFOCUSED,)
        if not self.themes:
            return self.plans
        # The plans with themes differ in the share of words alone.
        return self.themed[:1] if self.inclusion_prior is not None else self.themed

    @property
    def retained(self) -> float:
        """An earlier plan is taken if it explains at least this share of what the best does."""
        return 0.95 if self.themes else 0.9

    def steps(self, plan: ShapingPlan) -> int:
        """L-BFGS iterations of a plan, at most."""
        return self.max_steps or plan.max_steps

    @property
    def total_steps(self) -> int:
        """Of all plans and the second pass, at most."""
        steps = [self.steps(plan) for plan in self.plans_tried]
        return sum(steps) + (max(steps) if self.refit else 0)
