"""Long work says how far it is, and what cannot be meant is told before it."""

import os
import time

import numpy as np
import pytest
from command_line import topicfocus, write_reviews

from topicfocus import workflow
from topicfocus.estimators.progress import (
    Lines,
    counting_lines,
    duration,
    progress_bar,
    progress_lines,
)
from topicfocus.solvers import StepInfo
from topicfocus.workflow import SettingError, TuneOptions, fit_file
from topicfocus.workflow.options import ModelOptions

COLUMNS = ("--text", "text", "--target", "stars")


def table(path, rows):
    path.write_text("\n".join(["text,stars", *rows]) + "\n", encoding="utf-8")
    return path


def documents(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{i}" for i in rng.integers(0, 60, 12)) for _ in range(n)]


def test_lines_have_step_figures_and_time_left():
    heard = []
    with Lines("a fit", heard.append, 500, "objective/doc", first=0.05) as lines:
        while not heard:
            time.sleep(0.01)
        assert heard[0].startswith("a fit: 0 s gone")
        for epoch in (1, 2, 3):
            lines.report(StepInfo(epoch, -2.5, 40, validation=0.25), 30)
        line = lines.line()
    assert line.startswith("a fit: step 3 of at most 30, objective/doc -2.5000, validation 0.250, ")
    assert "kept 40 of 500 words" in line and line.endswith("s left")
    n = len(heard)
    time.sleep(0.3)
    assert len(heard) == n  # it is over


def test_many_fits_are_counted():
    heard, logged = [], []
    with progress_lines(heard.append, logged.append):
        for enabled, bar in ((True, False), (True, True), (False, False)):
            with counting_lines("fits", 20, enabled, bar) as advance:
                for _ in range(5):
                    advance("5 topics")
    assert heard == logged == []  # too quick for a line
    lines = Lines("Fits", heard.append)
    lines.count(0, 20)
    assert lines.line() == "Fits: 0 of 20, 0 s gone"
    lines.count(5, 20, "5 topics")
    lines._began -= 10
    assert lines.line() == "Fits: 5 of 20, 5 topics, 10 s gone, some 30 s left"


def test_stability_is_not_silent_where_there_is_no_terminal(tmp_path, monkeypatch):
    monkeypatch.setattr("topicfocus.estimators.progress._FIRST", 0.01)
    said, path = [], write_reviews(tmp_path / "r.csv", 100)
    fit_file(
        path, text="text", target="stars", topics=2, stability=2, jobs=1,
        baseline=False, progress=True, remarks=said.append,
    )  # fmt: skip
    assert any(line.startswith("Halves: ") and " of 2" in line for line in said)


@pytest.mark.parametrize("name", ["topics", "stability", "jobs"])
def test_numbers_that_cannot_be_meant(name):
    with pytest.raises(SettingError, match=rf"{name}= must be at most 10,000, got 1,000,000"):
        ModelOptions(**{name: 1_000_000})
    with pytest.raises(SettingError, match="topics= must be at most 10,000, got more"):
        TuneOptions(topics=(3, 10**30))


def test_lines_become_rare(monkeypatch):
    """An hour of a clock that runs by itself."""
    clock, heard = [0.0], []
    monkeypatch.setattr("topicfocus.estimators.progress.time.monotonic", lambda: clock[0])
    lines = Lines("a fit", heard.append, first=10.0)

    class Ended:
        def wait(self, seconds):
            clock[0] += seconds
            return clock[0] > 3600

    lines._ended = Ended()
    lines._speak()
    assert 10 <= len(heard) <= 20
    assert heard[0] == "a fit: 10 s gone"


def test_where_lines_go(capsys, monkeypatch):
    monkeypatch.setattr("topicfocus.estimators.progress._FIRST", 0.02)
    heard, log = [], []

    def told(emit, always, enabled):
        with progress_lines(emit, always), progress_bar("LDA", None, enabled) as report:
            if report is not None:
                report(StepInfo(1, -1.0, 0), 2)
                time.sleep(0.2)
        return report is not None

    assert told(heard.append, None, True) and heard[0].startswith("LDA: step 1 of at most 2")
    assert told(None, log.append, False) and log  # of a log, also without progress
    assert not told(None, None, False)
    assert capsys.readouterr().err == ""
    assert told(None, None, True)
    assert capsys.readouterr().err.startswith("LDA: step 1")


@pytest.mark.parametrize(
    ("seconds", "text"), [(3.2, "3 s"), (99.6, "2 min"), (700, "12 min"), (7500, "2 h 5 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_more_topics_than_documents(tmp_path):
    path = write_reviews(tmp_path / "reviews.csv")
    with pytest.raises(ValueError, match=r"4,000 topics are more than the .* training documents"):
        fit_file(path, text="text", target="stars", topics=4000)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--topics", 1_000_000, "--topics must be at most 10,000, got 1,000,000."),
        ("--seed", "9" * 20, "--seed must be at most 4,294,967,295"),
        ("--jobs", 10**6, "--jobs must be at most"),
    ],
)
def test_numbers_that_are_too_large_are_told_before_reading(tmp_path, option, value, message):
    done = topicfocus("fit", tmp_path / "none.csv", *COLUMNS, option, value)
    assert done.returncode == 2
    assert message in done.stderr and len(done.stderr.splitlines()) == 1


def test_more_topics_than_documents_and_classes_of_one_document(tmp_path):
    texts = documents(320)
    path = table(tmp_path / "a.csv", [f"{t},{i % 7}.5" for i, t in enumerate(texts)])
    done = topicfocus("fit", path, *COLUMNS, "--topics", 400, "--out", tmp_path / "o")
    assert done.returncode == 1 and "400 topics are more than the 256" in done.stderr
    path = table(tmp_path / "b.csv", [f"{t},c{i}" for i, t in enumerate(documents(400))])
    done = topicfocus("fit", path, *COLUMNS, "--kind", "classes", "--out", tmp_path / "o")
    assert done.returncode == 1 and "400 classes for 400 documents" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "b.csv"]


def test_advice_is_on_options(tmp_path, monkeypatch):
    from topicfocus import FocusedTopicRegressor

    def nothing(self, *_, **__):
        raise ValueError("No word says anything. Force some with keep_words.")

    monkeypatch.setattr(FocusedTopicRegressor, "fit", nothing)
    rows = [f"{t},{i % 7}.5" for i, t in enumerate(documents(60))]
    path = table(tmp_path / "a.csv", rows)
    done = topicfocus("fit", path, *COLUMNS, "--out", tmp_path / "o")
    assert done.returncode == 1
    assert "keep_words" not in done.stderr and "--model pc-slda" in done.stderr
    with pytest.raises(ValueError, match='model="pc-slda" keeps every word'):
        workflow.fit_file(path, text="text", target="stars")
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def test_a_pipe_that_nobody_writes_to(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    table(tmp_path / "a.csv", ["x,1"])
    for arguments in (
        ("fit", pipe, *COLUMNS),
        ("fit", tmp_path / "a.csv", *COLUMNS, "--stop-words", pipe),
        ("fit", "--config", pipe),
        ("predict", pipe, tmp_path / "a.csv"),
    ):
        done = topicfocus(*arguments, cwd=tmp_path)
        assert done.returncode in (1, 2) and "not a file" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "pipe.csv"]
