"""The comparison can be left out, and a model that is of no use is said to be."""

import json

import numpy as np
import pytest
from command_line import read_csv, topicfocus, write_csv, write_reviews

from topicfocus import workflow
from topicfocus.workflow import sentences


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_reviews(tmp_path_factory.mktemp("data") / "r.csv", 240)


def test_worse_than_a_constant_is_said_and_written(data, tmp_path):
    """Targets that have nothing to do with the texts, and a model that believes them."""
    rng, rows = np.random.default_rng(2), read_csv(data)
    noise = [(row["text"], f"{rng.normal():.3f}") for row in rows]
    path = write_csv(tmp_path / "r.csv", ["text", "stars"], noise)
    with pytest.warns(UserWarning, match="worse than a constant does .RMSE"):
        found = workflow.fit_file(
            path, text="text", target="stars", model="slda", topics=20, baseline=False
        )
    (message,) = found.summary["warnings"]
    assert message.startswith("SLDARegressor predicts the held-out documents worse")


def test_all_documents_can_be_fitted(data, tmp_path):
    """Nothing is held out, and nothing claims to be."""
    done = topicfocus(
        *("fit", data, "--text", "text", "--target", "stars", "--topics", 2, "--test-share", 0),
        *("--out", tmp_path / "o"),
    )
    assert done.returncode == 0, done.stderr
    assert "there are no held-out metrics" in done.stdout and "ridge" not in done.stdout
    assert "percentile of the training documents" in " ".join(done.stdout.split())
    result = json.loads((tmp_path / "o" / "metrics.json").read_text())
    assert result["documents"]["train"] == 240 and result["documents"]["test"] == 0
    assert result["held_out"] == {} == result["reliability"]
    page = (tmp_path / "o" / "explorer.html").read_text(encoding="utf-8")
    shown = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert shown["held_out"] is False if "held_out" in shown else True
    with (tmp_path / "o" / "predictions.csv").open() as stream:
        assert {line.split(",")[1] for line in stream} == {"part", "train"}


@pytest.mark.parametrize(("theirs", "said"), [(0.7, "; a logistic"), (0.61, ", a logistic")])
def test_a_clearly_better_regression_is_named_as_such(theirs, said):
    summary = {
        "documents": {"test": 100},
        "held_out": {"model": {"auc": 0.6}, "logistic regression on all words": {"auc": theirs}},
        "topics": [{}],
        "target": {"name": "died"},
        "settings": {"separator": ";"},
    }
    sentence = sentences.quality_sentence(summary)
    assert f"{said} regression on all codes" in sentence
    assert ("predicts better" in sentence) == (theirs == 0.7)
