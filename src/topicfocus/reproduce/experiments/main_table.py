"""Experiment 1: coherence and prediction of every model on every data set, beside the paper's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from topicfocus.reproduce import paper
from topicfocus.reproduce.choice import better_is_higher, chosen_runs, mean_sd
from topicfocus.reproduce.models import MODELS
from topicfocus.reproduce.ours import BOUND_DATA
from topicfocus.reproduce.plan import TITLES, Plan
from topicfocus.reproduce.rarity import random_words
from topicfocus.reproduce.sections import Section, markdown_table
from topicfocus.reproduce.store import Run, RunStore
from topicfocus.reproduce.tasks import Task, load

NAME = "table"
TITLE = "Main table: coherence and prediction"

#: In place of the paper's private health records.
STAND_INS = ("eicu", "diabetes")
COLUMNS = (
    ("test", "{:.3f}"),
    ("pmi50", "{:.3f}"),
    ("npmi10", "{:.3f}"),
    ("log_ratio10", "{:.3f}"),
    ("agreement", "{:.3f}"),
    ("lexicon_right", "{:.1f}"),
    ("lexicon_wrong", "{:.1f}"),
    ("kept", "{:.1%}"),
)


def tasks(plan: Plan) -> list[Task]:
    return [
        task
        for data in plan.data
        for model in plan.models()
        for split in plan.splits
        for task in plan.grid(data, split, model)
    ] + [*_bound_tasks(plan), *_start_tasks(plan)]


def results(plan: Plan, store: RunStore, data: str, model: str) -> list[tuple[Task, Run]]:
    """The chosen run of each split."""
    return chosen_runs([plan.grid(data, split, model) for split in plan.splits], store)


def section(plan: Plan, store: RunStore) -> Section:
    out = Section(TITLE)
    out.body.append(
        "Mean (standard deviation) over the splits, test part. Lexicon: words of the two extreme "
        "topics, of 20, with the right and with the wrong sign. Kept: share of words with an "
        "inclusion above 0.99. Seconds: one fit of the chosen setting, one thread, beside other "
        "processes. Chosen: how often each setting was best on the validation part. **Read the "
        "paper's coherence with the warning below; npmi@10 and target agreement are what we judge "
        "topics by.**"
    )
    rows: list[dict[str, Any]] = []
    for data in plan.data:
        out.body += [f"### {TITLES[data]}", _describe(plan, data), _table(plan, store, data, rows)]
    out.tables["main"] = rows
    out.body += [
        "### All of it in one picture",
        "Further right and further up is better; bars are standard deviations over the splits.",
        "![prediction against agreement and npmi](figures/main.png)",
    ]
    out.seconds = sum(store[task].figures["seconds"] for task in tasks(plan))
    out.body += _differences(plan, store)
    out.body += _rerun(plan, store, out)
    out.body += _warning(plan, store, out)
    out.body += _bounds(plan, store, out)
    out.figures["main"] = lambda: _figure(plan, store)
    return out


def _describe(plan: Plan, data: str) -> str:
    example = load(plan.key(data, 0))
    sizes = "/".join(
        f"{part.counts.shape[0]:,}" for part in (example.train, example.valid, example.test)
    )
    figure = "AUC, higher is better" if better_is_higher(data) else "RMSE, lower is better"
    text = (
        f"{sizes} documents, {len(example.vocabulary):,} words, {len(plan.splits)} splits; "
        f"{figure}."
    )
    if data in STAND_INS:
        theirs = "; ".join(
            f"{model} {score.mean:.3f} and {coherence.mean:.3f}"
            for (name, model), (coherence, score) in paper.MAIN.items()
            if name == "asd"
        )
        text += f" On its private records the paper has an AUC and a coherence of: {theirs}."
    return text


def _table(plan: Plan, store: RunStore, data: str, rows: list[dict[str, Any]]) -> str:
    score = "AUC" if better_is_higher(data) else "RMSE"
    header = ["model", score, f"paper's {score}", "coherence@50", "paper's", "npmi@10"]
    header += ["log ratio@10", "agreement", "lexicon", "kept", "seconds", "chosen"]
    published = "asd" if data in STAND_INS else data
    lines = []
    for model in plan.models():
        found = results(plan, store, data, model)
        values = {name: [run.figures.get(name) for _, run in found] for name, _ in COLUMNS}
        cells = {name: mean_sd(values[name], shape) for name, shape in COLUMNS}
        theirs = paper.MAIN.get((published, model))
        beside = ["-", "-"]
        if theirs is not None and published == data:
            beside = [f"{t.mean:.3f} ({t.sd:.3f})" for t in theirs]
        lexicon = "-"
        if any(v is not None for v in values["lexicon_right"]):
            lexicon = " / ".join(
                mean_sd(values[f"lexicon_{w}"], "{:.1f}").split(" ")[0] for w in ("right", "wrong")
            )
        chosen = Counter(_short(task) for task, _ in found)
        choice = ", ".join(f"{name}: {n}" for name, n in chosen.most_common() if name)
        seconds = float(np.mean([run.figures["seconds"] for _, run in found]))
        lines.append(
            [
                model,
                cells["test"],
                beside[1],
                cells["pmi50"],
                beside[0],
                cells["npmi10"],
                cells["log_ratio10"],
                cells["agreement"],
                lexicon,
                cells["kept"],
                f"{seconds:.1f}",
                choice or "-",
            ]
        )
        for task, run in found:
            rows.append(
                {
                    "data": data,
                    "model": model,
                    "split": task.data.split,
                    "setting": _short(task),
                    **{k: v for k, v in run.figures.items() if v is not None},
                }
            )
    return markdown_table(header, lines)


def _short(task: Task) -> str:
    return " ".join(f"{v:g}" if isinstance(v, float) else str(v) for _, v in task.settings)


def _differences(plan: Plan, store: RunStore) -> list[str]:
    """Where we differ from the paper, by how much, and the likely reason."""
    lines = []
    for (data, model), (coherence, score) in paper.MAIN.items():
        if data not in plan.data or model not in plan.models():
            continue
        runs = [run for _, run in results(plan, store, data, model)]
        ours = float(np.mean([run.figures["test"] for run in runs]))
        pmi = float(np.mean([run.figures["pmi50"] for run in runs]))
        lines.append(
            [
                data,
                model,
                f"{ours - score.mean:+.3f}",
                f"{(ours - score.mean) / score.sd:+.1f}",
                f"{pmi - coherence.mean:+.3f}",
                f"{(pmi - coherence.mean) / coherence.sd:+.1f}",
            ]
        )
    table = markdown_table(
        ["data", "model", "score - paper's", "in its sd", "coherence - paper's", "in its sd"],
        lines,
    )
    return ["### Differences from the paper", table, _REASONS]


_REASONS = """Likely reasons. The splits of the paper are not public: ours are five random ones, and
its standard deviations are presumably over starts on one split, so they do not contain the spread
between splits, which alone is 0.02 to 0.05 RMSE here. Its Yelp sample is another one. Its
vocabulary on Pang & Lee has 4,596 words by a rule that gives 7,819; ours are the 4,596 most
frequent. Our sLDA is fitted by coordinate ascent, the paper's by Adam; our pc-sLDA differentiates
through the optimum of θ and looks at roots of counts, the paper's unrolls an inexact inner loop.
Epochs are chosen on the validation part here; the paper does not say how it chose them, and took
settings by a mix of coherence and prediction, while we choose by prediction alone."""


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
            rows.append(row | {k: figures[k] for k in ("valid", "test", "pmi50", "kept")})
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
            ]
        )
    starts = [store[task].figures for task in _start_tasks(plan)]
    for start, figures in enumerate(starts[1:], 1):
        row = {"p": _bound_priors(plan)[0], "split": 0, "start": start}
        rows.append(row | {k: figures[k] for k in ("valid", "test", "pmi50", "kept")})
    out.tables["rerun"] = rows
    header = ["p", "RMSE, original code", "ours, all parts", "ours, validation", "ours, test"]
    return [
        "### The original algorithm",
        "The original code was run once on our 4,596 words, 500 epochs, one split (which is not "
        'recorded). Ours, `PFSLDARegressor(solver="gradient")`, on all splits, at '
        "the last epoch:",
        markdown_table([*header, "coherence, original code", "ours"], lines),
        f"From {len(starts)} starts on split 0, p = {_bound_priors(plan)[0]:.2f}: validation RMSE "
        f"{mean_sd([f['valid'] for f in starts])}, test {mean_sd([f['test'] for f in starts])}, "
        f"coherence {mean_sd([f['pmi50'] for f in starts])}.",
        _RERUN_TEXT,
    ]


_RERUN_TEXT = """The RMSE of one fit on 626 documents has a standard error of about 0.04, and
validation and test part of the same fit differ by as much. Measured as a reason for the rest, on
split 0 by scripts that are not kept: weighting words by φ, by φ > ½, or by the mixture
p β·θ + (1 - p) π (four fits), and the original's unconverged search for θ, 500 steps of 0.005 (one
fit), change the RMSE by less than 0.03. Known differences that were not measured: a penalty on η
(none there, 0.001 here) and the order of documents (theirs is that of the file)."""


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
        "The same model and p, optimised three ways. The bound is a lower bound of log p(w, y) a "
        "training token, each model's own; the tight one is never below the paper's at the same "
        "parameters, but its row is at the epoch chosen on the validation part, early in the "
        "annealing of its selection. Mean over the splits.",
        markdown_table(
            ["data", "p", "model", "bound", "RMSE", "coherence@50", "npmi@10", "agreement"], lines
        ),
    ]


def _figure(plan: Plan, store: RunStore) -> Any:
    """Prediction against target agreement and npmi, a panel a data set."""
    from matplotlib import pyplot

    shown = [m for m in plan.models() if MODELS[m].topics]
    figure, axes = pyplot.subplots(
        2, len(plan.data), figsize=(3.4 * len(plan.data), 6.4), squeeze=False, layout="constrained"
    )
    colours: Any = pyplot.get_cmap("tab20")
    for j, data in enumerate(plan.data):
        for i, measure in enumerate(("agreement", "npmi10")):
            axis = axes[i, j]
            for m, model in enumerate(shown):
                runs = [run.figures for _, run in results(plan, store, data, model)]
                x, y = ([r[k] for r in runs] for k in ("test", measure))
                marker = "*" if model == "focused" else "os^vDPX"[m % 7]
                axis.errorbar(
                    np.nanmean(x),
                    np.nanmean(y),
                    xerr=np.nanstd(x),
                    yerr=np.nanstd(y),
                    fmt=marker,
                    color=colours(m),
                    ms=11 if model == "focused" else 6,
                    lw=1,
                    label=model,
                )
            words = [r.figures["test"] for _, r in results(plan, store, data, "roots of words")]
            axis.axvline(np.mean(words), color="grey", lw=1, ls="--", label="regression on words")
            axis.set_ylabel("target agreement" if i == 0 else "npmi@10")
            axis.set_xlabel("AUC" if better_is_higher(data) else "RMSE")
            if not better_is_higher(data):
                axis.invert_xaxis()  # better is to the right everywhere
            axis.set_title(TITLES[data].split(" (")[0], fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    return figure
