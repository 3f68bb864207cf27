"""Opening files as bytes, and noticing when their content is not what their name says."""

from __future__ import annotations

import difflib
import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from topicfocus.text import packed
from topicfocus.text.errors import ReadError

#: Errors of a file that is there but cannot be read to its end.
BROKEN = (OSError, *packed.BROKEN)
#: A longer line, or value of JSON, is no document, and would fill the memory.
LONGEST = 1 << 27
#: What a file begins with, and what that is.
_MAGIC = (
    (b"PAR1", "a Parquet file"),
    (b"PK\x03\x04", "a zip archive (a spreadsheet, or .npz)"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"BZh", "compressed by bzip2"),
    (b"\xfd7zXZ", "compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"ARROW1", "an Arrow (Feather) file"),
    (b"\x80\x04", "a pickle, which is never loaded"),
    (b"\x80\x05", "a pickle, which is never loaded"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
)
_PEEK = 1 << 16
_PIECES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def what_it_is(head: bytes) -> str | None:
    """What the first bytes of a file give away, None if it may be text."""
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    return None


def open_bytes(path: str) -> io.BufferedReader:
    """A file, or standard input for "-", as bytes; compression is undone on the way."""
    if path == "-":
        return io.BufferedReader(_Again(sys.stdin.buffer), _PEEK)
    place = check_exists(path)
    kind = packed.packing(path)
    if kind is None:
        return io.BufferedReader(io.FileIO(place), _PEEK)
    return io.BufferedReader(packed.open_packed(path, kind), _PEEK)


class _Again(io.RawIOBase):
    """A pipe whose first line can be looked at whole, however slowly it arrives, and read again.

    Closing it leaves the pipe open: standard input is not ours to close.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._first: bytes | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._first is None:
            self._first = self._pipe.readline(_PEEK)
        data = self._first[: len(buffer)]
        self._first = self._first[len(buffer) :]
        if not data:
            read = getattr(self._pipe, "read1", self._pipe.read)
            data = read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def check_exists(path: str) -> Path:
    """The path, if something is there."""
    place = Path(path)
    if not place.exists():
        beside = place.parent if place.parent.is_dir() else None
        names = [p.name for p in beside.iterdir()] if beside else []
        raise ReadError(f"{path}: no such file.{nearest(place.name, names)}")
    check_regular(path)
    return place


def check_regular(path: str) -> None:
    """Refuse pipes and devices, which may have no end, or nobody who ever writes to them."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
        raise ReadError(
            f"{path} is {kind}, not a file, and files are read more than once. Give it as standard "
            f'input: "-" for its name, and < {path}.'
        )


def nearest(name: str, names: list[str]) -> str:
    """A question to add to a message, if one of the names is close; else nothing."""
    lower = {other.lower(): other for other in reversed(names)}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    return f" Did you mean {lower[close[0]]!r}?" if close else ""


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turn what may go wrong in the middle of a file into one line."""
    try:
        yield
    except ReadError:
        raise
    except BROKEN as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        again = " Fetch or pack it again." if isinstance(error, packed.BROKEN) else ""
        raise ReadError(f"{path} cannot be read: {reason.rstrip('.')}.{again}") from error


def peek(stream: io.BufferedReader, path: str) -> bytes:
    """The beginning of a file, which stays unread."""
    with readable(path):
        return stream.peek(_PEEK)[:_PEEK]


def check_text(head: bytes, path: str, encoding: str) -> None:
    """Refuse a file that is empty or no text."""
    if not head:
        raise ReadError(f"{path} is empty. Check how it was written.")
    found = what_it_is(head)
    if found:
        raise ReadError(
            f"{path} is not what its name says: it is {found}. Rename it, or export it as CSV."
        )
    if not splits_at_newlines(encoding):
        return
    wide = _wide_encoding(head)
    if wide:
        name = wide.upper().removesuffix("-LE").removesuffix("-BE")
        raise ReadError(f'{path} is {name}. Pass encoding="{wide}" (--encoding {wide}).')
    if b"\0" in head:
        raise ReadError(
            f"{path} is not text: it holds NUL bytes. Check what kind of file it is; if it is "
            'UTF-16, pass encoding="utf-16" (--encoding utf-16).'
        )


def _wide_encoding(head: bytes) -> str | None:
    """UTF-32 or UTF-16, by the mark at the beginning or by the zeros of a first letter."""
    # The mark of UTF-32 begins with that of UTF-16, so it is looked for first.
    if head.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    zeros = tuple(byte == 0 for byte in head[:4])
    known: dict[tuple[bool, ...], str] = {
        (False, True, True, True): "utf-32-le",
        (True, True, True, False): "utf-32-be",
        (False, True, False, True): "utf-16-le",
        (True, False, True, False): "utf-16-be",
    }
    return known.get(zeros)


def splits_at_newlines(encoding: str) -> bool:
    """Whether lines can be told apart before decoding; not in UTF-16 and UTF-32."""
    try:
        return "a\n".encode(encoding) == b"a\n"
    except LookupError:
        raise ReadError(
            f"encoding {encoding!r} is unknown. Use a name such as utf-8, latin-1 or cp1252."
        ) from None


class Lines:
    """Lines of a stream as strings, decoded one by one so that errors have a place.

    A line that cannot be decoded is handed out with replacement characters, and `fault` is set.
    """

    def __init__(self, stream: io.BufferedReader, path: str, encoding: str) -> None:
        self.number = 0
        self.fault: str | None = None
        self.ended = False
        self._encoding = encoding
        self._stream = stream
        self._path = path

    def __iter__(self) -> Iterator[str]:
        if splits_at_newlines(self._encoding):
            yield from self._by_line()
        else:
            yield from self._by_text()
        self.ended = True

    def _by_text(self) -> Iterator[str]:
        """Lines of UTF-16 and the like, where an error's place is known only roughly."""
        wrapped = io.TextIOWrapper(self._stream, encoding=self._encoding, newline="")
        try:
            while line := wrapped.readline(LONGEST):
                self.number += 1
                self._check_length(line)
                yield line
        except UnicodeError as error:
            raise ReadError(
                f"{self._path}, after line {self.number}: not {self._encoding} ({error}). Pass the "
                "file's own encoding."
            ) from None
        finally:
            if not self._stream.closed:
                wrapped.detach()  # the stream is not the wrapper's to close

    def _check_length(self, line: str | bytes) -> None:
        if len(line) == LONGEST:
            raise ReadError(
                f"{self._path}, after line {self.number}: a line of more than "
                f"{LONGEST >> 20} MiB. Check what kind of file it is."
            )

    def _by_line(self) -> Iterator[str]:
        encoding = self._encoding
        while raw := self._stream.readline(LONGEST):
            self._check_length(raw)
            if self.number == 0 and raw.startswith(b"\xef\xbb\xbf"):
                raw = raw[3:]  # the mark that some programs begin UTF-8 files with
            self.number += 1
            try:
                line = raw.decode(encoding)
            except UnicodeError as error:
                line = raw.decode(encoding, "replace")
                byte = getattr(error, "start", 0)
                self.fault = f"not {encoding}: byte 0x{raw[byte]:02x} at column {byte + 1}"
            if "\r" in line and not (line.endswith("\r\n") and line.count("\r") == 1):
                pieces = _PIECES.findall(line)  # of an old Mac, where a line ends in \r alone
                self.number -= 1
                for piece in pieces:
                    self.number += 1
                    yield piece
            else:
                yield line


def encoding_advice(encoding: str) -> str:
    """What to do about bytes that do not fit the encoding."""
    other = "latin-1" if encoding.replace("_", "-").lower() in ("utf-8", "utf8") else "utf-8"
    return f'Pass the file\'s encoding, for example encoding="{other}" (--encoding {other}).'
