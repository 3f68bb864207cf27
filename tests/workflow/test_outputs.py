"""Files that commands write: nothing is replaced unasked, and what is read never is."""

import os

import pytest
from command_line import topicfocus

from topicfocus.persistence.atomic import replacing
from topicfocus.workflow.outputs import check_output, whole_file


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("text\ngood\n")
    return path


def test_an_existing_file_needs_a_word(source, tmp_path):
    out = tmp_path / "p.csv"
    check_output(out, False, [source])
    out.write_text("mine")
    with pytest.raises(FileExistsError, match=r"p.csv exists. .*overwrite=True"):
        check_output(out, False, [source])
    check_output(out, True, [source])


def spellings(source):
    folder = source.parent
    link, hard = folder / "link.csv", folder / "hard.csv"
    link.symlink_to(source.name)
    os.link(source, hard)
    (folder / "sub").mkdir()
    return [source, link, hard, folder / "sub" / ".." / source.name, os.path.relpath(source)]


def test_what_is_read_is_never_replaced(source):
    for out in spellings(source):
        with pytest.raises(FileExistsError, match="is what is read"):
            check_output(out, True, [None, "-", "nothing.csv", source])
    with pytest.raises(FileExistsError, match="is what is read"):
        check_output(source, True, [source.parent])  # a file of a folder that is read
    check_output(source.parent / "other.csv", True, [source.parent])


def test_what_is_not_a_regular_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to(pipe)
    for out in (pipe, link):
        with pytest.raises(FileExistsError, match="is not a regular file"):
            check_output(out, True)
        with pytest.raises(FileExistsError, match="is not a regular file"), replacing(out):
            pass
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_output(tmp_path, True)
    with pytest.raises(FileNotFoundError, match="create it first"):
        check_output(tmp_path / "no" / "where", True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "pipe"]


def test_a_file_that_appears_meanwhile_stays(tmp_path):
    out = tmp_path / "p.csv"
    with (
        pytest.raises(FileExistsError, match="somebody else meanwhile"),
        whole_file(out, overwrite=False) as stream,
    ):
        stream.write("ours")
        out.write_text("theirs")
    assert out.read_text() == "theirs"
    assert [p.name for p in tmp_path.iterdir()] == ["p.csv"]
    with whole_file(tmp_path / "new", overwrite=False) as stream:
        stream.write("half a pair: \ud800")
    assert (tmp_path / "new").read_text() == "half a pair: ?"


def test_what_a_killed_writer_left_is_removed_after_a_day(tmp_path):
    left, heard = tmp_path / ".topicfocus-0123456789abcdef.tmp", []
    left.write_bytes(b"half")
    check_output(tmp_path / "q.csv", False, remarks=heard.append)
    assert left.exists() and not heard
    os.utime(left, (0, 0))
    check_output(tmp_path / "q.csv", False, remarks=heard.append)
    assert not left.exists() and "left by a process that was killed" in heard[0]


def test_on_the_command_line(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = tmp_path / "m.model"
    model.write_bytes(b"a model")
    for out in (source.name, "m.model", "./new.csv"):
        done = topicfocus("predict", model, source, "--out", out, "--overwrite")
        assert done.returncode == 1 and "is what is read" in done.stderr
        done = topicfocus("report", model, source, "--out", out, "--overwrite")
        assert done.returncode == 1 and "is what is read" in done.stderr
    (tmp_path / "p.csv").write_text("mine")
    for command in ("predict", "report"):
        done = topicfocus(command, model, source, "--out", "p.csv")
        assert done.returncode == 1
        assert done.stderr.endswith("replace it: --overwrite.\n")
    assert (tmp_path / "p.csv").read_text() == "mine"
    assert source.read_text() == "text\ngood\n"
