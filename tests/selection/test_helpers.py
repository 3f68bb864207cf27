"""Work on all cores: who does it, what comes of errors, and what helpers get."""

from __future__ import annotations

import os
import tempfile
import threading
import time
import warnings

import joblib
import numpy as np
import pytest
import sklearn

from topicfocus.selection import helpers, parallel
from topicfocus.selection.documents import Data
from topicfocus.selection.helpers import work_together
from topicfocus.selection.parallel import run_all


@pytest.fixture
def at_once(monkeypatch):
    """Helpers are started whatever there is to do; gives the executors."""
    made = []
    whole = helpers.ProcessPoolExecutor

    def make(*args, **kwargs):
        made.append(whole(*args, **kwargs))
        return made[-1]

    monkeypatch.setattr(helpers, "ProcessPoolExecutor", make)
    monkeypatch.setattr(helpers, "START_SECONDS", 0.0)
    monkeypatch.setattr(helpers, "_ASK_SECONDS", 0.001)
    return made


def waiting_for_helpers(got, results=1):
    """Work that this process does only after helpers have done so much; what is done is `got`."""
    here = os.getpid()

    def work(number):
        limit = time.monotonic() + 60
        while os.getpid() == here and sum(who != here for _, who in got) < results:
            assert time.monotonic() < limit, "no helper has done anything"
            time.sleep(0.01)
        return number, os.getpid()

    return work


def test_helpers_and_this_process_share_the_work(at_once):
    got, inside = [], []

    def take(result):
        inside.append(1)
        assert len(inside) == 1, "two at a time"
        got.append(result)
        inside.pop()

    work_together(waiting_for_helpers(got), [(i,) for i in range(6)], take, 2)
    assert sorted(number for number, _ in got) == list(range(6))
    assert len({who for _, who in got}) == 2 and os.getpid() in {who for _, who in got}
    assert len(at_once) == 1


def test_little_work_is_done_here(monkeypatch):
    monkeypatch.setattr(helpers, "ProcessPoolExecutor", None)  # to start one is an error
    got = []
    run_all(lambda n: time.sleep(0.05) or n, [(i,) for i in range(6)], got.append, 4)
    assert got == list(range(6))


def test_helpers_begin_when_what_waits_takes_longer_than_they_need():
    waiting = helpers._Waiting([(i,) for i in range(5)], lambda result: None)
    waiting.next()
    time.sleep(0.2)
    assert waiting.seconds() >= 4 * 0.2  # the first is still being done
    waiting.done(None)
    waiting.next()
    assert 3 * 0.2 <= waiting.seconds() < 4 * 0.2  # as long as the longest so far


def test_documents_are_files_that_helpers_map(at_once):
    got, here = [], os.getpid()
    data = Data(X=np.arange(100_000.0), y=np.arange(3), beside={"weights": np.ones(5)})
    together = waiting_for_helpers(got, 2)

    def work(data, number):
        import numpy as np

        _, who = together(number)
        how = isinstance(data.X, np.memmap), data.X.flags.writeable
        return (id(data), how, float(data.X.sum()), data.y.tolist()), who

    work_together(work, [(data, i) for i in range(6)], got.append, 2)
    helped = [result for result, who in got if who != here]
    assert len(helped) > 1 and len({result[0] for result in helped}) == 1  # read once
    assert all(result[1] == (True, True) for result in helped)
    assert all(result[2:] == (data.X.sum(), [0, 1, 2]) for result, _ in got)


def test_without_helpers_all_is_done_here(at_once, monkeypatch):
    def none_left(*args, **kwargs):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(helpers, "ProcessPoolExecutor", none_left)
    got = []
    with pytest.warns(UserWarning, match="No helper process could be started .*unavailable"):
        run_all(lambda n: time.sleep(0.02) or n, [(i,) for i in range(6)], got.append, 2)
    assert sorted(got) == list(range(6))


def test_warnings_and_settings_are_those_of_here(at_once):
    got = []
    together = waiting_for_helpers(got)

    def work(number):
        import warnings

        import sklearn

        number, who = together(number)
        try:
            warnings.warn("one that is an error here", FutureWarning, stacklevel=1)
        except FutureWarning:
            number = "an error"
        return (number, sklearn.get_config()["assume_finite"]), who

    with warnings.catch_warnings(), sklearn.config_context(assume_finite=True):
        warnings.simplefilter("error", FutureWarning)
        work_together(work, [(i,) for i in range(4)], got.append, 2)
    assert {result for result, _ in got} == {("an error", True)}
    assert len({who for _, who in got}) == 2


@pytest.mark.parametrize("who", ["helper", "here", "take"])
def test_an_error_ends_it_and_the_helpers(at_once, who, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    got, here = [], os.getpid()
    together = waiting_for_helpers(got)

    def work(number):
        import os

        if who == "helper" and os.getpid() != here:
            raise ValueError(os.getpid())
        if who == "helper":
            time.sleep(0.05)
            return number, here
        number, worker = together(number)
        if who == "here" and worker == here:
            raise KeyboardInterrupt
        return number, worker

    def take(result):
        got.append(result)
        if who == "take" and result[1] != here:
            raise OSError("the disk is full")

    expected = {"helper": ValueError, "here": KeyboardInterrupt, "take": OSError}[who]
    with pytest.raises(expected) as error:
        work_together(work, [(i,) for i in range(1000)], take, 2)
    helper = error.value.args[0] if who == "helper" else max(w for _, w in got if w != here)
    with pytest.raises(ProcessLookupError):
        os.kill(helper, 0)
    assert not list(tmp_path.glob("topicfocus-*"))


def test_what_the_user_has_told_joblib_to_use_is_used(monkeypatch):
    monkeypatch.setattr(parallel, "work_together", None)
    here, got = threading.get_ident(), []
    with joblib.parallel_config(backend="threading"):
        run_all(lambda n: threading.get_ident(), [(i,) for i in range(6)], got.append, 2)
    assert len(got) == 6 and here not in got
