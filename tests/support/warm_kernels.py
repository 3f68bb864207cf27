"""Compile the kernels that the package uses, in two processes, before tests are run in parallel.

Workers that start with an empty cache meet the same kernels at the same time, and each compiles
them. `warm` fits small models instead, once: what it compiles is in the cache for every process.
It need not be complete, a kernel left out is compiled by the test that meets it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"


def joint_models() -> None:
    """Local inference, in double and in single precision, and the paper's own algorithm."""
    import numpy as np

    import topicfocus

    counts, ratings, _ = small_data()
    few = {"n_topics": 2, "max_epochs": 2, "n_jobs": 1}
    topicfocus.PFSLDARegressor(**few).fit(counts, ratings)  # Adam, with word switches
    model = topicfocus.PFSLDARegressor(solver="coordinate", **few).fit(counts, ratings)
    model.predict(counts)
    model.elbo(counts, ratings)
    model.log_likelihood(counts, ratings)
    for solver in ("stochastic", "gradient"):
        topicfocus.SLDARegressor(solver=solver, **few).fit(counts, ratings)
    topicfocus.LDA(**few).fit(counts)  # without targets: most fits of more than these documents
    model = topicfocus.SLDARegressor(**few)
    model.partial_fit(counts[:20], ratings[:20])
    np.testing.assert_array_equal(model.n_features_in_, counts.shape[1])


def focused_models() -> None:
    """The constrained objective, mixes, the tokeniser and windows of words."""
    import topicfocus
    from topicfocus import metrics

    counts, ratings, texts = small_data()
    few = {"n_topics": 2, "max_epochs": 2, "n_jobs": 1}
    model = topicfocus.FocusedTopicRegressor(**few).fit(counts, ratings)
    model.predict(counts)
    model.explain(counts[:2])
    model.word_effects(counts, n_documents=5)
    topicfocus.PCSLDAClassifier(**few).fit(counts, ratings > ratings.mean())
    topicfocus.TokenCounter(min_df=1, ngram_range=(1, 2)).fit_transform(texts)
    metrics.coherence(model.components_, counts, "npmi", 5)


PARTS = (joint_models, focused_models)


def small_data():
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer

    from topicfocus.datasets import make_reviews

    reviews = make_reviews(60, random_state=0)
    counts = CountVectorizer().fit_transform(reviews.texts).astype(float)
    return counts, np.asarray(reviews.target), reviews.texts


def warm(processes: int = 2) -> None:
    """Run every part, at most `processes` at a time; a part that fails is left to its tests."""
    paths = [str(SOURCE), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    waiting = list(range(len(PARTS)))
    while waiting:
        now, waiting = waiting[:processes], waiting[processes:]
        running = [
            subprocess.Popen(
                [sys.executable, __file__, str(part)],
                env=env,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for part in now
        ]
        for process in running:
            process.wait()


def warm_once(part: int) -> None:
    """A part, unless it was done for these sources; waits for another process that does it."""
    from filelock import FileLock

    from topicfocus.kernels.compile import source_hash
    from topicfocus.kernels.local import infer_documents

    folder = Path(infer_documents.stats.cache_path)
    done = folder / f"warm.{part}.{source_hash()}"
    with FileLock(f"{done}.lock"):
        if not done.exists():
            PARTS[part]()
            done.touch()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        warm_once(int(sys.argv[1]))
    else:
        warm()
