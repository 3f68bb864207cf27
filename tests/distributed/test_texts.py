"""Texts on a cluster, counted by its workers: words, counts and models are those of one machine."""

import csv
import json
import os
import signal
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("distributed")

from sklearn.pipeline import make_pipeline

from topicfocus import FocusedTopicRegressor, TokenCounter
from topicfocus.corpus.parts import in_memory
from topicfocus.datasets import make_reviews
from topicfocus.distributed import DaskCounts, DaskTexts
from topicfocus.text import ReadError, read_table
from topicfocus.text.shares import shares_of, take_seen
from topicfocus.workflow import SettingError, fit_file

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("one_penalty")]


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(400, random_state=0)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("topicfocus.folders.cache_folder", lambda: tmp_path / "cache")


def write_csv(path, texts, target):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("text", "stars"), *zip(texts, target, strict=True)])
    return path


@pytest.fixture
def files(tmp_path, reviews):
    """The same documents as several CSV files, JSON lines, Parquet with row groups, a folder."""
    import pyarrow as pa
    from pyarrow import parquet

    cuts = [0, 150, 151, 400]
    several = [
        write_csv(tmp_path / f"part-{a:03d}.csv", reviews.texts[a:b], reviews.target[a:b])
        for a, b in pairwise(cuts)
    ]
    lines = tmp_path / "reviews.jsonl"
    rows = zip(reviews.texts, map(float, reviews.target), strict=True)
    lines.write_text("".join(json.dumps({"text": t, "stars": s}) + "\n" for t, s in rows))
    table = tmp_path / "reviews.parquet"
    columns = {"text": reviews.texts, "stars": np.asarray(reviews.target)}
    parquet.write_table(pa.table(columns), table, row_group_size=90)
    return {"several": several, "lines": lines, "parquet": table}


def of_shares(client, table, counter):
    texts = DaskTexts(shares_of(table), client)
    counts = texts.fit_counter(counter, 1 << 20)
    take_seen(table, texts.seen)
    return counts, texts.first_texts(1 << 20)


@pytest.mark.parametrize("name", ["several", "lines", "parquet"])
def test_shares_are_read_as_the_whole_is(client, files, name):
    table, other = (read_table(files[name], "text", "stars") for _ in range(2))
    assert len(shares_of(table)) == {"several": 3, "lines": 1, "parquet": 1}[name]
    here, there = TokenCounter(min_df=2), TokenCounter(min_df=2)
    expected = here.fit_transform(other)
    counts, texts = of_shares(client, table, there)
    assert there.vocabulary_ == here.vocabulary_
    assert isinstance(counts, DaskCounts)
    assert abs(in_memory(counts) - expected).nnz == 0
    assert table.target == other.target
    assert np.array_equal(table.rows, other.rows)
    assert table.file_of_rows.tolist() == other.file_of_rows.tolist()
    assert texts == [text for block in other for text in block.strings]


def test_a_folder_of_texts(client, tmp_path, reviews):
    for i, text in enumerate(reviews.texts[:60]):
        place = tmp_path / "texts" / ("good" if reviews.target[i] > 3 else "bad")
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i:03d}.txt").write_text(text)
    table, other = (read_table(tmp_path / "texts") for _ in range(2))
    expected = TokenCounter().fit_transform(other)
    counts, _ = of_shares(client, table, TokenCounter())
    assert abs(in_memory(counts) - expected).nnz == 0
    assert table.target == other.target


@pytest.mark.parametrize(
    "settings",
    [
        {"min_df": 2, "max_features": 60},
        {"ngram_range": (1, 2), "stop_words": "english", "max_df": 0.4},
        {"separator": " "},
        {"vocabulary": ["awful", "film", "superb"]},
    ],
)
def test_bags_and_columns(client, reviews, settings):
    import dask.bag
    import dask.dataframe
    import pandas as pd

    counter = TokenCounter(**settings)
    expected, words = counter.fit_transform(reviews.texts), counter.get_feature_names_out()
    frame = dask.dataframe.from_pandas(pd.DataFrame({"text": reviews.texts}), npartitions=3)
    for texts in (dask.bag.from_sequence(reviews.texts, npartitions=4), frame["text"]):
        counts = TokenCounter(**settings).fit_transform(DaskTexts(texts, client))
        assert counts.vocabulary == tuple(words)
        assert abs(in_memory(counts) - expected).nnz == 0
        assert abs(in_memory(counter.transform(DaskTexts(texts, client))) - expected).nnz == 0


