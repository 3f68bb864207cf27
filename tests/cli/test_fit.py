"""`topicfocus fit` as a process: every kind of file and target, and the folder it writes."""

import csv
import json
import os

import numpy as np
import pytest
from command_line import read_csv, topicfocus, write_reviews
from scipy import sparse

import topicfocus as package
from topicfocus.report.render import unpack_texts

COLUMNS = ("--text", "text", "--target", "stars")


def result_of(folder):
    return json.loads((folder / "metrics.json").read_text(encoding="utf-8"))


def test_it_says_what_it_does_and_shows_what_it_found(fitted):
    done, _ = fitted
    for expected in ("Target: real: whole numbers from 1 to 10", "480 training documents"):
        assert expected in done.stderr
    # The rule for large files would leave a file of this size with fewer words: reported.
    assert "Words in at least 3 of the 480 training documents are used." in done.stderr
    for expected in (
        "score",
        "higher in stars",
        "Topics, with the predicted stars",
        "Kept:",
        "Dropped:",
        "RMSE",
        "Higher prediction of stars if a word occurs:",
    ):
        assert expected in done.stdout
    assert "ridge on words and pairs of words" in done.stdout
    assert "80% intervals of predictions contain" in done.stdout
    assert "Completeness: the topics capture" in done.stdout or "its weight is zero" in done.stdout
    assert "topics replicate in two separate samples" in " ".join(done.stdout.split())
    assert "topicfocus explain " in done.stdout
    assert done.stdout.index("masterpiece") < done.stdout.index("awful")
    assert "\x1b" not in done.stdout + done.stderr  # no terminal, no bar


def test_the_folder_holds_model_figures_and_predictions(reviews, fitted):
    _, folder = fitted
    assert {"model.topicfocus", "metrics.json", "predictions.csv"} <= set(os.listdir(folder))
    assert not list(folder.parent.glob("*.partial")) + list(folder.parent.glob(".*"))
    result = result_of(folder)
    effects = [topic["change"] for topic in result["topics"]]
    assert effects == sorted(effects, reverse=True)
    # Where real documents are: from one end to the other, and on the scale.
    for topic in result["topics"]:
        assert topic["high"] - topic["low"] == pytest.approx(topic["change"])
        assert min(topic["low"], topic["high"]) >= 1 and max(topic["low"], topic["high"]) <= 10
        assert topic["lower"] < topic["estimate"] < topic["upper"]
    assert result["effects"]["limits"] == [1.0, 10.0]
    assert result["words"]["raises"][0]["change"] > 0 > result["words"]["lowers"][0]["change"]
    assert set(result["reliability"]["coverage"]) == {"50%", "80%", "95%"}
    complete = result["completeness"]
    assert complete["topics"] > 0.3 and complete["both"] >= complete["topics"] - 0.05
    alone = "FocusedTopicRegressor, topics alone" in result["held_out"]
    assert alone == complete["remainder"]
    words = result["words"]
    assert words["kept"] + words["dropped"] == words["words"]
    rows = read_csv(folder / "predictions.csv")
    assert [int(row["row"]) for row in rows] == list(range(1, 601))
    test = [row for row in rows if row["part"] == "test"]
    assert len(test) == result["documents"]["test"] == 120
    assert all(1 <= float(row["low"]) <= float(row["high"]) <= 10 for row in rows)
    assert all(int(row["relevant_words"]) >= 0 for row in rows)
    error = [float(row["target"]) - float(row["prediction"]) for row in test]
    figures = result["held_out"]["FocusedTopicRegressor"]
    assert np.sqrt(np.mean(np.square(error))) == pytest.approx(figures["rmse"], rel=1e-4)
    assert figures["rmse"] < 0.7 * result["held_out"]["mean of the training part"]["rmse"]


@pytest.mark.parametrize("kind", ["ordinal", "count", "classes"])
def test_kinds_of_target(reviews, tmp_path, kind):
    done = topicfocus(
        "fit", reviews, *COLUMNS, "--kind", kind, "--out", tmp_path / "o", "--json", "--topics", 4
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["target"]["kind"] == kind
    mine, *_, words, constant = result["held_out"].values()
    figure = {"ordinal": "accuracy", "count": "deviance", "classes": "log_loss"}[kind]
    better = (lambda a, b: a > b) if figure == "accuracy" else (lambda a, b: a < b)
    assert better(mine[figure], constant[figure])
    assert better(words[figure], constant[figure])
    columns = read_csv(tmp_path / "o" / "predictions.csv")[0]
    if kind != "count":
        total = sum(float(v) for k, v in columns.items() if k.startswith("probability_"))
        assert total == pytest.approx(1, abs=1e-4)
    assert ("std" in columns) == ("low" in columns) == (kind != "classes")
    first = result["topics"][0]
    if kind == "classes":
        assert 0 <= result["reliability"]["calibration_error"] < 0.3
        assert sum(result["reliability"]["groups"]["n"]) == result["documents"]["test"]
        assert first["change"] == max(first["changes"].values()) > 0
        assert abs(sum(first["changes"].values())) < 1e-9
    else:
        assert first["high"] > first["low"] >= result["effects"]["limits"][0]


@pytest.mark.parametrize("model", ["pf-slda", "pc-slda", "slda"])
def test_other_models(reviews, tmp_path, model):
    done = topicfocus(
        "fit", reviews, *COLUMNS, "--model", model, "--out", tmp_path / "o", "--topics", 3
    )
    assert done.returncode == 0, done.stderr
    words = result_of(tmp_path / "o")["words"]
    all_are_in_the_topics = f"All {words['words']} words are in the topics" in done.stdout
    assert all_are_in_the_topics == (model != "pf-slda")
    assert package.load(tmp_path / "o" / "model.topicfocus")[-1].verbose is False


def test_labels_with_one_missing_from_a_pipe(tmp_path):
    path = write_reviews(tmp_path / "r.csv", 300, target="sentiment")
    rows = read_csv(path)
    lines = [
        json.dumps({"body": row["text"], "mood": {"1": "fresh", "0": "rotten"}[row["stars"]]})
        for row in rows
    ]
    lines[7] = json.dumps({"body": rows[7]["text"], "mood": None})
    done = topicfocus(
        *("fit", "-", "--text", "body", "--target", "mood", "--out", tmp_path / "o"),
        input="\n".join(lines) + "\n",
    )
    assert done.returncode == 0, done.stderr
    assert "binary: two different values, fresh (positive) and rotten; 1 missing" in done.stderr
    result = result_of(tmp_path / "o")
    # fresh is positive although rotten comes later in the alphabet: praise is on top.
    assert result["topics"][0]["class"] == "fresh"
    assert "masterpiece" in result["topics"][0]["words"]
    top = result["topics"][0]
    assert 0 <= top["low"] < top["high"] <= 1 and top["lower"] < top["estimate"] < top["upper"]
    assert "awful" in [row["word"] for row in result["words"]["lowers"]]
    assert result["held_out"]["FocusedTopicClassifier"]["auc"] > 0.9
    written = read_csv(tmp_path / "o" / "predictions.csv")
    assert written[7]["target"] == "" and written[7]["part"] == "train"
    assert {"probability_fresh", "probability_rotten"} <= set(written[0])
    shares = [
        np.mean([row["target"] == "fresh" for row in written if row["part"] == part])
        for part in ("train", "test")
    ]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)  # stratified


