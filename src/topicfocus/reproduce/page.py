"""The page: every finished experiment in one Markdown file, with its CSV files and figures."""

from __future__ import annotations

import os
import platform
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

from topicfocus.reproduce.experiments import EXPERIMENTS
from topicfocus.reproduce.fits import N_TOPICS
from topicfocus.reproduce.lexicon import opinion_lexicon
from topicfocus.reproduce.models import MODELS
from topicfocus.reproduce.ours import GRADIENT_STEPS
from topicfocus.reproduce.plan import Plan
from topicfocus.reproduce.runner import fits_behind, with_needs
from topicfocus.reproduce.sections import (
    Section,
    markdown_table,
    write_csv,
    write_figure,
    write_text,
)
from topicfocus.reproduce.store import RunStore
from topicfocus.reproduce.tasks import Task

#: The first line of every page, by which one is known.
HEADING = "# The paper, reproduced"


def finished(module: ModuleType, plan: Plan, store: RunStore) -> bool:
    return all(task in store for task in with_needs(module.tasks(plan)))


def write_page(plan: Plan, store: RunStore, out: Path) -> list[str]:
    """Write RESULTS.md, tables/ and figures/ of all experiments that are finished.

    Returns the names of the experiments on the page.
    """
    sections: dict[str, Section] = {}
    for name, module in EXPERIMENTS.items():
        if finished(module, plan, store):
            sections[name] = module.section(plan, store)
    (out / "tables").mkdir(parents=True, exist_ok=True)
    (out / "figures").mkdir(exist_ok=True)
    for section in sections.values():
        for name, rows in section.tables.items():
            write_csv(out / "tables" / f"{name}.csv", rows)
        for name, draw in section.figures.items():
            write_figure(out / "figures" / f"{name}.png", draw)
    write_text(out / "RESULTS.md", _page(plan, store, sections))
    return list(sections)


def _page(plan: Plan, store: RunStore, sections: dict[str, Section]) -> str:
    parts = [HEADING, plan.describe(), _how(plan), _settings(plan)]
    parts.append(_machine(plan, store, sections))
    for number, (name, module) in enumerate(EXPERIMENTS.items(), 1):
        if name not in sections:
            parts.append(f"## {number}. {module.TITLE}\n\nNot run: `topicfocus reproduce {name}`.")
            continue
        section = sections[name]
        parts.append(f"## {number}. {section.title}")
        parts += section.body
        files = ", ".join(f"[{t}.csv](tables/{t}.csv)" for t in section.tables)
        behind = fits_behind(module.tasks(plan))
        minutes = sum(store[task].figures["seconds"] for task in behind) / 60
        parts.append(
            f"`topicfocus reproduce {name}`; the {len(behind)} fits behind it take {minutes:.1f} "
            f"minutes one after another; data: {files}."
        )
    return "\n\n".join(parts) + "\n"


def _how(plan: Plan) -> str:
    lexicon = opinion_lexicon()
    return (
        "Made by `topicfocus reproduce all`. The experiments of the paper on public data: Pang & "
        "Lee's movie reviews with the paper's 4,596 words (the most frequent ones; the paper's "
        "stated rule gives 7,819), a sample of 10,000 Yelp reviews that is not the paper's, and, "
        "in place of its private health records of autistic patients, two public sets: the eICU "
        "demo (codes of the first 24 hours, target: death in hospital, split by patient) and the "
        "diabetes data of 130 hospitals (ICD-9 codes and drugs, target: readmission, split by "
        "patient, 20,000 of its training encounters). Figures of the paper stand "
        f"beside ours where the data are the same or of the same kind. Opinion lexicon: "
        f"{'none' if lexicon is None else lexicon.name}, used for marks and figures only."
    )


def _settings(plan: Plan) -> str:
    rows = [[name, MODELS[name].note] for name in plan.models()]
    left_out = plan.missing()
    text = (
        f"**Rule of every choice.** {len(plan.splits)} random splits (seeds 0 to "
        f"{plan.splits[-1]}, which are also the seeds of the fits), {N_TOPICS} topics. Parameters "
        "are fitted to the training part alone. Each setting of a model's grid is a fit; the one "
        "with the best validation RMSE or AUC is taken. Models fitted in epochs keep the epoch "
        'that explains the validation part best (about fifty looks a fit); "all epochs" is '
        "the end of the same path. The test part is used for the figures only. Settings of the "
        "focused model were developed on validation parts of these data sets, and test figures of "
        "earlier versions were seen on the way; splits share documents. The paper's algorithm: "
        f"Adam, step 0.025, batches of 100, about {GRADIENT_STEPS:,} steps on every data set "
        "(500 epochs of Pang & Lee).\n\n" + markdown_table(["model", "what it is"], rows)
    )
    if left_out:
        text += f"\n\nLeft out, not installed: {', '.join(left_out)}."
    return text


def _machine(plan: Plan, store: RunStore, sections: dict[str, Section]) -> str:
    every: dict[Task, None] = {}
    for name in sections:
        every.update(dict.fromkeys(with_needs(EXPERIMENTS[name].tasks(plan))))
    versions: dict[str, set[str]] = {}
    for task in every:
        for package, version in store[task].about.get("versions", {}).items():
            versions.setdefault(package, set()).add(version)
    own = fits_behind(every)
    seconds = sum(store[task].figures["seconds"] for task in own)
    listed = ", ".join(f"{name} {'/'.join(sorted(v))}" for name, v in versions.items())
    return (
        f"**Runs.** {len(own)} fits, {seconds / 60:.0f} minutes of one core in all, written on "
        f"{date.today().isoformat()} on {os.cpu_count()} cores ({platform.machine()}, "
        f"{platform.system()}).{_calls(store)} Versions: {listed}."
    )


def _calls(store: RunStore) -> str:
    """What the commands took by the clock; several if it was interrupted or done in parts."""
    calls = [
        f"{call.seconds / 60:.1f} minutes for {call.runs:,} results, {call.jobs} at a time"
        for call in store.calls()
        if call.runs
    ]
    if not calls:
        return ""
    return f" By the clock: {'; then '.join(calls)}."


def describe_experiments(plan: Plan, store: RunStore) -> list[dict[str, Any]]:
    """Name, title and state of each experiment."""
    out = []
    for name, module in EXPERIMENTS.items():
        every = with_needs(module.tasks(plan))
        done = sum(task in store for task in every)
        out.append({"name": name, "title": module.TITLE, "runs": len(every), "finished": done})
    return out
