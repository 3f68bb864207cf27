"""One process at a time writes a folder: a lock beside it, which ends with its process."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from topicfocus.workflow.errors import FolderInUse
from topicfocus.workflow.interrupts import undoing, uninterrupted
from topicfocus.workflow.leftovers import clear_folders
from topicfocus.workflow.remarks import Listener, as_remarks
from topicfocus.workflow.wording import setting

_SOMEBODY = "another process"


@contextmanager
def holding(folder: Path | None, remarks: Listener = None) -> Iterator[None]:
    """Nobody else who asks may write `folder` in this block; None is no folder.

    The lock is on an empty file; who holds it is in another one, because systems differ in whether
    a locked file can be read. Both go at the end. What a killed process leaves is taken over, its
    half-filled folders are removed, and that is said.
    """
    if folder is None:
        yield
        return
    from filelock import FileLock

    place = folder.resolve()
    owner = place.with_name(f".{place.name}.owner")
    lock = FileLock(place.with_name(f".{place.name}.lock"), timeout=0)

    def release() -> None:
        """Nothing is left of a lock that is ours; another's is not touched."""
        if not lock.is_locked:
            return
        with suppress(OSError):
            owner.unlink()
        # While it is ours: one who has opened the file and waits finds it gone, and tries again.
        with suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()

    with undoing(release):
        _take(lock, folder, owner)
        said = as_remarks(remarks)
        if os.path.lexists(owner):
            said.say(f"{folder} was being written by {_who(owner)}, which did not end by itself.")
        clear_folders(folder, said)
        with suppress(OSError):  # a full disk: the lock holds without a name
            owner.write_text(
                json.dumps({"pid": os.getpid(), "since": time.time()}), encoding="utf-8"
            )
        yield


def _take(lock: Any, folder: Path, owner: Path) -> None:
    """The lock, or an error that says who has it."""
    from filelock import Timeout

    try:
        with uninterrupted():  # else the file could be locked, and the lock not know of it
            lock.acquire()
    except Timeout:
        _wait_for(owner)
        raise FolderInUse(
            f"{folder} is being written by {_who(owner)}. Wait for it, or choose another "
            f"{setting('out')}."
        ) from None


def _wait_for(owner: Path) -> None:
    """A moment, for one who has just begun to say who it is."""
    for _ in range(20):
        if _who(owner) != _SOMEBODY:
            return
        time.sleep(0.05)


def _who(owner: Path) -> str:
    try:
        found = json.loads(owner.read_text(encoding="utf-8"))
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(found["since"])))
        return f"process {int(found['pid'])} since {since}"
    except (OSError, ValueError, KeyError, TypeError):
        return _SOMEBODY
