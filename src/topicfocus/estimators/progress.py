"""Progress for `verbose=True`: a bar on a terminal or in a notebook, elsewhere a few lines."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from topicfocus.solvers import StepInfo
from topicfocus.solvers.checkpoints import telling

#: From so many columns a title and the names of all figures fit on the line.
_WIDE = 120
#: Seconds until the first plain line; the time between two doubles, up to the last number.
_FIRST, _LAST = 10.0, 300.0

Emit = Callable[[str], object]
#: Who is told plain lines: where there is no terminal, and always (a log).
_LISTENERS: ContextVar[tuple[Emit | None, Emit | None]] = ContextVar(
    "topicfocus_progress", default=(None, None)
)


@contextmanager
def progress_lines(emit: Emit | None, always: Emit | None = None) -> Iterator[None]:
    """Plain lines of fits in this block go to `emit`, not to standard error, and to `always`."""
    token = _LISTENERS.set((emit, always))
    try:
        yield
    finally:
        _LISTENERS.reset(token)


def duration(seconds: float) -> str:
    """ "40 s", "12 min", "2 h 5 min"."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


class Lines:
    """Work that says from time to time how far it is, from a thread of its own.

    It speaks also while no step ends, and ever more rarely: an hour is some fifteen lines.
    """

    def __init__(
        self,
        title: str,
        emit: Emit,
        n_words: int | None = None,
        figure: str = "",
        first: float | None = None,
    ) -> None:
        self._title, self._emit, self._n_words, self._figure = title, emit, n_words, figure
        self._first = _FIRST if first is None else first
        self._began = time.monotonic()
        self._step: tuple[StepInfo, int] | None = None
        self._start: tuple[int, float] | None = None
        self._validation = math.nan
        self._phase = ""
        self._count: tuple[int, int, str] | None = None
        self._ended = threading.Event()

    def __enter__(self) -> Lines:
        threading.Thread(target=self._speak, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._ended.set()

    def phase(self, name: str) -> None:
        """A stage begins: its name is said."""
        self._phase = f", {name}"

    def report(self, info: StepInfo, epochs: int) -> None:
        """A step has ended."""
        if self._start is None:
            self._start = (info.epoch, time.monotonic())
        if math.isfinite(info.validation):
            self._validation = info.validation
        self._step = (info, epochs)

    def count(self, done: int, total: int, note: str = "") -> None:
        """So many of so many fits have ended."""
        self._count = (done, total, note)

    def _speak(self) -> None:
        wait = self._first
        while not self._ended.wait(wait):
            wait = min(time.monotonic() - self._began, _LAST)
            with suppress(OSError, ValueError):  # standard error that is gone
                self._emit(self.line())

    def line(self) -> str:
        """How far it is."""
        now = time.monotonic()
        gone = f"{duration(now - self._began)} gone"
        if self._count is not None:
            done, total, note = self._count
            if done:
                gone += f", some {duration((now - self._began) / done * (total - done))} left"
            said = [f"{self._title}: {done:,} of {total:,}", note, gone]
            return ", ".join(filter(None, said))
        title = f"{self._title}{self._phase}"
        if self._step is None or self._start is None:
            return f"{title}: {gone}"
        info, epochs = self._step
        parts = [f"{title}: step {info.epoch} of at most {epochs}"]
        if self._figure:
            parts.append(f"{self._figure} {info.objective:.4f}")
        if math.isfinite(self._validation):
            parts.append(f"validation {self._validation:.3f}")
        if self._n_words is not None:
            parts.append(f"kept {info.kept:,} of {self._n_words:,} words")
        first, at = self._start
        if info.epoch > first:
            left = (now - at) / (info.epoch - first) * (epochs - info.epoch)
            gone += f", at most {duration(left)} left"
        return ", ".join([*parts, gone])


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def listening(shown: Any) -> Iterator[None]:
    """In this block `shown.phase(name)` is called when a stage begins."""
    with telling(shown.phase):
        yield


@contextmanager
def counting_lines(
    title: str, total: int, enabled: bool, bar: bool
) -> Iterator[Callable[[str], None]]:
    """Yields a function to be called after each of `total` fits: lines where there is no bar.

    A log has them beside a bar, too.
    """
    emit, always = _LISTENERS.get()
    to = always if bar or not enabled else (emit or _to_stderr)
    if to is None:
        yield lambda _: None
        return
    done = 0
    with Lines(title.capitalize(), to) as lines:
        lines.count(done, total)

        def advance(note: str) -> None:
            nonlocal done
            done += 1
            lines.count(done, total, note)

        yield advance


@contextmanager
def progress_bar(
    title: str, n_words: int | None, enabled: bool, figure: str = "bound/token"
) -> Iterator[Callable[[StepInfo, int], None] | None]:
    """Yields a callback for `solvers.run`: epoch, objective, validation, kept words, time left."""
    emit, always = _LISTENERS.get()
    if not enabled:
        if always is None:
            yield None
            return
        with Lines(title, always, n_words, figure) as lines, listening(lines):
            yield lines.report
        return
    # Imported here: a quarter of the time of `import topicfocus` otherwise.
    from rich.console import Console

    console = Console(stderr=True)
    # A file or a pipe gets lines: control characters in a log help nobody.
    if not (console.is_terminal or console.is_jupyter):
        with Lines(title, emit or _to_stderr, n_words, figure) as lines, listening(lines):
            yield lines.report
        return
    if always is None:
        with _bar(console, title, n_words, figure) as report:
            yield report
        return
    with (
        Lines(title, always, n_words, figure) as lines,
        _bar(console, title, n_words, figure, lines) as report,
    ):

        def both(info: StepInfo, epochs: int) -> None:
            report(info, epochs)
            lines.report(info, epochs)

        yield both


@contextmanager
def _bar(
    console: Any, title: str, n_words: int | None, figure: str, also: Lines | None = None
) -> Iterator[Callable[[StepInfo, int], None]]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Steps(MofNCompleteColumn):
        """3/20; nothing while it is not known of how many."""

        def render(self, task: Task) -> Text:
            return Text() if task.total is None else super().render(task)

    class Left(TimeRemainingColumn):
        """How long it will take, with the same exception."""

        def render(self, task: Task) -> Text:
            return Text() if task.total is None else Text("left ").append(super().render(task))

    narrow = console.width < _WIDE
    if narrow:
        # Everything that is asked for still fits 80 columns: no title, no time gone by.
        print(title, file=console.file)
        columns: list[ProgressColumn] = [BarColumn(10)]
    else:
        columns = [TextColumn("[bold]{task.description}"), BarColumn()]
    columns += [Steps(), TextColumn("{task.fields[figures]}"), Left()]
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

        with listening(_Phase(bar, task, also)):
            yield report
        bar.update(task, total=bar.tasks[0].completed or 1)


class _Phase:
    """Shows the stage where the figures of a step will be; `also` is told as well."""

    def __init__(self, bar: Any, task: Any, also: Lines | None) -> None:
        self._bar, self._task, self._also = bar, task, also

    def phase(self, name: str) -> None:
        if self._also is not None:
            self._also.phase(name)
        self._bar.update(self._task, figures=name)
