"""Speed of the focused model: Pang & Lee beside tomotopy's SLDA, IMDB, and growth with the tokens.

    pip install '.[benchmark]'
    TOPICFOCUS_DATA=... python benchmarks/focused.py

Counts to fitted model, compiled kernels, two threads. tomotopy: SLDA, 5 topics, 200 sweeps, 2
workers, documents already added. Rounds of both are interleaved; the best of each is taken.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from data import review_counts

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor
from topicfocus.datasets import make_reviews


def seconds(work) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def tomotopy_slda(counts, target):
    import tomotopy

    words = [str(v) for v in range(counts.shape[1])]

    def fit():
        model = tomotopy.SLDAModel(k=5, vars="l", seed=1)
        for d in range(counts.shape[0]):
            row = counts[[d]]
            tokens = np.repeat(row.indices, row.data.astype(int))
            model.add_doc([words[v] for v in tokens], y=[float(target[d])])
        began = time.perf_counter()
        model.train(200, workers=2, show_progress=False)
        return time.perf_counter() - began

    return fit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--skip", nargs="*", default=[], choices=["tomotopy", "imdb", "growth"])
    args = parser.parse_args()

    counts, target, description = review_counts("pang_lee")

    def ours():
        FocusedTopicRegressor(5, random_state=0, n_jobs=2).fit(counts, target)

    ours()  # compile
    mine, theirs = [], []
    peer = None if "tomotopy" in args.skip else tomotopy_slda(counts, target)
    for _ in range(args.rounds):
        mine.append(seconds(ours))
        if peer is not None:
            theirs.append(peer())
    print(f"{description}: focused {min(mine):.2f} s (all: {[round(s, 2) for s in mine]})")
    if theirs:
        print(
            f"  tomotopy SLDA, 200 sweeps: {min(theirs):.1f} s, {min(theirs) / min(mine):.1f}x ours"
        )
    if "imdb" not in args.skip:
        counts, target, description = review_counts("imdb")
        order = np.random.default_rng(0).permutation(counts.shape[0])  # the file is sorted by class
        counts, label = counts[order], (target[order] > 5).astype(int)
        model = FocusedTopicClassifier(5, random_state=0, n_jobs=2)
        model.fit(counts[:500], label[:500])
        print(f"{description}: focused {seconds(lambda: model.fit(counts, label)):.1f} s")
    if "growth" not in args.skip:
        print("growth with the tokens (synthetic reviews of 60 tokens; time a token in µs):")
        for times in (1, 2, 4, 8):
            data = make_reviews(4000 * times, random_state=0)
            model = FocusedTopicRegressor(5, random_state=0, n_jobs=2)
            took = min(seconds(lambda m=model, d=data: m.fit(d.counts, d.target)) for _ in range(2))
            tokens = data.counts.sum()
            print(f"  {times}x: {tokens:12,.0f} tokens {took:6.2f} s, {1e6 * took / tokens:.2f} µs")


if __name__ == "__main__":
    main()
