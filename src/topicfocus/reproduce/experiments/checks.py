"""What belongs beside the main table: the original algorithm, the warning, bounds and models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.reproduce import paper
from topicfocus.reproduce.choice import mean_sd, results
from topicfocus.reproduce.models import MODELS
from topicfocus.reproduce.ours import BOUND_DATA
from topicfocus.reproduce.plan import Plan
from topicfocus.reproduce.rarity import random_words
from topicfocus.reproduce.sections import Section, markdown_table
from topicfocus.reproduce.store import RunStore
from topicfocus.reproduce.tasks import Task, load


def tasks(plan: Plan) -> list[Task]:
    """Fits beyond those of the main table."""
    return [*_bound_tasks(plan), *_start_tasks(plan)]


def sections(plan: Plan, store: RunStore, out: Section) -> list[str]:
    """Their text; tables are put into `out`."""
    return _rerun(plan, store, out) + _warning(plan, store, out) + _bounds(plan, store, out)


_RERUN_FIGURES = ("valid", "test", "pmi50", "npmi10", "agreement", "kept")


def _start_tasks(plan: Plan) -> list[Task]:
    """The paper's algorithm from other starts on one split: how much of the spread is theirs."""
    first = plan.task("pang_lee", 0, "pf-sLDA, all epochs", inclusion_prior=_bound_priors(plan)[0])
    return [replace(first, seed=start) for start in plan.splits]


def _rerun(plan: Plan, store: RunStore, out: Section) -> list[str]:
    """The original algorithm re-run on one split of ours, beside our own on all of them."""
    lines, rows = [], []
    for p in _bound_priors(plan):
        tasks = [
            plan.task("pang_lee", s, "pf-sLDA, all epochs", inclusion_prior=p) for s in plan.splits
        ]
        runs = [store[task].figures for task in tasks]
        for task, figures in zip(tasks, runs, strict=True):
            row = {"p": p, "split": task.data.split, "start": task.seed}
            rows.append(row | {k: figures[k] for k in _RERUN_FIGURES})
        error, coherence = paper.RERUN[p]
        every = [f[k] for f in runs for k in ("valid", "test")]
        lines.append(
            [
                f"{p:.2f}",
                f"{error:.3f}",
                f"{min(every):.3f} to {max(every):.3f}",
                mean_sd([f["valid"] for f in runs]),
                mean_sd([f["test"] for f in runs]),
                f"{coherence:.3f}",
                mean_sd([f["pmi50"] for f in runs]),
                mean_sd([f["npmi10"] for f in runs]),
                mean_sd([f["agreement"] for f in runs]),
            ]
        )
    starts = [store[task].figures for task in _start_tasks(plan)]
    for start, figures in enumerate(starts[1:], 1):
        row = {"p": _bound_priors(plan)[0], "split": 0, "start": start}
        rows.append(row | {k: figures[k] for k in _RERUN_FIGURES})
    out.tables["rerun"] = rows
    header = ["p", "RMSE, original code", "ours, all parts", "ours, validation", "ours, test"]
    return [
        "### The original algorithm",
        "The original code was run once on our 4,596 words, 500 epochs, one split (which is not "
        'recorded). Ours, `PFSLDARegressor(solver="gradient")`, on all splits, at '
        "the last epoch:",
        markdown_table(
            [*header, "coherence, original code", "ours", "npmi@10, ours", "agreement, ours"], lines
        ),
        f"From {len(starts)} starts on split 0, p = {_bound_priors(plan)[0]:.2f}: validation RMSE "
        f"{mean_sd([f['valid'] for f in starts])}, test {mean_sd([f['test'] for f in starts])}, "
        f"coherence {mean_sd([f['pmi50'] for f in starts])}.",
        _RERUN_TEXT,
    ]


_RERUN_TEXT = """So starts matter little and splits much: the RMSE of one fit on 626 documents has a
standard error of about 0.04, and validation and test part of the same fit differ by as much. The
original's single figures lie inside the range of our splits, nearer to its better end. Measured as
further reasons, on split 0 by scripts that are not kept: weighting words by φ, by φ > ½, or by the
mixture p β·θ + (1 - p) π (four fits), and the original's unconverged search for θ, 500 steps of
0.005 (one fit), change the RMSE by less than 0.03. The penalty on η (none there, 0.001 here) is
about 0.1 in a bound of millions; the order of documents (theirs is that of the file) counts among
the starts."""


