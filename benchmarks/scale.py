"""Cost in the size of the work: documents on disk, in memory, on a cluster, and beside others.

    python benchmarks/scale.py growth --documents 100000 1000000 --memory 2GB   # on disk
    python benchmarks/scale.py growth --documents 100000 --both --rounds 3      # and in memory
    python benchmarks/scale.py growth --documents 300000 1000000 --tokens 12 --memory 600MB
    python benchmarks/scale.py files --documents 200000                         # from a CSV file
    python benchmarks/scale.py workers --documents 100000 --workers 1 2 4       # Dask, local
    python benchmarks/scale.py peers --documents 1000000 --topics 10 --passes 5 # LDA of others

Synthetic documents of about 100 tokens: 8 topics over 20,000 words, whose frequencies fall as in a
language, and a target that the topics move. They are drawn block by block into a store on disk,
never all in memory, and kept there for the next run. Every figure is measured in a process of its
own: seconds by phase, seconds of processor, peak memory, bytes on disk a document. Memory is VmHWM,
pages of files included ("peak MB"), and that of the process alone, RssAnon, looked at every 10 ms
("own MB"). Peers (scikit-learn's partial_fit, gensim's LdaMulticore, Spark's online LDA) read the
same store.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
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


def prepared(n_docs: int, folder: Path, tokens: int = 100) -> tuple[Path, Path]:
    """The store and the targets of so many documents, drawn if they are not there."""
    from topicfocus import CountStore

    name = f"{n_docs}" if tokens == 100 else f"{n_docs}-{tokens}"
    place, target = folder / f"counts-{name}", folder / f"target-{name}.npy"
    if not place.exists() or not target.exists():
        began, y = time.perf_counter(), []

        def drawn() -> Iterator[Any]:
            for counts, values in blocks(n_docs, tokens):
                y.append(values)
                yield counts

        store = CountStore.write(place, drawn(), memory="8GB")
        np.save(target, np.concatenate(y))
        seconds = time.perf_counter() - began
        each = store.nbytes / n_docs
        print(f"{n_docs:,} documents drawn and written in {seconds:.0f} s, {each:.0f} bytes each")
    return place, target


class Clock:
    """A store of checkpoints that keeps none, and notes when a stage ends."""

    def __init__(self) -> None:
        self.began, self.phases = time.perf_counter(), {}

    def get(self, name: str) -> None:
        return None

    def put(self, name: str, value: Any) -> None:
        now = time.perf_counter()
        self.phases[name] = round(now - self.began, 2)
        self.began = now

    def due(self) -> bool:
        return False


def used() -> dict[str, float]:
    """Seconds of processor of this process and its children, and the peak memory of this one.

    VmHWM is of this process since it began; ru_maxrss would be that of its parent if that is more.
    """
    own, children = (
        resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    mine, theirs = (used.ru_utime + used.ru_stime for used in (own, children))
    return {
        "cpu": round(mine + theirs, 1),
        "of this process": round(mine, 1),
        "peak MB": peak_megabytes(),
    }


def peak_megabytes() -> int:
    """The most memory that this process has had, in MB of 10^6 bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())
        if found is not None:
            return int(found[1]) * 1024 // 10**6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 // 10**6


def own_megabytes() -> int:
    """What this process has of its own now, without pages of files; 0 where nobody knows."""
    status = Path("/proc/self/status")
    found = re.search(r"RssAnon:\s*(\d+) kB", status.read_text()) if status.exists() else None
    return 0 if found is None else int(found[1]) * 1024 // 10**6


class Watched:
    """The most that `own_megabytes` was in a block."""

    def __enter__(self) -> Watched:
        self.most, self._done = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.01):
            self.most = max(self.most, own_megabytes())

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


# ---- one measurement, in a process of its own ----------------------------------------------------


