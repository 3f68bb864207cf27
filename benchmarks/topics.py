"""Speed of the focused model as topics become many: Yelp beside tomotopy's SLDA, and newsgroups.

    pip install '.[benchmark]'
    TOPICFOCUS_DATA=... python benchmarks/topics.py
    PYTHONPATH=OTHER/src python benchmarks/topics.py --skip tomotopy   # another version, to compare

Counts to fitted model, compiled kernels, two threads; the share of words is chosen (`--share 0.15`:
given, as tomotopy has nothing to choose). tomotopy: SLDA with as many topics, 200
sweeps, 2 workers, documents already added. Rounds of both are interleaved and the best of each is
taken, on the clock and in processor time (all threads): a busy machine disturbs the second less.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from data import real_data, zipf_counts

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor


def seconds(work) -> tuple[float, float]:
    """On the clock, and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def yelp():
    try:
        part = real_data().load("yelp").train
        return part.counts, part.target, "yelp"
    except FileNotFoundError:
        counts = zipf_counts(7500, 4500, 60)
        lean = np.random.default_rng(1).standard_normal(4500)
        return counts, counts @ lean / 8, "synthetic, the size of yelp"


def prepared_slda(counts, target, n_topics):
    """A model of tomotopy with its documents added."""
    import tomotopy

    model = tomotopy.SLDAModel(k=n_topics, vars="l", seed=1)
    for d in range(counts.shape[0]):
        row = counts[[d]]
        tokens = np.repeat(row.indices, row.data.astype(int))
        model.add_doc([str(v) for v in tokens], y=[float(target[d])])
    return model


def many_topics(topics: list[int], rounds: int, with_peer: bool, share: float | str) -> None:
    counts, target, description = yelp()
    print(f"{description}: {counts.shape[0]} documents, {counts.shape[1]} words")
    FocusedTopicRegressor(2, random_state=0, n_jobs=2).fit(counts[:500], target[:500])  # compile
    for n_topics in topics:
        mine, theirs = [], []
        for _ in range(rounds):
            model = FocusedTopicRegressor(n_topics, random_state=0, n_jobs=2, inclusion_prior=share)
            mine.append(seconds(lambda m=model: m.fit(counts, target)))
            if with_peer:
                peer = prepared_slda(counts, target, n_topics)
                theirs.append(seconds(lambda p=peer: p.train(200, workers=2, show_progress=False)))
        clock, processor = np.min(mine, axis=0)
        line = f"  {n_topics:3d} topics: {clock:6.2f} s, processor {processor:6.2f} s"
        if theirs:
            other, used = np.min(theirs, axis=0)
            line += f"; tomotopy {other:6.2f} s, {other / clock:4.1f}x ours"
            line += f" (processor {used:6.2f} s, {used / processor:4.1f}x)"
        print(line, flush=True)


def many_classes(rounds: int, documents: int) -> None:
    part = real_data().load("newsgroups").train
    some = np.random.default_rng(0).permutation(part.counts.shape[0])[:documents]
    counts, target = part.counts[some], part.target[some]
    model = FocusedTopicClassifier(20, random_state=0, n_jobs=2)
    taken = [seconds(lambda: model.fit(counts, target)) for _ in range(rounds)]
    clock, processor = np.min(taken, axis=0)
    print(f"newsgroups, {len(some)} documents, 20 classes, 20 topics: {clock:.1f} s, ", end="")
    print(f"processor {processor:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", type=int, nargs="*", default=[5, 10, 20, 50])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--share", type=float, help="of words, given; chosen if it is not")
    parser.add_argument("--documents", type=int, default=4000, help="of newsgroups")
    choices = ["tomotopy", "newsgroups"]
    parser.add_argument("--skip", nargs="*", default=[], choices=choices)
    args = parser.parse_args()
    many_topics(args.topics, args.rounds, "tomotopy" not in args.skip, args.share or "auto")
    if "newsgroups" not in args.skip:
        many_classes(args.rounds, args.documents)


if __name__ == "__main__":
    main()
