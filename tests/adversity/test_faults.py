"""Faults: killed, interrupted, a full disk, a folder that is read-only, two at once, a wrong clock.

The quick part runs with the other tests. All of it, 50 kills and every byte of a model file:

    TOPICFOCUS_SLOW=1 pytest tests/adversity/test_faults.py
"""

import errno
import io
import os
import random
import shutil
import signal
import time

import numpy as np
import pytest
from command_line import (
    interrupted_at_the_end,
    run_as_nobody,
    run_command,
    run_with_jumping_clock,
    topicfocus,
    topicfocus_forked,
    write_reviews,
)
from forked import Forked
from model_files import fitted

import topicfocus as package
from topicfocus import workflow
from topicfocus.persistence import ModelFileError
from topicfocus.workflow.manifest import digest, read_manifest
from topicfocus.workflow.write import write_outcome

SLOW = bool(os.environ.get("TOPICFOCUS_SLOW"))
COLUMNS = ("--text", "text", "--target", "stars", "--checkpoint-every", "0")


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
    """The same model and predictions, every file as the manifest says, and nothing beside it."""
    for name in ("model.topicfocus", "predictions.csv", "words.csv"):
        assert (folder / name).read_bytes() == (reference / name).read_bytes()
    manifest = read_manifest(folder)
    assert manifest.whole
    assert all((digest(folder / name),) == found for name, found in manifest.files.items())
    assert sorted(os.listdir(folder)) == sorted([*manifest.files, "manifest.json"])
    assert [p.name for p in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize("i", range(50 if SLOW else 3))
def test_killed_at_a_random_moment_then_resumed(data, whole, tmp_path, i):
    reference, seconds = whole
    moment = random.Random(i).uniform(0, 1.05 * seconds)
    process = Forked(run_command, arguments(data, tmp_path / "o"))
    time.sleep(moment)
    process.kill()
    process.wait(30)
    done = topicfocus_forked(*arguments(data, tmp_path / "o", "--resume"))
    assert done.returncode == 0, (moment, done.stderr)
    assert "Traceback" not in done.stderr
    same(tmp_path / "o", reference)


@pytest.mark.parametrize("i", range(20 if SLOW else 2))
def test_ctrl_c_twice(data, whole, tmp_path, i):
    reference, seconds = whole
    rng = random.Random(100 + i)
    process = Forked(run_command, arguments(data, tmp_path / "o"))
    while not list(tmp_path.iterdir()) and process.poll() is None:
        time.sleep(0.001)  # the command has begun
    time.sleep(rng.uniform(0, seconds))
    for _ in range(2):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        time.sleep(rng.uniform(0, 0.01))
    _, err = process.communicate(timeout=100)
    assert process.returncode in (0, 130), err
    assert "Traceback" not in err
    left = sorted(p.name for p in tmp_path.iterdir())
    assert left in ([], ["o"], ["o.partial"]), (left, err)
    assert ("--resume" in err) == (left == ["o.partial"])
    done = topicfocus_forked(*arguments(data, tmp_path / "o", "--resume"))
    assert done.returncode == 0, done.stderr
    same(tmp_path / "o", reference)


def test_ctrl_c_after_the_command_is_over(tmp_path):
    process = Forked(interrupted_at_the_end, ["predict", str(tmp_path / "none"), "none.csv"])
    _, err = process.communicate(timeout=100)
    assert process.returncode == 1 and "Traceback" not in err
    assert len(err.splitlines()) == 1


# ---- a full disk -------------------------------------------------------------------------------


class FullDisk:
    """After so many writes to files of `replacing`, and folders made, there is no more room."""

    def __init__(self, monkeypatch, room, place):
        self.room = room
        from topicfocus.persistence import atomic

        disk = self

        class Raw(io.FileIO):
            def write(self, data):
                disk.take()
                return super().write(data)

        def opened(path, mode):
            disk.take()
            return io.BufferedRandom(Raw(path, mode.replace("b", "")))

        mkdir = os.mkdir

        def make(path, *rest, **more):
            if os.path.dirname(path) == str(place):
                disk.take()
            mkdir(path, *rest, **more)

        monkeypatch.setattr(atomic, "open", opened, raising=False)
        monkeypatch.setattr(os, "mkdir", make)

    def take(self):
        if self.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.room -= 1


@pytest.fixture(scope="module")
def outcome(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("outcome") / "o"
    return workflow.fit_file(data, text="text", target="stars", topics=2, out=folder)


@pytest.mark.parametrize("taken", [False, True], ids=["new", "overwrite"])
def test_no_room_at_every_write_of_a_result(outcome, tmp_path, monkeypatch, taken):
    """Whichever write fails: nothing of the new result is there, and the old one is whole."""
    folder = tmp_path / "o"
    for room in range(200):
        if taken:
            shutil.copytree(outcome.folder, folder, dirs_exist_ok=True)
            (folder / "notes.txt").write_text("mine")
        with monkeypatch.context() as patch:
            FullDisk(patch, room, tmp_path)
            try:
                write_outcome(folder, outcome, NOBODY)
            except OSError as error:
                assert error.errno == errno.ENOSPC
            else:
                break
        assert [p.name for p in tmp_path.iterdir()] == ["o"] * taken
        if taken:
            found = read_manifest(folder)
            assert all((digest(folder / n),) == known for n, known in found.files.items())
            assert (folder / "notes.txt").read_text() == "mine"
    assert 10 < room < 199


NOBODY = workflow.remarks.as_remarks(lambda _: None)


@pytest.mark.parametrize("room", range(40) if SLOW else (0, 2, 6, 12))
def test_no_room_at_a_write_of_a_fit(data, whole, tmp_path, monkeypatch, room):
    """One line, nothing left but checkpoints, which are said and can be gone on with."""
    with monkeypatch.context() as patch:
        FullDisk(patch, room, tmp_path)
        done = topicfocus(*arguments(data, tmp_path / "o", "--topics", 2))
    left = sorted(p.name for p in tmp_path.iterdir())
    if done.returncode == 0:
        assert left == ["o"]
        return
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "No space left on device" in last
    assert left in ([], ["o.partial"])
    assert ("--resume" in last) == (left == ["o.partial"]), done.stderr  # also with --quiet
    done = topicfocus(*arguments(data, tmp_path / "o", "--topics", 2, "--resume"))
    assert done.returncode == 0, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["o"]


@pytest.mark.parametrize("error", [MemoryError("a regression"), OSError(5, "Input/output error")])
def test_what_was_fitted_is_not_lost_with_the_comparison(data, tmp_path, monkeypatch, error):
    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("topicfocus.workflow.chain.judge", fail)
        done = topicfocus(*arguments(data, tmp_path / "o", "--topics", 2, "--quiet"))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and "--resume" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["o.partial"]


@pytest.mark.parametrize("out", [".", "./", "..", "o/..", "/"])
def test_folders_without_a_name_of_their_own(data, tmp_path, out):
    place = tmp_path / "inside"
    (place / "o").mkdir(parents=True)
    (place / "mine.txt").write_text("mine")
    for more in ((), ("--overwrite",), ("--resume",)):
        done = topicfocus(*arguments(data, out, *more), cwd=place)
        assert done.returncode in (1, 2), done.stderr
        assert "empty name" not in done.stderr
    assert (place / "mine.txt").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["inside"]


# ---- places and clocks -------------------------------------------------------------------------


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be another"
)
def test_a_folder_that_is_read_only(outcome, data, tmp_path):
    for path in (tmp_path, *tmp_path.parents, data.parent, *data.parents):
        if os.stat(path).st_mode & 0o055 != 0o055:
            if "pytest" not in str(path):
                pytest.skip(f"{path} is closed to others")
            path.chmod(0o755)
    place = tmp_path / "closed"
    place.mkdir(mode=0o555)
    for command in (arguments(data, place / "o"), arguments(data, place / "o", "--overwrite")):
        process = Forked(run_as_nobody, command)
        _, err = process.communicate(timeout=100)
        assert process.returncode == 1
        assert "cannot be written to" in err and len(err.splitlines()) == 1
    assert not list(place.iterdir())


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_place_that_refuses_files(data, tmp_path, monkeypatch, number):
    """A read-only file system: permissions do not tell, the first file does."""

    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    done = topicfocus(*arguments(data, tmp_path / "o"))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"topicfocus: error: {os.strerror(number)}."
    assert not list(tmp_path.iterdir())


def test_two_processes_one_folder(data, whole, tmp_path):
    both = [Forked(run_command, arguments(data, tmp_path / "o")) for _ in range(2)]
    said = [process.communicate(timeout=200)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1]
    lost = said[0] if both[0].returncode else said[1]
    assert "is being written by process" in lost or "exists" in lost
    same(tmp_path / "o", whole[0])


def test_a_clock_that_jumps(data, whole, tmp_path):
    log = tmp_path.parent / f"{tmp_path.name}.log"
    process = Forked(run_with_jumping_clock, arguments(data, tmp_path / "o", "--log", log))
    _, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    same(tmp_path / "o", whole[0])
    gone = [float(line.split()[1]) for line in log.read_text().splitlines()[1:]]
    assert gone == sorted(gone)  # seconds do not jump


def test_every_byte_of_a_model_file():
    """Flipped one after the other: an error, or the very same model."""
    model = fitted("SLDAClassifier")
    stream = io.BytesIO()
    model.save(stream)
    content, step = stream.getvalue(), 1 if SLOW else 53
    for place in range(0, len(content), step):
        altered = bytearray(content)
        altered[place] ^= 0xFF if place % 2 else 1 << (place % 8)
        try:
            again = package.load(io.BytesIO(bytes(altered)))
        except ModelFileError:
            continue
        assert np.array_equal(again.components_, model.components_)
        assert np.array_equal(again.coef_, model.coef_)
