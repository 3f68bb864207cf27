"""Single files that commands write: nothing is replaced unasked, and what is read never is."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from topicfocus.workflow.leftovers import clear_files
from topicfocus.workflow.remarks import Listener, as_remarks
from topicfocus.workflow.wording import setting


def check_output(
    path: str | os.PathLike[str],
    overwrite: bool,
    inputs: Iterable[str | os.PathLike[str] | None] = (),
    remarks: Listener = None,
) -> None:
    """Before long work: `path` may be written.

    `inputs` are files that are read (of a folder, everything in it), which are never replaced,
    whatever they are called there: by a link, or another spelling. What killed processes left
    beside `path` is removed.
    """
    place, advice = Path(path), f"Choose another {setting('out')}"
    parent = Path(os.path.realpath(place)).parent
    if not parent.is_dir():
        raise FileNotFoundError(f"there is no folder {parent} to write into; create it first.")
    if not os.access(parent, os.W_OK):
        raise PermissionError(f"the folder {parent} cannot be written to.")
    if os.path.lexists(place):
        if place.is_dir():
            raise IsADirectoryError(f"{place} is a folder. {advice}, the name of a file.")
        if place.exists() and not stat.S_ISREG(os.stat(place).st_mode):
            raise FileExistsError(
                f"{place} is not a regular file (a device or a pipe): it is not written to. "
                f"{advice}."
            )
        for source in inputs:
            if source is not None and _is_read(place, Path(source)):
                raise FileExistsError(
                    f"{place} is what is read ({source}): it is not replaced. {advice}."
                )
        if not overwrite:
            raise FileExistsError(
                f"{place} exists. {advice}, or replace it: {setting('overwrite', True)}."
            )
    clear_files(parent, as_remarks(remarks))


def _is_read(place: Path, source: Path) -> bool:
    """Whether a file that exists is an input, or lies in a folder that is one."""
    try:
        if os.path.samefile(place, source):
            return True
        return source.is_dir() and Path(os.path.realpath(place)).is_relative_to(
            os.path.realpath(source)
        )
    except OSError:
        return False


@contextmanager
def whole_file(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[Any]:
    """A text file that appears when it is whole."""
    from topicfocus.persistence.atomic import replacing

    with replacing(path, overwrite=overwrite) as raw:
        # Half a surrogate pair, which a damaged text may hold, is no character of a file.
        text = io.TextIOWrapper(
            raw, encoding="utf-8", errors="replace", newline="", write_through=True
        )
        yield text
        text.detach()  # flushed; the file below is closed by whoever opened it
