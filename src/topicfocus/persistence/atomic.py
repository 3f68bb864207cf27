"""A file that appears whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream to write; the file at `path` is replaced by it when the block ends without error.

    It is written beside the path, on the same file system, and forced to the disk before it takes
    the name. After an error nothing is left behind and an existing file is as it was. A symbolic
    link stays, and the file it points to is replaced.
    """
    target = os.path.realpath(os.fspath(path))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"There is no folder {folder!r} to save into; create it first.")
    if os.path.isdir(target):
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; give the name of a file in it.")
    temporary = os.path.join(folder, f".topicfocus-{secrets.token_hex(8)}.tmp")
    # "x" and not tempfile: the file gets the permissions that any new file of the user gets.
    stream = open(temporary, "x+b")  # noqa: SIM115
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Make the new name last through a power cut, where the system can (Windows cannot)."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
