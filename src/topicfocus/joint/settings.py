"""Settings of the joint models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Bound = Literal["paper", "tight"]

#: Inclusion probabilities stay inside [ε, 1-ε] while they are learned, so that rounding never drops
#: a word for good. The bound is concave in φ, so the optimum over this interval is the clipped one.
INCLUSION_MARGIN = 1e-10


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """Settings of a joint model.

    Attributes
    ----------
    n_topics : int
    selects : bool
        Whether words have switches ξ (pf-sLDA); without switches φ ≡ 1 (sLDA, LDA).
    inclusion_prior : float
        p, the prior probability that a token is relevant.
    bound : {"paper", "tight"}
        "paper" has q(z) where ξ = 0, too; "tight" integrates z out there and is never lower.
    supervision_weight : float
        λ, the weight of log p(y).
    learn_prior : bool
        Whether α is learned by Newton-Raphson.
    coef_penalty : float
        Precision of a Normal(0, ·) prior on η, so that separable classes have an optimum.
    """

    n_topics: int
    selects: bool = True
    inclusion_prior: float = 0.1
    bound: Bound = "paper"
    supervision_weight: float = 1.0
    learn_prior: bool = False
    coef_penalty: float = 1e-3
