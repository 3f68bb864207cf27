"""Cost in the number of documents: counts in memory, memory-mapped, or on local workers.

    python benchmarks/scale.py --documents 100000 --how memory mapped --rounds 3
    python benchmarks/scale.py --documents 1000000 --how mapped
    python benchmarks/scale.py --documents 1000000 --how 1 2 4          # workers of Dask

Synthetic documents of about 100 tokens: 8 topics over 20,000 words, whose frequencies fall as in a
language, and a target that the topics move. They are drawn block by block into a folder of counts
and kept there for the next run. Every fit is a process of its own: seconds, CPU seconds (of its
workers, too), the peak of its resident memory with pages of files ("peak MB", VmHWM) and without
them ("own MB", RssAnon, looked at every 10 ms).
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus import FocusedTopicRegressor, open_counts, write_counts

WORDS, TOPICS, BLOCK = 20_000, 8, 20_000


def blocks(n_docs: int, tokens: int = 100) -> Iterator[tuple[sparse.csr_array, np.ndarray]]:
    """Counts and targets, block by block; the same for every run."""
    rng = np.random.default_rng(1)
    frequency = 1 / (np.arange(WORDS) + 10.0)
    topics = frequency * np.exp(rng.normal(0, 1.5, (TOPICS, WORDS)))
    topics = (topics / topics.sum(axis=1, keepdims=True)).cumsum(axis=1)
    # One ascending line for all topics: topic k is between k and k + 1.
    line = (np.minimum(topics, 1.0) + np.arange(TOPICS)[:, None]).ravel()
    effect = np.linspace(-2, 2, TOPICS)
    for first in range(0, n_docs, BLOCK):
        n = min(BLOCK, n_docs - first)
        mixes, lengths = rng.dirichlet(np.full(TOPICS, 0.3), n), rng.poisson(tokens, n) + 1
        doc = np.repeat(np.arange(n), lengths)
        topic = (mixes.cumsum(axis=1)[doc] < rng.random(len(doc))[:, None]).sum(axis=1)
        word = np.searchsorted(line, rng.random(len(doc)) + np.minimum(topic, TOPICS - 1)) % WORDS
        ones = (np.ones(len(doc)), (doc, word))
        counts = sparse.csr_array(ones, shape=(n, WORDS))
        counts.sum_duplicates()
        yield counts, mixes @ effect + rng.normal(0, 0.5, n)


def prepared(n_docs: int, folder: Path, tokens: int) -> tuple[Path, Path]:
    """The counts and the targets of `n_docs` documents, drawn if they are not there."""
    place, target = folder / f"counts-{n_docs}-{tokens}", folder / f"target-{n_docs}-{tokens}.npy"
    if not place.exists() or not target.exists():
        y: list[np.ndarray] = []

        def drawn() -> Iterator[Any]:
            for counts, values in blocks(n_docs, tokens):
                y.append(values)
                yield counts

        write_counts(place, drawn())
        np.save(target, np.concatenate(y))
        size = sum(path.stat().st_size for path in place.iterdir())
        print(f"{n_docs:,} documents written, {size / n_docs:.0f} bytes each", flush=True)
    return place, target


def status_megabytes(field: str) -> int:
    """A field of /proc/self/status, in MB of 10^6 bytes."""
    found = re.search(rf"{field}:\s*(\d+) kB", Path("/proc/self/status").read_text())
    return 0 if found is None else int(found[1]) * 1024 // 10**6


class Watched:
    """The most memory of its own that the process had in a block."""

    def __enter__(self) -> Watched:
        self.most, self._done = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.01):
            self.most = max(self.most, status_megabytes("RssAnon"))

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def one_fit(args: argparse.Namespace) -> dict[str, Any]:
    """The focused model of counts in memory, memory-mapped, or on so many workers."""
    mapped, y = open_counts(args.counts)[0], np.load(args.target)
    few = mapped[:300].astype(float)
    model = FocusedTopicRegressor(args.topics, random_state=0)
    model.fit(few, y[:300])  # kernels are loaded
    began = time.perf_counter()
    with Watched() as memory:
        if args.how[0] == "mapped":
            model.fit(mapped, y)
        elif args.how[0] == "memory":
            model.fit(mapped.astype(float), y)
        else:
            from topicfocus.distributed import DaskCounts, connected

            with connected("local", workers=int(args.how[0])) as client:
                began = time.perf_counter()
                model.fit(DaskCounts(args.counts, client), y)
    seconds = time.perf_counter() - began
    used = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "seconds": round(seconds, 1),
        "cpu": round(sum(u.ru_utime + u.ru_stime for u in used), 1),
        "peak MB": status_megabytes("VmHWM"),
        "own MB": memory.most,
        "mean prediction": float(np.mean(model.predict(few))),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[100_000])
    parser.add_argument("--how", nargs="+", default=["mapped"], help="memory, mapped, or workers")
    parser.add_argument("--tokens", type=int, default=100, help="of a document, about")
    parser.add_argument("--topics", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1, help="how often each way is measured")
    parser.add_argument("--folder", type=Path, default=Path("scale-data"))
    parser.add_argument("--counts", help=argparse.SUPPRESS)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.counts:
        print(json.dumps(one_fit(args)))
        return
    args.folder.mkdir(exist_ok=True)
    for n_docs in args.documents:
        counts, target = prepared(n_docs, args.folder, args.tokens)
        for _ in range(args.rounds):  # ways in turn, so that all meet the same machine
            for how in args.how:
                command = [sys.executable, __file__, "--how", how, "--topics", str(args.topics)]
                command += ["--counts", str(counts), "--target", str(target)]
                found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                print(f"{n_docs:,} {how}: {found.stdout.strip()}", flush=True)


if __name__ == "__main__":
    main()