def one_fit(args: argparse.Namespace) -> dict[str, Any]:
    """The focused model, from disk ("disk"), memory ("memory") or the workers ("N workers")."""
    from topicfocus import CountStore, FocusedTopicRegressor
    from topicfocus.corpus.parts import in_memory
    from topicfocus.solvers.checkpoints import checkpointing

    store, y = CountStore(args.store, memory=args.memory), np.load(args.target)
    model = FocusedTopicRegressor(args.topics, random_state=0)
    small = in_memory(store.rows(np.arange(300)))
    FocusedTopicRegressor(args.topics, random_state=0).fit(small, y[:300])  # kernels are loaded
    clock, began = Clock(), time.perf_counter()
    with checkpointing(clock), Watched() as memory:
        if args.how == "disk":
            model.fit(store, y)
        elif args.how == "memory":
            model.fit(in_memory(store), y)
        else:
            from topicfocus.distributed import DaskCounts, connected

            with connected("local", workers=int(args.how)) as client:
                clock.put("starting workers", None)
                began = time.perf_counter()
                model.fit(DaskCounts(store, client=client), y)
    seconds = round(time.perf_counter() - began, 2)
    state = model.fitted_.state
    mark = hashlib.sha256(state.topic_word.tobytes() + state.coef.tobytes()).hexdigest()[:8]
    return {"seconds": seconds, **clock.phases, **used(), "own MB": memory.most, "mark": mark}


def one_lda(args: argparse.Namespace) -> dict[str, Any]:
    """LDA of `args.how` on the same documents: so many topics, so many passes."""
    from topicfocus import CountStore
    from topicfocus.corpus.parts import pieces

    store = CountStore(args.store, memory=args.memory)
    began = time.perf_counter()
    if args.how == "topicfocus":
        from topicfocus import LDA

        LDA(args.topics, max_epochs=args.passes, tol=0, random_state=0).fit(store)
    elif args.how == "scikit-learn":
        from sklearn.decomposition import LatentDirichletAllocation

        model = LatentDirichletAllocation(
            args.topics, total_samples=store.shape[0], n_jobs=-1, random_state=0
        )
        for _ in range(args.passes):
            for _, _, part in pieces(store):
                model.partial_fit(part)
    elif args.how == "gensim":
        _gensim(store, args)
    else:
        _spark(store, args)
    return {"seconds": round(time.perf_counter() - began, 1), **used()}


def _gensim(store: Any, args: argparse.Namespace) -> None:
    from gensim.models import LdaMulticore

    from topicfocus.corpus.parts import pieces

    class Documents:
        def __len__(self) -> int:
            return store.shape[0]

        def __iter__(self) -> Iterator[list[tuple[int, int]]]:
            for _, _, part in pieces(store):
                data = part.data.astype(int)
                for a, b in zip(part.indptr[:-1], part.indptr[1:], strict=True):
                    yield list(zip(part.indices[a:b].tolist(), data[a:b].tolist(), strict=True))

    names = {v: str(v) for v in range(store.shape[1])}
    workers = max(1, (os.cpu_count() or 2))
    LdaMulticore(
        Documents(), args.topics, names, passes=args.passes, workers=workers, random_state=0
    )


