"""A progress bar for `verbose=True`, drawn on a terminal or in a notebook only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from topicfocus.solvers import StepInfo

#: From so many columns a title and the names of all figures fit on the line.
_WIDE = 120


@contextmanager
def progress_bar(
    title: str, n_words: int | None, enabled: bool, figure: str = "bound/token"
) -> Iterator[Callable[[StepInfo, int], None] | None]:
    """Yields a callback for `solvers.run`: epoch, objective, validation, kept words, time left."""
    if not enabled:
        yield None
        return
    # Imported here: a quarter of the time of `import topicfocus` otherwise.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    # A file or a pipe gets nothing: control characters in a log help nobody.
    if not (console.is_terminal or console.is_jupyter):
        yield None
        return
    narrow = console.width < _WIDE
    if narrow:
        # Everything that is asked for still fits 80 columns: no title, no time gone by.
        print(title, file=console.file)
        columns: list[ProgressColumn] = [BarColumn(10)]
    else:
        columns = [TextColumn("[bold]{task.description}"), BarColumn()]
    columns += [MofNCompleteColumn(), TextColumn("{task.fields[figures]}")]
    columns += [TextColumn("left"), TimeRemainingColumn()]
    if not narrow:
        columns.insert(4, TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(title, total=None, figures="compiling")
        validation = math.nan  # looked at in some steps only: the last one seen stays

        def report(info: StepInfo, epochs: int) -> None:
            nonlocal validation
            figures = f"{info.objective:.2f}" if narrow else f"{figure} {info.objective:.4f}"
            if math.isfinite(info.validation):
                validation = info.validation
            if math.isfinite(validation):
                figures += f"  validation {validation:.3f}"
            if n_words is not None:
                figures += f"  kept {info.kept}/{n_words}"
            bar.update(task, total=epochs, completed=info.epoch, figures=figures)

        yield report
        bar.update(task, total=bar.tasks[0].completed or 1)
