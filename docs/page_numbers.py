"""Fill the numbers, tables and outputs of pages from result files; `--check` fails if one is stale.

    python docs/page_numbers.py            # rewrites README.md and docs/*.md
    python docs/page_numbers.py --check    # as CI does: no experiment is run

Marked places of a page:

    <!-- n: NAME -->0.87<!-- /n -->           a number of `NUMBERS`
    <!-- table: NAME -->...<!-- /table -->    a table of `TABLES`
    <!-- output -->                           what the block of Python above printed (docs/guide.py)

Results are in experiments/results/*.jsonl (each experiment writes its own) and docs/results/.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
RESULTS = ROOT / "experiments" / "results"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
NUMBER = re.compile(r"(<!-- n: ([\w-]+) -->).*?(<!-- /n -->)", re.S)
TABLE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- /table -->)", re.S)
NAMES = {
    "yelp": "Yelp",
    "pang_lee": "Pang & Lee",
    "imdb": "IMDB",
    "poliblog": "political blogs",
    "eicu": "intensive care",
    "newsgroups": "newsgroups",
}
ERRORS = {"yelp": "RMSE ↓", "pang_lee": "RMSE ↓", "newsgroups": "accuracy ↑"}


def records(name: str) -> list[dict[str, Any]]:
    """The records of an experiment."""
    text = (RESULTS / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines() if line]


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def span(values: Iterable[float], form: str) -> str:
    """From the smallest to the largest value."""
    ends = [form.format(f(list(values))) for f in (min, max)]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


# ---- numbers -------------------------------------------------------------------------------------


def kept_range() -> str:
    """Fraction of the vocabulary that automatic selections keep: means of the data sets."""
    kept: dict[str, list[float]] = {}
    for record in records("themes"):
        if record["model"] == "themes":
            kept.setdefault(record["data"], []).append(record["kept"])
    return span([float(np.mean(values)) for values in kept.values()], "{:.0%}")


def effect_intervals(name: str) -> list[float]:
    """Of intervals of effects, the fraction that excludes zero, or that contains the truth."""
    found: dict[str, list[tuple[int, int]]] = {}
    for record in records("effect_intervals"):
        if name in record:
            found.setdefault(record["case"], []).append((record[name], record["intervals"]))
    return [sum(a for a, _ in rows) / sum(b for _, b in rows) for rows in found.values()]


def coverage80() -> str:
    """Coverage of 80% prediction intervals of the focused model."""
    found: dict[str, list[float]] = {}
    for record in records("intervals"):
        if record["model"] == "FocusedTopicRegressor" and record["data"] in ("yelp", "pang_lee"):
            found.setdefault(record["data"], []).append(record["coverage"]["0.8"])
    return span([float(np.mean(values)) for values in found.values()], "{:.0%}")


NUMBERS: dict[str, Callable[[], str]] = {
    "kept_range": kept_range,
    "noise_topic_effects": lambda: span(effect_intervals("excluded"), "{:.1%}"),
    "covered_topic_effects": lambda: span(effect_intervals("inside"), "{:.0%}"),
    "coverage80": coverage80,
}

# ---- tables --------------------------------------------------------------------------------------


#: Models of the comparison, as records and as tables call them.
MODELS = {
    "focused": "topics",
    "remainder": "topics and remainder",
    "linear": "linear",
    "embeddings": "embeddings + linear",
    "bertopic": "BERTopic + linear",
    "lda": "LDA + linear",
    "slda": "sLDA",
    "pfslda": "pf-sLDA",
}
#: Without these a data set is not in the tables.
NEEDED = ("focused", "remainder", "linear", "lda")


def scores(data: str, model: str) -> dict[int, float]:
    """Held-out error, AUC or accuracy, by split."""
    done = records("comparison") if (RESULTS / "comparison.jsonl").exists() else []
    mine = (r for r in done if (r["data"], r["model"]) == (data, model))
    return {r["split"]: r["score"] for r in mine if r["score"] is not None}


def compared() -> list[str]:
    """Data sets with two splits at least of every model that is needed."""
    return [d for d in NAMES if min(len(scores(d, model)) for model in NEEDED) > 1]


def short_comparison() -> str:
    """Held-out error beside the strongest linear model, and LDA where that was compared."""
    if not compared():
        return remainder()
    return _comparison({name: MODELS[name] for name in NEEDED})


def paired_remainder() -> str:
    """Paired differences from the linear model in the remainder's experiment."""
    done, rows = records("remainder"), []
    for data in NAMES:
        mine, cells = [record for record in done if record["data"] == data], []
        for model in ("topics", "remainder"):
            gap = np.array([record[model] - record["regression"] for record in mine])
            if len(gap) > 1:
                cells.append(f"{gap.mean():+.3f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.3f}")
        if cells:
            rows.append([f"{NAMES[data]}, {ERRORS.get(data, 'AUC ↑')}", *cells])
    return markdown(["data, metric", "topics - linear", "topics and remainder - linear"], rows)


