"""Experiment 4: sLDA on words kept by a model against as many words chosen by correlation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.reproduce import paper
from topicfocus.reproduce.baselines import target_correlation
from topicfocus.reproduce.choice import mean_sd
from topicfocus.reproduce.execute import KEPT
from topicfocus.reproduce.plan import FILTER_PRIORS, Plan
from topicfocus.reproduce.sections import Section, markdown_table
from topicfocus.reproduce.store import RunStore
from topicfocus.reproduce.tasks import Task, Words, load

NAME = "filtering"
TITLE = "Filtering words: by the model or by correlation"
FILTERS = ("pf-sLDA, all epochs", "focused")
WAYS = ("inclusion", "correlation", "signed correlation")


_REASONS = """Where we differ from the paper: with the words of the largest correlation *in size*,
sLDA predicts as well as with those of pf-sLDA, while the paper has an error above that of sLDA on
all words. With the largest *signed* correlation, no word of a bad review among them, we come close
to the paper's errors and coherence: perhaps that is what its "highest correlated words" are. What
is left of the comparison is the topics: those on the words of pf-sLDA agree more with the
target."""


def selector(plan: Plan, model: str, p: float, split: int) -> Task:
    """The fit whose kept words are used."""
    return plan.task("pang_lee", split, model, inclusion_prior=p)


def _task(plan: Plan, model: str, p: float, split: int, by: str) -> Task:
    words = Words(by, selector(plan, model, p, split))
    return replace(plan.task("pang_lee", split, "sLDA"), words=words)


def tasks(plan: Plan) -> list[Task]:
    return [
        _task(plan, model, p, split, by)
        for model in FILTERS
        for p in FILTER_PRIORS
        for split in plan.splits
        for by in _ways(model)
    ]


def _ways(model: str) -> tuple[str, ...]:
    """The signed correlation is only there to explain the paper's figures."""
    return WAYS if model.startswith("pf-sLDA") else WAYS[:2]


def section(plan: Plan, store: RunStore) -> Section:
    out = Section(TITLE)
    rows, lines = [], []
    for model in FILTERS:
        for p in FILTER_PRIORS:
            for by in _ways(model):
                runs = [store[_task(plan, model, p, s, by)] for s in plan.splits]
                figures = {
                    k: [r.figures[k] for r in runs]
                    for k in ("test", "pmi50", "pmi50_rarity", "npmi10", "agreement", "kept_words")
                }
                theirs = ["-", "-"]
                if model.startswith("pf-sLDA"):
                    name = "pf-sLDA" if by == "inclusion" else "correlation"
                    theirs = [f"{t.mean:.3f} ({t.sd:.3f})" for t in paper.FILTERING[p, name]]
                name = model if by == "inclusion" else f"{by}, as many as {model}"
                lines.append(
                    [f"{p:.2f}", name, f"{np.mean(figures['kept_words']):.0f}"]
                    + [mean_sd(figures["test"]), theirs[1], mean_sd(figures["pmi50"]), theirs[0]]
                    + [mean_sd(figures[k]) for k in ("pmi50_rarity", "npmi10", "agreement")]
                )
                for split, run in zip(plan.splits, runs, strict=True):
                    row = {"model": model, "p": p, "by": by, "split": split}
                    rows.append(row | {k: run.figures[k] for k in figures})
    out.tables["filtering"] = rows
    out.tables["inclusion_correlation"] = _scatter_rows(plan, store)
    out.body += [
        "sLDA on Pang & Lee with some of the words: those that a model kept (inclusion above "
        f"{KEPT}), or as many by their correlation with the target in training: those with the "
        "largest in size, or (signed) the largest, words of high targets only. Mean (standard "
        "deviation) over the splits, test part.",
        markdown_table(
            [
                "p",
                "words by",
                "words",
                "RMSE",
                "paper's",
                "coherence@50",
                "paper's",
                "by rarity alone",
                "npmi@10",
                "agreement",
            ],
            lines,
        ),
        _REASONS,
        "Inclusion against the correlation with the target, a dot a word, split 0:",
        "![inclusion against correlation](figures/filtering.png)",
    ]
    out.figures["filtering"] = lambda: _figure(out.tables["inclusion_correlation"])
    return out


def _scatter_rows(plan: Plan, store: RunStore) -> list[dict[str, Any]]:
    data = load(plan.key("pang_lee", 0))
    correlation = target_correlation(data.train.counts, data.train.target)
    rows = []
    for model in FILTERS:
        for p in FILTER_PRIORS:
            inclusion = store[selector(plan, model, p, 0)].inclusion
            for v, word in enumerate(data.vocabulary):
                rows.append(
                    {
                        "model": model,
                        "p": p,
                        "word": word,
                        "correlation": round(float(correlation[v]), 5),
                        "inclusion": round(float(inclusion[v]), 5),
                    }
                )
    return rows


def _figure(rows: list[dict[str, Any]]) -> Any:
    from matplotlib import pyplot

    pairs = [(model, p) for model in FILTERS for p in FILTER_PRIORS]
    figure, axes = pyplot.subplots(1, len(pairs), figsize=(13, 3.4), layout="constrained")
    rng = np.random.default_rng(0)
    for axis, (model, p) in zip(axes, pairs, strict=True):
        mine = [row for row in rows if row["model"] == model and row["p"] == p]
        x = np.array([row["correlation"] for row in mine])
        y = np.array([row["inclusion"] for row in mine])
        # Inclusion is 0 or 1 for nearly all: a little noise shows how many dots lie there.
        axis.scatter(x, y + rng.uniform(-0.02, 0.02, len(y)), s=3, alpha=0.35, c="#0072B2", lw=0)
        axis.set_title(f"{model}, p = {p:.2f}", fontsize=9)
        axis.set_xlabel("correlation with the target")
    axes[0].set_ylabel("inclusion φ (jittered by 0.02)")
    return figure
