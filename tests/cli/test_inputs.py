"""Inputs as users meet them: several files, packed files, codes, groups, slips in numbers."""

import bz2
import csv
import io
import json
import lzma
import re
import zipfile

import numpy as np
import pytest
from command_line import read_csv, topicfocus, write_csv, write_reviews

COLUMNS = ("--text", "text", "--target", "stars")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return read_csv(write_reviews(tmp_path_factory.mktemp("rows") / "r.csv", 150))


def content(rows):
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode("utf-8")


def fit(where, *arguments, code=0):
    done = topicfocus("fit", *arguments, "--topics", 2, "--out", "o", cwd=where)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def predictions(where):
    return read_csv(where / "o" / "predictions.csv")


def last_line(done):
    assert done.stdout == ""
    line = done.stderr.splitlines()[-1]
    assert line.startswith("topicfocus: error: ")
    return line.removeprefix("topicfocus: error: ")


@pytest.fixture(scope="module")
def whole(rows, tmp_path_factory):
    """A fit to one plain file: predictions, and its folder."""
    where = tmp_path_factory.mktemp("whole")
    (where / "r.csv").write_bytes(content(rows))
    fit(where, "r.csv", *COLUMNS)
    return [row["prediction"] for row in predictions(where)], where


# ---- several files ----------------------------------------------------------------------------