def test_a_pipeline_of_texts(client, reviews):
    import dask.bag

    def pipeline():
        model = FocusedTopicRegressor(3, random_state=0, max_epochs=2)
        return make_pipeline(TokenCounter(min_df=2), model)

    bag = dask.bag.from_sequence(reviews.texts, npartitions=4)
    there = pipeline().fit(DaskTexts(bag, client), reviews.target)
    here = pipeline().fit(reviews.texts, reviews.target)
    assert np.array_equal(there[-1].components_, here[-1].components_)
    found = there.predict(DaskTexts(bag, client))
    assert np.array_equal(found, here.predict(reviews.texts))


def test_what_is_no_text_is_said(client):
    import dask.array
    import dask.bag

    bag = dask.bag.from_sequence(["good", None], npartitions=1)
    with pytest.raises(TypeError, match=r"DaskTexts\(X\)"):
        TokenCounter().fit(bag)
    with pytest.raises(TypeError, match="a dask bag of strings or one column"):
        DaskTexts(dask.array.ones((2, 2)), client)
    with pytest.raises(ValueError, match="document 1 is missing"):
        TokenCounter().fit(DaskTexts(bag, client))
    with pytest.raises(ValueError, match="empty vocabulary; the 2 documents hold no words"):
        TokenCounter().fit(DaskTexts(dask.bag.from_sequence(["!", "?"], npartitions=2), client))


def test_fit_file_counts_on_the_workers(client, files, monkeypatch, caplog):
    columns = {"text": "text", "target": "stars", "topics": 2}
    here = fit_file(files["several"], **columns)
    address = client.scheduler.address
    monkeypatch.setattr(TokenCounter, "_tally", None)  # not in this process
    with caplog.at_level("INFO", "topicfocus"):
        there = fit_file(files["several"], **columns, cluster=address)
    assert "count it in 3 shares" in caplog.text
    mine, theirs = (o.pipeline[-1].fitted_.state for o in (there, here))
    assert np.array_equal(mine.topic_word, theirs.topic_word)
    assert np.array_equal(mine.coef, theirs.coef)
    for name in ("topics", "words", "documents"):
        assert there.result[name] == here.result[name]
    name = "FocusedTopicRegressor"
    assert there.result["held_out"][name] == here.result["held_out"][name]
    held = here.predictions["part"] == "test"
    for column in ("row", "file", "prediction", "std", "relevant_words"):
        assert there.predictions[column].tolist() == here.predictions[column][held].tolist()


def test_what_is_wrong_with_a_file_is_said_as_ever(client, files):
    path = files["several"][1]
    with path.open("a") as stream:
        stream.write("one,two,three\n")
    columns = {"text": "text", "target": "stars", "cluster": client.scheduler.address}
    with pytest.raises(ReadError, match=r"part-150\.csv, row 2"):
        fit_file(files["several"], **columns)
    out = fit_file(files["several"], **columns, topics=2, skip_bad=True)
    assert out.result["documents"]["skipped"] == 1


def test_a_file_that_changes_between_plan_and_reading(client, files):
    table = read_table(files["several"], "text", "stars")
    shares = shares_of(table)
    os.utime(files["several"][2], ns=(1, 1))
    with pytest.raises(ReadError, match=r"part-151\.csv was changed while it was being read"):
        DaskTexts(shares, client).fit_counter(TokenCounter())


def test_a_count_matrix_stays_here(client, tmp_path, reviews):
    from scipy import sparse

    sparse.save_npz(tmp_path / "counts.npz", reviews.counts)
    (tmp_path / "y.txt").write_text("\n".join(map(str, reviews.target)))
    (tmp_path / "vocab.txt").write_text("\n".join(reviews.vocabulary))
    target, address = str(tmp_path / "y.txt"), client.scheduler.address
    with pytest.raises(SettingError, match="is a count matrix, which is read as a whole"):
        fit_file(tmp_path / "counts.npz", target=target, cluster=address)


def test_a_worker_that_is_killed_while_counting_changes_nothing(client, files, monkeypatch):
    """Its share is read again by another one; a nanny starts a new worker."""
    from distributed import wait

    said, killed = DaskTexts._said, []

    def with_a_kill(self, counted, room):
        wait(counted)
        killed.append(next(iter(client.run(os.getpid).values())))
        os.kill(killed[0], signal.SIGKILL)
        return said(self, counted, room)

    monkeypatch.setattr(DaskTexts, "_said", with_a_kill)
    table, other = (read_table(files["several"], "text", "stars") for _ in range(2))
    counts, _ = of_shares(client, table, TokenCounter())
    expected = TokenCounter().fit_transform(other)
    assert killed
    assert abs(in_memory(counts) - expected).nnz == 0
    assert table.target == other.target
