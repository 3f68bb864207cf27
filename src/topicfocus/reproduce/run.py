"""All of it: check what is needed, run what is missing, write the page."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from topicfocus.datasets import find_data
from topicfocus.reproduce.execute import SYNTHETIC
from topicfocus.reproduce.experiments import EXPERIMENTS
from topicfocus.reproduce.page import HEADING, write_page
from topicfocus.reproduce.plan import Plan
from topicfocus.reproduce.runner import Failure, run_tasks
from topicfocus.reproduce.store import RunStore
from topicfocus.reproduce.tasks import Task


@dataclass(frozen=True)
class Outcome:
    """What a reproduction did.

    Attributes
    ----------
    page : Path
    experiments : list of str
        Experiments on the page.
    failures : list
        Runs that failed; the experiments that need them are not on the page.
    seconds : float
    """

    page: Path
    experiments: list[str]
    failures: list[Failure]
    seconds: float


def folders(out: Path, quick: bool) -> tuple[Path, Path]:
    """Where the page and the finished runs go; a quick look never touches the real page."""
    place = out / "quick" if quick else out
    return place, place / "runs"


def reproduce(
    experiments: Sequence[str] | None = None,
    *,
    out: str | Path = "experiments",
    quick: bool = False,
    jobs: int | None = None,
    quiet: bool = False,
) -> Outcome:
    """Run experiments of the paper and write RESULTS.md, tables/*.csv and figures/*.png.

    Finished runs are kept in ``out/runs``: an interrupted call goes on when it is made again, and
    experiments that need the same fits share them.

    Parameters
    ----------
    experiments : list of str, optional
        "table", "curves", "topics", "filtering", "synthetic", "top-words", "posthoc"; default all.
    out : path-like, default="experiments"
    quick : bool, default=False
        Fewer documents, words and splits, in ``out/quick``: to see that everything runs.
    jobs : int, optional
        Processes at a time; default: one a core.
    quiet : bool, default=False
        No progress.

    Returns
    -------
    Outcome
        Where the page is, and what is on it.

    Raises
    ------
    ValueError
        If no experiment has such a name.
    ImportError
        If matplotlib is not installed.
    FileNotFoundError
        If a data set is not there; it says how to get it.
    FileExistsError
        If the folder has a page, tables or figures that are none of ours.

    Examples
    --------
    Data sets first (``topicfocus.datasets.download``); then ``reproduce(["table"], quick=True)``
    writes ``experiments/quick/RESULTS.md``. A name that does not exist is told before any work:

    >>> from topicfocus.reproduce import reproduce
    >>> reproduce(["tables"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: no experiment is called 'tables'; there are table, curves, ...
    """
    names = list(EXPERIMENTS) if experiments is None else list(experiments)
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise ValueError(
            f"no experiment is called {unknown[0]!r}; there are {', '.join(EXPERIMENTS)}"
        )
    plan = Plan(quick)
    every = [task for name in names for task in EXPERIMENTS[name].tasks(plan)]
    check_ready(every)
    place, runs = folders(Path(out), quick)
    check_ours(place)
    store = RunStore(runs)
    began = time.perf_counter()
    failures = run_tasks(every, store, jobs, quiet)
    seconds = time.perf_counter() - began
    place.mkdir(parents=True, exist_ok=True)
    shown = write_page(plan, store, place)
    return Outcome(place / "RESULTS.md", shown, failures, seconds)


def check_ours(place: Path) -> None:
    """A folder that is new, or has a page of ours: somebody else's pages are not replaced."""
    page, names = place / "RESULTS.md", ("tables", "figures")
    if page.is_file():
        with page.open(encoding="utf-8", errors="replace") as stream:
            if stream.readline().strip() == HEADING:
                return
    elif (place / "runs").is_dir() or not any((place / name).exists() for name in names):
        return
    raise FileExistsError(
        f"{place} has a RESULTS.md, tables or figures that are none of ours: they are not "
        "replaced. Choose another folder: out= (--out)."
    )


def check_ready(tasks: Sequence[Task]) -> None:
    """Matplotlib and every data set are there: said before hours of work, not after."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError("the figures need matplotlib: pip install 'topicfocus[reproduce]'.")
    for name in dict.fromkeys(task.data.name for task in tasks):
        if name != SYNTHETIC:
            find_data(name)
