"""Predictions of a stream of documents: does memory stay flat, and what does a million take?

    python benchmarks/stream_predict.py 1000000

Batches of 20,000 synthetic reviews are predicted by a saved and loaded model, one after the other;
the peak memory of the process is printed at every tenth of the way.
"""

from __future__ import annotations

import io
import resource
import sys
import time

import numpy as np

import topicfocus
from topicfocus.datasets import make_reviews

BATCH = 20_000


def peak() -> float:
    """Most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    reviews = make_reviews(2000, random_state=0)
    file = io.BytesIO()
    topicfocus.FocusedTopicRegressor(5, random_state=0).fit(reviews.counts, reviews.target).save(
        file
    )
    model = topicfocus.load(io.BytesIO(file.getvalue()))
    rng, done, sums, began = np.random.default_rng(0), 0, 0.0, time.perf_counter()
    step = max(total // 10, BATCH)
    while done < total:
        rows = rng.integers(2000, size=min(BATCH, total - done))
        mean, std = model.predict(reviews.counts[rows], return_std=True)
        assert np.isfinite(mean).all() and (std > 0).all()
        sums, done = sums + float(mean.sum()), done + len(rows)
        if done % step < BATCH or done == total:
            seconds = time.perf_counter() - began
            print(f"{done:>9,} documents, peak {peak():.0f} MB, {seconds:.0f} s", flush=True)
    print(f"mean prediction {sums / done:.4f}")


if __name__ == "__main__":
    main()
