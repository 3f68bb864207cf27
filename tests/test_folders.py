"""The cache is where it has always been."""

from pathlib import Path

import pytest
from platformdirs.macos import MacOS
from platformdirs.windows import Windows

from topicfocus import folders


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folders.cache_folder() == tmp_path / "topicfocus"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert folders.cache_folder() == Path.home() / ".cache" / "topicfocus"


def test_on_other_systems(monkeypatch, tmp_path):
    """The same call of platformdirs, by the classes that it takes there."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("platformdirs.windows.get_win_folder", lambda name: str(tmp_path))
    options = {"appname": "topicfocus", "appauthor": False, "opinion": False}
    assert Path(MacOS(**options).user_cache_dir) == Path.home() / "Library/Caches/topicfocus"
    assert Path(Windows(**options).user_cache_dir) == tmp_path / "topicfocus"


def test_without_a_home_there_is_no_cache(monkeypatch):
    monkeypatch.setattr(folders, "user_cache_path", lambda *_, **__: Path("~/.cache/topicfocus"))
    with pytest.raises(RuntimeError, match="no home folder"):
        folders.cache_folder()
