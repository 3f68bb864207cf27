"""The one runner of all experiments: tasks in, finished results as JSON lines, pages out.

A task is a dictionary of plain values, for example ``{"data": "yelp", "model": "focused", "split":
0}``; its result is a dictionary of metrics. Both together are one line of
``experiments/results/NAME.jsonl``. A task that has a line is not run again, so an interrupted
experiment continues where it stopped; delete the line to repeat a task.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

HERE = Path(__file__).parent
RESULTS = HERE / "results"

Task = dict[str, Any]
Record = dict[str, Any]


def read(name: str, folder: Path = RESULTS) -> list[Record]:
    """The finished records of an experiment."""
    path = folder / f"{name}.jsonl"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    try:
        return [json.loads(line) for line in lines if line]
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} has a damaged line, delete it: {error}") from None


def finished(name: str) -> list[Record]:
    """The records that a page is generated from."""
    records = read(name)
    if not records:
        raise SystemExit(f"experiments/results/{name}.jsonl has no results; run without --page")
    return records


def key(record: Record, fields: Iterable[str]) -> str:
    """The values that identify a task."""
    return json.dumps([record.get(field) for field in fields], sort_keys=True)


def run(
    name: str,
    tasks: Sequence[Task],
    work: Callable[[Task], dict[str, Any]],
    *,
    jobs: int = 2,
    folder: Path = RESULTS,
) -> list[Record]:
    """Run the tasks that have no record yet, and return the records of all of them, in order.

    `work` is called in `jobs` processes. Records are written here as they arrive. All tasks of an
    experiment have the same fields.
    """
    if not tasks:
        return []
    fields = list(tasks[0])
    done = {key(record, fields): record for record in read(name, folder)}
    todo = list({key(t, fields): t for t in tasks if key(t, fields) not in done}.values())
    folder.mkdir(parents=True, exist_ok=True)
    calls = (joblib.delayed(_timed)(work, task) for task in todo)
    finished = joblib.Parallel(n_jobs=min(jobs, len(todo)) or 1, return_as="generator_unordered")
    for number, record in enumerate(finished(calls), 1):
        with (folder / f"{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, default=_plain) + "\n")
        done[key(record, fields)] = record
        said = ", ".join(
            f"{field} {record[field]}" for field in fields if record[field] is not None
        )
        _say(f"[{number}/{len(todo)}] {said}: {record['cpu_seconds']:.1f} s")
    return [done[key(task, fields)] for task in tasks]


def _timed(work: Callable[[Task], dict[str, Any]], task: Task) -> Record:
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = work(task)
    return {**task, **found, "cpu_seconds": round(time.process_time() - began, 2)}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a value of a record")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def frame(records: Iterable[Record]) -> pd.DataFrame:
    """Records as a table."""
    return pd.DataFrame(list(records))


# ---- pages ---------------------------------------------------------------------------------------


def mean_sd(values: Iterable[float | None], form: str = "{:.3f}", *, sd: bool = True) -> str:
    """Mean (standard deviation) of the known values, "-" where there are none."""
    known = [float(v) for v in values if v is not None and np.isfinite(v)]
    if not known:
        return "-"
    text = form.format(np.mean(known))
    return text + (f" ({form.format(np.std(known, ddof=1))})" if sd and len(known) > 1 else "")


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


#: A column of a summary: field of the records, title, format of its values.
Column = tuple[str, str, str]


def summary(
    table: pd.DataFrame, by: Sequence[str], columns: Sequence[Column], *, sd: bool = True
) -> str:
    """One row per group: the group, its number of records, mean (standard deviation) of columns."""
    rows = []
    for name, group in table.groupby(list(by), sort=False):
        cells = [mean_sd(group.get(field, ()), form, sd=sd) for field, _, form in columns]
        rows.append([*name, len(group), *cells])
    return markdown([*by, "runs", *(title for _, title, _ in columns)], rows)


def write_page(path: Path, *parts: str) -> None:
    """A page of Markdown, paragraph by paragraph."""
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def arguments(description: str | None, data: Sequence[str], splits: int) -> Any:
    """The command line that all experiments have."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("data", nargs="*", default=list(data), help=f"of {', '.join(data)}")
    parser.add_argument("--splits", type=int, default=splits)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--page", action="store_true", help="write the page from finished results")
    args = parser.parse_args()
    unknown = sorted(set(args.data) - set(data))
    if unknown:
        parser.error(f"unknown {', '.join(unknown)}; there are {', '.join(data)}")
    return args


def grid(**values: Iterable[Any]) -> list[Task]:
    """Every combination of the values, the last name varying fastest."""
    return [dict(zip(values, each, strict=True)) for each in product(*values.values())]


def experiment(
    name: str,
    description: str | None,
    data: Sequence[str],
    splits: int,
    tasks: Callable[[Sequence[str], range], list[Task]],
    work: Callable[[Task], dict[str, Any]],
    page: Callable[[], list[str]],
    *,
    jobs: int | None = None,
    file: str | None = None,
) -> None:
    """The command of an experiment: run the tasks that have no record, then write the page."""
    args = arguments(description, data, splits)
    if not args.page:
        run(name, tasks(args.data, range(args.splits)), work, jobs=jobs or args.jobs)
    write_page(HERE / (file or f"{name.upper()}.md"), *page())
