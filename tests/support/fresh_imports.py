"""Processes that have imported numba but not the package.

To start Python, import numba and have its compiler set up takes a second. A test of the cache of
kernels needs processes that import the package anew, whatever has become of its files, and several
of them: each is forked from one that has done the rest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SERVER = """
import json, os, sys, traceback
import numba, numpy, scipy.optimize, scipy.special, scipy.stats  # what the package imports

numba.njit(lambda x: x + 1.0)(1.0)  # sets up the compiler
assert not any(name.startswith("topicfocus") for name in sys.modules)
for line in sys.stdin:
    script, paths, arguments = json.loads(line)
    process = os.fork()
    if process == 0:
        code = 1
        try:
            sys.path[:0], sys.argv[1:] = paths, arguments
            exec(script, sys.modules["__main__"].__dict__)
            code = 0
        except BaseException:
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    print(f"\\nended {code}", flush=True)
"""


class Processes:
    """A function that runs a script in a process of its own; what it printed."""

    def __init__(self, server: subprocess.Popen) -> None:
        self._server: Any = server

    def __call__(self, script: str, *arguments: str, paths: list[str]) -> str:
        self._server.stdin.write(json.dumps([script, paths, arguments]) + "\n")
        self._server.stdin.flush()
        printed = ""
        while not printed.rpartition("\n")[2].startswith("ended "):
            line = self._server.stdout.readline()
            assert line, "the server of processes has ended"
            printed += line.rstrip("\n") if line.startswith("ended ") else line
        printed, _, code = printed.rpartition("\nended ")
        assert code == "0", f"exit code {code}\n{printed}"
        return printed


@contextmanager
def fresh_imports() -> Iterator[Processes]:
    """Processes that find the package in the paths given with each script."""
    env = {**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    pipes: dict = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", _SERVER], env=env, **pipes) as server:
        yield Processes(server)
        server.stdin.close()
