"""TopicSearchCV beside scikit-learn's GridSearchCV, the same estimator, grid and folds.

    TOPICFOCUS_DATA=... python benchmarks/search.py [DOCUMENTS]

3 numbers of topics x 5 shares x 5 folds on Yelp (or its first DOCUMENTS). Three searches in one
run: ours on all cores, GridSearchCV as it comes (one fit after the other, each on all cores) and
GridSearchCV(n_jobs=-1). Seconds of the clock and of the processors, children included; the
latter depend less on what else the machine does. Scores must be equal.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV, KFold

from topicfocus import FocusedTopicRegressor, TopicSearchCV
from topicfocus.datasets import load_yelp

GRID = {"n_topics": [3, 5, 10], "inclusion_prior": [0.05, 0.1, 0.2, 0.3, 0.4]}


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it gives, and seconds of the clock and of the processors."""
    from joblib.externals.loky import get_reusable_executor

    clock, processors = time.perf_counter(), processor_seconds()
    found = work()
    clock = time.perf_counter() - clock
    get_reusable_executor().shutdown(wait=True)  # children count when they have ended
    return found, clock, processor_seconds() - processors


def main() -> None:
    data = load_yelp()
    counts = sparse.csr_array(sparse.vstack([data.train.counts, data.valid.counts], format="csr"))
    target = np.concatenate([data.train.target, data.valid.target])
    n = int(sys.argv[1]) if len(sys.argv) > 1 else len(target)
    counts, target = counts[:n], target[:n]
    model = FocusedTopicRegressor(random_state=0)
    model.fit(counts[:300], target[:300])  # kernels are compiled
    folds = KFold(5, shuffle=True, random_state=0)
    runs: dict[str, Callable[[], Any]] = {
        "TopicSearchCV": lambda: TopicSearchCV(model, GRID, cv=folds).fit(counts, target),
        "GridSearchCV": lambda: GridSearchCV(model, GRID, cv=folds).fit(counts, target),
        "GridSearchCV(n_jobs=-1)": lambda: GridSearchCV(model, GRID, cv=folds, n_jobs=-1).fit(
            counts, target
        ),
    }
    print(f"Yelp, {n} documents, {counts.shape[1]} words, 15 settings, 5 folds")
    seconds, scores = {}, {}
    for name, work in runs.items():
        found, clock, processors = timed(work)
        seconds[name], scores[name] = (clock, processors), found.cv_results_["mean_test_score"]
        print(f"{name:24} {clock:8.1f} s  {processors:8.1f} s of processors", flush=True)
    ours = seconds["TopicSearchCV"]
    for name in list(runs)[1:]:
        theirs = seconds[name]
        equal = bool(np.array_equal(scores[name], scores["TopicSearchCV"]))
        print(
            f"{name}: {theirs[0] / ours[0]:.2f} times the time, {theirs[1] / ours[1]:.2f} times "
            f"the processors' time; the same scores: {equal}"
        )


if __name__ == "__main__":
    main()
