"""`fit --out-of-core`: counts in a temporary folder give the model of memory, and leave nothing."""

import json

import numpy as np
import pytest
from command_line import read_csv, write_reviews

from topicfocus import counts
from topicfocus.workflow import fit_file


def fit(path, **more):
    return fit_file(path, text="text", target="stars", **{"topics": 2, **more})


def agree(stored, memory):
    held = memory.predictions["part"] == "test"
    found, expected = stored.predictions, memory.predictions
    mine = found["prediction"][found["part"] == "test"]
    assert np.allclose(mine, expected["prediction"][held], rtol=1e-8)


@pytest.fixture
def nothing_in_memory(monkeypatch):
    monkeypatch.setattr(counts, "IN_MEMORY", 0)


def test_the_model_is_that_of_memory(tmp_path, nothing_in_memory, caplog):
    path = write_reviews(tmp_path / "reviews.csv", 240)
    with caplog.at_level("INFO", "topicfocus"):
        stored = fit(path, out_of_core=True, out=tmp_path / "o")
    agree(stored, fit(path))
    assert "Counts are kept in a temporary folder" in caplog.text
    assert {p.name for p in tmp_path.iterdir()} == {"reviews.csv", "o"}


def test_several_files_and_json_lines(tmp_path, nothing_in_memory):
    first, second = (
        write_reviews(tmp_path / "a.csv", 240),
        write_reviews(tmp_path / "b.csv", 100, seed=1),
    )
    agree(fit([first, second], out_of_core=True), fit([first, second]))
    lines = tmp_path / "reviews.jsonl"
    lines.write_text("\n".join(map(json.dumps, read_csv(first))))
    agree(fit(lines, out_of_core=True), fit(first))


def test_large_files_go_to_a_folder_by_themselves(tmp_path, monkeypatch, caplog):
    path = write_reviews(tmp_path / "reviews.csv", 100)
    assert not counts.counts_folder_needed([path])
    monkeypatch.setattr(counts, "available_memory", lambda: 5.0 * path.stat().st_size - 1)
    assert counts.counts_folder_needed([path]) and counts.counts_folder_needed([tmp_path])
    with caplog.at_level("INFO", "topicfocus"):
        fit(path)
    assert "Counts are kept in a temporary folder" in caplog.text
    monkeypatch.setattr(counts, "available_memory", lambda: None)
    assert not counts.counts_folder_needed([path])


def test_nothing_is_left_after_an_error(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("text,stars\n!,1\n?,2\n")
    with pytest.raises(ValueError, match="empty vocabulary"):
        fit(path, out_of_core=True, out=tmp_path / "o")
    assert [p.name for p in tmp_path.iterdir()] == ["reviews.csv"]
