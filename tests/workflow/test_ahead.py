"""The second process of a first run: what it compiles is what a fit then finds compiled."""

import subprocess
import sys

import pytest

from topicfocus import FocusedTopicClassifier
from topicfocus.datasets import make_reviews
from topicfocus.kernels import compile as compiling
from topicfocus.kernels.compile import is_cached
from topicfocus.kernels.constrained import answer_at_mode
from topicfocus.kernels.first_occurrence import first_occurrences
from topicfocus.kernels.topic_mix import map_documents
from topicfocus.kernels.uncertainty import predictor_variances
from topicfocus.workflow import ahead

LATE = (map_documents, answer_at_mode, predictor_variances, first_occurrences)


def test_a_fit_needs_no_other_form_of_these_kernels():
    ahead.compile_late_kernels()
    before = [set(kernel.signatures) for kernel in LATE]
    assert all(before)
    reviews = make_reviews(80, random_state=0)
    model = FocusedTopicClassifier(2, max_epochs=1, random_state=0, n_jobs=1)
    model.fit(reviews.counts, reviews.target > 5)
    model.predict_proba(reviews.counts)
    model.topic_effects(reviews.counts)
    model.word_effects(reviews.counts[:20])
    assert [set(kernel.signatures) for kernel in LATE] == before


@pytest.fixture
def started(monkeypatch):
    """Processes that were started; none is."""
    commands = []

    class Process:
        def __init__(self, command, **options):
            commands.append(command)
            assert options["stdout"] == subprocess.DEVNULL

        def terminate(self):
            commands.append("terminated")

        def wait(self, seconds=None):
            commands.append("waited for")
            if seconds is not None:
                raise subprocess.TimeoutExpired("", seconds)

    monkeypatch.setattr(subprocess, "Popen", Process)
    return commands


def test_begins_without_kernels_and_ends_with_the_block(started, monkeypatch, tmp_path):
    monkeypatch.setattr(compiling, "_CACHE", tmp_path)
    monkeypatch.setattr("topicfocus.kernels.threads._cores", lambda: 2)
    with pytest.raises(KeyboardInterrupt), ahead.compiling_ahead():
        assert started == [[sys.executable, "-m", "topicfocus.workflow.ahead"]]
        raise KeyboardInterrupt
    assert started[1:] == ["terminated", "waited for"]


def test_what_comes_last_waits_for_it(started, monkeypatch, tmp_path):
    monkeypatch.setattr(compiling, "_CACHE", tmp_path)
    monkeypatch.setattr("topicfocus.kernels.threads._cores", lambda: 2)
    ahead.wait_for_help()
    assert started == []
    with ahead.compiling_ahead():
        ahead.wait_for_help()  # and goes on where it takes too long
        assert started[1:] == ["waited for"]
    ahead.wait_for_help()
    assert started[1:] == ["waited for", "terminated", "waited for"]


@pytest.mark.parametrize(("cores", "compiled"), [(1, False), (2, True), (2, None)])
def test_one_core_or_compiled_kernels_or_no_cache_need_no_help(
    started, monkeypatch, tmp_path, cores, compiled
):
    monkeypatch.setattr(compiling, "_CACHE", None if compiled is None else tmp_path)
    monkeypatch.setattr("topicfocus.kernels.threads._cores", lambda: cores)
    if compiled:
        (tmp_path / "kernels_1").mkdir()
        (tmp_path / "kernels_1" / "topic_mix.map_documents-1.py311.nbi").touch()
    assert is_cached(map_documents) is compiled
    with ahead.compiling_ahead():
        assert not started


def test_a_machine_that_allows_no_more_processes_is_no_error(monkeypatch, tmp_path):
    def refuse(*arguments, **options):
        raise BlockingIOError("no")

    monkeypatch.setattr(compiling, "_CACHE", tmp_path)
    monkeypatch.setattr("topicfocus.kernels.threads._cores", lambda: 2)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with ahead.compiling_ahead():
        pass
