"""Figure of the paper: validation coherence and RMSE against p = 1/λ on Pang & Lee."""

from __future__ import annotations

from typing import Any

import pandas as pd
from compared import LAST_EPOCH
from paper_fits import Claim, Fits, Plan, Run, task
from runner import Task, markdown, mean_sd

TITLE = "Validation coherence and RMSE against p = 1/λ"
LINES = (LAST_EPOCH, "pf-sLDA, coordinate ascent", "pc-sLDA", "focused")
#: Column of the table -> field of a fit.
FIELDS = {
    "valid_rmse": "valid",
    "coherence_train": "pmi50",
    "coherence_valid": "pmi50_valid",
    "npmi10": "npmi10",
    "agreement": "agreement",
    "kept": "kept",
}


def _lines(plan: Plan) -> tuple[str, ...]:
    return LINES[:1] if plan.quick else LINES


def _setting(model: str, p: float) -> dict[str, float]:
    return {"supervision_weight": 1 / p} if model == "pc-sLDA" else {"inclusion_prior": p}


def tasks(plan: Plan) -> list[Task]:
    return [
        task("pang_lee", 0, model, **_setting(model, p))
        for p in plan.curve_priors
        for model in _lines(plan)
    ]


def tables(plan: Plan, fits: Fits, run: Run) -> dict[str, pd.DataFrame]:
    rows = []
    for model in _lines(plan):
        for p in plan.curve_priors:
            found = fits.find("pang_lee", 0, model, **_setting(model, p))
            row = {column: found.get(field) for column, field in FIELDS.items()}
            rows.append({"model": model, "p": p} | row)
    return {"curves": pd.DataFrame(rows)}


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """Coherence rises as p falls; the best models keep 5 to 20% of the words."""
    table = tables["curves"].query("model == @LAST_EPOCH").sort_values("p").reset_index(drop=True)
    coherence = ", ".join(f"p {r.p:g}: {r.coherence_train:.2f}" for r in table.itertuples())
    errors = ", ".join(
        f"p {r.p:g}: {r.valid_rmse:.3f} ({r.kept:.1%} kept)" for r in table.itertuples()
    )
    best = table["valid_rmse"].idxmin()
    kept = table.loc[best, "kept"]
    return [
        Claim(
            "pang_lee: coherence of pf-sLDA rises as p falls",
            bool(table["coherence_train"].iloc[0] > table["coherence_train"].iloc[-1]),
            f"coherence@50 {coherence}",
        ),
        Claim(
            "pang_lee: pf-sLDA predicts best with 5 to 20% of the words",
            bool(0.05 <= kept <= 0.20),
            f"validation RMSE {errors}",
        ),
        Claim(
            "pang_lee: both fewer and more words predict worse",
            0 < best < len(table) - 1,
            f"validation RMSE {errors}",
        ),
    ]


def page(tables: dict[str, pd.DataFrame]) -> list[str]:
    header = ["model", "p", "RMSE (validation)", "coherence@50", "on validation documents"]
    rows = [
        [
            row["model"],
            f"{row['p']:g}",
            *(f"{row[k]:.3f}" for k in list(FIELDS)[:5]),
            mean_sd([row["kept"]], "{:.1%}"),
        ]
        for _, row in tables["curves"].iterrows()
    ]
    return [
        "Pang & Lee, split 0, one start per point. pc-sLDA has λ = 1/p, the others the inclusion "
        "prior p. RMSE is of the validation part; the coherence is the paper's at N = 50, on "
        "training documents (as everywhere on this page) and on validation documents.",
        "![curves](figures/curves.png)",
        markdown([*header, "npmi@10", "agreement", "kept"], rows),
        "The paper shows the same two curves (without numbers): coherence rises as p falls, and "
        "RMSE is best between 0.1 and 0.2.",
    ]


def figure(tables: dict[str, pd.DataFrame]) -> Any:
    from matplotlib import pyplot

    drawn, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    colours = ("#0072B2", "#56B4E9", "#D55E00", "#009E73")
    shown = tables["curves"].groupby("model", sort=False)
    for (model, rows), colour, marker in zip(shown, colours, "osD^", strict=False):
        style = {"color": colour, "label": model}
        left.plot(rows["p"], rows["coherence_train"], f"{marker}-", **style)
        left.plot(rows["p"], rows["coherence_valid"], ":", color=colour, lw=1)
        right.plot(rows["p"], rows["valid_rmse"], f"{marker}-", **style)
    left.set_ylabel("paper's coherence@50")
    left.set_title("dotted: on validation documents", fontsize=9)
    right.set_ylabel("RMSE, validation part")
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_xticks(sorted(tables["curves"]["p"].unique()))
        axis.set_xticks([], minor=True)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("p = 1/λ")
    right.legend(fontsize=8)
    return drawn
