"""What the automatic share of words costs beside a share that is given: a ratio in one run.

    TOPICFOCUS_DATA=... python benchmarks/share.py [DATA:TOPICS ...] [--rounds 3]

Fits with ``inclusion_prior="auto"`` and with the share that it came to, in turn, on one thread. The
seconds are of the processor, the best of the rounds: they depend less on what else the machine does
than those of the clock.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from data import real_data

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor

DEFAULT = ("yelp:10", "yelp:50", "eicu:6")


def seconds(model: Any, part: Any) -> float:
    began = time.process_time()
    model.fit(part.counts, part.target)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", default=list(DEFAULT))
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    for name, _, topics in (item.partition(":") for item in args.data):
        data = real_data().load(name)
        cls = FocusedTopicRegressor if data.task == "regression" else FocusedTopicClassifier
        auto = cls(int(topics), random_state=0, n_jobs=1)
        auto.fit(data.train.counts[:300], data.train.target[:300])  # kernels are compiled
        found: dict[str, list[float]] = {"auto": [], "given": []}
        for _ in range(args.rounds):
            found["auto"].append(seconds(auto, data.train))
            share = auto.inclusion_prior_
            given = cls(int(topics), random_state=0, n_jobs=1, inclusion_prior=share)
            found["given"].append(seconds(given, data.train))
        mine, theirs = min(found["auto"]), min(found["given"])
        path = " ".join(f"{s:.2f}" for s, *_ in getattr(auto, "inclusion_path_", ()))
        n_docs = data.train.counts.shape[0]
        print(
            f"{name}, {topics} topics, {n_docs:,} documents: auto {mine:.2f} s, "
            f"given {theirs:.2f} s, {mine / theirs:.2f} times; path {path}, taken {share:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
