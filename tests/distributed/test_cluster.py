"""Fits on a cluster of real processes: the model of one machine, whoever computes and whoever dies.

Most fits have their share of words given, because choosing it is several fits more.
"""

import csv
import os
import signal
import subprocess
import sys
import time

import mortal_cluster
import numpy as np
import pytest
from forked import Forked
from sklearn.base import clone

pytest.importorskip("distributed")

from topicfocus import (
    LDA,
    CountStore,
    FocusedTopicRegressor,
    PCSLDARegressor,
    PFSLDARegressor,
    SLDARegressor,
)
from topicfocus.corpus import parts
from topicfocus.datasets import make_reviews
from topicfocus.distributed import ClusterError, DaskCounts, connected
from topicfocus.inference.focused.evidence import PENALTIES
from topicfocus.workflow import fit_file

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("one_penalty")]


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(500, random_state=0)


@pytest.fixture
def store(tmp_path, reviews):
    return CountStore.write(tmp_path / "counts", [reviews.counts[:300], reviews.counts[300:]])


def focused(share=0.2, **more):
    return FocusedTopicRegressor(3, random_state=0, max_epochs=4, inclusion_prior=share, **more)


@pytest.fixture(scope="module")
def expected(reviews, one_penalty):
    return focused().fit(reviews.counts, reviews.target)


def same(mine, theirs):
    a, b = mine.fitted_.state, theirs.fitted_.state
    assert np.array_equal(a.topic_word, b.topic_word)
    assert np.array_equal(a.coef, b.coef)
    assert np.array_equal(a.inclusion, b.inclusion)


@pytest.mark.parametrize("partitions", [1, 7])
def test_the_model_is_that_of_one_machine(client, store, reviews, partitions, monkeypatch):
    monkeypatch.setattr("topicfocus.solvers.focus.evidence.PENALTIES", PENALTIES)
    expected = focused().fit(reviews.counts, reviews.target)
    counts = DaskCounts(store, client=client, partitions=partitions)
    mine = focused().fit(counts, reviews.target)
    same(mine, expected)
    assert np.array_equal(mine.predict(counts), expected.predict(reviews.counts))


def test_the_share_is_chosen_there_as_well(client, store, reviews):
    counts = DaskCounts(store, client=client)
    mine, theirs = (focused("auto").fit(X, reviews.target) for X in (counts, reviews.counts))
    assert mine.inclusion_prior_ == theirs.inclusion_prior_
    same(mine, theirs)


def test_many_chunks(client, store, reviews, monkeypatch):
    monkeypatch.setattr(parts, "LARGEST_SUM", 1500)
    counts = DaskCounts(store, client=client, partitions=3)
    model = focused(selection="stable")  # that has all the passes of a predictive one, and more
    same(model.fit(counts, reviews.target), clone(model).fit(reviews.counts, reviews.target))


@pytest.mark.parametrize("model", [LDA, SLDARegressor, PFSLDARegressor, PCSLDARegressor])
def test_other_models(client, store, reviews, model):
    target = () if model is LDA else (reviews.target,)
    counts = DaskCounts(store, client=client)
    mine, theirs = (
        model(3, random_state=0, max_epochs=2).fit(X, *target) for X in (counts, reviews.counts)
    )
    same(mine, theirs)


def test_arrays_dataframes_and_bags(client, reviews, expected):
    import dask.array
    import dask.bag
    import dask.dataframe
    import pandas as pd

    dense = reviews.counts.toarray()
    words = sorted(f"w{i:04d}" for i in range(dense.shape[1]))
    frame = dask.dataframe.from_pandas(pd.DataFrame(dense, columns=words), npartitions=3)
    documents = [{words[v]: int(row[v]) for v in np.flatnonzero(row)} for row in dense]
    seen = dense.sum(axis=0) > 0
    for X in (dask.array.from_array(dense, chunks=(170, -1)), frame):
        same(focused().fit(X, reviews.target), expected)
    bag = dask.bag.from_sequence(documents, npartitions=4)
    same(
        focused().fit(bag, reviews.target),
        focused().fit(reviews.counts[:, np.flatnonzero(seen)], reviews.target),
    )
    with pytest.raises(ValueError, match="words of a dask array are in several chunks"):
        focused().fit(dask.array.from_array(dense, chunks=(170, 5)), reviews.target)
    with pytest.raises(TypeError, match="a dask array or dataframe of documents x words"):
        focused().fit(dask.array.from_array(np.arange(5.0), chunks=2), np.arange(5.0))


def test_a_worker_that_is_killed_changes_nothing(client, store, reviews, expected, monkeypatch):
    passes, killed = [], []
    run_task = DaskCounts.run_task

    def with_a_kill(self, task, bounds):
        passes.append(task)
        if len(passes) == 8:
            pid = next(iter(self.client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        return run_task(self, task, bounds)

    monkeypatch.setattr(DaskCounts, "run_task", with_a_kill)
    mine = focused().fit(DaskCounts(store, client=client, partitions=4), reviews.target)
    assert killed and len(passes) > 20
    same(mine, expected)


@pytest.fixture
def mortal(tmp_path, monkeypatch, request):
    """The process of a cluster, and its address; one that begins with nothing, or is forked."""
    # Dask's client looks for a scheduler that is gone as long as it may wait for one.
    monkeypatch.setattr("topicfocus.distributed.cluster.ANSWER", 5.0)
    place = tmp_path / "address"
    if request.param == "fresh":
        process = subprocess.Popen([sys.executable, mortal_cluster.__file__, place])
    else:
        process = Forked(mortal_cluster.serve, str(place))
    end = time.monotonic() + 120
    while not place.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    yield process, place.read_text(encoding="utf-8")
    process.kill()
    process.wait(60)


def dying(monkeypatch, process, when):
    """The cluster is killed before the first pass at which `when` is true."""
    run_task = DaskCounts.run_task

    def until_it_dies(self, task, bounds):
        if when():
            process.kill()
        return run_task(self, task, bounds)

    monkeypatch.setattr(DaskCounts, "run_task", until_it_dies)


@pytest.mark.parametrize("mortal", ["fresh"], indirect=True)
def test_a_single_worker_and_its_death(mortal, store, reviews, expected, monkeypatch):
    """The other tests have two. A cluster that dies is a clear error."""
    process, address = mortal
    with connected(address) as client:
        same(focused().fit(DaskCounts(store, client=client), reviews.target), expected)
        passes = iter(range(1000))
        dying(monkeypatch, process, lambda: next(passes) == 5)
        with pytest.raises(ClusterError, match=rf"the cluster at {address} is gone"):
            focused().fit(DaskCounts(store, client=client), reviews.target)


@pytest.mark.parametrize("mortal", ["forked"], indirect=True)
def test_a_command_whose_cluster_dies_leaves_nothing(mortal, tmp_path, reviews, monkeypatch):
    process, address = mortal
    path, out = tmp_path / "reviews.csv", tmp_path / "topics"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(
            [("text", "stars"), *zip(reviews.texts, reviews.target, strict=True)]
        )
    passes = iter(range(1000))
    dying(monkeypatch, process, lambda: next(passes) == 5)
    with pytest.raises(ClusterError, match="is gone"):
        fit_file(path, text="text", target="stars", topics=3, out=out, cluster=address)
    assert [p.name for p in tmp_path.iterdir()] == ["reviews.csv"]


def test_no_cluster_at_an_address(monkeypatch):
    monkeypatch.setattr("topicfocus.distributed.cluster.ANSWER", 1.0)
    with (
        pytest.raises(ClusterError, match=r"no cluster at tcp://127\.0\.0\.1:9"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass
