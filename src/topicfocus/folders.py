"""The folder of the user's cache, for downloaded data."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """The folder for files that can be downloaded or computed again.

    ``$XDG_CACHE_HOME/topicfocus`` or ``~/.cache/topicfocus``; ``~/Library/Caches/topicfocus`` on
    macOS and ``%LOCALAPPDATA%\\topicfocus`` on Windows.

    Raises
    ------
    RuntimeError
        If there is no home folder.
    """
    folder = user_cache_path("topicfocus", appauthor=False, opinion=False)
    if not folder.is_absolute():  # "~" without a home folder
        raise RuntimeError("there is no home folder, so no place for a cache")
    return folder
