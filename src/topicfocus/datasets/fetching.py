"""Fetching a file from the web: resumed where it stopped, checked, and never half in its place."""

from __future__ import annotations

import hashlib
import http.client
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from topicfocus.datasets.sources import DownloadError, Remote

_BLOCK = 1 << 16
_TIMEOUT = 30.0  # seconds without a byte
#: Waits between tries that bring nothing; a try that brought bytes starts over with the first.
_WAITS = (1.0, 3.0)
#: Far above every known file: a server that sends without end does not fill the disk.
_LARGEST = 1 << 30
#: What may be over in a moment.
_TEMPORARY = (408, 425, 429, 500, 502, 503, 504)


class _Interrupted(Exception):
    """A try ended early; ``progress`` says whether it brought anything."""

    def __init__(self, reason: str, progress: bool) -> None:
        super().__init__(reason)
        self.progress = progress


def fetch(remote: Remote, folder: Path, *, progress: bool | None = None) -> Path:
    """Get a file into a folder, and return where it is.

    It is written to ``<filename>.part`` and takes its name when it is complete and its checksum is
    right. A part that an earlier call left is continued if the server still has the same file.
    Not for two processes at a time: see `locked`.

    Parameters
    ----------
    remote : Remote
    folder : pathlib.Path
    progress : bool, optional
        Whether to show a bar on standard error; by default if that is a terminal.

    Raises
    ------
    DownloadError
        If it cannot be fetched, or is not the file that it should be.
    """
    target = folder / remote.filename
    if target.is_file():
        _check(remote, target)
        return target
    part = folder / f"{remote.filename}.part"
    with _bar(remote.filename, progress) as report:
        _complete(remote, part, report)
    _check(remote, part)
    os.replace(part, target)
    _validator_file(part).unlink(missing_ok=True)
    return target


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _check(remote: Remote, path: Path) -> None:
    if remote.sha256 is None:
        return
    found = sha256_of(path)
    if found == remote.sha256:
        return
    aside = path.with_name(f"{remote.filename}.wrong")
    os.replace(path, aside)  # kept to look at, out of the way of the next try
    raise DownloadError(
        f"{remote.filename} is not the file that it should be: its SHA-256 is {found}, expected "
        f"{remote.sha256}. It was kept as {aside}. Try again; if it stays wrong, {remote.url} "
        "has changed: get the file elsewhere"
    )


def _complete(remote: Remote, part: Path, report: Callable[[int, int | None], None]) -> None:
    if remote.sha256 and part.is_file() and sha256_of(part) == remote.sha256:
        return  # all of it, but an earlier call did not come to give it its name
    waits = iter(_WAITS)
    while True:
        try:
            return _continue(remote, part, report)
        except _Interrupted as stop:
            if stop.progress:
                waits = iter(_WAITS)
            wait = next(waits, None)
            if wait is None:
                raise DownloadError(f"{remote.url} could not be fetched: {stop}") from None
        time.sleep(wait)


def _continue(remote: Remote, part: Path, report: Callable[[int, int | None], None]) -> None:
    """One try: ask for what is missing and append it."""
    have, validator = _resumable(remote, part)
    headers = {"User-Agent": "topicfocus", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if validator:
            headers["If-Range"] = validator
    with _open(urllib.request.Request(remote.url, headers=headers), part) as answer:
        have, total = _place(answer, have)
        if total is not None and total > _LARGEST:
            raise DownloadError(f"{remote.url} has {total} bytes, far more than expected")
        _keep_validator(part, answer)
        done = have
        with part.open("r+b" if have else "wb") as stream:
            stream.seek(have)
            stream.truncate()
            report(done, total)
            while block := _read(answer, done > have):
                stream.write(block)
                done += len(block)
                report(done, total)
                if done > _LARGEST:
                    raise DownloadError(f"{remote.url} does not end; stopped at {done} bytes")
    if total is not None and done < total:
        raise _Interrupted(f"the connection ended at {done} of {total} bytes", done > have)


def _open(request: urllib.request.Request, part: Path) -> Any:
    try:
        return urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        with error:  # it is an open answer, too
            if error.code == 416:  # no such range: the part is not of this file
                part.unlink(missing_ok=True)
                raise _Interrupted("the server has another file now", False) from None
            if error.code in _TEMPORARY:
                raise _Interrupted(f"HTTP {error.code} {error.reason}", False) from None
            raise DownloadError(
                f"{request.full_url} gives HTTP {error.code} {error.reason}"
            ) from None
    except urllib.error.URLError as error:
        raise _Interrupted(str(error.reason), False) from None
    except (http.client.HTTPException, OSError) as error:
        raise _Interrupted(_reason(error), False) from None


def _read(answer: Any, progress: bool) -> bytes:
    try:
        return answer.read(_BLOCK)
    except (http.client.HTTPException, OSError) as error:
        raise _Interrupted(_reason(error), progress) from None


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _resumable(remote: Remote, part: Path) -> tuple[int, str]:
    """Bytes that can be kept, and by what the server tells that the file is still the same."""
    try:
        have = part.stat().st_size
    except FileNotFoundError:
        return 0, ""
    try:
        validator = _validator_file(part).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        validator = ""
    # Without a validator two versions may be mixed, which only a checksum would notice.
    return (have if validator or remote.sha256 else 0), validator


def _validator_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.etag")


def _keep_validator(part: Path, answer: Any) -> None:
    tag = answer.headers.get("ETag") or ""
    if tag.startswith("W/"):  # a weak one does not promise the same bytes
        tag = ""
    _validator_file(part).write_text(
        tag or answer.headers.get("Last-Modified") or "", encoding="ascii", errors="ignore"
    )


def _place(answer: Any, have: int) -> tuple[int, int | None]:
    """Where the answer's bytes go, and how many there are in all, if the server says so."""
    length = answer.headers.get("Content-Length")
    size = int(length) if length and length.isdigit() else None
    if answer.status == 206:
        span, _, total = (answer.headers.get("Content-Range") or "").partition("/")
        if span.strip().startswith(f"bytes {have}-"):
            if total.isdigit():
                return have, int(total)
            return have, None if size is None else have + size
        raise _Interrupted("the server sent another part than asked for", False)
    return 0, size  # the whole file, whatever was asked for


@contextmanager
def _bar(name: str, show: bool | None) -> Iterator[Callable[[int, int | None], None]]:
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other process is in here with the same path."""
    from filelock import FileLock

    lock = FileLock(path, mode=0o600)
    # Without locks, on some file systems, only the checks at the end protect against a second one.
    with suppress(NotImplementedError):
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
