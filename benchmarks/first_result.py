"""Time to the first result: `topicfocus demo` with an empty kernel cache and again, and `--help`.

python benchmarks/first_result.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time


def seconds(*args: str, cache: str) -> float:
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "topicfocus", *args],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
    )
    return time.perf_counter() - began


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        print(f"demo, empty kernel cache   {seconds('demo', cache=cache):6.2f} s")
        print(f"demo, second time          {seconds('demo', cache=cache):6.2f} s")
        print(f"--help                     {seconds('--help', cache=cache):6.2f} s")


if __name__ == "__main__":
    main()
