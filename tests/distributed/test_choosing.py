"""Searches and resamples of counts in parts: the figures of memory, fitted where the counts are."""

import csv
import json

import numpy as np
import pytest
from command_line import topicfocus

pytest.importorskip("distributed")

from topicfocus import CountStore, FocusedTopicRegressor
from topicfocus.datasets import make_reviews
from topicfocus.distributed import DaskCounts, DaskTexts
from topicfocus.selection import TopicSearchCV, compare_models, stability

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("one_penalty")]


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(240, random_state=0)


@pytest.fixture
def store(tmp_path, reviews):
    return CountStore.write(tmp_path / "counts", [reviews.counts[:100], reviews.counts[100:]])


@pytest.fixture(params=["disk", "cluster"])
def counts(request, store):
    if request.param == "disk":
        return store
    return DaskCounts(store, client=request.getfixturevalue("client"))


def model():
    return FocusedTopicRegressor(2, random_state=0, max_epochs=2, inclusion_prior=0.1)


def test_a_store_with_a_client_is_fitted_on_the_cluster(client, store, reviews, monkeypatch):
    passes, run_task = [], DaskCounts.run_task

    def counted(self, *args):
        passes.append(args)
        return run_task(self, *args)

    monkeypatch.setattr(DaskCounts, "run_task", counted)
    there = CountStore(store.folder, client=client)
    mine = model().fit(there, reviews.target)
    assert len(passes) > 10
    theirs = model().fit(reviews.counts, reviews.target)
    assert np.array_equal(mine.components_, theirs.components_)
    assert np.array_equal(mine.predict(there), theirs.predict(reviews.counts))


def rows_of(search):
    return search.frontier_.to_dict("records")


@pytest.mark.parametrize(
    ("counts", "exact"), [("disk", True), ("disk", False), ("cluster", False)], indirect=["counts"]
)
def test_a_search(counts, reviews, exact):
    grid = {"n_topics": [2, 3], "inclusion_prior": [0.1]}
    found, expected = (
        TopicSearchCV(model(), grid, cv=2, exact=exact, n_jobs=1).fit(X, reviews.target)
        for X in (counts, reviews.counts)
    )
    for name in ("score", "npmi", "agreement", "words"):
        mine, theirs = (np.array([row[name] for row in rows_of(f)]) for f in (found, expected))
        assert np.allclose(mine, theirs, rtol=1e-12, atol=0), name
        assert np.isfinite(mine).all(), name
    assert found.best_params_ == expected.best_params_
    mine, theirs = (f.best_estimator_.components_ for f in (found, expected))
    assert np.array_equal(mine, theirs)


def test_resamples(counts, reviews):
    found, expected = (
        stability(model(), X, reviews.target, n_resamples=2, random_state=0, n_jobs=1)
        for X in (counts, reviews.counts)
    )
    assert np.array_equal(found.frequency, expected.frequency)
    assert np.array_equal(found.topic_cosine, expected.topic_cosine)
    assert found.correlation == pytest.approx(expected.correlation, rel=1e-12)


def test_a_comparison(store, reviews):
    models = (model(), FocusedTopicRegressor(3, random_state=0, max_epochs=2))
    found, expected = (
        compare_models(*models, X, reviews.target, cv=2, random_state=0, n_jobs=1)
        for X in (store, reviews.counts)
    )
    assert found.difference == expected.difference


def test_explanations_go_piece_by_piece(counts, reviews):
    fitted = model().fit(reviews.counts, reviews.target)
    expected = fitted.explain(reviews.counts)
    counts.piece = 700
    found = fitted.explain(counts)
    for name in ("base", "before", "after", "relevant"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    for name in ("words", "topics"):
        assert abs(getattr(found, name)[0] - getattr(expected, name)[0]).nnz == 0, name
    counts.most_memory = 1000
    with pytest.raises(ValueError, match=r"for block in X\.blocks\(\)"):
        fitted.explain(counts)


def test_texts_of_a_cluster_cannot_be_cut_into_folds(client, reviews):
    import dask.bag

    texts = DaskTexts(dask.bag.from_sequence(reviews.texts, npartitions=2), client)
    with pytest.raises(TypeError, match="Count them first"):
        TopicSearchCV(model(), {"n_topics": [2]}, cv=2).fit(texts, reviews.target)


def test_a_command_on_a_cluster_from_file_to_page(client, reviews, tmp_path, monkeypatch):
    """A choice on folds, the result folder, explanations and predictions: as in memory."""
    monkeypatch.setattr("topicfocus.folders.cache_folder", lambda: tmp_path / "cache")
    for i, part in enumerate((slice(0, 150), slice(150, None))):
        with (tmp_path / f"part-{i}.csv").open("w", newline="") as stream:
            rows = zip(reviews.texts[part], reviews.target[part], strict=True)
            csv.writer(stream).writerows([("text", "stars"), *rows])
    files = (tmp_path / "part-*.csv", "--text", "text", "--target", "stars")
    how = ("--topics", "2", "--shares", "0.3", "--folds", "2")  # stability: as in test_scale
    made = {}
    for name, more in {
        "cluster": ("--cluster", client.scheduler.address),
        "memory": ("--no-baseline",),
    }.items():
        done = topicfocus("tune", *files, *how, *more, "--jobs", "1", "--out", tmp_path / name)
        assert done.returncode == 0, done.stderr
        made[name] = json.loads((tmp_path / name / "metrics.json").read_text())
    mine, theirs = made["cluster"], made["memory"]
    for key in ("topics", "words"):
        assert mine[key] == theirs[key], key
    assert mine["tuning"]["chosen"] == theirs["tuning"]["chosen"]
    assert mine["held_out"]["FocusedTopicRegressor"] == theirs["held_out"]["FocusedTopicRegressor"]
    for name in ("explorer.html", "topics.csv", "words.csv", "config.toml", "frontier.png"):
        assert (tmp_path / "cluster" / name).stat().st_size > 0
    assert (tmp_path / "cluster" / "words.csv").read_bytes() == (
        tmp_path / "memory" / "words.csv"
    ).read_bytes()
    for command in (("predict", files[0]), ("explain", "--text", "superb film")):
        said = [
            topicfocus(command[0], tmp_path / name, *command[1:]).stdout
            for name in ("cluster", "memory")
        ]
        assert said[0] == said[1] and said[0]
