"""A file appears whole or not at all."""

import os

import pytest
from model_files import fitted

import topicfocus
from topicfocus import persistence as atomic
from topicfocus.persistence import replacing


@pytest.fixture(scope="module")
def model():
    return fitted("LDA")


def failing(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(model, tmp_path, monkeypatch, function):
    path = tmp_path / "a.model"
    path.write_bytes(b"the old file")
    with monkeypatch.context() as patch:
        patch.setattr(atomic.os, function, failing)
        with pytest.raises(OSError, match="No space left"):
            model.save(path)
    assert path.read_bytes() == b"the old file"
    assert [p.name for p in tmp_path.iterdir()] == ["a.model"]
    model.save(path)
    topicfocus.load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.model"]


def test_an_interruption_half_way(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(KeyboardInterrupt), replacing(path) as stream:
        stream.write(b"half")
        assert not path.exists()
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written(model, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*create it first"):
        model.save(tmp_path / "nowhere" / "a.model")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        model.save(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_no_writing_through_links_and_pipes(model, tmp_path):
    elsewhere, link, pipe = (tmp_path / name for name in ("elsewhere", "link", "pipe"))
    elsewhere.write_bytes(b"mine")
    link.symlink_to(elsewhere)
    os.mkfifo(pipe)
    for path in (link, pipe):
        with pytest.raises(FileExistsError, match="is not a regular file"):
            model.save(path)
    assert link.is_symlink() and elsewhere.read_bytes() == b"mine"
    assert {p.name for p in tmp_path.iterdir()} == {"elsewhere", "link", "pipe"}


def test_permissions_are_those_of_any_file(model, tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    model.save(tmp_path / "a.model")
    assert (tmp_path / "a.model").stat().st_mode == plain.stat().st_mode


def test_without_overwrite_nothing_is_replaced(tmp_path):
    path = tmp_path / "file"
    with replacing(path, overwrite=False) as stream:
        stream.write(b"first")
    with pytest.raises(FileExistsError), replacing(path, overwrite=False):
        raise AssertionError("it exists")
    path.unlink()
    with pytest.raises(FileExistsError), replacing(path, overwrite=False) as stream:
        stream.write(b"second")
        path.write_bytes(b"of another process")  # meanwhile
    assert path.read_bytes() == b"of another process"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
