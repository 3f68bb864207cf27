"""A file appears whole or not at all."""

import os

import pytest
from model_files import fitted

import topicfocus
from topicfocus.persistence import archive, atomic
from topicfocus.persistence.atomic import replacing


@pytest.fixture(scope="module")
def model():
    return fitted("LDA")


def failing(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "module, function", [(archive, "_write_array"), (archive, "_digest"), (atomic.os, "fsync"),
                         (atomic.os, "replace")]
)  # fmt: skip
def test_a_failure_leaves_the_old_file_and_nothing_else(
    model, tmp_path, monkeypatch, module, function
):
    path = tmp_path / "a.model"
    path.write_bytes(b"the old file")
    with monkeypatch.context() as patch:
        patch.setattr(module, function, failing)
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


def test_readers_see_the_old_file_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_places_that_cannot_be_written(model, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*create it first"):
        model.save(tmp_path / "nowhere" / "a.model")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        model.save(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_permissions_and_links_are_those_of_any_file(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    link = tmp_path / "link"
    link.symlink_to("target")
    with replacing(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"
    assert (tmp_path / "target").stat().st_mode == plain.stat().st_mode
