"""What killed processes leave behind: recognised by name and content, removed, and said."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from topicfocus.workflow.manifest import MANIFEST_FILE, RESULT_FILES
from topicfocus.workflow.remarks import Remarks

#: Folders that `write.writing` fills, and those that older versions moved away.
_FOLDERS = re.compile(r"\.(?P<name>.+)-[0-9a-f]{12}\.(?P<what>tmp|old)")
#: Files that `persistence.atomic` fills.
_FILES = re.compile(r"\.topicfocus-[0-9a-f]{16}\.tmp")
#: A file that was written to within a day may still have a writer.
_SECONDS = 86_400.0


def is_temporary(name: str) -> bool:
    """Whether `persistence.atomic` calls its unfinished files so."""
    return _FILES.fullmatch(name) is not None


def _is_result(name: str) -> bool:
    return name in (*RESULT_FILES, MANIFEST_FILE) or is_temporary(name)


def remove_ours(folder: Path, ours: Callable[[str], bool] = _is_result, last: str = "") -> bool:
    """Remove our files from a folder, and the folder if that was all; whether it is gone.

    The file `last` goes last: as long as it is there, the folder is known to be ours.
    """
    with suppress(OSError):
        names = sorted(os.listdir(folder), key=lambda name: name == last)
        for name in names:
            path = folder / name
            if ours(name) and stat.S_ISREG(os.lstat(path).st_mode):
                path.unlink()
        folder.rmdir()
    return not os.path.lexists(folder)


def clear_folders(folder: Path, remarks: Remarks) -> None:
    """Half-filled folders of fits that were killed while they wrote `folder`; its lock is held."""
    place = folder.resolve()
    with suppress(OSError):
        for name in sorted(os.listdir(place.parent)):
            found = _FOLDERS.fullmatch(name)
            path = place.with_name(name)
            if found is None or found["name"] != place.name or not path.is_dir():
                continue
            if found["what"] == "tmp" and remove_ours(path):
                remarks.say(f"Removed {path}, left by a fit that was killed.")
            else:
                remarks.warn(f"{path} was left by a killed fit and has other files: it stays.")


def clear_files(folder: Path, remarks: Remarks) -> None:
    """Unfinished files in `folder` that have not been written to for a while."""
    with suppress(OSError):
        for name in sorted(os.listdir(folder)):
            path = folder / name
            if is_temporary(name) and time.time() - path.lstat().st_mtime > _SECONDS:
                size = path.stat().st_size
                path.unlink()
                remarks.say(f"Removed {path} ({size:,} bytes), left by a process that was killed.")
