"""Finished runs, one file each, so that an interrupted reproduction goes on where it stopped.

A file is a NumPy archive of arrays and one JSON text; nothing in it is ever executed. It appears
whole or not at all.
"""

from __future__ import annotations

import json
import time
import zipfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from topicfocus.persistence.atomic import replacing
from topicfocus.reproduce.tasks import Task

_CALLS = "calls.jsonl"
_ARRAYS = ("components", "coef", "inclusion", "valid", "test")


@dataclass(frozen=True)
class Run:
    """The result of a task.

    Attributes
    ----------
    figures : dict
        Measures of the fit by name, and "seconds".
    components, coef, inclusion : arrays, optional
        Over the whole vocabulary of the data.
    valid, test : arrays, optional
        Predictions of these parts.
    about : dict
        The task, versions of packages.
    """

    figures: dict[str, Any]
    components: Any = None
    coef: Any = None
    inclusion: Any = None
    valid: Any = None
    test: Any = None
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A command that ran something: how many runs it finished, in how many seconds of the clock."""

    runs: int
    seconds: float
    jobs: int
    day: str


class RunStore:
    """A folder of finished runs, and a list of the calls that made them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: dict[str, Run] = {}

    def path(self, task: Task) -> Path:
        return self.folder / f"{task.key}.npz"

    def __contains__(self, task: Task) -> bool:
        return self.path(task).is_file()

    def __getitem__(self, task: Task) -> Run:
        if task.key not in self._seen:
            self._seen[task.key] = self._read(task)
        return self._seen[task.key]

    def _read(self, task: Task) -> Run:
        path = self.path(task)
        try:
            with np.load(path, allow_pickle=False) as archive:
                meta = json.loads(str(archive["meta"]))
                arrays = {name: archive[name] for name in _ARRAYS if name in archive}
        except FileNotFoundError:
            raise KeyError(f"{task.title} has not been run") from None
        except (ValueError, OSError, KeyError, zipfile.BadZipFile) as error:
            # NumPy's own words are advice to load it unsafely: not repeated.
            raise ValueError(
                f"{path} is damaged or not a finished run; delete it and run again"
            ) from error
        return Run(meta["figures"], **arrays, about=meta["about"])

    def put(self, task: Task, run: Run) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        arrays = {n: getattr(run, n) for n in _ARRAYS if getattr(run, n) is not None}
        meta = json.dumps({"figures": run.figures, "about": run.about})
        with replacing(self.path(task)) as stream:
            np.savez_compressed(stream, meta=np.array(meta), **arrays)
        self._seen.pop(task.key, None)

    def add_call(self, runs: int, seconds: float, jobs: int) -> None:
        """Note a call, whole or interrupted, so that the page can say what all of it took."""
        call = Call(runs, round(seconds, 1), jobs, time.strftime("%Y-%m-%d"))
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / _CALLS).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(asdict(call)) + "\n")

    def calls(self) -> list[Call]:
        """Calls in their order."""
        path = self.folder / _CALLS
        if not path.is_file():
            return []
        try:
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            return [Call(**row) for row in rows]
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path} is not a list of calls ({error}); delete it") from error