def _warning(plan: Plan, store: RunStore, out: Section) -> list[str]:
    """Random rare words beside every model."""
    train = load(plan.key("pang_lee", 0)).train.counts
    drawn = random_words(train)
    out.tables["random_words"] = drawn
    lines = [
        [
            f"50 random words in {row['low']:.1%} to {row['high']:.0%} of documents",
            f"{row['pmi50']:.2f}",
            "",
            f"{row['npmi10']:.3f}",
            f"{row['log_ratio10']:.3f}",
            "-",
        ]
        for row in drawn
    ]
    beside = ("npmi10", "log_ratio10", "agreement")
    for model in plan.models():
        if not MODELS[model].topics:
            continue
        runs = [run.figures for _, run in results(plan, store, "pang_lee", model)]
        lines.append(
            [model]
            + [f"{np.mean([r[k] for r in runs]):.2f}" for k in ("pmi50", "pmi50_rarity")]
            + [f"{np.mean([r[k] for r in runs]):.3f}" for k in beside]
        )
    header = ["words", "paper's coherence@50", "by rarity alone"]
    return [
        "### Warning: the paper's coherence is mostly the rarity of the top words",
        "It adds 0.01 to every probability, so that independent words of document frequency f "
        "score log((f² + 0.01)/(f + 0.01)²): the rarer, the higher. Below, words drawn at random "
        "(20 draws each), and models; the third column is what a model's top words would score if "
        "they occurred independently of each other. On Pang & Lee:",
        markdown_table([*header, "npmi@10", "log ratio@10", "agreement"], lines),
        "No choice on this page is made by it.",
    ]


def _bound_tasks(plan: Plan) -> list[Task]:
    return [
        plan.task(data, split, model, inclusion_prior=p)
        for data in BOUND_DATA
        for p in _bound_priors(plan)
        for model in _bound_models(plan)
        for split in plan.splits
    ]


def _bound_models(plan: Plan) -> list[str]:
    return [model for model in plan.models() if model.startswith("pf-sLDA")]


def _bound_priors(plan: Plan) -> tuple[float, ...]:
    return (0.10,) if plan.quick else (0.10, 0.15)


def _bounds(plan: Plan, store: RunStore, out: Section) -> list[str]:
    """Better optimisation of the bound beside what it does to prediction."""
    lines, rows = [], []
    for data in BOUND_DATA:
        for p in _bound_priors(plan):
            for model in _bound_models(plan):
                runs = [store[plan.task(data, s, model, inclusion_prior=p)] for s in plan.splits]
                row = {"data": data, "p": p, "model": model}
                for key in ("bound", "test", "pmi50", "npmi10", "agreement"):
                    row[key] = float(np.mean([run.figures[key] for run in runs]))
                rows.append(row)
                lines.append(
                    [data, p, model, f"{row['bound']:.4f}", f"{row['test']:.3f}"]
                    + [f"{row[k]:.3f}" for k in ("pmi50", "npmi10", "agreement")]
                )
    out.tables["bounds"] = rows
    return [
        "### A higher bound is not a better model",
        "The same model and p, optimised three ways, the first of them at the epoch chosen on the "
        "validation part and at its last. The bound is a lower bound of log p(w, y) a "
        "training token, each model's own; the tight one is never below the paper's at the same "
        "parameters, but its row is at the epoch chosen on the validation part, early in the "
        "annealing of its selection. Mean over the splits.",
        markdown_table(
            ["data", "p", "model", "bound", "RMSE", "coherence@50", "npmi@10", "agreement"], lines
        ),
        _verdict(rows),
    ]


def _verdict(rows: list[dict[str, Any]]) -> str:
    """Coordinate ascent beside the last epoch of the paper's algorithm: the same bound, higher."""
    by_model: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_model.setdefault(row["model"], []).append(row)
    pairs = list(
        zip(by_model["pf-sLDA, coordinate ascent"], by_model["pf-sLDA, all epochs"], strict=True)
    )
    higher = sum(better["bound"] > paper["bound"] for better, paper in pairs)
    worse = sum(better["test"] > paper["test"] for better, paper in pairs)
    less = sum(better["agreement"] < paper["agreement"] for better, paper in pairs)
    return (
        f"Of {len(pairs)} pairs, coordinate ascent ends with a higher bound than the paper's "
        f"algorithm in {higher}, with a larger error in {worse}, with topics that agree less with "
        f"the target in {less}."
    )
