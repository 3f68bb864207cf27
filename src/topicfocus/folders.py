"""The user's cache: compiled kernels, downloaded data. Below all layers; imports none of them."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """Where this package keeps what it can make or fetch again.

    ``$XDG_CACHE_HOME/topicfocus`` or ``~/.cache/topicfocus``; ``~/Library/Caches/topicfocus`` on
    macOS and ``%LOCALAPPDATA%\\topicfocus`` on Windows, without the author and "Cache" that
    platformdirs would add there, because kernels have always been in this place.

    Raises
    ------
    RuntimeError
        If there is no home folder.
    """
    folder = user_cache_path("topicfocus", appauthor=False, opinion=False)
    if not folder.is_absolute():  # "~" that stands for nobody's home
        raise RuntimeError("there is no home folder, so no place for a cache")
    return folder
