"""Fits on a cluster of real processes agree with those of one machine, also when a worker dies.

Most fits have their inclusion given, because choosing it is several fits more.
"""

import os
import signal
import subprocess
import sys
import time

import mortal_cluster
import numpy as np
import pytest

pytest.importorskip("distributed")

from topicfocus import (
    LDA,
    FocusedTopicRegressor,
    PCSLDARegressor,
    PFSLDARegressor,
    SLDARegressor,
    write_counts,
)
from topicfocus.datasets import make_reviews
from topicfocus.distributed import ClusterError, DaskCounts, connected
from topicfocus.focused.ridge import PENALTIES
from topicfocus.selection import TopicSearchCV

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("one_penalty")]


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(500, random_state=0)


@pytest.fixture
def folder(tmp_path, reviews, monkeypatch):
    """Counts in a folder, which are several partitions."""
    monkeypatch.setattr("topicfocus.distributed.PARTITION", 12_000)
    write_counts(tmp_path / "counts", [reviews.counts[:300], reviews.counts[300:]])
    return tmp_path / "counts"


def focused(inclusion=0.2, **more):
    return FocusedTopicRegressor(3, random_state=0, max_epochs=4, inclusion_prior=inclusion, **more)


@pytest.fixture(scope="module")
def expected(reviews, one_penalty):
    return focused().fit(reviews.counts, reviews.target)


def agree(mine, theirs, counts):
    found, expected = (
        model.transform(counts) if isinstance(model, LDA) else model.predict(counts)
        for model in (mine, theirs)
    )
    assert np.allclose(found, expected, rtol=1e-8)


def test_fits_and_predictions_agree_with_memory(client, folder, reviews, monkeypatch):
    monkeypatch.setattr("topicfocus.focused.screening.PENALTIES", PENALTIES)
    expected = focused("auto").fit(reviews.counts, reviews.target)
    counts = DaskCounts(folder, client)
    mine = focused("auto").fit(counts, reviews.target)
    assert mine.inclusion_prior_ == expected.inclusion_prior_
    agree(mine, expected, reviews.counts)
    assert np.allclose(mine.predict(counts), expected.predict(reviews.counts), rtol=1e-8)
    found, same = (expected.explain(X).words[0] for X in (counts, reviews.counts))
    assert abs(found - same).max() < 1e-8


@pytest.mark.parametrize("model", [LDA, SLDARegressor, PFSLDARegressor, PCSLDARegressor])
def test_other_models(client, folder, reviews, model):
    target = () if model is LDA else (reviews.target,)
    options = {"solver": "coordinate"} if model is PFSLDARegressor else {}
    mine, theirs = (
        model(3, random_state=0, max_epochs=2, **options).fit(X, *target)
        for X in (DaskCounts(folder, client), reviews.counts)
    )
    agree(mine, theirs, reviews.counts)


def test_arrays_dataframes_and_bags(client, reviews, expected):
    import dask.array
    import dask.bag
    import dask.dataframe
    import pandas as pd

    dense = reviews.counts.toarray()
    words = sorted(f"w{i:04d}" for i in range(dense.shape[1]))
    frame = dask.dataframe.from_pandas(pd.DataFrame(dense, columns=words), npartitions=3)
    documents = [{words[v]: int(row[v]) for v in np.flatnonzero(row)} for row in dense]
    for X in (dask.array.from_array(dense, chunks=(170, -1)), frame):
        agree(focused().fit(X, reviews.target), expected, reviews.counts)
    seen = reviews.counts[:, np.flatnonzero(dense.sum(axis=0) > 0)]
    bag = dask.bag.from_sequence(documents, npartitions=4)
    theirs = focused().fit(seen, reviews.target)
    agree(focused().fit(bag, reviews.target), theirs, seen)
    with pytest.raises(ValueError, match="words of a dask array are in several chunks"):
        focused().fit(dask.array.from_array(dense, chunks=(170, 5)), reviews.target)
    with pytest.raises(TypeError, match="a dask array or dataframe of documents x words"):
        focused().fit(dask.array.from_array(np.arange(5.0), chunks=2), np.arange(5.0))
    with pytest.raises(TypeError, match="Count texts first"):
        focused().fit(dask.bag.from_sequence(["good"], npartitions=1), [1.0])


def test_choosing_models(client, folder, reviews):
    search = [
        TopicSearchCV(focused(), {"n_topics": [2]}, cv=2, n_jobs=1).fit(X, reviews.target)
        for X in (DaskCounts(folder, client), reviews.counts)
    ]
    scores = [[row["score"] for row in s.frontier_.to_dict("records")] for s in search]
    assert np.allclose(*scores, rtol=1e-6)


def test_a_worker_that_is_killed_changes_nothing(client, folder, reviews, expected, monkeypatch):
    passes, killed = [], []
    run_task = DaskCounts.run_task

    def with_a_kill(self, task):
        passes.append(task)
        if len(passes) == 8:
            pid = next(iter(self.client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        return run_task(self, task)

    monkeypatch.setattr(DaskCounts, "run_task", with_a_kill)
    mine = focused().fit(DaskCounts(folder, client), reviews.target)
    assert killed and len(passes) > 20
    agree(mine, expected, reviews.counts)


def test_a_cluster_that_dies_is_a_clear_error(tmp_path, folder, reviews, expected, monkeypatch):
    """One worker alone; then it dies with its scheduler."""
    # Dask's client looks for a scheduler that is gone as long as it may wait for one.
    monkeypatch.setattr("topicfocus.distributed.ANSWER", 5.0)
    place = tmp_path / "address"
    process = subprocess.Popen([sys.executable, mortal_cluster.__file__, place])
    end = time.monotonic() + 120
    while not place.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    address = place.read_text(encoding="utf-8")
    passes, run_task = [], DaskCounts.run_task

    def until_it_dies(self, task):
        passes.append(task)
        if len(passes) == 5:
            process.kill()
        return run_task(self, task)

    try:
        with connected(address) as client:
            counts = DaskCounts(folder, client)
            agree(focused().fit(counts, reviews.target), expected, reviews.counts)
            monkeypatch.setattr(DaskCounts, "run_task", until_it_dies)
            with pytest.raises(ClusterError, match=r"the cluster at .* is gone"):
                focused().fit(counts, reviews.target)
    finally:
        process.kill()
        process.wait(60)


def test_no_cluster_at_an_address(monkeypatch):
    monkeypatch.setattr("topicfocus.distributed.ANSWER", 1.0)
    with (
        pytest.raises(ClusterError, match=r"no cluster at tcp://127\.0\.0\.1:9"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass
