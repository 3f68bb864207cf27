"""The progress bar says the same on a wide and on a narrow terminal."""

import re

import pytest

from topicfocus.estimators.progress import Lines, progress_bar
from topicfocus.solvers import StepInfo
from topicfocus.solvers.checkpoints import stage, telling


def terminal_of(columns, monkeypatch):
    """rich takes what it writes to for a terminal."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


def shown(capsys):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)


@pytest.mark.parametrize("columns", [80, 160])
def test_all_figures_fit_the_line(columns, monkeypatch, capsys):
    terminal_of(columns, monkeypatch)
    with progress_bar("FocusedTopicClassifier", 8928, True, "objective/doc") as report:
        for epoch in range(1, 33):
            report(StepInfo(epoch, -70.6861, 819, validation=0.555), 61)
    seen = shown(capsys)
    last = [line for line in re.split(r"[\r\n]", seen) if "32/" in line][-1]
    for figure in ("━", "-70.6", "validation 0.555", "kept 819/8928", "left"):
        assert figure in last
    assert "…" not in last
    assert "FocusedTopicClassifier" in seen


@pytest.mark.parametrize("columns", [80, 160])
def test_what_is_not_known_is_not_said(columns, monkeypatch, capsys):
    """Before the first step: a stage, and neither "0/?" nor time that is left."""
    terminal_of(columns, monkeypatch)
    with pytest.raises(RuntimeError), progress_bar("LDA", None, True):
        stage("evidence", lambda: None)
        raise RuntimeError  # or the bar would be full at the end
    seen = shown(capsys)
    assert "evidence" in seen
    assert "?" not in seen and "left" not in seen


def test_a_quick_fit_says_nothing_in_a_pipe(capsys):
    with progress_bar("LDA", None, True) as report:
        report(StepInfo(1, -1.0, 0), 2)
    assert capsys.readouterr().err == ""


def test_lines_name_the_stage_of_a_fit():
    said, lines = [], Lines("a model", print)
    with telling(lines.phase):
        stage("evidence", lambda: said.append(lines.line()))
        stage("themes", lambda: said.append(lines.line()))
    stage("nobody listens", lambda: said.append(lines.line()))
    assert [line.split(":")[0] for line in said] == [
        "a model, evidence",
        "a model, themes",
        "a model, themes",
    ]
