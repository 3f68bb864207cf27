"""TopicSearchCV beside scikit-learn's GridSearchCV, the same estimator, grid and folds.

    TOPICFOCUS_DATA=... python benchmarks/search.py [DOCUMENTS]

3 numbers of topics x 5 inclusions x 5 folds on Yelp (or its first DOCUMENTS). Two searches in one
run: ours on all cores, and GridSearchCV with its defaults (one fit after the other, each on all
cores). Both end with a fit of the best setting to all documents. Wall-clock and processor seconds,
child processes included; processor seconds depend less on other programs. Ours are low-fidelity
fits, so scores are compared as well: their correlation and mean difference over settings, and which
setting either rule chooses.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from data import real_data
from joblib.externals.loky import get_reusable_executor
from scipy import sparse
from sklearn.model_selection import GridSearchCV, KFold

from topicfocus import FocusedTopicRegressor, TopicSearchCV
from topicfocus.selection.search import RULES, choose

GRID = {"n_topics": [3, 5, 10], "inclusion_prior": [0.05, 0.1, 0.2, 0.3, 0.4]}


def processor_seconds() -> float:
    """CPU seconds of this process and of its children that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The result, and its wall-clock and processor seconds."""
    clock, processors = time.perf_counter(), processor_seconds()
    found = work()
    clock = time.perf_counter() - clock
    get_reusable_executor().shutdown(wait=True)  # children count when they have ended
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
    """Compare the scores of low-fidelity and full fits, and the settings chosen by them."""
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
        chosen = [choose(r, rule, 0.8).chosen for r in (ours.frontier_rows_, rows)]
        names = [ours.cv_results_["params"][i] for i in chosen]
        print(f"{rule}: {names[0]} by low-fidelity fits, {names[1]} by full fits")


if __name__ == "__main__":
    main()
