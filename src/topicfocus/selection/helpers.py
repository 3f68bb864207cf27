"""Many pieces of work on all cores: in this process, and in helpers beside it once these pay.

A new process imports and reads kernels for seconds, in which this one can do as much work as it
would wait for. So it works, too: with four jobs there are three helpers, and none is started before
what waits would take longer than they need to begin. Tasks go to whoever is free. What comes of one
is handed over at once, so that nothing finished is lost if the others end in an error.
"""

from __future__ import annotations

import signal
import tempfile
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import joblib
import sklearn
from joblib.externals.loky import ProcessPoolExecutor

from topicfocus.selection.documents import Data

T = TypeVar("T")
Task = tuple[Any, ...]

#: Seconds that a helper needs before it can do anything, about.
START_SECONDS = 2.5
#: How often it is asked whether helpers pay.
_ASK_SECONDS = 0.1
#: Sets of documents that a helper remembers: their large arrays are maps of files.
_REMEMBERED = 4


def work_together(
    work: Callable[..., T], tasks: Sequence[Task], take: Callable[[T], None], jobs: int
) -> None:
    """``take(work(*task))`` for every task, in any order, `take` never twice at a time.

    An error of a task, of `take` or of a helper ends it, as an interrupt does; helpers are then
    stopped in the midst of what they do. Where none can be started all is done here, and a warning
    says so.
    """
    waiting = _Waiting(tasks, take)
    with tempfile.TemporaryDirectory(prefix="topicfocus-", ignore_cleanup_errors=True) as folder:
        helpers = _Helpers(work, waiting, jobs - 1, Path(folder))
        try:
            helpers.watch()
            while (task := waiting.next()) is not None:
                waiting.done(work(*task))
                waiting.complain()
            waiting.wait()
            waiting.complain()
        except BaseException:
            helpers.end(at_once=True)
            raise
        helpers.end(at_once=False)
    if helpers.missing is not None:
        warnings.warn(
            f"No helper process could be started ({helpers.missing}), so all work was done by this "
            "one. With n_jobs=1 none is tried, and fits use all cores.",
            UserWarning,
            stacklevel=2,
        )


class _Waiting(Generic[T]):
    """Tasks that nobody has begun, and what is done with the results."""

    def __init__(self, tasks: Sequence[Task], take: Callable[[T], None]) -> None:
        self._tasks, self._take = deque(tasks), take
        self._left = len(tasks)
        self._began, self._longest = time.monotonic(), 0.0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._error: BaseException | None = None

    def next(self) -> Task | None:
        """The next task, for whoever is free."""
        try:
            return self._tasks.popleft()
        except IndexError:
            return None

    def put_back(self, task: Task) -> None:
        """Nobody has begun it after all."""
        self._tasks.appendleft(task)

    def done(self, result: T) -> None:
        with self._lock:
            if self._error is None:  # else it is too late: whoever waited was told of that
                self._take(result)
            self._left -= 1
            now = time.monotonic()
            self._longest, self._began = max(self._longest, now - self._began), now
            if self._left == 0:
                self._over.set()

    def failed(self, error: BaseException) -> None:
        """A helper has ended in an error: nobody is to begin anything."""
        self._tasks.clear()
        self._error = self._error or error
        self._over.set()

    def complain(self) -> None:
        """The error of a helper is one of whoever gave the work."""
        if self._error is not None:
            raise self._error

    def wait(self) -> None:
        """Until everything is done, or something has failed."""
        self._over.wait()

    def seconds(self) -> float:
        """How long one process would take for what waits, by the longest task so far."""
        return len(self._tasks) * max(self._longest, time.monotonic() - self._began)


class _Helpers(Generic[T]):
    """Processes that take tasks from those that wait."""

    def __init__(
        self, work: Callable[..., T], waiting: _Waiting[T], most: int, folder: Path
    ) -> None:
        self._work, self._waiting, self._most = work, waiting, most
        self._files = _Files(folder)
        self._ended = threading.Event()
        self._watching = threading.Thread(target=self._begin_when_it_pays, daemon=True)
        self._executor: ProcessPoolExecutor | None = None
        self.missing: OSError | None = None
        # As it is here: scikit-learn's settings, and which warnings are errors.
        self._config, self._filters = sklearn.get_config(), list(warnings.filters)

    def watch(self) -> None:
        self._watching.start()

    def _begin_when_it_pays(self) -> None:
        saved = self._most / (self._most + 1)
        while not self._ended.wait(_ASK_SECONDS):
            if saved * self._waiting.seconds() >= START_SECONDS:
                self._begin()
                return

    def _begin(self) -> None:
        try:
            self._executor = ProcessPoolExecutor(
                self._most,
                job_reducers={Data: self._files.reduce},
                initializer=_begin_helper,
                # Each has one core. BLAS reads this when it is loaded.
                env={f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")},
            )
            for _ in range(self._most):
                self._give()
        except OSError as error:  # no room for more processes; they are started with the first task
            self.missing = error
            if self._executor is not None:
                self._executor.shutdown(kill_workers=True)
                self._executor = None
        except BaseException as error:
            self._waiting.failed(error)

    def _give(self) -> None:
        """One more task for whoever is free."""
        task = self._waiting.next()
        if task is None:
            return
        assert self._executor is not None
        try:
            future = self._executor.submit(_help, self._config, self._filters, self._work, task)
        except BaseException:
            self._waiting.put_back(task)
            raise
        future.add_done_callback(self._given_back)

    def _given_back(self, future: Any) -> None:
        """Called by a thread of the executor, that would swallow an error."""
        try:
            self._waiting.done(future.result())
            self._give()
        except BaseException as error:
            self._waiting.failed(error)

    def end(self, at_once: bool) -> None:
        self._ended.set()
        self._watching.join()
        if self._executor is not None:
            # Helpers that have nothing to do end by themselves, half a second later.
            self._executor.shutdown(wait=at_once, kill_workers=at_once)


class _Files:
    """Documents as files: written once, and mapped into the memory of those who read them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[int, tuple[Data, str]] = {}  # who is kept has a number of its own

    def reduce(self, data: Data) -> tuple[Callable[[str], Data], tuple[str]]:
        """How a helper gets them (as for pickle)."""
        if id(data) not in self._written:
            path = str(self._folder / f"{len(self._written)}.joblib")
            joblib.dump(data, path)
            self._written[id(data)] = data, path
        return _read, (self._written[id(data)][1],)


@lru_cache(maxsize=_REMEMBERED)
def _read(path: str) -> Data:
    data: Data = joblib.load(path, mmap_mode="c")
    return data


def _begin_helper() -> None:
    """A Ctrl-C is for whoever has started it, and who then stops it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _help(config: dict[str, Any], filters: list[Any], work: Callable[..., T], task: Task) -> T:
    """A task in a helper, with the settings of who gave it."""
    with sklearn.config_context(**config), warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.filters.extend(filters)  # type: ignore[attr-defined]  # it is a list
        return work(*task)
