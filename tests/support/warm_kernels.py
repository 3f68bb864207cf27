"""Compile the kernels of the package before tests run in parallel, by fitting small models.

Workers that start with an empty cache would each compile the same kernels. A kernel that is left
out here is compiled by the first test that needs it.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"


def joint_models() -> None:
    """Local inference in double and in single precision, and the gradient solver."""
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
    topicfocus.LDA(**few).fit(counts)
    model = topicfocus.SLDARegressor(**few)
    model.partial_fit(counts[:20], ratings[:20])
    np.testing.assert_array_equal(model.n_features_in_, counts.shape[1])


def focused_models() -> None:
    """The constrained objective, topic proportions, the tokeniser, and coherence."""
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


def many_topics() -> None:
    """The factor of the curvature over words, which is compiled for many topics only."""
    import topicfocus

    counts, _, _ = small_data()
    topicfocus.LDA(n_topics=14, max_epochs=1, n_jobs=1).fit(counts).transform(counts)


PARTS = (joint_models, focused_models, many_topics)


def small_data():
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer

    from topicfocus.datasets import make_reviews

    reviews = make_reviews(60, random_state=0)
    counts = CountVectorizer().fit_transform(reviews.texts).astype(float)
    return counts, np.asarray(reviews.target), reviews.texts


def warm() -> None:
    """Run all parts at the same time; a part that fails is left to the tests."""
    paths = [str(SOURCE), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command, nowhere = [sys.executable, __file__], subprocess.DEVNULL
    running = [
        subprocess.Popen([*command, str(part)], env=env, stdout=nowhere, stderr=nowhere)
        for part in range(len(PARTS))
    ]
    for process in running:
        process.wait()


def warm_once(part: int) -> None:
    """Run a part unless it was run for these sources; waits for another process that runs it."""
    from topicfocus.kernels.compile import source_hash
    from topicfocus.kernels.products import add_rows

    done = Path(add_rows.stats.cache_path) / f"warm.{part}.{source_hash()}"
    done.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{done}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            PARTS[part]()
            done.touch()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        warm_once(int(sys.argv[1]))
    else:
        warm()