def remainder() -> str:
    """Held-out error of topics alone and with the remainder, and of the linear model."""
    done, rows = records("remainder"), []
    for data in NAMES:
        mine = [record for record in done if record["data"] == data]
        if len(mine) < 2:
            continue
        cells = []
        for model in ("topics", "remainder", "regression"):
            values = [record[model] for record in mine]
            cells.append(f"{np.mean(values):.3f} ({np.std(values, ddof=1):.3f})")
        rows.append([f"{NAMES[data]}, {ERRORS.get(data, 'AUC ↑')}", *cells, len(mine)])
    return markdown(["data, metric", "topics", "topics and remainder", "linear", "splits"], rows)


def comparison() -> str:
    """Held-out error of all models; without results of these, of the remainder's experiment."""
    return _comparison(MODELS) if compared() else remainder()


def _comparison(models: dict[str, str]) -> str:
    rows = []
    for data in compared():
        cells = []
        for model in models:
            values = list(scores(data, model).values())
            spread = f" ({np.std(values, ddof=1):.3f})" if len(values) > 1 else ""
            cells.append(f"{np.mean(values):.3f}{spread}" if values else "-")
        splits = min(len(scores(data, model)) for model in NEEDED)
        rows.append([f"{NAMES[data]}, {ERRORS.get(data, 'AUC ↑')}", *cells, splits])
    return markdown(["data, metric", *models.values(), "splits"], rows)


def paired() -> str:
    """Paired differences from the linear model, with standard errors."""
    if not compared():
        return paired_remainder()
    rows, others = [], [model for model in MODELS if model != "linear"]
    for data in compared():
        linear, cells = scores(data, "linear"), []
        for model in others:
            ours = scores(data, model)
            gap = np.array([ours[split] - linear[split] for split in ours if split in linear])
            error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
            cells.append(f"{gap.mean():+.3f} ± {error:.3f}" if len(gap) > 1 else "-")
        rows.append([f"{NAMES[data]}, {ERRORS.get(data, 'AUC ↑')}", *cells])
    return markdown(["data, metric", *(f"{MODELS[model]} - linear" for model in others)], rows)


def readability() -> str:
    """The table of the page of blind reading."""
    path = ROOT / "experiments" / "READABILITY.md"
    if not path.exists():
        return ""
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


TABLES: dict[str, Callable[[], str]] = {
    "short-comparison": short_comparison,
    "comparison": comparison,
    "readability": readability,
    "paired": paired,
}

# ---- pages ---------------------------------------------------------------------------------------


def with_outputs(text: str, printed: Sequence[str]) -> str:
    """The page with what its blocks of Python printed."""
    block = re.compile(
        r"^```python\n.*?^```\n(?P<shown>\n<!-- output -->\n```text\n.*?^```)?", re.M | re.S
    )
    outputs = iter(printed)

    def shown(match: re.Match[str]) -> str:
        output = next(outputs, "")
        if match["shown"] is None:
            return match[0]
        begin = match.start("shown") - match.start()
        return f"{match[0][:begin]}\n<!-- output -->\n```text\n{output}\n```"

    return block.sub(shown, text)


def fill(text: str, page: str, printed: dict[str, list[str]]) -> str:
    """The text of a page with current numbers, tables and outputs."""
    text = NUMBER.sub(lambda m: m[1] + NUMBERS[m[2]]() + m[3], text)
    text = TABLE.sub(lambda m: f"{m[1]}{TABLES[m[2]]()}\n{m[3]}", text)
    return with_outputs(text, printed[page]) if page in printed else text


def main() -> int:
    """Rewrite the pages, or name those that are stale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; 1 if one is stale")
    check = parser.parse_args().check
    guide = DOCS / "results" / "guide.json"
    printed = json.loads(guide.read_text(encoding="utf-8")) if guide.exists() else {}
    stale = []
    for path in PAGES:
        old = path.read_text(encoding="utf-8")
        new = fill(old, path.stem, printed)
        if new != old:
            stale.append(path)
            if not check:
                path.write_text(new, encoding="utf-8")
    names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
    if check and stale:
        print(f"Not the numbers of the result files: {names}. Run: python docs/page_numbers.py")
        return 1
    print(f"filled: {names}" if stale else "All numbers are those of the result files.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
