"""Experiment 6: coherence for N = 10 to 50 top words on Pang & Lee."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.reproduce import paper
from topicfocus.reproduce.choice import mean_sd, results
from topicfocus.reproduce.execute import TOP_N
from topicfocus.reproduce.models import MODELS
from topicfocus.reproduce.plan import Plan
from topicfocus.reproduce.sections import Section, markdown_table
from topicfocus.reproduce.store import RunStore
from topicfocus.reproduce.tasks import Task

NAME = "top-words"
TITLE = "Coherence for N = 10 to 50"


def _models(plan: Plan) -> list[str]:
    return [name for name in plan.models() if MODELS[name].topics]


def tasks(plan: Plan) -> list[Task]:
    return [
        task
        for model in _models(plan)
        for split in plan.splits
        for task in plan.grid("pang_lee", split, model)
    ]


def section(plan: Plan, store: RunStore) -> Section:
    out = Section(TITLE)
    lines, rows = [], []
    for place, name in enumerate(("pc-sLDA", "pf-sLDA")):
        theirs = [f"{paper.TOP_N[n][place]:.2f}" for n in TOP_N]
        lines.append([f"{name}, the paper", *theirs, "-", "-"])
    for model in _models(plan):
        runs = [run.figures for _, run in results(plan, store, "pang_lee", model)]
        lines.append(
            [model]
            + [mean_sd([r[f"pmi{n}"] for r in runs], "{:.2f}") for n in TOP_N]
            + [mean_sd([r[key] for r in runs]) for key in ("npmi10", "agreement")]
        )
        rows += [
            {"model": model, "split": split, "n": n, "coherence": r[f"pmi{n}"]}
            for split, r in zip(plan.splits, runs, strict=True)
            for n in TOP_N
        ]
    out.tables["top_words"] = rows
    out.body += [
        "Pang & Lee, the chosen settings of the main table; mean (standard deviation) over the "
        "splits of the paper's coherence, to be read with the warning above.",
        markdown_table(["model", *(f"N = {n}" for n in TOP_N)], lines),
        "![coherence for N](figures/top_words.png)",
    ]
    out.figures["top_words"] = lambda: _figure(rows, _models(plan))
    return out


def _figure(rows: list[dict[str, Any]], models: list[str]) -> Any:
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(7, 4), layout="constrained")
    colours: Any = pyplot.get_cmap("tab20")
    for m, model in enumerate(models):
        values = [
            np.mean([r["coherence"] for r in rows if r["model"] == model and r["n"] == n])
            for n in TOP_N
        ]
        axis.plot(TOP_N, values, "os^vDPX"[m % 7] + "-", color=colours(m), label=model, ms=5)
    for place, (name, style) in enumerate((("pc-sLDA", ":"), ("pf-sLDA", "--"))):
        values = [paper.TOP_N[n][place] for n in TOP_N]
        axis.plot(TOP_N, values, style, color="black", label=f"{name}, the paper")
    axis.set_xlabel("N top words")
    axis.set_ylabel("paper's coherence")
    figure.legend(*axis.get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    return figure