def test_a_folder_of_texts(tmp_path):
    for row in read_csv(write_reviews(tmp_path / "r.csv", 200, target="sentiment")):
        folder = tmp_path / "texts" / {"0": "neg", "1": "pos"}[row["stars"]]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{row['id']}.txt").write_text(row["text"], encoding="utf-8")
    done = topicfocus("fit", tmp_path / "texts", "--out", tmp_path / "o", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["target"]["classes"] == ["neg", "pos"]


def test_a_count_matrix_is_taken_as_it_is(tmp_path):
    reviews = package.datasets.make_reviews(400, random_state=1)
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_matrix(reviews.counts))
    # Codes that no tokeniser would leave whole.
    words = [f"{word}.0-x" for word in reviews.vocabulary]
    (tmp_path / "m.vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    target = "\n".join(f"{value:g}" for value in reviews.target)
    (tmp_path / "m.target.txt").write_text(target + "\n", encoding="utf-8")
    done = topicfocus("fit", tmp_path / "m.npz", "--out", tmp_path / "o", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["words"]["words"] == np.sum(np.asarray((reviews.counts != 0).sum(axis=0)) > 0)
    assert result["topics"][0]["words"][0].endswith(".0-x")
    # The same columns in another order, and one that is not known, give the same predictions.
    order = np.random.default_rng(0).permutation(len(words))
    extra = sparse.hstack([reviews.counts[:, order], np.ones((400, 1))], format="csr")
    sparse.save_npz(tmp_path / "n.npz", sparse.csr_matrix(extra))
    shuffled = [words[i] for i in order] + ["unknown"]
    (tmp_path / "n.vocab.txt").write_text("\n".join(shuffled) + "\n", encoding="utf-8")
    done = topicfocus("predict", tmp_path / "o", tmp_path / "n.npz")
    assert done.returncode == 0, done.stderr
    again = [row["prediction"] for row in csv.DictReader(done.stdout.splitlines())]
    assert again == [row["prediction"] for row in read_csv(tmp_path / "o" / "predictions.csv")]
    # It has its page, and so has another matrix; codes are picked, not typed.
    (tmp_path / "n.target.txt").write_text(target + "\n", encoding="utf-8")
    page = tmp_path / "n.html"
    done = topicfocus("report", tmp_path / "o", tmp_path / "n.npz", "--out", page)
    assert done.returncode == 0, done.stderr
    for written in (tmp_path / "o" / "explorer.html", page):
        text = written.read_text(encoding="utf-8")
        shown = json.loads(text.split('id="data">')[1].split("</script>")[0])
        assert shown["reading"]["text"] is False and shown["evaluation"][0]["n"] > 50
        assert unpack_texts(shown["words"]["names"])[0].endswith(".0-x")


def test_parquet_and_options_of_counting(reviews, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = read_csv(reviews)
    table = {"text": [r["text"] for r in rows], "stars": [float(r["stars"]) for r in rows]}
    parquet.write_table(pa.table(table), tmp_path / "r.parquet")
    (tmp_path / "stop.txt").write_text("masterpiece\nawful\n", encoding="utf-8")
    done = topicfocus(
        *("fit", tmp_path / "r.parquet", *COLUMNS, "--out", tmp_path / "o", "--ngrams", "1-2"),
        *("--stop-words", tmp_path / "stop.txt", "--max-features", 150, "--min-df", 5),
        *("--max-df", "0.9", "--seed", 3, "--jobs", 1, "--inclusion-prior", 0.3),
    )
    assert done.returncode == 0, done.stderr
    counter, model = package.load(tmp_path / "o" / "model.topicfocus")
    assert len(counter.vocabulary_) == 150
    assert not {"masterpiece", "awful"} & set(counter.vocabulary_)
    assert counter.ngram_range == (1, 2) and counter.min_df == 5 and counter.n_jobs is None
    assert model.inclusion_prior == 0.3 and model.random_state == 3 and model.n_jobs is None
