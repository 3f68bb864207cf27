"""The folder of a fit: taken up after Ctrl-C, and held by one process at a time."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from command_line import environment, topicfocus, write_reviews
from topicfocus.solvers.checkpoints import current_store

from topicfocus import workflow
from topicfocus.workflow.lock import holding

COLUMNS = {"text": "text", "target": "stars", "topics": 2}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_reviews(tmp_path_factory.mktemp("data") / "r.csv", 200)


def test_an_interrupted_call_is_taken_up(data, tmp_path, monkeypatch):
    from topicfocus.workflow.checkpoints import FolderStore

    out, put = tmp_path / "o", FolderStore.put

    def interrupted(self, name, value):
        put(self, name, value)
        assert current_store() is self
        os.kill(os.getpid(), signal.SIGINT)  # Ctrl-C after the first finished stage

    monkeypatch.setattr(FolderStore, "put", interrupted)
    with pytest.raises(workflow.Interrupted, match="with the same call and resume=True"):
        workflow.fit_file(data, **COLUMNS, out=out)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["o.partial"]
    with pytest.raises(workflow.SettingError, match=r"resume=True: .* topics was 2 and is 3"):
        workflow.fit_file(data, **{**COLUMNS, "topics": 3}, out=out, resume=True)
    heard = []
    found = workflow.fit_file(data, **COLUMNS, out=out, resume=True, remarks=heard.append)
    assert any(line.startswith(f"Going on from {out}.partial") for line in heard)
    assert [p.name for p in tmp_path.iterdir()] == ["o"]
    again = workflow.fit_file(data, **COLUMNS)
    for name, figures in again.result["held_out"].items():
        assert found.result["held_out"][name] == pytest.approx(figures)


def test_an_interrupt_while_checkpoints_go_leaves_none(data, tmp_path, monkeypatch):
    """The result was written: it is there, and nothing else."""
    from topicfocus.workflow.checkpoints import FolderStore

    remove, calls = FolderStore.remove, []

    def interrupted(self):
        calls.append(self)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return remove(self)

    monkeypatch.setattr(FolderStore, "remove", interrupted)
    with pytest.raises(KeyboardInterrupt):
        workflow.fit_file(data, **COLUMNS, out=tmp_path / "o")
    assert len(calls) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["o"]


#: Another process that holds the lock until it is told otherwise, or killed.
_HOLDER = """
import sys
import threading
from pathlib import Path
from topicfocus.workflow.lock import holding

with holding(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(tmp_path / "o")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout.readline() == "held\n"
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def test_a_folder_that_another_process_writes(data, tmp_path, holder):
    pattern = rf"o is being written by process {holder.pid} since \d{{4}}-.*choose another out="
    with pytest.raises(workflow.FolderInUse, match=pattern):
        workflow.fit_file(data, **COLUMNS, out=tmp_path / "o")
    done = topicfocus(
        "fit", data, "--text", "text", "--target", "stars", "--topics", 2, "--out", tmp_path / "o"
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"topicfocus: error: {tmp_path / 'o'} is being written by process ")
    assert last.endswith("choose another --out.")
    holder.communicate("\n", timeout=20)
    assert not list(tmp_path.iterdir())  # nothing of the lock stays
    assert workflow.fit_file(data, **COLUMNS, out=tmp_path / "o").written


def test_what_a_killed_process_leaves_is_in_nobodys_way(data, tmp_path, holder):
    holder.kill()
    holder.communicate()
    assert sorted(p.name for p in tmp_path.iterdir()) == [".o.lock", ".o.owner"]
    found = workflow.fit_file(data, **COLUMNS, out=tmp_path / "o")
    assert found.folder == tmp_path / "o"
    assert [p.name for p in tmp_path.iterdir()] == ["o"]


def hold(folder):
    with holding(folder):
        pass


def test_the_lock_in_one_process(tmp_path):
    folder = tmp_path / "o"
    with holding(folder):
        with pytest.raises(workflow.FolderInUse, match=f"process {os.getpid()} since"):
            hold(folder)
        owner = tmp_path / ".o.owner"
        assert json.loads(owner.read_text())["since"] == pytest.approx(time.time(), abs=60)
        owner.write_text("damaged")
        with pytest.raises(workflow.FolderInUse, match="by another process"):
            hold(folder)
        # One who has the lock and is about to say so is waited for.
        owner.unlink()
        mine = json.dumps({"pid": 4242, "since": time.time()})
        late = threading.Timer(0.2, owner.write_text, [mine])
        late.start()
        with pytest.raises(workflow.FolderInUse, match="process 4242 since"):
            hold(folder)
        late.join()
        hold(tmp_path / "other")
    with holding(folder), holding(None):
        pass
    assert not list(tmp_path.iterdir())
