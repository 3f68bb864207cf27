"""The workflow from Python: the same as the command, returned instead of printed."""

import json

import numpy as np
import pytest
from command_line import topicfocus, write_reviews

import topicfocus as package
from topicfocus import workflow

COLUMNS = {"text": "text", "target": "stars"}
OPTIONS = ("--text", "text", "--target", "stars")


def same_metrics(found, expected):
    """Equal but for the last digits: sums of BLAS depend on where arrays happen to lie."""
    assert list(found) == list(expected)
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, rel=1e-6, abs=1e-9)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_reviews(tmp_path_factory.mktemp("data") / "r.csv", 240)


@pytest.fixture(scope="module")
def outcome(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fitted") / "o"
    return workflow.fit_file(data, **COLUMNS, topics=3, out=folder)


def test_without_a_folder_nothing_is_written_or_said(data, outcome, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    found = workflow.fit_file(str(data), **COLUMNS, topics=3)
    assert found.folder is None and found.written == ()
    same_metrics(found.summary["held_out"], outcome.summary["held_out"])
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")


def test_predict_file_is_the_table_of_the_command(data, outcome):
    table = workflow.predict_file(outcome.folder, data)
    done = topicfocus("predict", outcome.folder, data, "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert (
        list(table)
        == list(lines[0])
        == [*("row", "prediction", "std", "low", "high", "relevant_words")]
    )
    np.testing.assert_allclose(table["prediction"], [line["prediction"] for line in lines])
    saved = workflow.load_model(outcome.folder)
    blocks = list(workflow.predict_blocks(saved, data))
    assert sum(len(block["row"]) for block in blocks) == len(lines)


def test_report_file(data, outcome, tmp_path):
    page = tmp_path / "page.html"
    found = workflow.report_file(outcome.folder, data, out=page, docs=20)
    assert found == {"page": str(page), "documents": 20}
    assert "<title>Topics that predict stars</title>" in page.read_text(encoding="utf-8")
    with pytest.raises(FileExistsError, match="replace it: `overwrite=True`"):
        workflow.report_file(outcome.folder, data, out=page)
    workflow.report_file(outcome.folder, data, out=page, docs=20, overwrite=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "counts"}, "`kind` must be one of real, count, ordinal, classes, not 'counts'"),
        ({"model": "lda"}, "`model` must be one of"),
        ({"topics": 0}, "`topics` must be at least 1, got 0"),
        ({"jobs": 10**6}, "`jobs` must be at most 10,000, got 1,000,000"),
        ({"topics": 10**30}, "`topics` must be at most 10,000, got more"),
        ({"test_share": 1}, "`test_share` must be at least 0 and less than 1"),
        ({"inclusion_prior": 2.0}, "`inclusion_prior` must lie between"),
        ({"model": "slda", "inclusion_prior": 0.1}, "is for focused and pf-slda, not slda"),
        (
            {"model": "pf-slda", "inclusion_prior": "auto"},
            "='auto'` is for focused",
        ),
        ({"exposure": "days"}, "`exposure` is for counts: add `kind='count'`."),
        ({"covariates": ["stars"]}, "`covariates='stars'`: this column is the target"),
        ({"overwrite": True}, "`overwrite=True` needs a folder: `out`"),
        ({"target": None}, "say which column is the target: `target`"),
    ],
)
def test_mistakes_are_said_in_words_of_python(data, settings, message):
    with pytest.raises(workflow.SettingError) as error:
        workflow.fit_file(data, **{**COLUMNS, **settings})
    assert message in str(error.value)
    assert "--" not in str(error.value)


def test_a_taken_folder_and_a_wrong_column(data, outcome):
    with pytest.raises(FileExistsError, match="with `out`, or replace it: `overwrite=True`"):
        workflow.fit_file(data, **COLUMNS, out=outcome.folder)
    with pytest.raises(package.text.ReadError, match="Did you mean 'stars'"):
        workflow.fit_file(data, text="text", target="star")
    with pytest.raises(workflow.SettingError, match="no text to explain"):
        workflow.explain_text(outcome.folder, " ")
    with pytest.raises(workflow.SettingError, match="`label` is for models of classes"):
        workflow.explain_text(outcome.folder, "good", label="a")
    with pytest.raises(workflow.SettingError, match="fitted without covariates"):
        workflow.explain_text(outcome.folder, "good", covariates={"year": 2000.0})
    with pytest.raises(ValueError, match="`exposure` must be above 0"):
        workflow.explain_text(outcome.folder, "good", exposure=0)
