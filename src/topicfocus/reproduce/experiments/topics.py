"""Experiment 3: the words of extreme topics, and all five topics on Pang & Lee.

Instead of by hand, words are marked by an opinion lexicon; codes of health records, for which there
is none, by whether documents of the test part that have them have higher or lower targets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.reproduce.execute import REVIEWS
from topicfocus.reproduce.lexicon import opinion_lexicon
from topicfocus.reproduce.plan import TITLES, Plan
from topicfocus.reproduce.sections import Section, markdown_table
from topicfocus.reproduce.store import RunStore
from topicfocus.reproduce.tasks import Task, load

NAME = "topics"
TITLE = "Topics"
MODELS = ("sLDA", "pc-sLDA", "pf-sLDA, all epochs", "focused")
TOP = 10
#: Codes are marked when their shrunken mean target is so far from the overall mean, in its sd.
CLEAR = 0.1
GREEN, RED, BLACK = "#1b7837", "#b2182b", "#222222"


def _task(plan: Plan, data: str, model: str) -> Task:
    settings: dict[str, Any] = {}
    if model == "pc-sLDA":
        settings = {"supervision_weight": 10.0}
    elif model.startswith("pf"):
        settings = {"inclusion_prior": 0.10}
    elif model == "focused":
        settings = {"inclusion_prior": "auto"}
    return plan.task(data, 0, model, **settings)


def tasks(plan: Plan) -> list[Task]:
    return [_task(plan, data, model) for data in plan.data for model in MODELS]


def word_signs(data: Any) -> np.ndarray:
    """1, -1 or 0 for each word: the lexicon's sign, or that of the targets of its documents."""
    if data.name in REVIEWS:
        lexicon = opinion_lexicon()
        signs = {} if lexicon is None else lexicon.signs
        return np.array([np.sign(signs.get(word, 0.0)) for word in data.vocabulary])
    present = sparse.csc_array(data.test.counts > 0, dtype=float)
    y = np.asarray(data.test.target, dtype=float)
    documents = np.diff(present.indptr)
    mean = (present.T @ (y - y.mean())) / (documents + 5.0)
    return np.where(np.abs(mean) > CLEAR * y.std(), np.sign(mean), 0.0)


def _words(run: Any, k: int) -> list[int]:
    order = np.argsort(-run.components[k], kind="stable")[:TOP]
    return [int(v) for v in order if run.components[k, v] > 0]


def _marked(words: list[int], data: Any, signs: np.ndarray) -> str:
    mark = {1.0: "⁺", -1.0: "⁻", 0.0: ""}
    return ", ".join(data.vocabulary[v].replace("|", "/") + mark[float(signs[v])] for v in words)


def section(plan: Plan, store: RunStore) -> Section:
    out = Section(TITLE)
    lexicon = opinion_lexicon()
    whose = "no lexicon was at hand, words are not marked" if lexicon is None else lexicon.name
    out.body.append(
        "Split 0; sLDA, pc-sLDA with λ = 10, pf-sLDA with p = 0.10 (as in the paper), focused with "
        f"its defaults. ⁺ and ⁻: the sign of a word in an opinion lexicon ({whose}); of a code, "
        "which no lexicon has, whether test documents with it have higher or lower targets."
    )
    rows = []
    for name in plan.data:
        data = load(plan.key(name, 0))
        signs = word_signs(data)
        lines = []
        for model in MODELS:
            run = store[_task(plan, name, model)]
            order = np.argsort(-run.coef)
            for label, k in (("highest", order[0]), ("lowest", order[-1])):
                words = _words(run, k)
                lines.append([model, f"{label}, {run.coef[k]:.2f}", _marked(words, data, signs)])
            for place, k in enumerate(order):
                for rank, v in enumerate(_words(run, k)):
                    rows.append(
                        {
                            "data": name,
                            "model": model,
                            "topic": place + 1,
                            "coefficient": float(run.coef[k]),
                            "rank": rank + 1,
                            "word": data.vocabulary[v],
                            "sign": int(signs[v]),
                        }
                    )
        out.body += [
            f"### {TITLES[name]}: topics with extreme coefficients",
            markdown_table(["model", "coefficient", "words"], lines),
        ]
    out.tables["topics"] = rows
    full = [row for row in rows if row["data"] == "pang_lee"]
    out.body += [
        "### All five topics on Pang & Lee",
        "![topics](figures/topics.png)",
        _full_table(full),
    ]
    out.figures["topics"] = lambda: _figure(full, whose)
    return out


def _of(rows: list[dict[str, Any]], model: str, topic: int) -> list[dict[str, Any]]:
    return [row for row in rows if row["model"] == model and row["topic"] == topic]


def _full_table(rows: list[dict[str, Any]]) -> str:
    mark = {1: "⁺", -1: "⁻", 0: ""}
    lines = []
    for topic in range(1, 6):
        cells = []
        for model in MODELS:
            mine = _of(rows, model, topic)
            words = ", ".join(row["word"] + mark[row["sign"]] for row in mine)
            cells.append(f"**{mine[0]['coefficient']:.2f}** {words}" if mine else "-")
        lines.append([str(topic), *cells])
    return markdown_table(["", *MODELS], lines)


def _figure(rows: list[dict[str, Any]], whose: str) -> Any:
    """Words in columns, coloured and with a sign, so that colour is not the only mark."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(MODELS), figsize=(13, 9.6), layout="constrained")
    colour = {1: GREEN, -1: RED, 0: BLACK}
    for axis, model in zip(axes, MODELS, strict=True):
        axis.set_axis_off()
        axis.set_xlim(0, 1)
        axis.set_ylim(59, -1)
        axis.set_title(model, fontsize=11, fontweight="bold", loc="left")
        line = 0
        for topic in range(1, 6):
            mine = _of(rows, model, topic)
            if not mine:
                continue
            axis.text(
                0, line, f"coefficient {mine[0]['coefficient']:.2f}", fontsize=9, style="italic"
            )
            for i, row in enumerate(mine):
                sign = {1: "+ ", -1: "− ", 0: "   "}[row["sign"]]
                axis.text(0.04, line + 1 + i, sign + row["word"], fontsize=9, c=colour[row["sign"]])
            line += 12
    figure.suptitle(
        f"Pang & Lee: five topics a model, words marked by the lexicon of {whose}", fontsize=11
    )
    return figure
