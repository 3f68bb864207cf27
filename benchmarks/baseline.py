"""What the comparison with a regression costs beside the fit itself, on the same documents.

    TOPICFOCUS_DATA=... python benchmarks/baseline.py 200000

IMDB drawn again with replacement, a rating and a class. One run is one ratio: seconds alone say
more about the machine.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import topicfocus
from topicfocus import datasets
from topicfocus.metrics.baselines import Inputs, regression


def main() -> None:
    n_docs = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    for target, kind in (("rating", "real"), ("label", "binary")):
        data = datasets.load_imdb(target=target)
        rows = np.random.default_rng(0).integers(data.train.counts.shape[0], size=n_docs)
        X, y = data.train.counts[rows], data.train.target[rows]
        regressor = kind == "real"
        cls = topicfocus.FocusedTopicRegressor if regressor else topicfocus.FocusedTopicClassifier
        cls(5, random_state=0).fit(X[:2000], y[:2000])  # compiles
        began = time.perf_counter()
        cls(5, random_state=0).fit(X, y)
        fitted = time.perf_counter() - began
        began = time.perf_counter()
        regression(kind, Inputs(words=X), y, Inputs(words=data.test.counts))
        compared = time.perf_counter() - began
        print(
            f"{n_docs:,} documents, {kind}: fit {fitted:.1f} s, comparison {compared:.1f} s, "
            f"ratio {compared / fitted:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
