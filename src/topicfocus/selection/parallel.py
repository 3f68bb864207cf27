"""Many fits on all cores: in processes, told of one by one, sharing what they have in common."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib.parallel import LokyBackend, get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from topicfocus.counts import ChunkedCounts
from topicfocus.estimators.progress import counting_lines
from topicfocus.kernels.threads import n_threads
from topicfocus.selection.helpers import work_together

T = TypeVar("T")

#: Stages of a focused fit (solvers/focus) that only depend on the documents and on these.
_OF_DOCUMENTS = ("evidence", "all evidence")
#: Parameters that no word's evidence depends on.
_AFTER_EVIDENCE = frozenset(
    (
        "n_topics",
        "inclusion_prior",
        "doc_topic_prior",
        "supervision_weight",
        "keep_words",
        "drop_words",
        "max_epochs",
        "early_stopping",
        "themes",
        "n_jobs",
        "verbose",
    )
)
#: Sets of documents whose stages a process remembers; fits come ordered by fold.
_REMEMBERED = 2

_STAGES: OrderedDict[str, dict[str, Any]] = OrderedDict()


class SharedStages:
    """A store of `solvers.checkpoints`: evidence of the same documents is computed once a process.

    Fits are not changed by it: a stage depends on nothing but the documents and the parameters in
    the key. Themes depend on the number of topics, too.
    """

    def __init__(self, documents: str, model: Any) -> None:
        params = model.get_params(deep=False)
        rest = sorted((k, repr(v)) for k, v in params.items() if k not in _AFTER_EVIDENCE)
        self._topics = params.get("n_topics")
        self._kept = _STAGES.setdefault(f"{documents} {type(model).__name__} {rest}", {})
        while len(_STAGES) > _REMEMBERED:
            _STAGES.popitem(last=False)

    def _key(self, name: str) -> str | None:
        if name in _OF_DOCUMENTS:
            return name
        return f"{name} {self._topics}" if name == "themes" else None

    def get(self, name: str) -> Any:
        key = self._key(name)
        return None if key is None else self._kept.get(key)

    def put(self, name: str, value: Any) -> None:
        key = self._key(name)
        if key is not None:
            self._kept[key] = value

    def due(self) -> bool:
        return False


def forget_stages() -> None:
    """Let go of what fits in this process have shared."""
    _STAGES.clear()


def run_all(
    work: Callable[..., T],
    tasks: Sequence[tuple[Any, ...]],
    take: Callable[[T], None],
    n_jobs: int | None,
) -> None:
    """``take(work(*task))`` for every task as it is done, on so many cores.

    On those that the user has told joblib to use, if there are such (`joblib.parallel_config`).
    """
    jobs = min(n_threads(n_jobs), len(tasks))
    if jobs <= 1:
        for task in tasks:
            take(work(*task))
    elif isinstance(get_active_backend()[0], LokyBackend):
        work_together(work, tasks, take, jobs)
    else:
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
        for found in parallel(delayed(work)(*task) for task in tasks):
            take(found)


def jobs_for(X: Any, n_jobs: int | None) -> int | None:
    """Fits at a time: one, where a fit reads from disk or runs on a cluster, which has many hands.

    Such counts cannot be handed to other processes, and two fits would need twice the memory.
    """
    return 1 if isinstance(X, ChunkedCounts) else n_jobs


@contextmanager
def refusing_interrupts() -> Iterator[None]:
    """Ctrl-C ends the work: a model of fewer steps than asked for must not count as a fit."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="The fit was interrupted")
        try:
            yield
        except Warning as warning:
            if str(warning).startswith("The fit was interrupted"):
                raise KeyboardInterrupt from None
            raise


@contextmanager
def progress_of(title: str, total: int, enabled: bool) -> Iterator[Callable[[str], None]]:
    """Yields a function to be called after each fit: a bar on a terminal or in a notebook, else
    lines that say how far it is."""
    if not enabled:
        with counting_lines(title, total, enabled, bar=False) as count:
            yield count
        return
    from rich.console import Console

    console = Console(stderr=True)
    bar = bool(console.is_terminal or console.is_jupyter)
    with counting_lines(title, total, enabled, bar) as count:
        if not bar:
            yield count
            return
        with _bar(console, title, total) as advance:

            def both(note: str) -> None:
                advance(note)
                count(note)

            yield both


@contextmanager
def _bar(console: Any, title: str, total: int) -> Iterator[Callable[[str], None]]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total, note="")

        def advance(note: str) -> None:
            bar.update(task, advance=1, note=note)

        yield advance
