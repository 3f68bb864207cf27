"""Experiment 2: validation coherence and RMSE against p = 1/λ on Pang & Lee."""

from __future__ import annotations

from typing import Any

from topicfocus.reproduce.plan import Plan
from topicfocus.reproduce.sections import Section, markdown_table
from topicfocus.reproduce.store import RunStore
from topicfocus.reproduce.tasks import Task

NAME = "curves"
TITLE = "Validation coherence and RMSE against p = 1/λ"

LINES = ("pf-sLDA, all epochs", "pf-sLDA, coordinate ascent", "pc-sLDA", "focused")


def _task(plan: Plan, model: str, p: float) -> Task:
    if model == "pc-sLDA":
        return plan.task("pang_lee", 0, model, supervision_weight=1 / p)
    return plan.task("pang_lee", 0, model, inclusion_prior=p)


def tasks(plan: Plan) -> list[Task]:
    return [_task(plan, model, p) for p in plan.curve_priors for model in LINES]


def section(plan: Plan, store: RunStore) -> Section:
    out = Section(TITLE)
    rows = []
    for model in LINES:
        for p in plan.curve_priors:
            found = store[_task(plan, model, p)].figures
            rows.append(
                {
                    "model": model,
                    "p": p,
                    "valid_rmse": found["valid"],
                    "coherence_train": found["pmi50"],
                    "coherence_valid": found["pmi50_valid"],
                    "npmi10": found["npmi10"],
                    "agreement": found["agreement"],
                    "kept": found.get("kept"),
                }
            )
    out.tables["curves"] = rows
    out.body += [
        "Pang & Lee, split 0, one start a point. pc-sLDA has λ = 1/p, the others the inclusion "
        "prior p. RMSE is of the validation part; the coherence is the paper's at N = 50, on "
        "training documents (as everywhere on this page) and on validation documents.",
        "![curves](figures/curves.png)",
        markdown_table(
            [
                "model",
                "p",
                "RMSE (validation)",
                "coherence@50",
                "on validation documents",
                "npmi@10",
                "agreement",
                "kept",
            ],
            [
                [row["model"], f"{row['p']:g}", f"{row['valid_rmse']:.3f}"]
                + [f"{row[k]:.3f}" for k in ("coherence_train", "coherence_valid")]
                + [f"{row[k]:.3f}" for k in ("npmi10", "agreement")]
                + ["-" if row["kept"] is None else f"{row['kept']:.1%}"]
                for row in rows
            ],
        ),
        "The paper shows the same two curves (without numbers): coherence rises as p falls, and "
        "RMSE is best between 0.1 and 0.2.",
    ]
    out.figures["curves"] = lambda: _figure(rows)
    return out


def _figure(rows: list[dict[str, Any]]) -> Any:
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    colours = ("#0072B2", "#56B4E9", "#D55E00", "#009E73")
    for model, colour, marker in zip(LINES, colours, "osD^", strict=True):
        mine = [row for row in rows if row["model"] == model]
        p = [row["p"] for row in mine]
        left.plot(p, [r["coherence_train"] for r in mine], marker + "-", c=colour, label=model)
        left.plot(p, [r["coherence_valid"] for r in mine], ":", c=colour, lw=1)
        right.plot(p, [r["valid_rmse"] for r in mine], marker + "-", c=colour, label=model)
    left.set_ylabel("paper's coherence@50")
    left.set_title("dotted: on validation documents", fontsize=9)
    right.set_ylabel("RMSE, validation part")
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_xticks([row["p"] for row in rows if row["model"] == LINES[0]])
        axis.set_xticks([], minor=True)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("p = 1/λ")
    right.legend(fontsize=8)
    return figure
