"""Ctrl-C at the moments that random ones seldom meet: between two steps, in a lock, twice."""

import ctypes
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import interrupted_in_a_lock, topicfocus, write_reviews
from forked import Forked

from topicfocus.kernels import threads
from topicfocus.workflow import interrupts
from topicfocus.workflow.interrupts import all_is_said, cleaning_up, undoing, uninterrupted


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def pythons_handler():
    """Tests may have been started with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_it_waits_for_the_end_of_what_must_not_be_cut_in_two():
    done = []
    with pytest.raises(KeyboardInterrupt), cleaning_up():
        with uninterrupted():
            with uninterrupted():
                ctrl_c()
                done.append("inner")
            done.append("outer")
        done.append("never")
    assert done == ["inner", "outer"]


def test_it_waits_from_a_point_on():
    done = []
    with pytest.raises(KeyboardInterrupt), cleaning_up():
        with uninterrupted(at_once=False) as wait:
            wait()
            ctrl_c()
            done.append("whole")
        done.append("never")
    with pytest.raises(KeyboardInterrupt), cleaning_up(), uninterrupted(at_once=False):
        ctrl_c()
        done.append("never")
    assert done == ["whole"]


def test_a_thing_is_undone_though_it_comes_before_try_or_while_it_is_undone():
    calls = []
    with pytest.raises(KeyboardInterrupt), cleaning_up(), undoing(lambda: calls.append("undone")):
        ctrl_c()
    assert calls == ["undone"]

    def fail():
        calls.append("tried")
        if calls.count("tried") == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), cleaning_up(), undoing(fail):
        pass
    assert calls.count("tried") == 2


def test_the_second_does_not_disturb_and_is_heard_if_the_first_was_lost():
    with pytest.raises(KeyboardInterrupt), cleaning_up():
        try:
            ctrl_c()
        finally:
            ctrl_c()
            cleaned = True
    assert cleaned
    with pytest.raises(KeyboardInterrupt), cleaning_up():
        with suppress(KeyboardInterrupt):  # a finaliser, a callback: Python prints it and goes on
            ctrl_c()
        ctrl_c()
    with cleaning_up():
        all_is_said()
        ctrl_c()
        ctrl_c()


class Finaliser:
    def __del__(self):
        ctrl_c()


@pytest.mark.parametrize("place", [ctypes.CFUNCTYPE(None)(ctrl_c), Finaliser])
def test_one_that_python_drops_comes_again_and_prints_nothing(place, capfd):
    """numba's compiler has callbacks: what is raised in one was printed, and the fit went on."""
    hook = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), cleaning_up():
        place()
        time.sleep(10)
        raise AssertionError("it did not come again")
    assert capfd.readouterr().err == ""
    assert sys.unraisablehook is hook


@pytest.mark.parametrize("times", [1, 3])
def test_one_that_comes_while_another_is_dropped_comes_again(times, monkeypatch, capfd):
    """Where Python asks what to do with an error nothing may be raised, either: that was lost."""
    later, begun = interrupts._Command.ask_later, []

    def slowly(command):
        begun.append(command)
        later(command)
        if len(begun) <= times:
            time.sleep(0.1)  # the thread asks meanwhile

    monkeypatch.setattr(interrupts._Command, "ask_later", slowly)
    with pytest.raises(KeyboardInterrupt), cleaning_up():
        Finaliser()
        time.sleep(10)
        raise AssertionError("it did not come again")
    assert capfd.readouterr().err == ""
    assert len(begun) > times


