"""What the comparison with a regression costs beside the fit itself, on the same documents.

    TOPICFOCUS_DATA=... python benchmarks/baseline.py 200000

IMDB drawn again with replacement, a rating and a class; Yelp likewise, whose texts are shorter.
Processor time of all threads, which other work on the machine changes little; the ratio is of one
run. `baseline.py 200000 binary` is the case of two classes alone.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from data import real_data

import topicfocus
from topicfocus.metrics.baselines import Inputs, regression

CASES = (
    ("IMDB", "imdb", {"target": "rating"}, "real"),
    ("IMDB", "imdb", {"target": "label"}, "binary"),
    ("Yelp", "yelp", {}, "real"),
)


def main() -> None:
    n_docs = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    only = sys.argv[2:]
    for name, source, settings, kind in CASES:
        if only and kind not in only:
            continue
        data = real_data().load(source, **settings)
        rows = np.random.default_rng(0).integers(data.train.counts.shape[0], size=n_docs)
        X, y = data.train.counts[rows], data.train.target[rows]
        regressor = kind == "real"
        cls = topicfocus.FocusedTopicRegressor if regressor else topicfocus.FocusedTopicClassifier
        cls(5, random_state=0).fit(X[:2000], y[:2000])  # compiles
        began = time.process_time()
        cls(5, random_state=0).fit(X, y)
        fitted = time.process_time() - began
        began = time.process_time()
        regression(kind, Inputs(words=X), y, Inputs(words=data.test.counts))
        compared = time.process_time() - began
        print(
            f"{name}, {n_docs:,} documents, {kind}: fit {fitted:.1f} s, comparison {compared:.1f} "
            f"s of processor time, ratio {compared / fitted:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
