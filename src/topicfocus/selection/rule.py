"""Which setting is taken: the simplest one that predicts as well as the best, within its error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

RULES = ("one-standard-error", "best")


class Choice(NamedTuple):
    """The row that is taken, the best one, and all that are as good as it."""

    taken: int
    best: int
    within: tuple[int, ...]


def choose(rows: Sequence[Mapping[str, Any]], rule: str, least_diversity: float) -> Choice:
    """The row that is taken.

    Best is the highest mean score. By the one-standard-error rule every row counts as good whose
    mean is at least the best one's less its standard error; of these the fewest topics are taken,
    then the fewest words, then the highest score. Rows whose topics share too many top words are
    passed over, unless all do.
    """
    fitted = [i for i, row in enumerate(rows) if math.isfinite(row["score"])]
    distinct = [i for i in fitted if not rows[i]["diversity"] < least_diversity]
    allowed = distinct or fitted
    best = max(allowed, key=lambda i: rows[i]["score"])
    error = rows[best]["score_se"]
    least = rows[best]["score"] - (error if math.isfinite(error) else 0.0)
    good = [i for i in allowed if rows[i]["score"] >= least]

    def simplicity(i: int) -> tuple[float, float, float]:
        row = rows[i]
        topics, words = (v if math.isfinite(v) else 0.0 for v in (row["n_topics"], row["words"]))
        return topics, words, -row["score"]

    taken = best if rule == "best" else min(good, key=simplicity)
    return Choice(taken, best, tuple(good))