def test_other_errors_that_python_drops_are_told_as_before(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    class Wrong:
        def __del__(self):
            raise ValueError("wrong")

    with cleaning_up():
        Wrong()
        assert [str(t.exc_value) for t in told] == ["wrong"]


def test_one_that_python_drops_does_not_outlive_the_command(monkeypatch):
    monkeypatch.setattr(interrupts, "AGAIN", 0.2)
    with cleaning_up():
        Finaliser()
    time.sleep(0.3)


def test_a_lock_that_nobody_gives_back_does_not_keep_the_process(tmp_path):
    """Ctrl-C after `Condition.__enter__` took the lock of a future: its thread waits for ever."""
    data = write_reviews(tmp_path / "r.csv", 400)
    (tmp_path / "there").mkdir()
    out = str(tmp_path / "there" / "o")
    columns = ["--text", "text", "--target", "stars", "--jobs", "2"]
    process = Forked(interrupted_in_a_lock, ["fit", str(data), *columns, "--out", out])
    try:
        _, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert "in a lock" in err  # it came where it was meant to
    assert process.returncode == 130
    assert err.splitlines()[-1] == "topicfocus: interrupted"
    assert not list((tmp_path / "there").iterdir())


def test_the_next_pass_gets_threads_of_its_own(monkeypatch):
    monkeypatch.setattr(threads, "_pools", {})

    def work(first, last, buffer):
        buffer.append(last)

    def stop(*_):
        raise KeyboardInterrupt

    sums = threads.run_chunks(work, [0, 1, 2, 3], list, list.extend, 2)
    before = threads._pools[2]
    assert sums == [1, 2, 3]
    with pytest.raises(KeyboardInterrupt):
        threads.run_chunks(work, [0, 1, 2, 3], list, stop, 2)
    assert threads.run_chunks(work, [0, 1, 2, 3], list, list.extend, 2) == sums
    assert threads._pools[2] is not before
    before.shutdown()


# ---- a fit ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_reviews(tmp_path_factory.mktemp("data") / "r.csv", 120)


def fit(data, folder, *more):
    columns = ("--text", "text", "--target", "stars", "--topics", "2", "--checkpoint-every", "0")
    return topicfocus("fit", data, *columns, "--out", folder / "o", "--quiet", *more)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def stop(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("place", "left"),
    [
        ("topicfocus.workflow.lock.clear_folders", []),
        ("topicfocus.workflow.chain.class_factors", []),  # checkpoints are open, none is there
        ("topicfocus.workflow.run.as_config", ["o.partial"]),  # between the fit and its result
        ("topicfocus.workflow.write.write_manifest", ["o.partial"]),
    ],
)
def test_between_two_steps(data, tmp_path, monkeypatch, place, left):
    with monkeypatch.context() as patch:
        patch.setattr(place, stop)
        done = fit(data, tmp_path)
    assert done.returncode == 130 and "Traceback" not in done.stderr
    assert names(tmp_path) == left
    assert ("--resume" in done.stderr) == bool(left)
    if left:
        assert fit(data, tmp_path, "--resume").returncode == 0
        assert names(tmp_path) == ["o"]


def test_right_after_a_folder_was_made(data, tmp_path, monkeypatch):
    mkdir = Path.mkdir

    def then_stop(self, *args, **more):
        mkdir(self, *args, **more)
        if self.name.startswith(".o-"):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", then_stop)
        done = fit(data, tmp_path)
    assert done.returncode == 130
    assert names(tmp_path) == ["o.partial"] and "--resume" in done.stderr


def test_when_the_result_takes_its_place_it_is_finished(data, tmp_path, monkeypatch):
    rename = Path.rename

    def and_ctrl_c(self, target):
        ctrl_c()
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", and_ctrl_c)
        done = fit(data, tmp_path)
    assert done.returncode == 130 and "--resume" not in done.stderr
    assert names(tmp_path) == ["o"]


def test_the_process_ends_in_time_only_if_it_was_interrupted(monkeypatch):
    ended = []
    monkeypatch.setattr(interrupts, "_end", ended.append)
    monkeypatch.setattr(interrupts, "_COMMAND", interrupts._Command())
    interrupts.end_in_time(0)
    assert not ended
    interrupts._COMMAND.times = 1
    interrupts.end_in_time(130)
    assert ended == [130]
