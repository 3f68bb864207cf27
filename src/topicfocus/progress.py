"""Progress of fits for `verbose=True`: a bar on a terminal or in a notebook, else plain lines."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from topicfocus.joint.solver import Progress, StepInfo

#: Seconds until the first plain line; the time between lines then doubles, up to the second number.
_FIRST, _LAST = 10.0, 300.0


@contextmanager
def show_progress(title: str, enabled: bool = True) -> Iterator[Progress | None]:
    """Yield the callback that displays progress; None if not `enabled`."""
    if not enabled:
        yield None
        return
    # Imported here: it would take a quarter of the time of `import topicfocus`.
    from rich.console import Console

    console = Console(stderr=True)
    # Files and pipes get plain lines, because a bar needs control characters.
    if not (console.is_terminal or console.is_jupyter):
        yield PlainLines(title)
        return
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    began, pace = time.monotonic(), Pace()
    with Bar(BarColumn(12), TextColumn("{task.description}", markup=False), console=console) as bar:
        task = bar.add_task(title, total=None)

        def update(
            stage: str, done: int = 0, total: int | None = None, info: StepInfo | None = None
        ) -> None:
            elapsed = time.monotonic() - began
            text = describe(stage, done, total, info, elapsed, pace.left(done, total, elapsed))
            # Without the title: what follows the remaining time may be cut at 80 columns.
            bar.update(task, completed=done, total=total, description=text)

        yield update


class PlainLines:
    """Prints lines to standard error at growing intervals: about 15 in an hour."""

    def __init__(self, title: str) -> None:
        self._title, self._began = title, time.monotonic()
        self._wait, self._pace = _FIRST, Pace()

    def __call__(
        self, stage: str, done: int = 0, total: int | None = None, info: StepInfo | None = None
    ) -> None:
        elapsed = time.monotonic() - self._began
        left = self._pace.left(done, total, elapsed)
        if elapsed < self._wait:
            return
        self._wait = elapsed + min(elapsed, _LAST)
        with suppress(OSError, ValueError):  # standard error is closed
            line = describe(stage, done, total, info, elapsed, left)
            print(f"{self._title}: {line}", file=sys.stderr, flush=True)


class Pace:
    """The remaining time, from the steps after the first one: the stages before it come once."""

    def __init__(self) -> None:
        self._first: tuple[int, float] | None = None

    def left(self, done: int, total: int | None, elapsed: float) -> float | None:
        """Seconds until `total` steps are done; None before the second step."""
        if total is None or not done:
            return None
        if self._first is None:
            self._first = (done, elapsed)
        first, began = self._first
        return (elapsed - began) / (done - first) * (total - done) if done > first else None


def describe(
    stage: str,
    done: int,
    total: int | None,
    info: StepInfo | None,
    elapsed: float,
    left: float | None = None,
) -> str:
    """One line: stage, steps, time, the remaining time if it is known, and metrics."""
    parts = [stage]
    if total is not None:
        parts.append(f"{done:,} of {total:,}")
    parts.append(duration(elapsed))
    if left is not None:
        parts.append(f"at most {duration(left)} left")
    if info is not None:
        parts.append(f"{info.kept:,} words")
        if math.isfinite(info.validation):
            parts.append(f"validation {info.validation:.3f}")
        parts.append(f"objective {info.objective:.4f}")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """A time such as "40 s", "12 min" or "2 h 5 min"."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
