"""Faults: a kill, Ctrl-C, a full disk, a read-only folder, two processes at once.

The quick part runs with the other tests. With 50 signals:

    TOPICFOCUS_SLOW=1 pytest tests/adversity/test_faults.py
"""

import errno
import os
import random
import signal
import time

import pytest
from command_line import run_as_nobody, run_command, topicfocus, topicfocus_forked, write_reviews
from forked import Forked

SLOW = bool(os.environ.get("TOPICFOCUS_SLOW"))
COLUMNS = ("--text", "text", "--target", "stars")


def arguments(data, out, *more):
    return [str(a) for a in ("fit", data, *COLUMNS, "--out", out, *more)]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_reviews(tmp_path_factory.mktemp("data") / "r.csv", 400)


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """A fit that nothing happened to: its folder, and the seconds it took."""
    warm, folder = (tmp_path_factory.mktemp("whole") / "o" for _ in range(2))
    assert topicfocus_forked(*arguments(data, warm)).returncode == 0  # starts the server of forks
    began = time.monotonic()
    done = topicfocus_forked(*arguments(data, folder))
    assert done.returncode == 0, done.stderr
    return folder, time.monotonic() - began


def same(folder, reference):
    """The same model and predictions, and nothing else in the folder or next to it."""
    for name in ("model.topicfocus", "predictions.csv", "words.csv"):
        assert (folder / name).read_bytes() == (reference / name).read_bytes()
    assert sorted(os.listdir(folder)) == sorted(os.listdir(reference))
    assert [p.name for p in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize("i", range(50 if SLOW else 3))
def test_ctrl_c_at_a_random_moment_leaves_nothing(data, whole, tmp_path, i):
    _, seconds = whole
    process = Forked(run_command, arguments(data, tmp_path / "o"))
    time.sleep(random.Random(i).uniform(0.1, seconds))
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100)
    assert process.returncode in (0, 130), err
    assert "Traceback" not in err
    if (tmp_path / "o").exists():  # the signal came after the folder was complete
        same(tmp_path / "o", whole[0])
    else:
        assert process.returncode == 130 and not list(tmp_path.iterdir())
    if process.returncode == 130:
        assert err.splitlines()[-1] == "topicfocus: interrupted"


def test_a_killed_process_does_not_prevent_the_next(data, whole, tmp_path):
    reference, seconds = whole
    process = Forked(run_command, arguments(data, tmp_path / "o"))
    time.sleep(0.5 * seconds)
    process.kill()
    process.wait(30)
    done = topicfocus_forked(*arguments(data, tmp_path / "o", "--overwrite"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "o" / "model.topicfocus").read_bytes() == (
        reference / "model.topicfocus"
    ).read_bytes()


@pytest.mark.parametrize("error", [MemoryError("a regression"), OSError(5, "Input/output error")])
def test_an_error_after_the_fit_is_one_line(data, tmp_path, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("topicfocus.workflow.fit.evaluate", fail)
    done = topicfocus(*arguments(data, tmp_path / "o", "--topics", 2, "--quiet"))
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_an_error_of_an_estimator_ends_the_command(data, tmp_path):
    """A count that no model takes: one line, and no endless walk over the causes of the error."""
    lines = data.read_text(encoding="utf-8").splitlines()
    lines[-1] = lines[-1].rpartition(",")[0] + ",1e90"
    path = tmp_path / "r.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    done = topicfocus(*arguments(path, tmp_path / "o", "--kind", "count", "--topics", 2))
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert "at most 1e+15" in done.stderr.splitlines()[-1]
    assert [p.name for p in tmp_path.iterdir()] == ["r.csv"]


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be another"
)
def test_a_folder_that_is_read_only(data, tmp_path):
    for path in (tmp_path, *tmp_path.parents, data.parent, *data.parents):
        if os.stat(path).st_mode & 0o055 != 0o055:
            if "pytest" not in str(path):
                pytest.skip(f"{path} is closed to others")
            path.chmod(0o755)
    place = tmp_path / "closed"
    place.mkdir(mode=0o555)
    process = Forked(run_as_nobody, arguments(data, place / "o"))
    _, err = process.communicate(timeout=100)
    assert process.returncode == 1
    assert "cannot be written to" in err and len(err.splitlines()) == 1
    assert not list(place.iterdir())


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC])
def test_a_place_that_refuses_folders(data, tmp_path, monkeypatch, number):
    """A read-only file system: permissions do not show it, the first folder does."""

    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    done = topicfocus(*arguments(data, tmp_path / "o", "--topics", 2, "--no-baseline"))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"topicfocus: error: {os.strerror(number)}."
    assert not list(tmp_path.iterdir())


def test_two_processes_one_folder(data, whole, tmp_path):
    both = [Forked(run_command, arguments(data, tmp_path / "o")) for _ in range(2)]
    said = [process.communicate(timeout=200)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1], said
    same(tmp_path / "o", whole[0])
