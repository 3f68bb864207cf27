"""The rule of every choice: the setting that predicts the validation part best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topicfocus.reproduce.plan import Plan
from topicfocus.reproduce.store import Run, RunStore
from topicfocus.reproduce.tasks import Task

#: Data sets with two classes: a higher score (AUC) is better; of others a lower one (RMSE).
BINARY = ("eicu", "diabetes", "imdb", "poliblog")


def better_is_higher(data: str) -> bool:
    return data in BINARY


def choose(tasks: Sequence[Task], store: RunStore) -> Task:
    """The task with the best validation score; of equal ones the first."""
    scores = np.array([store[task].figures["valid"] for task in tasks])
    sign = 1.0 if better_is_higher(tasks[0].data.name) else -1.0
    return tasks[int(np.argmax(sign * scores))]


def chosen_runs(grids: Sequence[Sequence[Task]], store: RunStore) -> list[tuple[Task, Run]]:
    """The choice of each grid (one a split)."""
    tasks = [choose(grid, store) for grid in grids]
    return [(task, store[task]) for task in tasks]


def results(plan: Plan, store: RunStore, data: str, model: str) -> list[tuple[Task, Run]]:
    """The chosen run of each split."""
    return chosen_runs([plan.grid(data, split, model) for split in plan.splits], store)


def mean_sd(values: Sequence[float | None], shape: str = "{:.3f}") -> str:
    """Mean (standard deviation over runs); "-" where there are none."""
    known = [float(v) for v in values if v is not None and np.isfinite(v)]
    if not known:
        return "-"
    text = shape.format(np.mean(known))
    if len(known) > 1:
        text += f" ({shape.format(np.std(known, ddof=1))})"
    return text