def _spark(store: Any, args: argparse.Namespace) -> None:
    """Spark's online LDA, of a file of lines "word:count ..." that is written first."""
    from pyspark.ml.clustering import LDA
    from pyspark.sql import SparkSession

    from topicfocus.corpus.parts import pieces

    path = Path(args.store).with_name(f"spark-{store.shape[0]}.libsvm")
    if not path.exists():
        with path.open("w") as stream:
            for _, _, part in pieces(store):
                data = part.data.astype(int)
                for a, b in zip(part.indptr[:-1], part.indptr[1:], strict=True):
                    pairs = zip((part.indices[a:b] + 1).tolist(), data[a:b].tolist(), strict=True)
                    stream.write("0 " + " ".join(f"{v}:{c}" for v, c in pairs) + "\n")
    session = (
        SparkSession.builder.master("local[*]")
        .config("spark.driver.memory", "8g")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    began = time.perf_counter()
    frame = session.read.format("libsvm").option("numFeatures", store.shape[1]).load(str(path))
    # A pass is 1/subsamplingRate steps of the online algorithm.
    model = LDA(k=args.topics, maxIter=20 * args.passes, subsamplingRate=0.05, seed=0)
    model.fit(frame.select("features").cache())
    print(f"spark without its start: {time.perf_counter() - began:.1f} s", file=sys.stderr)
    session.stop()


def one_file(args: argparse.Namespace) -> dict[str, Any]:
    """`topicfocus fit` of a CSV file: seconds of processor between what it says."""
    from topicfocus.workflow import fit_file

    stamps: list[tuple[str, float]] = []

    def say(line: str) -> None:
        stamps.append((line.split()[0], time.process_time()))

    memory = None if args.how == "memory" else args.memory
    began = time.perf_counter()
    out = Path(args.store).with_suffix(f".{args.how}.topics")
    how: dict[str, Any] = {"memory": memory, "out": out, "overwrite": True, "remarks": say}
    with Watched() as mine:
        fit_file(args.store, text="text", target="y", **how)
    end = time.perf_counter()
    times = [*(t for _, t in stamps), time.process_time()]
    phases: dict[str, float] = {}
    for (name, start), stop in zip(stamps, times[1:], strict=True):
        phases[name] = round(phases.get(name, 0.0) + stop - start, 1)
    return {"seconds": round(end - began, 1), **phases, **used(), "own MB": mine.most}


# ---- runs ----------------------------------------------------------------------------------------


def measured(kind: str, how: str, store: Path, target: Path, args: argparse.Namespace) -> None:
    """Run one measurement and print it."""
    command = [sys.executable, __file__, f"one-{kind}", "--how", how, "--store", str(store)]
    command += ["--target", str(target), "--memory", args.memory, "--topics", str(args.topics)]
    command += ["--passes", str(args.passes)]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if found.returncode:
        print(f"{how:>14}: failed ({found.returncode})", flush=True)
        return
    figures = json.loads(found.stdout.splitlines()[-1])
    said = ", ".join(f"{name} {value}" for name, value in figures.items())
    print(f"{how:>14}: {said}", flush=True)


def write_csv(n_docs: int, folder: Path) -> Path:
    """The same documents as a file of texts."""
    path = folder / f"documents-{n_docs}.csv"
    if path.exists():
        return path
    names = np.array([f"w{i:05d}" for i in range(WORDS)], dtype=object)
    with path.open("w") as stream:
        stream.write("text,y\n")
        for counts, values in blocks(n_docs):
            words = np.repeat(names[counts.indices], counts.data.astype(int))
            before = np.concatenate([[0], np.cumsum(counts.data.astype(int))])
            ends = before[counts.indptr]
            for a, b, y in zip(ends[:-1], ends[1:], values, strict=True):
                stream.write(f"{' '.join(words[a:b])},{y:.2f}\n")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ("growth", "files", "workers", "peers", "one-fit", "one-lda", "one-file")
    parser.add_argument("what", choices=names)
    parser.add_argument("--documents", type=int, nargs="+", default=[100_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--topics", type=int, default=5)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=100, help="of a document, about")
    parser.add_argument("--rounds", type=int, default=1, help="how often each way is measured")
    parser.add_argument("--both", action="store_true", help="growth: in memory, too")
    parser.add_argument("--peers", nargs="+", default=["scikit-learn", "gensim", "spark"])
    parser.add_argument("--folder", type=Path, default=Path("scale-data"))
    parser.add_argument("--how", default="disk", help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    args = parser.parse_args()
    one = {"one-fit": one_fit, "one-lda": one_lda, "one-file": one_file}.get(args.what)
    if one is not None:
        print(json.dumps(one(args)))
        return
    args.folder.mkdir(exist_ok=True)
    for n_docs in args.documents:
        print(f"{args.what}: {n_docs:,} documents", flush=True)
        if args.what == "files":
            path = write_csv(n_docs, args.folder)
            for how in ("memory", "disk", "disk"):  # the second time counts are there
                measured("file", how, path, path, args)
            continue
        store, target = prepared(n_docs, args.folder, args.tokens)
        if args.what == "peers":
            for _ in range(args.rounds):
                for how in ("topicfocus", *args.peers):
                    measured("lda", how, store, target, args)
            continue
        ways = {"growth": ["memory", "disk"] if args.both else ["disk"]}
        for _ in range(args.rounds):  # ways in turn, so that all meet the same machine
            for how in ways.get(args.what, ["memory", *map(str, args.workers)]):
                measured("fit", how, store, target, args)


if __name__ == "__main__":
    main()
