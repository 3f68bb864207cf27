"""`topicfocus reproduce`: the paper's experiments."""

from __future__ import annotations

import argparse
from pathlib import Path

from topicfocus.cli.console import Remarks, print_json, result_console
from topicfocus.workflow.errors import Interrupted, SettingError
from topicfocus.workflow.interrupts import noting_interrupts
from topicfocus.workflow.leftovers import clear_files
from topicfocus.workflow.printable import printable


def run(args: argparse.Namespace) -> int:
    """Run experiments, or list them."""
    from topicfocus.reproduce.experiments import EXPERIMENTS
    from topicfocus.reproduce.run import folders, reproduce

    chosen = args.experiment
    if chosen != "all" and chosen is not None and chosen not in EXPERIMENTS:
        raise SettingError(
            f"no experiment is called {chosen!r}; there are {', '.join(EXPERIMENTS)}, and all."
        )
    if chosen is None:
        return _list(args)
    remarks = Remarks(args.quiet)
    # Ctrl-C leaves nothing; a process that is killed cannot help what it had begun.
    for folder in folders(Path(args.out), args.quick):
        clear_files(folder, remarks)
    try:
        with noting_interrupts():
            outcome = reproduce(
                None if chosen == "all" else [chosen],
                out=args.out,
                quick=args.quick,
                jobs=args.jobs,
                quiet=args.quiet,
            )
    except KeyboardInterrupt:
        raise Interrupted("Finished runs are kept; the same command goes on from them.") from None
    for failure in outcome.failures:
        remarks.warn(f"{failure.task.title}: {failure.reason}")
    if args.json:
        print_json(
            {
                "page": str(outcome.page),
                "experiments": outcome.experiments,
                "failed": [failure.task.title for failure in outcome.failures],
                "seconds": outcome.seconds,
            }
        )
    else:
        shown = ", ".join(outcome.experiments) or "no finished experiment"
        print(printable(f"{outcome.page}: {shown}."))
    return 1 if outcome.failures else 0


def _list(args: argparse.Namespace) -> int:
    """Names, titles, and how much of each is finished."""
    from topicfocus.reproduce.page import describe_experiments
    from topicfocus.reproduce.plan import Plan
    from topicfocus.reproduce.run import folders
    from topicfocus.reproduce.store import RunStore

    _, runs = folders(Path(args.out), args.quick)
    rows = describe_experiments(Plan(args.quick), RunStore(runs))
    if args.json:
        print_json(rows)
        return 0
    from rich import box
    from rich.table import Table

    console = result_console()
    table = Table(box=box.SIMPLE_HEAD)
    for title in ("experiment", "what", "fits", "finished"):
        table.add_column(title, justify="right" if title in ("fits", "finished") else "left")
    for row in rows:
        table.add_row(row["name"], row["title"], str(row["runs"]), str(row["finished"]))
    console.print(table)
    console.print("topicfocus reproduce NAME runs one of them, all runs them all.", markup=False)
    return 0
