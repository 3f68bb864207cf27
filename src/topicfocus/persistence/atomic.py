"""Write a file so that it appears complete or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """A stream to write; it takes the place of `path` when the block ends without error.

    The stream is a new file in the same folder, created exclusively and synchronised to the disk
    before it is renamed. After an error nothing is left behind and an existing file is unchanged.
    Only regular files are replaced: no symbolic link, device or pipe. Without `overwrite` no
    existing file is replaced, not even one that another process created in the meantime.
    """
    target = os.path.abspath(os.fsdecode(path))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"There is no folder {folder!r} to save into; create it first.")
    _check_target(target, overwrite)
    temporary = os.path.join(folder, f".topicfocus-{secrets.token_hex(8)}.tmp")
    try:
        # "x" and not tempfile: the file gets the permissions that any new file of the user gets.
        with open(temporary, "x+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        (os.replace if overwrite else _take_free_name)(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    with suppress(OSError):  # where the system can, the new name survives a power failure
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _check_target(target: str, overwrite: bool) -> None:
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{target!r} is a folder; give the name of a file in it.")
    if not stat.S_ISREG(mode):
        raise FileExistsError(
            f"{target!r} is not a regular file (a symbolic link, a device or a pipe): it is not "
            "replaced. Give another name."
        )
    if not overwrite:
        raise FileExistsError(f"{target!r} exists, or was made by somebody else meanwhile.")


def _take_free_name(temporary: str, target: str) -> None:
    """Rename unless the name is taken: a hard link fails then, where a rename would replace."""
    try:
        os.link(temporary, target)
        os.unlink(temporary)
    except OSError:  # the name is taken, or the file system has no hard links
        _check_target(target, overwrite=False)
        os.replace(temporary, target)
