"""`class_weight` of a fit from a file: what is fitted, compared, judged, written and refused."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import read_csv, topicfocus, write_csv

import topicfocus as package
from topicfocus import workflow

COLUMNS = ("--text", "text", "--target", "label", "--topics", "2")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """One in five is of the class 1; the class is a number in the file."""
    reviews = package.datasets.make_reviews(300, random_state=0)
    rare = np.argsort(-reviews.target.astype(float), kind="stable")[:60]
    labels = np.isin(np.arange(300), rare).astype(int)
    rows = zip(reviews.texts, labels, strict=True)
    return write_csv(tmp_path_factory.mktemp("data") / "r.csv", ["text", "label"], rows)


def test_it_is_what_python_fits(data, tmp_path):
    out = tmp_path / "o"
    done = topicfocus("fit", data, *COLUMNS, "--class-weight", "1=3.5", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "Classes are weighted as asked for (--class-weight)" in done.stderr
    counter, model = package.load(out / "model.topicfocus")
    assert model.class_weight == {1: 3.5}
    result = json.loads((out / "metrics.json").read_text())
    assert result["settings"]["class_weight"] == {"1": 3.5}
    rows = read_csv(data)
    parts = [row["part"] for row in read_csv(out / "predictions.csv")]
    train = [i for i, part in enumerate(parts) if part == "train"]
    counts = counter.transform([rows[i]["text"] for i in train])
    y = np.array([int(rows[i]["label"]) for i in train])
    again = package.FocusedTopicClassifier(2, random_state=0)
    again.fit(counts, y, sample_weight=np.where(y == 1, 3.5, 1.0))
    np.testing.assert_allclose(again.components_, model.components_, rtol=1e-7, atol=1e-12)


def test_figures_and_the_constant_are_weighted_alike(data):
    found = workflow.fit_file(
        data, text="text", target="label", topics=2, class_weight="balanced", baseline=False
    )
    figures = found.summary["held_out"]
    assert figures["shares of the training part"]["accuracy"] == pytest.approx(0.5)
    assert figures["shares of the training part"]["log_loss"] == pytest.approx(np.log(2))
    assert found.summary["warnings"] == []
    p, truth = (found.predictions[name] for name in ("probability_1", "target"))
    test = found.predictions["part"] == "test"
    right = (p > 0.5) == (np.array(truth) == 1)
    each = [right[test & (np.array(truth) == c)].mean() for c in (0, 1)]
    assert figures["FocusedTopicClassifier"]["accuracy"] == pytest.approx(np.mean(each))


def test_tuning_knows_it(data):
    tuning = {"topics": (2,), "shares": (0.2, 0.4), "folds": 2}
    scores = []
    for given in (None, "balanced"):
        found = workflow.tune_file(
            data, text="text", target="label", **tuning, class_weight=given, baseline=False
        )
        assert found.pipeline[1].class_weight == given
        scores.append([row["score"] for row in found.summary["tuning"]["rows"]])
    assert not np.allclose(*scores)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("two=3", "'two' is no class of the target. Classes: 0, 1."),
        ("1=0", "of '1' must be a number above 0"),
        ("1=1e9", "at most 1e+06"),
        ("=3", "must be balanced or CLASS=X,CLASS=X"),
    ],
)
def test_mistakes(data, tmp_path, given, message):
    done = topicfocus("fit", data, *COLUMNS, "--class-weight", given, "--out", tmp_path / "o")
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore:.*give the target away")
@pytest.mark.parametrize("settings", [{"weight": "w"}, {"weight": "w", "class_weight": "balanced"}])
def test_the_page_has_the_numbers_of_the_tables(settings):
    reviews = package.datasets.make_reviews(400, random_state=0)
    weight = np.random.default_rng(0).gamma(0.5, 2, 400)
    label = np.where(reviews.target > np.quantile(reviews.target, 0.7), "good", "bad")
    frame = pd.DataFrame({"text": reviews.texts, "label": label, "w": weight})
    found = package.fit(frame, text="text", target="label", topics=3, phrases=False, **settings)
    page = found.explorer().summary
    shown = page["evaluation"][0]["figures"]["this model"]
    assert {name.lower().replace(" ", "_"): x for name, x in shown.items()} == pytest.approx(
        found.metrics
    )
    effects = found.effects().set_index("component").sort_index()
    for name in ("estimate", "lower", "upper"):
        assert np.ravel(page["effects"][name]) == pytest.approx(effects[name].to_numpy(), abs=1e-5)
    assert page["completeness"]["share"] == pytest.approx(found.summary["completeness"]["share"])
