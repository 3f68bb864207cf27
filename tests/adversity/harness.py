"""Many odd inputs, each with a time limit, in processes that may be killed:

    python tests/adversity/harness.py --inputs 10000 --seed 0

Prints how many of each kind there were, the slowest, and every broken promise with the number by
which it can be repeated (`--only NUMBER`); exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import multiprocessing.connection
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIMIT = 60.0


def _work(pipe: Any, root: str, seed: int) -> None:
    """Of a process: cases as they come, until there are no more."""
    sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from broken import Broken
    from odd_inputs import kind_of, prepare, run_case

    place = Path(tempfile.mkdtemp(dir=root))
    fixed = prepare(place)
    pipe.send(None)
    while (number := pipe.recv()) is not None:
        began, kind, broken = time.monotonic(), kind_of(number), None
        try:
            run_case(kind, seed, number, place / "case", fixed)
        except Broken as error:
            broken = str(error)
        except BaseException as error:  # a fault of the case, or what nobody caught
            broken = f"{type(error).__name__}: {error}"
        pipe.send((number, kind, broken, time.monotonic() - began))


class Worker:
    """A process, and what it is doing since when."""

    def __init__(self, root: str, seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, root, seed), daemon=True)
        self.process.start()
        theirs.close()
        self.number: int | None = None
        self.since = time.monotonic()

    def give(self, number: int | None) -> None:
        self.number, self.since = number, time.monotonic()
        self.pipe.send(number)


def run(
    inputs: list[int], seed: int, workers: int, limit: float = LIMIT
) -> tuple[collections.Counter, list, list]:
    """Every case: how many of each kind, broken promises, and the seconds each took."""
    kinds: collections.Counter = collections.Counter()
    broken, seconds, waiting = [], [], list(reversed(inputs))
    with tempfile.TemporaryDirectory() as root:
        active = [Worker(root, seed) for _ in range(workers)]
        while active:
            ready = multiprocessing.connection.wait([w.pipe for w in active], timeout=1.0)
            for worker in list(active):
                late = time.monotonic() - worker.since > (
                    limit if worker.number is not None else 10 * limit
                )
                if worker.pipe not in ready and not late:
                    continue
                try:
                    if late:
                        raise EOFError
                    answer = worker.pipe.recv()
                except (EOFError, OSError):
                    if worker.number is None:
                        raise RuntimeError("a worker died before its first case") from None
                    what = f"no end after {limit:.0f} s" if late else "the process died"
                    broken.append((worker.number, "?", what))
                    worker.process.kill()
                    active.remove(worker)
                    if waiting:
                        active.append(Worker(root, seed))
                    continue
                if answer is not None:
                    number, kind, wrong, took = answer
                    kinds[kind] += 1
                    seconds.append((took, number, kind))
                    if wrong is not None:
                        broken.append((number, kind, wrong))
                        print(f"{number} ({kind}): {wrong[:1500]}", flush=True)
                if waiting:
                    worker.give(waiting.pop())
                else:
                    worker.pipe.send(None)
                    active.remove(worker)
    return kinds, broken, sorted(seconds, reverse=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="begin with this number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for an input")
    parser.add_argument("--only", type=int, nargs="+", help="repeat the cases of these numbers")
    args = parser.parse_args()
    began = time.monotonic()
    numbers = args.only or list(range(args.first, args.first + args.inputs))
    kinds, broken, seconds = run(numbers, args.seed, args.workers, args.limit)
    total = time.monotonic() - began
    print(f"{sum(kinds.values()):,} inputs in {total:.0f} s, seed {args.seed}: ", end="")
    print(", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common()))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"processor time: {used.ru_utime + used.ru_stime:.0f} s")
    print("slowest:", ", ".join(f"{s:.1f} s ({kind} {n})" for s, n, kind in seconds[:3]))
    print(f"broken promises: {len(broken)}")
    for number, kind, wrong in broken:
        print(f"  {number} ({kind}): {wrong[:300]}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