def test_parts_of_a_file_are_the_file(rows, whole, tmp_path):
    """A list, compressed, a pattern and a folder: the same documents, the same predictions."""
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "1.csv.bz2").write_bytes(bz2.compress(content(rows[:50])))
    (parts / "2.csv.xz").write_bytes(lzma.compress(content(rows[50:90])))
    with zipfile.ZipFile(parts / "3.zip", "w") as archive:
        archive.writestr("third.csv", content(rows[90:]))
    done = fit(tmp_path, *sorted(parts.iterdir()), *COLUMNS)
    assert "1.csv.bz2 and 2 more files (3 files) ..." in done.stderr
    written = predictions(tmp_path)
    assert [row["prediction"] for row in written] == whole[0]
    assert [row["row"] for row in written[48:52]] == ["49", "50", "1", "2"]
    assert written[50]["file"].endswith("2.csv.xz")
    result = json.loads((tmp_path / "o" / "metrics.json").read_text(encoding="utf-8"))
    assert [name.rpartition("/")[2] for name in result["settings"]["file"]] == [
        *("1.csv.bz2", "2.csv.xz", "3.zip"),
    ]
    for argument in ("parts/*", "parts"):
        done = topicfocus("predict", "o", argument, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found = list(csv.DictReader(done.stdout.splitlines()))
        assert [row["prediction"] for row in found] == whole[0]
        assert found[-1]["file"] == "parts/3.zip" and found[-1]["row"] == "60"
    done = topicfocus("report", "o", *parts.iterdir(), "--out", "p.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_slips_are_left_out_when_asked(rows, tmp_path):
    some = [{**row, "stars": "x"} if i in (17, 90) else row for i, row in enumerate(rows)]
    (tmp_path / "a.csv").write_bytes(content(some[:60]))
    (tmp_path / "b.csv").write_bytes(content(some[60:]))
    found = last_line(fit(tmp_path, "a.csv", "b.csv", *COLUMNS, code=1))
    assert "'x' (a.csv, row 18), 'x' (b.csv, row 31)" in found
    done = fit(tmp_path, "a.csv", "b.csv", *COLUMNS, "--skip-bad")
    assert "Left out: b.csv, row 31: the target 'stars' is 'x', not a number." in done.stderr
    assert "2 rows were left out for the target." in done.stderr
    assert "Target: real: " in done.stderr and "2 left out." in done.stderr
    written = predictions(tmp_path)
    assert len(written) == 148
    assert [row["row"] for row in written[16:18]] == ["17", "19"]
    result = json.loads((tmp_path / "o" / "metrics.json").read_text(encoding="utf-8"))
    assert result["documents"]["skipped"] == 2 and result["documents"]["all"] == 148
    assert "a.csv, row" in (tmp_path / "o" / "explorer.html").read_text(encoding="utf-8")


# ---- codes ------------------------------------------------------------------------------------


#: All codes matter: the share is given.
CODES = ("--separator", ";", "--inclusion-prior", "0.8")


@pytest.fixture(scope="module")
def coded(tmp_path_factory):
    """Diagnoses whose case and dashes matter, as texts and as lists, and a cost that follows."""
    where = tmp_path_factory.mktemp("codes")
    rng = np.random.default_rng(0)
    names = [f"E11-{i}" for i in range(20)] + [f"e11-{i}" for i in range(20)] + ["heart failure"]
    value = {name: rng.normal() + 2 * name.startswith("E") for name in names}
    records = [rng.choice(names, 5, replace=False).tolist() for _ in range(300)]
    cost = [round(sum(map(value.get, codes)) + rng.normal(), 3) for codes in records]
    write_csv(where / "c.csv", ["codes", "cost"], zip(map("; ".join, records), cost, strict=True))
    lines = [{"codes": c, "cost": y} for c, y in zip(records, cost, strict=True)]
    (where / "c.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")
    done = fit(where, "c.csv", "--text", "codes", "--target", "cost", *CODES)
    return where, done, [row["prediction"] for row in predictions(where)]


def test_codes_are_kept_whole_from_fit_to_explain(coded):
    where, done, written = coded
    assert "Codes: 41, in 240 training documents." in done.stderr
    # Codes may have spaces, so they are told apart otherwise.
    assert ", heart failure" in done.stdout or "heart failure, " in done.stdout
    result = json.loads((where / "o" / "metrics.json").read_text(encoding="utf-8"))
    assert result["settings"]["separator"] == ";"
    assert result["held_out"]["FocusedTopicRegressor"]["r2"] > 0.4
    for file in ("c.csv", "c.jsonl"):  # the model file knows the separator
        done = topicfocus("predict", "o/model.topicfocus", file, "--text", "codes", cwd=where)
        assert done.returncode == 0, done.stderr
        found = [row["prediction"] for row in csv.DictReader(done.stdout.splitlines())]
        assert found == written
    text = "E11-1; e11-1;heart failure"
    done = topicfocus("explain", where / "o", "--text", text, "--json")
    assert done.returncode == 0, done.stderr
    explained = json.loads(done.stdout)
    assert set(explained["words"]) <= {"E11-1", "e11-1", "heart failure"}
    assert explained["words"]
    for span in explained["spans"]:
        assert text[span["start"] : span["stop"]] == span["word"]


# ---- groups, words, sheets --------------------------------------------------------------------


def test_stop_words_of_a_file_and_of_a_language(tmp_path):
    from topicfocus.config import CountOptions, stop_words
    from topicfocus.text.stop_words import LANGUAGES, words_of

    (tmp_path / "stop.txt").write_bytes(b"\xef\xbb\xbfgood\r\n\r\n bad \n")
    assert stop_words(str(tmp_path / "stop.txt")) == ("good", "bad")
    assert stop_words("german") == "german" and stop_words("none") is None
    both = stop_words(f"english+{tmp_path / 'stop.txt'}")
    assert both == ("english+", "good", "bad")
    counter = CountOptions(stop_words=both).counter()
    assert [*counter.fit(["the good film", "bad"]).get_feature_names_out()] == ["film"]
    counter = CountOptions(min_length=1, stop_words="german").counter()
    texts = ["Der Film und die Musik", "Nicht so gut, aber schön"]
    names = counter.fit(texts).get_feature_names_out().tolist()
    assert names == ["film", "gut", "musik", "nicht", "schön"]
    for language in LANGUAGES[1:]:
        words = words_of(language)
        assert 100 < len(words) == len({w.lower() for w in words}) and all(map(str.isalpha, words))
    for options, terms in (
        (CountOptions(), ["film", "music"]),
        (CountOptions(separator=" "), ["and", "film", "music", "the"]),
    ):
        assert [*options.counter().fit(["the film and music"]).get_feature_names_out()] == terms


# ---- tokenisers -------------------------------------------------------------------------------


def test_a_tokenizer_is_for_python(rows, tmp_path):
    from topicfocus.workflow import fit_file, load_model, predict_file

    (tmp_path / "r.csv").write_bytes(content(rows))
    words = re.compile(r"[a-z]{4,}").findall
    out = tmp_path / "o"
    outcome = fit_file(
        tmp_path / "r.csv",
        text="text",
        target="stars",
        topics=2,
        tokenizer=words,
        out=out,
    )
    assert all(len(w) >= 4 for w in outcome.pipeline[0].get_feature_names_out())
    done = topicfocus("predict", out, tmp_path / "r.csv")
    assert done.returncode == 1
    assert "it was fitted with a function of your own" in last_line(done)
    found = predict_file(load_model(out, tokenizer=words), tmp_path / "r.csv")
    np.testing.assert_array_equal(found["prediction"], outcome.predictions["prediction"])
