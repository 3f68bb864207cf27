"""Experiment 7: topics of sLDA and pc-sLDA with the words that pf-sLDA dropped taken out."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus import metrics
from topicfocus.reproduce.choice import mean_sd
from topicfocus.reproduce.execute import KEPT
from topicfocus.reproduce.plan import Plan
from topicfocus.reproduce.rarity import rarity_coherence
from topicfocus.reproduce.sections import Section, markdown_table
from topicfocus.reproduce.store import RunStore
from topicfocus.reproduce.tasks import Task, load

NAME = "posthoc"
TITLE = "Filtering topics after the fit"
FILTER = "pf-sLDA, all epochs"
PRIOR = 0.10
MODELS = ("sLDA", "pc-sLDA")
MEASURES = ("pmi50", "rarity", "npmi10", "agreement", "shared")


def _fitted(plan: Plan, model: str, split: int) -> Task:
    settings = {"supervision_weight": 10.0} if model == "pc-sLDA" else {}
    return plan.task("pang_lee", split, model, **settings)


def _filter(plan: Plan, split: int) -> Task:
    return plan.task("pang_lee", split, FILTER, inclusion_prior=PRIOR)


def tasks(plan: Plan) -> list[Task]:
    fitted = [_fitted(plan, model, split) for model in MODELS for split in plan.splits]
    return fitted + [_filter(plan, split) for split in plan.splits]


def filtered(components: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Topics on the kept words alone, rows summing to one again."""
    rest = np.where(kept, components, 0.0)
    return rest / np.maximum(rest.sum(axis=1, keepdims=True), 1e-300)


def shared_words(topics: np.ndarray, others: np.ndarray, top_n: int = 50) -> float:
    """Share of the top words of all topics that are also top words of the other model."""

    def tops(matrix: np.ndarray) -> set[int]:
        order = np.argsort(-matrix, axis=1, kind="stable")[:, :top_n]
        return {int(v) for k, row in enumerate(order) for v in row if matrix[k, v] > 0}

    mine = tops(topics)
    return len(mine & tops(others)) / max(len(mine), 1)


def section(plan: Plan, store: RunStore) -> Section:
    out = Section(TITLE)
    rows: list[dict[str, Any]] = []
    for split in plan.splits:
        data = load(plan.key("pang_lee", split))
        reference = store[_filter(plan, split)]
        kept = reference.inclusion > KEPT
        if kept.sum() < 2:
            out.body.append(
                f"Split {split}: {FILTER} kept {int(kept.sum())} words, so nothing can be filtered."
            )
            continue
        for model in MODELS:
            run = store[_fitted(plan, model, split)]
            for name, topics in (
                (model, run.components),
                (f"{model}, filtered", filtered(run.components, kept)),
            ):
                rows.append(_measure(name, split, topics, run.coef, data, reference))
        rows.append(_measure(FILTER, split, reference.components, reference.coef, data, reference))
    out.tables["posthoc"] = rows
    names = list(dict.fromkeys(row["model"] for row in rows))
    out.body += [
        f"Pang & Lee: words with an inclusion of at most {KEPT} in {FILTER} (p = {PRIOR}) are "
        "taken out of the topics of other models after their fit. Shared: the part of the top 50 "
        "words of all topics that are also top words of pf-sLDA. Mean (standard deviation) over "
        "the splits. The paper says that the filtered topics and their coherence resemble those "
        "of pf-sLDA, without figures.",
        markdown_table(
            ["model", "coherence@50", "by rarity alone", "npmi@10", "agreement", "shared"],
            [
                [name] + [mean_sd([r[k] for r in rows if r["model"] == name]) for k in MEASURES]
                for name in names
            ],
        ),
        "![post-hoc filtering](figures/posthoc.png)",
    ]
    out.figures["posthoc"] = lambda: _figure(rows, names)
    return out


def _measure(
    name: str, split: int, topics: np.ndarray, coef: np.ndarray, data: Any, reference: Any
) -> dict[str, Any]:
    train, test = data.train.counts, data.test
    return {
        "model": name,
        "split": split,
        "pmi50": metrics.coherence(topics, train, "pmi", 50),
        "rarity": rarity_coherence(topics, train, 50),
        "npmi10": metrics.coherence(topics, train, "npmi", 10),
        "agreement": metrics.target_agreement(topics, coef, test.counts, test.target),
        "shared": shared_words(topics, reference.components),
    }


def _figure(rows: list[dict[str, Any]], names: list[str]) -> Any:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
    for axis, key in zip(axes, ("pmi50", "npmi10", "agreement"), strict=True):
        values = [[r[key] for r in rows if r["model"] == name] for name in names]
        axis.barh(
            range(len(names)),
            [np.mean(v) for v in values],
            xerr=[np.std(v) for v in values],
            color=["#009E73" if "filtered" in n else "#0072B2" for n in names],
        )
        axis.set_yticks(range(len(names)), names)
        axis.set_title({"pmi50": "paper's coherence@50", "npmi10": "npmi@10"}.get(key, key))
    axes[0].invert_yaxis()
    return figure
