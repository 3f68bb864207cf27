"""Settings of the focused model: what the user may decide, and the two ways of shaping topics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rung:
    """One way of shaping topics; "auto" settings of the estimators come from here.

    Attributes
    ----------
    inclusion : float
        Factor on the automatic inclusion prior (an explicit one is taken as it is).
    supervision : float
        λ for each relevant token of an average document.
    hold : float
        τ of `shaping`.
    spread : float
        How far starting topics differ: W⁰_vk = log n_v + spread·u_v·e_k, e from -1 to 1.
    joint : float
        u_v mixes the word's ridge weight (joint) and its slope (1 - joint).
    coef_bound : float
        |η| in standard deviations of the target while shaping.
    graded : bool
        η stays evenly graded between ∓coef_bound while shaping, so that topics keep an order.
    silent : bool
        Whether topics may differ in how many relevant words they produce at all.
    steps : int
        L-BFGS iterations, at most.
    scaled : bool
        Whether these work in logits scaled by the words' frequencies (`shaping`).
    slack : float
        Share of the best held-out score that shaping may give up before it is stopped.
    marginal : float
        Weight of the marginal view in the evidence.
    vocabulary : float
        Share of the words that may be chosen from, at least.
    """

    inclusion: float
    supervision: float
    hold: float
    spread: float
    joint: float
    coef_bound: float
    graded: bool
    silent: bool
    steps: int
    scaled: bool
    slack: float
    marginal: float = 2 / 3
    vocabulary: float = 0.25


READABLE = Rung(1.0, 0.3, 6.0, 3.0, 0.5, 1.0, True, False, 21, True, 0.05)
PREDICTIVE = Rung(2.0, 1.5, 300.0, 0.3, 1.0, 3.0, False, True, 40, False, 0.0, 1 / 3, 0.5)
#: pc-sLDA: all words, topics free to follow words and target.
UNFOCUSED = Rung(1.0, 1.0, 1.0, 1.0, 1.0, 3.0, False, False, 60, False, 0.0)

#: The readable rung is taken when it explains at least this share of what the best rung does.
RETAINED = 0.9
#: λ is at least this, however few relevant tokens a document has.
SMALLEST_SUPERVISION = 3.0
#: Relevant tokens of an average document that the automatic inclusion prior aims at.
RELEVANT_TOKENS = 10.0


@dataclass(frozen=True)
class FocusSettings:
    """What the user may decide; None is automatic.

    `select` False keeps every word (pc-sLDA). `keep` and `drop` are columns. `refit`: whether
    what was chosen is fitted again to all documents.
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
    rungs: tuple[Rung, ...] = (READABLE, PREDICTIVE)
