"""The whole suite: the slow files begin first, and no kernel is compiled by two workers at once."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm_kernels
from hypothesis import settings

# Workers share the processors: threads of BLAS, or ours, on top of them only wait for one another.
# Read when NumPy is imported, here and in the processes that tests start. Tests of threads ask for
# two of them.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Kernels compile on their first call, which no deadline of hypothesis survives. In CI examples are
# the same each time: more of them are for whoever has the time.
examples = 200 if os.environ.get("TOPICFOCUS_SLOW") else 50
settings.register_profile("compiled", deadline=None, max_examples=examples)
settings.load_profile("compiled")

#: Files that take longest, the longest first: one of them begun last would be waited for alone.
SLOW_FILES = (
    "report",
    "distributed",
    "cli",
    "test_pages.py",
    "experiments",
    "estimators/test_sklearn_checks.py",
    "kernels",
    "families",
    "test_examples.py",
    "selection",
    "joint",
    "estimators",
)
#: Files that share what takes a worker seconds to start: a cluster, a browser, or the server of
#: forked processes (support/forked.py). All of a group go to one worker, one after another.
GROUPS = {
    "cluster": ("distributed/",),
    "browser": ("report/",),
    "forked": (
        "cli/",
        "adversity/test_faults.py",
    ),
}

HERE = Path(__file__).parent


@pytest.fixture(autouse=True, scope="session")
def no_lines_of_progress() -> None:
    """On a slow machine a fit of a test would say how far it is, among what the test compares."""
    from topicfocus import progress

    progress._FIRST = 3600.0


def pytest_configure(config: pytest.Config) -> None:
    """Before workers start, compile what all of them use: kernels, and tests for Python."""
    workers = getattr(config.option, "numprocesses", None)
    if hasattr(config, "workerinput") or not workers or config.option.collectonly:
        return
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # xdist would begin with the file of most tests
    collecting = collect_once(config)
    warm_kernels.warm(processes=min(2, os.cpu_count() or 1))
    if collecting is not None:
        collecting.wait()


def collect_once(config: pytest.Config) -> subprocess.Popen | None:
    """Collect in a process whose bytecode is for all workers, if there is none of these tests.

    They collect at the same time, and each would compile the tests and what these import: 8 s.
    """
    if sys.dont_write_bytecode or any(HERE.rglob("__pycache__/test_*-pytest-*.pyc")):
        return None
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *config.args]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=config.rootpath, stdout=nowhere, stderr=nowhere)


def pytest_collection_finish() -> None:
    """Thousands of tests and all modules stay until the end: the collector need not look again."""
    gc.collect()
    gc.freeze()


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """`--dist loadfile`, but the files of a group count as one."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            for group, names in GROUPS.items():
                if any(f"tests/{name}" in file for name in names):
                    return group
            return file

    return Scheduling(config, log) if config.option.dist == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        name = item.path.relative_to(HERE).as_posix()
        found = [
            i for i, slow in enumerate(SLOW_FILES) if name == slow or name.startswith(slow + "/")
        ]
        return min(found, default=len(SLOW_FILES))

    items.sort(key=rank)  # stable: the order inside a file is its own
