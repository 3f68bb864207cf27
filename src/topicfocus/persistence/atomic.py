"""A file that appears whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """A stream to write; the file at `path` is replaced by it when the block ends without error.

    It is written beside the path, on the same file system, and forced to the disk before it takes
    the name. After an error nothing is left behind and an existing file is as it was. A symbolic
    link stays, and the file it points to is replaced. What is not a file (a device, a pipe) never
    is; without `overwrite` nor is a file, also one that appeared meanwhile.
    """
    target = os.path.realpath(os.fspath(path))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"There is no folder {folder!r} to save into; create it first.")
    _check_regular(target, os.fspath(path))
    if not overwrite and os.path.lexists(path):
        raise FileExistsError(f"{os.fspath(path)!r} exists.")
    temporary = os.path.join(folder, f".topicfocus-{secrets.token_hex(8)}.tmp")
    try:
        # "x" and not tempfile: the file gets the permissions that any new file of the user gets.
        with open(temporary, "x+b") as stream:
            _mark(stream)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if overwrite:
            os.replace(temporary, target)
        else:
            _take_free_name(temporary, target, os.fspath(path))
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _check_regular(target: str, name: str | bytes) -> None:
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{name!r} is a folder; give the name of a file in it.")
    if not stat.S_ISREG(mode):
        raise FileExistsError(
            f"{name!r} is not a regular file (a device or a pipe): it is not replaced."
        )


def _take_free_name(temporary: str, target: str, name: str | bytes) -> None:
    """Rename, unless the name has been taken; a hard link can tell, a rename cannot."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise FileExistsError(f"{name!r} was made by somebody else meanwhile.") from None
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(f"{name!r} was made by somebody else meanwhile.") from None
        os.replace(temporary, target)
        return
    os.unlink(temporary)


# ---- left-overs --------------------------------------------------------------------------------


def _mark(stream: BinaryIO) -> None:
    """A lock, where the system has them, which ends with the process: this file has a writer."""
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_abandoned(path: str | os.PathLike[str], seconds: float) -> bool:
    """Whether an unfinished file of `replacing`, so many seconds old, has no writer any more."""
    try:
        import fcntl

        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or time.time() - found.st_mtime < seconds:
            return False
        with open(path, "rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _sync_folder(folder: str) -> None:
    """Make the new name last through a power cut, where the system can (Windows cannot)."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
