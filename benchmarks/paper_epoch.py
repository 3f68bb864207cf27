"""Seconds an epoch of the paper's own algorithm on Pang & Lee (the original: 75-100 s on 2 cores).

TOPICFOCUS_DATA=... python benchmarks/paper_epoch.py
"""

from __future__ import annotations

import time

from data import review_counts

from topicfocus import PFSLDARegressor


def main() -> None:
    counts, target, description = review_counts("pang_lee")
    PFSLDARegressor(solver="gradient", max_epochs=1).fit(counts, target)
    epochs = 10
    began = time.perf_counter()
    PFSLDARegressor(solver="gradient", max_epochs=epochs, random_state=0).fit(counts, target)
    print(f"{description}: {(time.perf_counter() - began) / epochs:.3f} s an epoch")


if __name__ == "__main__":
    main()
