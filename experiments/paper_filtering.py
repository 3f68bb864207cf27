"""Table and figure of the paper: sLDA on words kept by a model, or chosen by correlation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from compared import LAST_EPOCH, fit_on_columns, most_correlated, slda, target_correlation
from measures import KEPT
from paper_fits import FILTERING, Claim, Fits, Plan, Run, describe, metrics_of, task
from runner import Task, markdown, mean_sd

TITLE = "Filtering words: by the model or by correlation"
WAYS = ("inclusion", "correlation", "signed correlation")
KEEP = ("test", "pmi50", "pmi50_rarity", "npmi10", "agreement", "kept_words")


def _filters(plan: Plan) -> tuple[str, ...]:
    return (LAST_EPOCH,) if plan.quick else (LAST_EPOCH, "focused")


def _priors(plan: Plan) -> tuple[float, ...]:
    return (0.10,) if plan.quick else (0.10, 0.15)


def tasks(plan: Plan) -> list[Task]:
    return [
        task("pang_lee", split, model, inclusion_prior=p)
        for model in _filters(plan)
        for p in _priors(plan)
        for split in plan.splits
    ]


def fit_filtered(plan: Plan, inclusion: dict[Any, list[float]], task: Task) -> dict[str, Any]:
    """sLDA on some of the words, the work of the runner."""
    data = plan.load("pang_lee", task["split"])
    kept = np.flatnonzero(np.array(inclusion[task["model"], task["p"], task["split"]]) > KEPT)
    if len(kept) < 2:
        raise ValueError(f"{task['model']} kept {len(kept)} words: too few to fit on")
    if task["by"] != "inclusion":
        kept = most_correlated(data, len(kept), signed=task["by"] == "signed correlation")
    return metrics_of(describe(fit_on_columns(slda, data, kept, {}, task["split"]), data))


def tables(plan: Plan, fits: Fits, run: Run) -> dict[str, pd.DataFrame]:
    inclusion = {
        (model, p, split): fits.find("pang_lee", split, model, inclusion_prior=p)["inclusion"]
        for model in _filters(plan)
        for p in _priors(plan)
        for split in plan.splits
    }
    todo = [
        {"model": model, "p": p, "by": by, "split": split}
        for model, p, split in inclusion
        for by in (WAYS if model == LAST_EPOCH else WAYS[:2])
    ]
    done = run("filtering", todo, partial(fit_filtered, plan, inclusion))
    rows = [{k: record[k] for k in (*todo[0], *KEEP)} for record in done]
    data = plan.load("pang_lee", 0)
    correlation = target_correlation(data.train.counts, data.train.target)
    words = [
        pd.DataFrame(
            {
                "model": model,
                "p": p,
                "word": data.vocabulary,
                "correlation": correlation.round(5),
                "inclusion": inclusion[model, p, 0],
            }
        )
        for model in _filters(plan)
        for p in _priors(plan)
    ]
    return {"filtering": pd.DataFrame(rows), "inclusion_correlation": pd.concat(words)}


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """Words of pf-sLDA beside as many by correlation; words without correlation are dropped."""
    out = []
    mine = tables["filtering"].query("model == @LAST_EPOCH")
    mean = mine.groupby(["p", "by"])[["test", "pmi50"]].mean()
    readings = {"correlation": "largest correlation", "signed correlation": "highest correlation"}
    for by, reading in readings.items():
        for field, name in (("pmi50", "coherent topics"), ("test", "accurate predictions")):
            ours, theirs = (mean.xs(way, level="by")[field] for way in ("inclusion", by))
            better = ours > theirs if field == "pmi50" else ours < theirs
            said = "; ".join(f"p {p:g}: {ours[p]:.3f} against {theirs[p]:.3f}" for p in ours.index)
            text = (
                f"pang_lee: sLDA on words of pf-sLDA has more {name} than on as many of the "
                f"{reading} ({'absolute' if by == 'correlation' else 'signed'})"
            )
            out.append(Claim(text, bool(better.all()), f"{field}: {said}"))
    words = tables["inclusion_correlation"].query("model == @LAST_EPOCH")
    size, kept = words["correlation"].abs(), words["inclusion"] > KEPT
    out.append(
        Claim(
            "pang_lee: pf-sLDA drops words that hardly correlate with the target",
            bool(size[kept].median() > 2 * size[~kept].median()),
            f"median |correlation|: kept {size[kept].median():.3f}, "
            f"dropped {size[~kept].median():.3f}",
        )
    )
    return out


_REASONS = """Where we differ from the paper: with the words of the largest *absolute* correlation,
sLDA predicts as well as with those of pf-sLDA, while the paper has an error above that of sLDA on
all words. With the largest *signed* correlation, no word of a bad review among them, we come close
to the paper's errors and coherence: perhaps that is what its "highest correlated words" are. What
remains of the comparison is the topics: those on the words of pf-sLDA agree more with the
target."""


def page(tables: dict[str, pd.DataFrame]) -> list[str]:
    lines = []
    for (model, p, by), rows in tables["filtering"].groupby(["model", "p", "by"], sort=False):
        name = "pf-sLDA" if by == "inclusion" else "correlation"
        theirs = FILTERING[p, name] if model == LAST_EPOCH else ("-", "-")
        words = model if by == "inclusion" else f"{by}, as many as {model}"
        lines.append(
            [f"{p:.2f}", words, f"{rows['kept_words'].mean():.0f}", mean_sd(rows["test"])]
            + [theirs[1], mean_sd(rows["pmi50"]), theirs[0]]
            + [mean_sd(rows[k]) for k in ("pmi50_rarity", "npmi10", "agreement")]
        )
    header = ["p", "words by", "words", "RMSE", "paper's", "coherence@50", "paper's"]
    return [
        f"sLDA on Pang & Lee with some of the words: those that a model kept (inclusion above "
        f"{KEPT}), or as many by their correlation with the target in training: the largest "
        "absolute, or (signed) the highest, words of high targets only. Mean (standard deviation) "
        "over the splits, test part.",
        markdown([*header, "by rarity alone", "npmi@10", "agreement"], lines),
        _REASONS,
        "Inclusion against the correlation with the target, one dot per word, split 0:",
        "![inclusion against correlation](figures/filtering.png)",
    ]


def figure(tables: dict[str, pd.DataFrame]) -> Any:
    from matplotlib import pyplot

    shown = tables["inclusion_correlation"].groupby(["model", "p"], sort=False)
    drawn, axes = pyplot.subplots(
        1, len(shown), figsize=(13, 3.4), squeeze=False, layout="constrained"
    )
    rng = np.random.default_rng(0)
    for axis, ((model, p), rows) in zip(axes[0], shown, strict=True):
        # Inclusion is 0 or 1 for nearly all: a little noise shows how many dots there are.
        y = rows["inclusion"] + rng.uniform(-0.02, 0.02, len(rows))
        axis.scatter(rows["correlation"], y, s=3, alpha=0.35, c="#0072B2", lw=0)
        axis.set_title(f"{model}, p = {p:.2f}", fontsize=9)
        axis.set_xlabel("correlation with the target")
    axes[0, 0].set_ylabel("inclusion φ (jittered by 0.02)")
    return drawn
