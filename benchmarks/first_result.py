"""Time to the first result: `topicfocus demo` with an empty kernel cache and again, and `--help`.

    python benchmarks/first_result.py
    PYTHONPATH=OTHER/src python benchmarks/first_result.py   # another version, to compare

On the clock and in processor time: a busy machine disturbs the second less. What the first run
needs more than the second is compilation.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time


def seconds(*args: str, cache: str) -> tuple[float, float]:
    """On the clock, and of the processor (children that ended, all threads)."""
    clock, before = time.perf_counter(), os.times()
    subprocess.run(
        [sys.executable, "-m", "topicfocus", *args],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
    )
    clock, after = time.perf_counter() - clock, os.times()
    user, system = (after[i] - before[i] for i in (2, 3))
    return clock, user + system


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        for what, args in (
            ("demo, empty kernel cache", ["demo"]),
            ("demo, second time", ["demo"]),
            ("--help", ["--help"]),
        ):
            clock, processor = seconds(*args, cache=cache)
            print(f"{what:26} {clock:6.2f} s, processor {processor:6.2f} s", flush=True)


if __name__ == "__main__":
    main()
