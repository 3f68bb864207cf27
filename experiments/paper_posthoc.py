"""Statement of the paper: topics of sLDA and pc-sLDA without the words that pf-sLDA dropped."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from compared import LAST_EPOCH, MODELS
from measures import KEPT, rarity_coherence
from paper_fits import Claim, Fits, Plan, Run, task
from runner import Record, Task, markdown, mean_sd

from topicfocus import metrics

TITLE = "Filtering topics after the fit"
PRIOR = 0.10
FILTERED: dict[str, dict[str, Any]] = {"sLDA": {}, "pc-sLDA": {"supervision_weight": 10.0}}
COLUMNS = ("pmi50", "rarity", "npmi10", "agreement", "shared")


def tasks(plan: Plan) -> list[Task]:
    return [task("pang_lee", split, LAST_EPOCH, inclusion_prior=PRIOR) for split in plan.splits]


def without_dropped(components: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Topics on the kept words alone, rows summing to one again."""
    rest = np.where(kept, components, 0.0)
    return rest / np.maximum(rest.sum(axis=1, keepdims=True), 1e-300)


def shared_words(topics: np.ndarray, others: set[int], top_n: int = 50) -> float:
    """Fraction of the top words of all topics that are also top words of another model."""
    order = np.argsort(-topics, axis=1, kind="stable")[:, :top_n]
    mine = {int(v) for k, row in enumerate(order) for v in row if topics[k, v] > 0}
    return len(mine & others) / max(len(mine), 1)


def fit(plan: Plan, reference: dict[int, Record], task: Task) -> dict[str, Any]:
    """Metrics of the topics of a model before and after filtering, the work of the runner."""
    split, model = task["split"], task["model"]
    data = plan.load("pang_lee", split)
    kept = np.array(reference[split]["inclusion"]) > KEPT
    others = {v for row in reference[split]["tops"] for v in row}
    found = MODELS[model].fit(data, FILTERED[model], split)
    assert found.components is not None
    out = {}
    versions = {model: found.components}
    versions[f"{model}, filtered"] = without_dropped(found.components, kept)
    for name, topics in versions.items():
        test = data.test
        out[name] = {
            "pmi50": metrics.coherence(topics, data.train.counts, "pmi", 50),
            "rarity": rarity_coherence(topics, data.train.counts),
            "npmi10": metrics.coherence(topics, data.train.counts, "npmi", 10),
            "agreement": metrics.target_agreement(topics, found.coef, test.counts, test.target),
            "shared": shared_words(topics, others),
        }
    return {"versions": out}


def tables(plan: Plan, fits: Fits, run: Run) -> dict[str, pd.DataFrame]:
    reference = {
        s: fits.find("pang_lee", s, LAST_EPOCH, inclusion_prior=PRIOR) for s in plan.splits
    }
    todo = [{"model": model, "split": split} for model in FILTERED for split in plan.splits]
    rows = [
        {"model": name, "split": record["split"], **found}
        for record in run("posthoc", todo, partial(fit, plan, reference))
        for name, found in record["versions"].items()
    ]
    for split, record in reference.items():
        row = {k: record[k] for k in ("pmi50", "npmi10", "agreement")}
        row |= {"rarity": record["pmi50_rarity"], "shared": 1.0}
        rows.append({"model": LAST_EPOCH, "split": split, **row})
    return {"posthoc": pd.DataFrame(rows).sort_values("split", kind="stable")}


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """Filtered topics are nearer to those of pf-sLDA."""
    mean = tables["posthoc"].groupby("model")[["pmi50", "shared"]].mean()
    goal, out = mean.loc[LAST_EPOCH], []
    for model in FILTERED:
        before, after = mean.loc[model], mean.loc[f"{model}, filtered"]
        nearer = abs(after.pmi50 - goal.pmi50) < abs(before.pmi50 - goal.pmi50) / 2
        text = f"pang_lee: topics of {model} filtered by pf-sLDA resemble those of pf-sLDA"
        evidence = (
            f"coherence@50 {before.pmi50:.2f} -> {after.pmi50:.2f} (pf-sLDA {goal.pmi50:.2f}), "
            f"shared top words {before.shared:.0%} -> {after.shared:.0%}"
        )
        out.append(Claim(text, bool(nearer and after.shared > before.shared), evidence))
    return out


def page(tables: dict[str, pd.DataFrame]) -> list[str]:
    lines = [
        [name, *(mean_sd(rows[column]) for column in COLUMNS)]
        for name, rows in tables["posthoc"].groupby("model", sort=False)
    ]
    return [
        f"Pang & Lee: words with an inclusion of at most {KEPT} in {LAST_EPOCH} (p = {PRIOR}) are "
        "taken out of the topics of other models after their fit. Shared: the fraction of the top "
        "50 words of all topics that are also top words of pf-sLDA. Mean (standard deviation) over "
        "the splits. The paper says that the filtered topics and their coherence resemble those of "
        "pf-sLDA, without numbers.",
        markdown(
            ["model", "coherence@50", "by rarity alone", "npmi@10", "agreement", "shared"], lines
        ),
    ]
