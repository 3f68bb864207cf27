"""A log of a fit: a line for every remark, warning and error, with the time."""

from __future__ import annotations

import os
import stat
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from topicfocus import __version__
from topicfocus.workflow.printable import printable
from topicfocus.workflow.remarks import Remarks
from topicfocus.workflow.wording import setting

#: The first line of every log, by which a file is known to be one.
_FIRST = "# topicfocus log"


class _Logged:
    """Remarks that are written down, then passed on."""

    def __init__(self, remarks: Remarks, stream: IO[str]) -> None:
        self._remarks, self._stream = remarks, stream
        self._began, self._last = time.monotonic(), ""

    def note(self, level: str, message: str) -> None:
        """One line: date, seconds since the beginning (of a clock that does not jump), level."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        text = printable(" ".join(message.split()))
        # A warning that becomes one of Python's comes by twice.
        if self._stream.closed or (level == "warning" and text == self._last):
            return
        self._last = text
        try:
            gone = time.monotonic() - self._began
            self._stream.write(f"{stamp} {gone:10.2f} s  {level:7}  {text}\n")
            self._stream.flush()
        except OSError as error:
            # A full disk: the fit goes on, and it is said once.
            with_reason = error.strerror or error
            self._close()
            self._remarks.warn(f"no more lines in the log: {with_reason}.")

    def _close(self) -> None:
        try:
            self._stream.close()
        except OSError:
            return

    def say(self, message: str) -> None:
        self.note("info", message)
        self._remarks.say(message)

    def warn(self, message: str) -> None:
        self.note("warning", message)
        self._remarks.warn(message)


def check_log(path: str | os.PathLike[str], source: str | None = None) -> None:
    """Before anything is written: the file is new, empty, or a log to be gone on with."""
    place, advice = Path(path), f"Choose another {setting('log')}."
    if not place.resolve().parent.is_dir():
        raise FileNotFoundError(
            f"there is no folder {place.resolve().parent} to write into; create it first."
        )
    if not os.path.lexists(place):
        return
    found = os.stat(place) if place.exists() else None
    if found is None or not stat.S_ISREG(found.st_mode):
        raise FileExistsError(
            f"{place} is not a regular file, so no log is written there. {advice}"
        )
    if found.st_size:
        with place.open("rb") as stream:
            beginning = stream.read(len(_FIRST))
        if beginning != _FIRST.encode():
            raise FileExistsError(f"{place} exists and is not a log of ours. {advice}")
    if source is not None and os.path.exists(source) and os.path.samefile(place, source):
        raise FileExistsError(f"{place} is what is read. {advice}")


@contextmanager
def logging_to(
    path: str | os.PathLike[str] | None, remarks: Remarks, what: str
) -> Iterator[Remarks]:
    """Remarks that are also lines of a log, added to its end; None is no log."""
    if path is None:
        yield remarks
        return
    with open(path, "a", encoding="utf-8", errors="replace", newline="\n") as stream:
        if stream.tell() == 0:
            stream.write(f"{_FIRST}: date, seconds since the beginning, level, message\n")
        logged = _Logged(remarks, stream)
        logged.note("info", f"topicfocus {__version__}, process {os.getpid()}: {what}")
        with _noting_warnings(logged):
            try:
                yield logged
            except BaseException as error:
                logged.note("error", f"{type(error).__name__}: {error}")
                raise
        logged.note("info", "Done.")


@contextmanager
def _noting_warnings(logged: _Logged) -> Iterator[None]:
    """Warnings of libraries are written down, then shown as they would have been."""
    shown = warnings.showwarning

    def show(message: Any, *rest: Any, **more: Any) -> None:
        logged.note("warning", str(message))
        shown(message, *rest, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown
