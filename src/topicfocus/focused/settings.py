"""Settings of the focused model: what the user may decide, and the ways of shaping topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class ShapingPlan:
    """One way of shaping topics; "auto" settings of the estimators come from here.

    Attributes
    ----------
    largest_share : float
        What the automatic inclusion prior is at most (an explicit one is taken as it is).
    share_steps : tuple of float
        Factors on the smallest automatic inclusion prior that are tried (`share`).
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
    weighted : bool
        Whether a token counts by how strongly its word leans (`start.word_weights`).
    shaping_prior : float
        Factor on a, the prior of topic mixes, while topics are shaped. As heavy as prediction wants
        it, it keeps all mixes alike, and topics then do not follow what occurs together.
    """

    largest_share: float = 0.8
    share_steps: tuple[float, ...] = (1.0,)
    marginal_share: float = 2 / 3
    smallest_vocabulary: float = 0.25
    supervision_per_token: float
    prior_precision: float
    start_spread: float
    ridge_share: float
    coef_bound: float
    graded: bool = False
    max_steps: int
    scaled: bool = False
    stopping_slack: float = 0.0
    theme_sharpness: float | None = None
    polarity: float = 6.0
    start_mix: float = 0.02
    weighted: bool = False
    shaping_prior: float = 1.0


#: Topics that are about something, each with a direction, of words that count by their strength.
THEMED = ShapingPlan(
    largest_share=0.5,
    share_steps=(2.0, 4.0),
    supervision_per_token=0.3,
    prior_precision=9.0,
    start_spread=3.0,
    ridge_share=0.5,
    coef_bound=1.0,
    graded=True,
    max_steps=10,
    scaled=True,
    stopping_slack=0.1,
    theme_sharpness=3.0,
    weighted=True,
    shaping_prior=0.3,
)
#: Topics as places on the line from low to high, in an order that can be told.
GRADED = ShapingPlan(
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
#: pc-sLDA: all words, topics free to follow words and target.
UNFOCUSED = ShapingPlan(
    supervision_per_token=1.0,
    prior_precision=1.0,
    start_spread=1.0,
    ridge_share=1.0,
    coef_bound=3.0,
    max_steps=60,
)


@dataclass(frozen=True)
class FixedInclusion:
    """The result of an earlier automatic choice of words, to be used again on other documents.

    Unlike an inclusion that a user gives, it is a limit: words without evidence of their own are
    not added to reach it.

    Attributes
    ----------
    inclusion : float
        Fraction of tokens kept.
    discoveries : bool
        Whether words are selected at a 10% false discovery rate instead of up to that fraction.
        A stable selection is always made by the fraction.
    """

    inclusion: float
    discoveries: bool = False


@dataclass(frozen=True, kw_only=True)
class FocusSettings:
    """Settings of a fit; None is automatic.

    `select` False keeps every word (pc-sLDA). `keep` and `drop` are columns. `refit`: whether
    what was chosen is fitted again to all documents. `themes`: whether topics are themes with
    directions, or places among the predictors alone. `stable`: whether words are kept that another
    sample would keep, too. `low_fidelity`: whether the fit only serves to compare settings (`fit`).
    `fixed_inclusion`: replaces the automatic choice of how many words are kept.
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
    themes: bool = True
    stable: bool = False
    low_fidelity: bool = False
    fixed_inclusion: FixedInclusion | None = None
    themed: ShapingPlan = THEMED
    graded: ShapingPlan = GRADED
    unfocused: ShapingPlan = UNFOCUSED

    @property
    def plan(self) -> ShapingPlan:
        """How topics are shaped."""
        if not self.select:
            return self.unfocused
        return self.themed if self.themes else self.graded

    @property
    def is_low_fidelity(self) -> bool:
        """Whether the fit is one of low fidelity, which only graded plans with two passes have."""
        return self.low_fidelity and self.plan.graded and self.refit

    @property
    def stable_share(self) -> float | None:
        """Weight of the marginal score in the statistics of a stable selection, if it is one."""
        return self.plan.marginal_share if self.stable and self.select else None

    @property
    def steps(self) -> int:
        """L-BFGS iterations of a pass, at most."""
        return self.max_steps or self.plan.max_steps

    @property
    def total_steps(self) -> int:
        """Of both passes, at most."""
        return self.steps * (2 if self.refit else 1)
