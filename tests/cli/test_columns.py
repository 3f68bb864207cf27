"""Covariates, weights and exposure: from columns of a file to the model and back."""

import csv
import json
import shutil

import numpy as np
import pytest
from command_line import read_csv, topicfocus, write_csv

import topicfocus as package

COLUMNS = ("--text", "text", "--target", "stars")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Reviews whose stars also rise by 0.15 a year; every third has weight 0 and a wrong rating."""
    path = tmp_path_factory.mktemp("columns") / "reviews.csv"
    reviews = package.datasets.make_reviews(600, random_state=0)
    rng = np.random.default_rng(1)
    year, days = rng.integers(1980, 2020, 600), rng.integers(1, 30, 600)
    price = rng.gamma(2.0, 5.0, 600)
    weight = np.arange(600) % 3
    stars = np.where(weight == 0, -50, reviews.target + 0.15 * (year - 2000))
    views = rng.poisson(days * np.exp(0.3 * (reviews.target - 5) - 1))
    rows = zip(reviews.texts, stars, year, price, weight, days, views, strict=True)
    return write_csv(path, ["text", "stars", "year", "price", "weight", "days", "views"], rows)


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("fitted") / "o"
    done = topicfocus(
        *("fit", data, *COLUMNS, "--covariates", "year,price", "--weight", "weight"),
        *("--out", out, "--topics", 3),
    )
    assert done.returncode == 0, done.stderr
    assert "200 documents have weight 0" in done.stderr
    assert "Covariates: what one standard deviation more adds to the target" in done.stdout
    return out


def printed(done):
    return [row["prediction"] for row in csv.DictReader(done.stdout.splitlines())]


def test_covariates_and_weights_are_used_and_reported(data, folder):
    result = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    assert result["settings"]["covariates"] == ["year", "price"]
    assert result["settings"]["weight"] == "weight"
    year, price = result["covariates"]
    assert year["coef"] == pytest.approx(0.15, rel=0.15)
    assert abs(price["coef"] * price["std"]) < 0.1 * year["coef"] * year["std"]
    held_out = list(result["held_out"].values())
    mine, constant = held_out[0], held_out[-1]
    words = result["held_out"]["ridge on words and pairs of words, and covariates"]
    alone = result["held_out"]["ridge on covariates alone"]
    assert mine["rmse"] < 0.5 * alone["rmse"] < 0.5 * constant["rmse"]
    assert words["rmse"] < 0.5 * alone["rmse"]
    # Ratings of -50 have weight 0: had they counted, effects would lie far below the scale.
    effects = [topic[end] for topic in result["topics"] for end in ("low", "high")]
    assert min(effects) > -10 and max(effects) < 20
    # Held-out figures are weighted like the fit.
    weights = [float(row["weight"]) for row in read_csv(data)]
    written = read_csv(folder / "predictions.csv")
    test = [i for i, row in enumerate(written) if row["part"] == "test"]
    assert all(weights[i] > 0 for i in test)
    error = [float(written[i]["target"]) - float(written[i]["prediction"]) for i in test]
    expected = np.sqrt(np.average(np.square(error), weights=[weights[i] for i in test]))
    assert mine["rmse"] == pytest.approx(expected, rel=1e-5)
    assert mine["rmse"] != pytest.approx(np.sqrt(np.mean(np.square(error))), rel=1e-5)


def test_predict_finds_the_columns_also_with_the_file_alone(data, folder, tmp_path):
    written = [row["prediction"] for row in read_csv(folder / "predictions.csv")]
    alone = tmp_path / "m.topicfocus"
    shutil.copy(folder / "model.topicfocus", alone)
    done = topicfocus("predict", alone, data, "--text", "text")
    assert done.returncode == 0, done.stderr
    assert printed(done) == written
    # Another name, and another order of columns.
    other = tmp_path / "other.csv"
    rows = [[r["price"], r["year"], r["text"]] for r in read_csv(data)]
    write_csv(other, ["price", "released", "text"], rows)
    done = topicfocus("predict", folder, other)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "has no column 'year'" in done.stderr
    assert "was fitted with such a column" in done.stderr
    done = topicfocus("predict", folder, other, "--covariates", "released,price")
    assert printed(done) == written
    done = topicfocus("predict", folder, other, "--covariates", "price")
    assert done.returncode == 2
    assert "2 covariates (year, price), but --covariates names 1" in done.stderr


def with_gaps(data, place, column, rows):
    """The file with nothing in a column of some rows, as several programs write nothing."""
    table = read_csv(data)
    for i, row in enumerate(rows):
        table[row - 1][column] = ("", "NA", "nan", "null")[i % 4]
    return write_csv(place, list(table[0]), [row.values() for row in table])


def test_a_gap_in_a_covariate_is_filled_and_said(data, folder, tmp_path):
    gaps = with_gaps(data, tmp_path / "gap.csv", "year", [3])
    done = topicfocus("predict", folder, gaps)
    assert done.returncode == 0, done.stderr
    assert "'year' is missing in 1 of 600 documents: replaced by the median" in done.stderr
    found = float(printed(done)[2])
    table = read_csv(data)
    train = [
        r["part"] == "train" and w["weight"] != "0"
        for r, w in zip(read_csv(folder / "predictions.csv"), table, strict=True)
    ]
    years = [(int(r["year"]), int(r["weight"])) for r, t in zip(table, train, strict=True) if t]
    middle = sorted(year for year, weight in years for _ in range(weight))
    table[2]["year"] = middle[(len(middle) - 1) // 2]
    text, year, price = (table[2][name] for name in ("text", "year", "price"))
    given = ("--covariates", f"year={year},price={price}", "--json")
    known = json.loads(topicfocus("explain", folder, "--text", text, *given).stdout)
    assert found == pytest.approx(known["prediction"]["prediction"], rel=1e-4)
    given = ("--covariates", f"year=NA,price={price}")
    done = topicfocus("explain", folder, "--text", text, *given)
    assert "year = not known" in done.stdout
    done = topicfocus("explain", folder, "--text", text, *given, "--json")
    assert json.loads(done.stdout)["prediction"] == known["prediction"]


def test_gaps_in_a_fit_are_a_covariate_of_their_own(data, tmp_path):
    gaps = with_gaps(data, tmp_path / "gap.csv", "year", range(1, 600, 4))
    columns = (*COLUMNS, "--covariates", "year,price", "--weight", "weight", "--topics", 2)
    done = topicfocus("fit", gaps, *columns, "--out", tmp_path / "o")
    assert done.returncode == 0, done.stderr
    assert "'year' is missing in 150 of 600 documents: replaced by the median of the" in done.stderr
    assert "year is missing" in done.stdout
    result = json.loads((tmp_path / "o" / "metrics.json").read_text())
    filled = {row["name"]: row.get("filled_with") for row in result["covariates"]}
    assert list(filled) == ["year", "price", "year is missing"]
    assert 1990 < filled["year"] < 2010 and filled["price"] is None
    assert result["held_out"]["ridge on covariates alone"]["r2"] > 0
    assert topicfocus("report", tmp_path / "o", gaps, "--out", tmp_path / "p.html").returncode == 0


def test_gaps_that_nothing_can_stand_for(data, tmp_path):
    gaps = with_gaps(data, tmp_path / "gap.csv", "weight", [3])
    given = ("fit", gaps, *COLUMNS, "--covariates", "year", "--weight", "weight")
    done = topicfocus(*given, "--out", tmp_path / "o")
    assert done.returncode == 1
    assert "row 3: 'weight' is missing" in done.stderr
    gaps = with_gaps(data, tmp_path / "all.csv", "year", range(1, 601))
    done = topicfocus("fit", gaps, *COLUMNS, "--covariates", "year", "--out", tmp_path / "o")
    assert done.returncode == 1
    assert "the covariate 'year' is missing in every training document" in done.stderr


def test_explain_adds_covariates(folder):
    text = "A masterpiece, truly superb; the plot is awful."
    done = topicfocus("explain", folder, "--text", text)
    assert done.returncode == 2
    assert "--covariates year=...,price=..." in done.stderr
    given = ("--covariates", "price=3, year=2015")  # in any order
    done = topicfocus("explain", folder, "--text", text, *given, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    added = {row["name"]: row["amount"] for row in found["covariates"]}
    rest = found["remainder"]["amount"] if found["remainder"] else 0.0
    total = found["base"] + sum(added.values()) + sum(found["words"].values()) + rest
    assert total == pytest.approx(found["total"])
    assert total == pytest.approx(found["prediction"]["prediction"])
    assert added["year"] == pytest.approx(0.15 * 15, rel=0.2)  # from the mean, about 2000
    assert "year = 2015" in topicfocus("explain", folder, "--text", text, *given).stdout


def test_exposure_of_counts(data, tmp_path):
    done = topicfocus(
        *("fit", data, "--text", "text", "--target", "views", "--kind", "count", "--topics", 3),
        *("--exposure", "days", "--out", tmp_path / "o", "--json"),
    )
    assert done.returncode == 0, done.stderr
    mine, words, constant = json.loads(done.stdout)["held_out"].values()
    assert mine["deviance"] < 0.5 * constant["deviance"]
    assert words["deviance"] < 0.5 * constant["deviance"]
    rows, written = read_csv(data), read_csv(tmp_path / "o" / "predictions.csv")
    days = np.array([float(row["days"]) for row in rows])
    rate = np.array([float(row["prediction"]) for row in written]) / days
    # Twice the days, twice the count.
    doubled = tmp_path / "doubled.csv"
    texts = [row["text"] for row in rows]
    write_csv(doubled, ["text", "days"], zip(texts, 2 * days, strict=True))
    done = topicfocus("predict", tmp_path / "o", doubled, "--json")
    assert done.returncode == 0, done.stderr
    again = [json.loads(line)["prediction"] for line in done.stdout.splitlines()]
    np.testing.assert_allclose(again, 2 * rate * days, rtol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (("--covariates", "yeer"), "no column 'yeer'. Did you mean 'year'?", 1),
        (("--covariates", "stars"), "this column is the target", 2),
        (("--weight", "text"), "this column is the text", 2),
        (("--covariates", "year,year"), "must name columns, each once", 2),
        (("--exposure", "days"), "add --kind count", 2),
        (("--kind", "real", "--weight", "below"), "must be 0 or more, but in row 2 it is -1", 1),
    ],
)
def test_mistakes(tmp_path, arguments, message, code):
    path = tmp_path / "r.csv"
    rows = [f"good {i} bad,{i},{1990 + i},1,{1 - 2 * (i == 1)}" for i in range(30)]
    path.write_text("\n".join(["text,stars,year,days,below", *rows]) + "\n", encoding="utf-8")
    done = topicfocus("fit", path, *COLUMNS, *arguments, "--out", tmp_path / "o")
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["r.csv"]


def test_a_model_of_python_with_covariates(data, folder, tmp_path):
    """It has no names of its own: they are asked for."""
    model = package.load(folder / "model.topicfocus")
    del model[-1].covariate_names_
    package.save(model, tmp_path / "m.topicfocus")
    done = topicfocus("predict", tmp_path / "m.topicfocus", data, "--text", "text")
    assert done.returncode == 2
    assert "does not say which" in done.stderr
    done = topicfocus(
        *("predict", tmp_path / "m.topicfocus", data, "--text", "text"),
        *("--covariates", "year,price"),
    )
    assert done.returncode == 0, done.stderr
    written = [row["prediction"] for row in read_csv(folder / "predictions.csv")]
    assert printed(done) == written
