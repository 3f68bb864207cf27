"""Run tasks in processes, show progress, keep what is finished.

Fits are independent, so each is one process with one thread: the result of a fit does not depend on
the number of processes, and two fits at once are faster than one fit with two threads.

The processes compute and write nothing; this one keeps what they hand back. So Ctrl-C may end them
wherever they are, and a file that is being written is undone where it is begun.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from topicfocus.reproduce.execute import execute
from topicfocus.reproduce.models import MODELS
from topicfocus.reproduce.store import Run, RunStore
from topicfocus.reproduce.tasks import Task

#: Seconds that the end of a process may take that was told to end.
_PATIENCE = 10.0


@dataclass(frozen=True)
class Failure:
    """A task that did not end, and why."""

    task: Task
    reason: str


def needs(task: Task) -> tuple[Task, ...]:
    """Tasks that must be finished first: those it reads, or the one whose by-product it is."""
    model = MODELS.get(task.model)
    if model is not None and model.comes_with is not None:
        return (replace(task, model=model.comes_with),)
    return () if task.words is None or task.words.of is None else (task.words.of,)


def with_needs(tasks: Iterable[Task]) -> list[Task]:
    """The tasks and what they read, each once, needs first."""
    out: dict[Task, None] = {}
    for task in tasks:
        for needed in with_needs(needs(task)):
            out.setdefault(needed)
        out.setdefault(task)
    return list(out)


def fits_behind(tasks: Iterable[Task]) -> list[Task]:
    """The fits that tasks rest on, each once: a by-product has the seconds of its fit."""
    every = with_needs(tasks)
    return [t for t in every if t.model not in MODELS or not MODELS[t.model].comes_with]


def cost(task: Task) -> float:
    """Seconds, roughly: for the bar, and to begin with what takes longest."""
    if task.model not in MODELS:
        return 1.0
    scale = {"eicu": 0.3, "synthetic": 2.0}.get(task.data.name, 1.0)
    few = task.data.docs is not None and task.data.docs <= 1000
    return MODELS[task.model].cost * scale * (0.2 if few else 1.0)


def run_tasks(
    tasks: Iterable[Task], store: RunStore, jobs: int | None = None, quiet: bool = False
) -> list[Failure]:
    """Run every task that the store lacks; returns those that failed.

    An interrupt is raised again when the processes have ended; finished runs are in the store.
    """
    every = with_needs(tasks)
    todo = [task for task in every if task not in store]
    # Longest first, so that no long one is left over at the end; data sets stay together.
    todo.sort(
        key=lambda task: (len(with_needs([task])), -cost(task), task.data.name, task.data.split)
    )
    failures: list[Failure] = []
    if not todo:
        return failures
    jobs = jobs or os.cpu_count() or 1
    began = time.perf_counter()
    try:
        _run(todo, len(every) - len(todo), store, jobs, quiet, failures)
    finally:
        finished = sum(task in store for task in todo)
        store.add_call(finished, time.perf_counter() - began, jobs)
    return failures


def _run(
    todo: list[Task],
    finished: int,
    store: RunStore,
    jobs: int,
    quiet: bool,
    failures: list[Failure],
) -> None:
    with _progress(todo, finished, quiet) as report:
        # A fork of a process that has run threads may hang; a fresh one costs a second.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(min(jobs, len(todo)), context, initializer=_begin_worker)
        try:
            _drain(pool, todo, store, failures, report)
        except BaseException:
            # What runs now is lost, at most `jobs` fits; what is finished is kept.
            processes = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
            for process in processes:
                process.join(_PATIENCE)
            raise
        pool.shutdown()


def _drain(
    pool: ProcessPoolExecutor,
    todo: list[Task],
    store: RunStore,
    failures: list[Failure],
    report: Any,
) -> None:
    waiting = list(todo)
    running: dict[Future, Task] = {}
    while waiting or running:
        for task in list(waiting):
            lost = [needed for needed in needs(task) if any(f.task == needed for f in failures)]
            if lost:
                waiting.remove(task)
                failures.append(Failure(task, f"it needs {lost[0].title}, which failed"))
                report(task, None)
            elif task in store:  # it came with another one
                waiting.remove(task)
                report(task, 0.0)
            elif all(needed in store for needed in needs(task)):
                waiting.remove(task)
                running[pool.submit(_work, task, store.folder)] = task
        if not running:
            continue
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            task = running.pop(future)
            try:
                seconds, runs = future.result()
                for finished, run in runs.items():
                    store.put(finished, run)
                report(task, seconds)
            except BrokenProcessPool as error:
                raise RuntimeError(
                    f"a process died during {task.title}: perhaps the memory was full. Run the "
                    "same command again to go on, with fewer --jobs."
                ) from error
            except Exception as error:
                failures.append(Failure(task, f"{type(error).__name__}: {error}"))
                report(task, None)


def _begin_worker() -> None:
    """Ctrl-C reaches the whole group; the parent ends its children by itself.

    A parent that is killed cannot: then they end when they see that it is gone, instead of going
    on for hours with nobody waiting.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _work(task: Task, folder: Path) -> tuple[float, dict[Task, Run]]:
    """One task in a process of its own, which only reads the store: its seconds and its runs."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = execute(task, RunStore(folder))
    return time.perf_counter() - began, runs


@contextmanager
def _progress(todo: list[Task], finished: int, quiet: bool) -> Iterator[Any]:
    """A bar on a terminal; a line a run elsewhere; nothing if quiet."""
    if quiet:
        yield lambda task, seconds: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as Remaining

    console = Console(stderr=True)
    already = f", {finished} already finished" if finished else ""
    print(f"{len(todo)} runs to do{already}.", file=sys.stderr, flush=True)
    counter = 0

    def line(task: Task, seconds: float | None) -> str:
        state = "failed" if seconds is None else f"{seconds:.1f} s"
        return f"[{counter}/{len(todo)}] {task.title}: {state}"

    if not console.is_terminal:

        def plain(task: Task, seconds: float | None) -> None:
            nonlocal counter
            counter += 1
            print(line(task, seconds), file=sys.stderr, flush=True)

        yield plain
        return
    columns = (BarColumn(20), TextColumn("{task.fields[runs]}"), TimeElapsedColumn())
    with Progress(*columns, TextColumn("left"), Remaining(), console=console) as bar:
        total = sum(cost(task) for task in todo)
        handle = bar.add_task("runs", total=total, runs=f"0/{len(todo)} runs")

        def draw(task: Task, seconds: float | None) -> None:
            nonlocal counter
            counter += 1
            bar.console.print(line(task, seconds), highlight=False, markup=False)
            bar.update(handle, advance=cost(task), runs=f"{counter}/{len(todo)} runs")

        yield draw
