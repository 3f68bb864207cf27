"""Open files, compressed or not, and turn errors of the system into a `ReadError`."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from topicfocus.text.errors import ReadError, nearest

_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile)
#: First bytes of files that are often named as text by mistake.
_BINARY = (
    (b"PAR1", "a Parquet file"),
    (b"PK", "a zip archive (a spreadsheet, or .npz)"),
    (b"\x1f\x8b", "compressed by gzip"),
)
#: Bytes at the beginning of a file that are inspected before it is read.
HEAD_BYTES = 1 << 16


def check_exists(path: str) -> Path:
    """The path of an existing regular file or folder."""
    place = Path(path)
    if not place.exists():
        names = [p.name for p in place.parent.iterdir()] if place.parent.is_dir() else []
        raise ReadError(f"{path}: no such file.{nearest(place.name, names)}")
    if not (place.is_file() or place.is_dir()):
        raise ReadError(
            f"{path} is a pipe, a device or a socket, not a file. Pass it as standard input: "
            f'"-" as the name, and < {path}.'
        )
    return place


def open_bytes(path: str) -> Any:
    """A file as a stream of uncompressed bytes."""
    check_exists(path)
    opener = _OPENERS.get(Path(path).suffix.lower())
    return open(path, "rb") if opener is None else io.BufferedReader(opener(path))


def open_text(path: str, encoding: str, newline: str | None = None) -> io.TextIOWrapper:
    """A file as a stream of text; `newline` as of `open`, by default ``\\n`` is the only line end.

    Bytes that are not in the encoding become lone surrogates, so that their row can be reported.
    """
    stream = open_bytes(path)
    if _is_utf8(encoding) and stream.peek(3)[:3] == codecs.BOM_UTF8:
        stream.read(3)  # decoding as utf-8-sig is slow
    return io.TextIOWrapper(stream, encoding, "surrogateescape", newline)


def read_head(path: str) -> bytes:
    """The first bytes of a file, uncompressed."""
    with open_bytes(path) as stream:
        return stream.read(HEAD_BYTES)


def read_lines(path: str, encoding: str) -> list[str]:
    """All lines of a small file."""
    with reading(path), open_bytes(path) as stream:
        raw = stream.read()
        try:
            text = raw.decode("utf-8-sig" if _is_utf8(encoding) else encoding)
        except UnicodeError as error:
            raise ReadError(f"{path}: {error}. {encoding_advice(encoding)}") from None
    lines = text.split("\n")  # not splitlines: a word may contain other separators
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn errors of the system, of decompression and of decoding into a ReadError."""
    try:
        yield
    except UnicodeError as error:
        reason = " ".join(str(error).split())
        raise ReadError(
            f"{path}: {reason}. Pass the file's encoding: encoding= (--encoding)."
        ) from error
    except MemoryError as error:
        raise ReadError(f"{path} does not fit into memory. Split it into smaller files.") from error
    except (OSError, *_DAMAGED) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        damaged = isinstance(error, _DAMAGED)
        again = " Download or compress it again, or rename it." if damaged else ""
        raise ReadError(f"{path} cannot be read: {reason.rstrip('.')}.{again}") from error


def check_text(head: bytes, path: str, encoding: str) -> None:
    """Refuse a file that is empty or is not text."""
    if not head:
        raise ReadError(f"{path} is empty. Check how it was written.")
    for magic, found in _BINARY:
        if head.startswith(magic):
            raise ReadError(
                f"{path} is not what its name says: it is {found}. Rename it, or export it as CSV."
            )
    if b"\0" in head and extends_ascii(encoding):
        raise ReadError(
            f"{path} is not text: it contains NUL bytes. Check what kind of file it is; if it is "
            'UTF-16, pass encoding="utf-16" (--encoding utf-16).'
        )


def extends_ascii(encoding: str) -> bool:
    """Whether an encoding has ASCII characters as single bytes; UTF-16 and UTF-32 do not."""
    try:
        return "a\n".encode(encoding) == b"a\n"
    except (LookupError, UnicodeError):
        raise ReadError(
            f"encoding {encoding!r} is unknown. Use a name such as utf-8, latin-1 or cp1252."
        ) from None


def encoding_advice(encoding: str) -> str:
    """What to do about bytes that are not in the encoding."""
    other = "latin-1" if _is_utf8(encoding) else "utf-8"
    return f'Pass the file\'s encoding, for example encoding="{other}" (--encoding {other}).'


def _is_utf8(encoding: str) -> bool:
    return codecs.lookup(encoding).name == "utf-8"


def uncompressed_name(path: str) -> str:
    """The name of a file without its compression; for a zip archive, the name of its member."""
    ending = Path(path).suffix
    if ending.lower() == ".zip":
        with zipfile.ZipFile(path) as archive:
            return _only_member(archive, path).filename
    return path.removesuffix(ending) if ending.lower() in COMPRESSED else path


def _open_zip(path: str) -> Any:
    with zipfile.ZipFile(path) as archive:  # the member keeps the file open
        try:
            return archive.open(_only_member(archive, path))
        except RuntimeError as error:  # encrypted, or an unknown compression
            raise ReadError(f"{path} cannot be read: {error}. Extract it first.") from None


def _only_member(archive: zipfile.ZipFile, path: str) -> zipfile.ZipInfo:
    """The only file of an archive; folders and hidden files do not count."""
    files = [
        info
        for info in archive.infolist()
        if not info.is_dir()
        and not info.filename.startswith("__MACOSX/")
        and not PurePosixPath(info.filename).name.startswith(".")
    ]
    if len(files) != 1:
        names = ", ".join(info.filename for info in files[:5]) + ", ..." * (len(files) > 5)
        raise ReadError(
            f"{path} contains {len(files) or 'no'} files{f' ({names})' if files else ''}, and "
            "exactly one is needed. Extract it, and pass the files or their folder."
        )
    return files[0]


def _open_zstd(path: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise ReadError(
            f"{path}: reading .zst needs pyarrow. Install it: pip install 'topicfocus[tables]'."
        ) from None
    return pa.input_stream(path, compression="zstd")


_OPENERS: dict[str, Callable[[str], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _open_zip,
    ".zst": _open_zstd,
}
#: Endings of compressed files.
COMPRESSED = tuple(_OPENERS)
