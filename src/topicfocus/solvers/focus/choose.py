"""Choose: the most readable model that explains nearly as much as the best one."""

from __future__ import annotations

from collections.abc import Sequence

#: A plan leaves no more to gain when it explains this share of what a regression on all words does.
RETAINED = 0.9


def is_enough(explained: float, potential: float) -> bool:
    """Whether a plan leaves no more to gain, R >= RETAINED·R₀ > 0.

    R₀, the `potential`, is the share that a ridge regression on all words explains.
    """
    return explained >= RETAINED * potential > 0


def choose(explained: Sequence[float], retained: float = RETAINED) -> int:
    """The first plan, from readable to predictive, that explains nearly as much as the best.

    R_i >= R* - (1 - retained)·|R*|, also where even the best explains less than nothing.
    """
    best = max(explained)
    return next(i for i, e in enumerate(explained) if e >= best - (1 - retained) * abs(best))
