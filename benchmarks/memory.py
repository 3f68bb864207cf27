"""Peak memory of a fit on 50,000 documents x 22,000 words, 20 topics, beyond the counts.

    TOPICFOCUS_DATA=... python benchmarks/memory.py

Measured in a fresh process: resident memory just before the fit (counts loaded, libraries imported,
kernels compiled on a small corpus) against the highest resident memory during the fit.
"""

from __future__ import annotations

import argparse
import threading
import time

import numpy as np
import psutil
from data import review_counts

from topicfocus import LDA, PFSLDARegressor, SLDARegressor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    counts, target, description = review_counts("imdb")
    held = (counts.data.nbytes + counts.indices.nbytes + counts.indptr.nbytes) / 2**20
    print(f"{description}; counts {held:.0f} MiB, {args.topics} topics")
    process = psutil.Process()
    models = {
        "LDA": LDA,
        "SLDARegressor": SLDARegressor,
        "PFSLDARegressor": PFSLDARegressor,
    }
    for solver in ("coordinate", "stochastic"):
        for name, model in models.items():
            settings = {"n_topics": args.topics, "solver": solver, "max_epochs": args.epochs}
            model(**{**settings, "max_epochs": 1}).fit(counts[:200], target[:200])
            before = process.memory_info().rss
            peak, done = [before], threading.Event()

            def watch(peak=peak, done=done):
                while not done.is_set():
                    peak[0] = max(peak[0], process.memory_info().rss)
                    time.sleep(0.005)

            watcher = threading.Thread(target=watch)
            watcher.start()
            began = time.perf_counter()
            model(**settings, random_state=0).fit(counts, target)
            seconds = time.perf_counter() - began
            done.set()
            watcher.join()
            extra = (peak[0] - before) / 2**20
            print(
                f"  {name:16s} {solver:11s} +{extra:5.0f} MiB beyond what was there before, "
                f"{seconds / args.epochs:.1f} s an epoch"
            )


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
