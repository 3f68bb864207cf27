"""TopicSearchCV beside scikit-learn's GridSearchCV, the same estimator, grid and folds.

    TOPICFOCUS_DATA=... python benchmarks/search.py [DOCUMENTS]

3 numbers of topics x 5 shares x 5 folds on Yelp (or its first DOCUMENTS). Two searches in one run:
ours on all cores, and GridSearchCV as it comes (one fit after the other, each on all cores). Both
end with a fit of the best setting to all documents. Seconds of the clock and of the processors,
children included; the latter depend less on what else the machine does. Ours are drafts, so scores
are compared: correlation and mean difference over settings, and which one is taken by either rule.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from data import real_data
from scipy import sparse
from sklearn.model_selection import GridSearchCV, KFold

from topicfocus import FocusedTopicRegressor, TopicSearchCV
from topicfocus.selection.rule import RULES, choose

GRID = {"n_topics": [3, 5, 10], "inclusion_prior": [0.05, 0.1, 0.2, 0.3, 0.4]}


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it gives, and seconds of the clock and of the processors."""
    clock, processors = time.perf_counter(), processor_seconds()
    found = work()
    clock = time.perf_counter() - clock
    time.sleep(2)  # children count when they have ended
    return found, clock, processor_seconds() - processors


def main() -> None:
    data = real_data().load("yelp")
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
    }
    print(f"Yelp, {n} documents, {counts.shape[1]} words, 15 settings, 5 folds")
    seconds, searches = [], []
    for name, work in runs.items():
        found, clock, processors = timed(work)
        seconds.append((clock, processors))
        searches.append(found)
        print(f"{name:24} {clock:8.1f} s  {processors:8.1f} s of processors", flush=True)
    (clock, processors), (their_clock, their_processors) = seconds
    print(
        f"GridSearchCV takes {their_clock / clock:.2f} times the time and "
        f"{their_processors / processors:.2f} times the processors' time"
    )
    compare(*searches)


def compare(ours: TopicSearchCV, theirs: GridSearchCV) -> None:
    """How close the scores of drafts are to those of whole fits, and what is chosen by either."""
    mine, whole = (s.cv_results_["mean_test_score"] for s in (ours, theirs))
    folds = [theirs.cv_results_[f"split{f}_test_score"] for f in range(5)]
    error = np.std(folds, axis=0, ddof=1) / np.sqrt(5)
    print(
        f"scores: correlation {np.corrcoef(mine, whole)[0, 1]:.4f}, mean difference "
        f"{np.mean(mine - whole):+.4f}, largest {np.abs(mine - whole).max():.4f}; standard error "
        f"of a score over folds {error.mean():.4f}"
    )
    rows = [{**row} for row in ours.frontier_rows_]
    for row, score, se in zip(rows, whole, error, strict=True):
        row["score"], row["score_se"] = float(score), float(se)
    for rule in RULES:
        taken = [choose(r, rule, 0.8).taken for r in (ours.frontier_rows_, rows)]
        names = [ours.cv_results_["params"][i] for i in taken]
        print(f"{rule}: {names[0]} by drafts, {names[1]} by whole fits")


if __name__ == "__main__":
    main()
