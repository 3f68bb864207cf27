"""Order and workers of the whole suite: slow files first, each kernel compiled once."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm_kernels
from hypothesis import settings

# One thread per worker: more would compete for the same processors. Read when NumPy is imported,
# here and in the processes that tests start. Tests of threads ask for two.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# The first call of a kernel compiles it, which exceeds any deadline of hypothesis.
examples = 200 if os.environ.get("TOPICFOCUS_SLOW") else 50
settings.register_profile("compiled", deadline=None, max_examples=examples)
settings.load_profile("compiled")

#: The slowest files first: one that started last would run alone at the end.
SLOW_FILES = (
    "text/test_memory.py",
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
#: Files that share a cluster, a browser or the server of forked processes (support/forked.py): they
#: take seconds to start, so all files of a group run in one worker.
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
    """No progress messages, which a slow machine would mix into the output that tests compare."""
    from topicfocus import progress

    progress._FIRST = 3600.0


def pytest_configure(config: pytest.Config) -> None:
    """Compile kernels and bytecode before the workers start."""
    workers = getattr(config.option, "numprocesses", None)
    if hasattr(config, "workerinput") or not workers or config.option.collectonly:
        return
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False  # xdist would begin with the file of most tests
    collecting = collect_once(config)
    warm_kernels.warm()
    if collecting is not None:
        collecting.wait()


def collect_once(config: pytest.Config) -> subprocess.Popen | None:
    """Collect in one process if there is no bytecode yet, so that not every worker compiles it."""
    if sys.dont_write_bytecode or any(HERE.rglob("__pycache__/test_*-pytest-*.pyc")):
        return None
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *config.args]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=config.rootpath, stdout=nowhere, stderr=nowhere)


def pytest_collection_finish() -> None:
    """Exclude tests and modules from garbage collection: they live until the end."""
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
