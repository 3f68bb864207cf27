"""Progress of fits: stages and steps reach the callback, the bar and the plain lines."""

import re

import pytest

from topicfocus import LDA, FocusedTopicRegressor, progress
from topicfocus.datasets import make_reviews
from topicfocus.estimators.training import FitOptions, fit_with
from topicfocus.joint import StepInfo
from topicfocus.progress import show_progress


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(150, random_state=0)


@pytest.mark.parametrize("columns", [80, 160])
def test_a_terminal_gets_a_bar(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with show_progress("LDA") as report:
        report("screening words")
        for step in range(1, 33):
            report("epochs", step, 61, StepInfo(step, -7.6861, 819, validation=0.555))
    seen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    for part in ("━", "LDA", "epochs, 32 of 61, ", " left, 819 words"):
        assert part in seen
    assert columns < 160 or "validation 0.555, objective -7.6861" in seen


def test_a_pipe_gets_lines_and_a_short_fit_none(monkeypatch, capsys):
    with show_progress("LDA") as report:
        report("epochs", 1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "_FIRST", 0.0)
    with show_progress("LDA") as report:
        report("epochs", 1, 2)
    assert capsys.readouterr().err == "LDA: epochs, 1 of 2, 0 s\n"
    with show_progress("LDA", enabled=False) as report:
        assert report is None


def test_a_callback_hears_of_every_stage_and_step(reviews):
    heard = []

    def listen(stage, done=0, total=None, info=None):
        heard.append((stage, done, total, info))

    options = FitOptions(progress=listen)
    model = FocusedTopicRegressor(2, max_epochs=3, inclusion_prior=0.2, random_state=0)
    fit_with(model, options, reviews.counts, reviews.target)
    stages = list(dict.fromkeys(stage for stage, *_ in heard))
    assert stages[:3] == ["screening words", "subjects", "validation pass"]
    assert stages[-1] == "all documents"
    assert sum(info is not None for *_, info in heard) == model.n_iter_
    heard.clear()
    model = fit_with(LDA(2, max_epochs=4, tol=0, random_state=0), options, reviews.counts)
    assert [done for _, done, _, _ in heard] == [1, 2, 3, 4]
    heard.clear()
    model.fit(reviews.counts)  # options are for one call
    assert heard == []
