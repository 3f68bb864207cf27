"""Forked processes of a server that has imported the package.

A start of Python with NumPy, SciPy, scikit-learn and numba takes seconds, and the kernels are read
from the cache after that. Tests that need a process of its own for a signal, a limit or a terminal,
but not for its start, fork it from a server that has imported and run the package once
(multiprocessing's forkserver). What such a process does from then on is its own.
"""

from __future__ import annotations

import io
import multiprocessing
import multiprocessing.forkserver
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

_HERE = Path(__file__).resolve().parent
_SOURCE = _HERE.parents[1] / "src"


def server(*more: str) -> Any:
    """The forkserver, started with this folder and the package on its path.

    It has imported and run what `warm_command` does, and if it was not there before, `more`.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["warm_command", *more])
    paths = [str(_HERE), str(_SOURCE), os.environ.get("PYTHONPATH", "")]
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, paths))):
        multiprocessing.forkserver.ensure_running()
    return context


class Forked:
    """A running process, with what tests use of `subprocess.Popen`.

    Parameters
    ----------
    work : callable
        Called with `arguments` in the process; what it returns is the exit code.
    arguments : sequence
        They are pickled, as is `work`.
    terminal : str, optional
        Path of the terminal that is its standard input, output and error; without one, output
        goes to files, and `communicate` reads them.
    cwd : path, optional
        Folder it runs in.
    env : dict, optional
        Variables of its environment besides those of the tests.
    file_size : int, optional
        No file of it can grow beyond that many bytes.
    """

    def __init__(
        self,
        work: Callable[..., int | None],
        *arguments: Any,
        terminal: str | None = None,
        cwd: Any = None,
        env: dict[str, str] | None = None,
        file_size: int | None = None,
    ) -> None:
        folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        names = [os.path.join(folder, name) for name in ("stdin", "stdout", "stderr")]
        Path(names[0]).touch()
        streams = [terminal] * 3 if terminal else names
        self._outputs = [] if terminal else names[1:]
        place = (None if cwd is None else str(cwd), env or {}, file_size)
        self._process = server().Process(target=_run, args=(streams, place, work, arguments))
        self._process.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("a forked process", timeout or 0.0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end: what it printed to standard output and standard error."""
        self.wait(timeout)
        out, err = (Path(name).read_text(encoding="utf-8") for name in self._outputs)
        return out, err


def _run(
    streams: Sequence[str],
    place: tuple[str | None, dict[str, str], int | None],
    work: Callable[..., int | None],
    arguments: Sequence[Any],
) -> None:
    """In the new process: its streams, folder, environment and limits, then the work."""
    # The tests may have been started with SIGINT ignored (a background job).
    signal.signal(signal.SIGINT, signal.default_int_handler)
    modes = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (name, mode) in enumerate(zip(streams, modes, strict=True)):
        opened = os.open(name, mode | os.O_NOCTTY, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = _text(0, "r"), _text(1, "w"), _text(2, "w")
    folder, variables, file_size = place
    if folder is not None:
        os.chdir(folder)
    os.environ.update(variables)
    if file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    sys.exit(work(*arguments))


def _text(number: int, mode: str) -> io.TextIOWrapper:
    """A standard stream as Python opens it: by lines in a terminal, and for errors."""
    lines = -1 if mode == "r" or not (os.isatty(number) or number == 2) else 1
    return open(number, mode, buffering=lines, encoding="utf-8", closefd=False)  # type: ignore
