"""Settings of the focused model, and the constants of each kind of topics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

_Result = TypeVar("_Result")


@dataclass(frozen=True, kw_only=True)
class TopicPlan:
    """The constants of one kind of topics (docs/focused.md).

    Attributes
    ----------
    token_factors : tuple of float
        Automatic inclusions to compare, as multiples of `RELEVANT_TOKENS` per document.
    vocabulary_per_inclusion : float
        Smallest fraction of the words that may be selected, per unit of an automatic inclusion, if
        that is more than `SMALLEST_VOCABULARY`.
    supervision_per_token : float
        λ for each relevant token of an average document.
    prior_precision : float
        τ, the precision of the prior of the topics around their initial values.
    start_spread : float
        Without subjects, W⁰_vk = log n_v + spread·u_v·e_k with e from -1 to 1.
    ridge_share : float
        Weight of the ridge weight of a word in u_v; the rest is the weight of its slope.
    coef_bound : float
        Bound of |η| during the optimisation, in standard deviations of the target.
    fixed_coef : bool
        Whether η keeps its initial value during the optimisation, so that topics keep their signs.
    max_steps : int
        Largest number of L-BFGS iterations.
    has_subjects : bool
        Whether topics have a subject each, and words have weights.
    """

    token_factors: tuple[float, ...] = (1.0,)
    vocabulary_per_inclusion: float = 0.0
    supervision_per_token: float = 0.3
    prior_precision: float
    start_spread: float = 3.0
    ridge_share: float = 0.5
    coef_bound: float = 1.0
    fixed_coef: bool = True
    max_steps: int
    has_subjects: bool = False


#: Topics with a subject and a sign, of words with weights.
SUBJECT_PLAN = TopicPlan(
    token_factors=(2.0, 4.0),
    vocabulary_per_inclusion=0.5,
    prior_precision=9.0,
    max_steps=10,
    has_subjects=True,
)
#: Topics in an order from low to high (`themes=False`).
GRADED = TopicPlan(prior_precision=6.0, max_steps=21)
#: pc-sLDA: all words, and coefficients that are optimised with the topics.
UNFOCUSED = TopicPlan(
    supervision_per_token=1.0,
    prior_precision=1.0,
    start_spread=1.0,
    ridge_share=1.0,
    coef_bound=3.0,
    fixed_coef=False,
    max_steps=60,
)


@dataclass(frozen=True, kw_only=True)
class FocusSettings:
    """Settings of a fit; None is automatic.

    `select` is False for pc-sLDA, which keeps every word. `keep` and `drop` are columns. With
    `themes`, topics are subjects with signs, otherwise they are graded. `stable` is True for
    selection="stable", `low_fidelity` for a fit that only compares settings (`fit`).
    `fixed_inclusion` is an automatic choice of an earlier fit, a limit unlike `inclusion_prior`.
    `seeds` are the columns of the seed words of the first topics, which are also in `keep`.
    """

    n_topics: int
    select: bool = True
    inclusion_prior: float | None = None
    supervision_weight: float | None = None
    doc_topic_prior: np.ndarray | None = None
    max_steps: int | None = None
    keep: np.ndarray | None = None
    drop: np.ndarray | None = None
    themes: bool = True
    stable: bool = False
    low_fidelity: bool = False
    fixed_inclusion: float | None = None
    seeds: tuple[np.ndarray, ...] = ()

    @property
    def inclusion(self) -> float | None:
        """The inclusion, None if it is to be chosen."""
        return self.fixed_inclusion if self.inclusion_prior is None else self.inclusion_prior

    @property
    def plan(self) -> TopicPlan:
        if not self.select:
            return UNFOCUSED
        return SUBJECT_PLAN if self.themes else GRADED

    @property
    def is_low_fidelity(self) -> bool:
        """Whether this is a low-fidelity fit, which pc-sLDA does not have."""
        return self.low_fidelity and self.plan.fixed_coef

    @property
    def is_stable(self) -> bool:
        """Whether words are selected by statistics of a stable selection."""
        return self.stable and self.select

    @property
    def steps(self) -> int:
        """Largest number of L-BFGS iterations of a pass."""
        return self.max_steps or self.plan.max_steps


class SharedStages:
    """Results of stages that several fits to the same documents share.

    Screening statistics depend on the documents, their targets and the split, and subjects also on
    their number. A search passes one `SharedStages` to all fits of a fold; the first fit that needs
    a stage computes it.
    """

    def __init__(self) -> None:
        self._results: dict[str, Any] = {}

    def once(self, stage: str, compute: Callable[[], _Result]) -> _Result:
        """The result of a stage, computed if it has no result yet."""
        if stage not in self._results:
            self._results[stage] = compute()
        return self._results[stage]
