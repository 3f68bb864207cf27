"""Table of the paper's appendix: coherence for N = 10 to 50 top words on Pang & Lee."""

from __future__ import annotations

import pandas as pd
from compared import LAST_EPOCH, MODELS
from measures import TOP_N
from paper_fits import TOP_WORDS, Claim, Fits, Plan, Run, task
from runner import Task, markdown, mean_sd

TITLE = "Coherence for N = 10 to 50"


def tasks(plan: Plan) -> list[Task]:
    return [
        task("pang_lee", split, model, **setting)
        for model in plan.models
        for split in plan.splits
        for setting in plan.grid(model)
    ]


def tables(plan: Plan, fits: Fits, run: Run) -> dict[str, pd.DataFrame]:
    rows = []
    for model in (m for m in plan.shown if m not in MODELS or MODELS[m].topics):
        for split in plan.splits:
            _, found = fits.chosen(plan, "pang_lee", split, model)
            row = {"model": model, "split": split}
            rows += [row | {"n": n, "coherence": found[f"pmi{n}"]} for n in TOP_N]
    return {"top_words": pd.DataFrame(rows)}


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """pf-sLDA above pc-sLDA, whatever the number of words."""
    mean = tables["top_words"].groupby(["model", "n"])["coherence"].mean()
    pairs = {n: (mean["pc-sLDA", n], mean[LAST_EPOCH, n]) for n in TOP_N}
    said = "; ".join(f"N {n}: {pc:.2f} and {pf:.2f}" for n, (pc, pf) in pairs.items())
    text = "pang_lee: pf-sLDA is more coherent than pc-sLDA for every N from 10 to 50"
    return [Claim(text, all(pf > pc for pc, pf in pairs.values()), f"pc-sLDA and pf-sLDA, {said}")]


def page(tables: dict[str, pd.DataFrame]) -> list[str]:
    lines = [
        [f"{name}, the paper", *(f"{TOP_WORDS[n][place]:.2f}" for n in TOP_N)]
        for place, name in enumerate(("pc-sLDA", "pf-sLDA"))
    ]
    for model, rows in tables["top_words"].groupby("model", sort=False):
        cells = [mean_sd(rows.loc[rows["n"] == n, "coherence"], "{:.2f}") for n in TOP_N]
        lines.append([model, *cells])
    return [
        "Pang & Lee, the chosen settings of the main table; mean (standard deviation) over the "
        "splits of the paper's coherence, to be read with the warning above.",
        markdown(["model", *(f"N = {n}" for n in TOP_N)], lines),
    ]
