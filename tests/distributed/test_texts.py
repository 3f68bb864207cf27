"""Texts on a cluster, counted by its workers: words, counts and models are those of one machine."""

import csv
import json
from itertools import pairwise

import numpy as np
import pytest
from command_line import topicfocus
from scipy import sparse

pytest.importorskip("distributed")

from sklearn.pipeline import make_pipeline

from topicfocus import FocusedTopicRegressor, TokenCounter
from topicfocus.counts import in_memory
from topicfocus.datasets import make_reviews
from topicfocus.text import ReadError
from topicfocus.workflow import SettingError, fit_file

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("one_penalty")]


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(400, random_state=0)


@pytest.fixture
def bag(client, reviews):
    import dask.bag

    return dask.bag.from_sequence(reviews.texts, npartitions=4)


@pytest.mark.parametrize(
    "settings",
    [
        {"min_df": 2, "max_features": 60},
        {"ngram_range": (1, 2), "stop_words": "english", "max_df": 0.4},
        {"separator": " "},
        {"vocabulary": ["awful", "film", "superb"]},
    ],
)
def test_bags_and_columns(client, bag, reviews, settings):
    import dask.dataframe
    import pandas as pd

    counter = TokenCounter(**settings)
    expected, words = counter.fit_transform(reviews.texts), counter.get_feature_names_out()
    frame = dask.dataframe.from_pandas(pd.DataFrame({"text": reviews.texts}), npartitions=3)
    for texts in (bag, frame["text"]):
        counts = TokenCounter(**settings).fit_transform(texts)
        assert counts.vocabulary == tuple(words)
        assert abs(in_memory(counts) - expected).nnz == 0
        assert abs(in_memory(counter.transform(texts)) - expected).nnz == 0
        assert TokenCounter(**settings).fit(texts).vocabulary_ == counter.vocabulary_


def test_a_pipeline_of_texts(bag, reviews):
    model = FocusedTopicRegressor(3, random_state=0, max_epochs=2, inclusion_prior=0.2)
    there = make_pipeline(TokenCounter(min_df=2), model).fit(bag, reviews.target)
    found = there.predict(bag)
    here = make_pipeline(TokenCounter(min_df=2), model).fit(reviews.texts, reviews.target)
    assert np.allclose(found, here.predict(reviews.texts), rtol=1e-8)


def test_what_is_no_text_is_an_error(client):
    import dask.array
    import dask.bag

    with pytest.raises(TypeError, match="a dask bag of strings or one column"):
        TokenCounter().fit(dask.array.ones((2, 2)))
    with pytest.raises(ValueError, match="document 1 is missing"):
        TokenCounter().fit(dask.bag.from_sequence(["good", None], npartitions=1))
    with pytest.raises(ValueError, match="empty vocabulary; the 2 documents hold no words"):
        TokenCounter().fit(dask.bag.from_sequence(["!", "?"], npartitions=2))


# ---- files ---------------------------------------------------------------------------------------


def write_csv(path, texts, target):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("text", "stars"), *zip(texts, target, strict=True)])
    return path


@pytest.fixture
def files(tmp_path, reviews):
    """The same documents as several CSV files with line breaks, JSON lines and Parquet."""
    import pandas as pd

    texts = [text.replace(" ", "\n", 1) for text in reviews.texts]
    several = [
        write_csv(tmp_path / f"part-{a:03d}.csv", texts[a:b], reviews.target[a:b])
        for a, b in pairwise([0, 150, 151, 400])
    ]
    lines = tmp_path / "reviews.jsonl"
    rows = zip(texts, map(float, reviews.target), strict=True)
    lines.write_text("".join(json.dumps({"text": t, "stars": s}) + "\n" for t, s in rows))
    table = tmp_path / "reviews.parquet"
    pd.DataFrame({"text": texts, "stars": reviews.target}).to_parquet(table, row_group_size=90)
    return {"several": several, "lines": [lines], "parquet": [table]}


#: A remainder needs counts in memory.
COLUMNS = {"text": "text", "target": "stars", "topics": 2, "remainder": False}


@pytest.fixture(scope="module")
def here(reviews, tmp_path_factory, one_penalty):
    path = write_csv(tmp_path_factory.mktemp("here") / "a.csv", reviews.texts, reviews.target)
    return fit_file(path, **COLUMNS)


@pytest.mark.parametrize("name", ["several", "lines", "parquet"])
def test_workers_read_and_count_files(client, files, here, name, monkeypatch, caplog):
    monkeypatch.setattr(TokenCounter, "tokenize", None)  # not in this process
    with caplog.at_level("INFO", "topicfocus"):
        there = fit_file(files[name], **COLUMNS, cluster=client.scheduler.address)
    assert "Workers read and count it in" in caplog.text
    name = "FocusedTopicRegressor"
    mine, theirs = (o.summary["held_out"][name]["rmse"] for o in (there, here))
    assert mine == pytest.approx(theirs, rel=1e-8)
    held = here.predictions["part"] == "test"
    for column in ("row", "prediction", "std", "relevant_words"):
        assert np.allclose(there.predictions[column], here.predictions[column][held], rtol=1e-8)
    assert [t["words"] for t in there.summary["topics"]] == [
        t["words"] for t in here.summary["topics"]
    ]


def test_what_is_wrong_with_a_file_is_an_error(client, files):
    with files["several"][1].open("a") as stream:
        stream.write("one,two,three\n")
    cluster = {"cluster": client.scheduler.address}
    with pytest.raises(ReadError, match="1 of 401 values is not: 'two'"):
        fit_file(files["several"], **COLUMNS, **cluster)
    assert fit_file(files["several"], **COLUMNS, **cluster, skip_bad=True)
    with pytest.raises(SettingError, match="workers read"):
        fit_file([*files["several"], *files["lines"]], **COLUMNS, **cluster)


def test_a_count_matrix_goes_to_the_workers(client, tmp_path, reviews):
    sparse.save_npz(tmp_path / "counts.npz", reviews.counts)
    (tmp_path / "y.txt").write_text("\n".join(map(str, reviews.target)))
    (tmp_path / "counts.vocab.txt").write_text("\n".join(reviews.vocabulary))
    matrix = {"file": tmp_path / "counts.npz", "target": str(tmp_path / "y.txt"), "topics": 2}
    there, here = fit_file(**matrix, cluster=client.scheduler.address), fit_file(**matrix)
    np.testing.assert_allclose(there.predictions["prediction"], here.predictions["prediction"])


def test_a_command_on_a_cluster(client, files, tmp_path):
    how = ("--text", "text", "--target", "stars", "--topics", "2", "--jobs", "1")
    done = topicfocus(
        "fit",
        *files["several"],
        *how,
        "--cluster",
        client.scheduler.address,
        "--out",
        tmp_path / "o",
    )
    assert done.returncode == 0, done.stderr
    for name in ("explorer.html", "topics.csv", "words.csv", "config.toml"):
        assert (tmp_path / "o" / name).stat().st_size > 0
