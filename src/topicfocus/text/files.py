"""Open files, undo compression, and detect content that does not match the file's name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from topicfocus.text.errors import ReadError, nearest

#: Endings of compressed files, their first bytes, and the program that writes them.
_COMPRESSED = {
    ".gz": (b"\x1f\x8b", "gzip"),
    ".bz2": (b"BZh", "bzip2"),
    ".xz": (b"\xfd7zXZ", "xz"),
    ".zip": (b"PK", "zip"),
    ".zst": (b"\x28\xb5\x2f\xfd", "zstd"),
}
COMPRESSED = tuple(_COMPRESSED)
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
#: First bytes of formats that are not text.
_MAGIC = (
    (b"PAR1", "a Parquet file"),
    (b"PK\x03\x04", "a zip archive (a spreadsheet, or .npz)"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"ARROW1", "an Arrow (Feather) file"),
    (b"\x80\x04", "a pickle, which is never loaded"),
    (b"\x80\x05", "a pickle, which is never loaded"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    *((magic, f"compressed by {maker}") for magic, maker in _COMPRESSED.values()),
)
#: Bytes at the beginning of a file that are inspected before it is read.
HEAD_BYTES = 1 << 16


def check_exists(path: str) -> Path:
    """The path of an existing regular file or folder."""
    place = Path(path)
    if not place.exists():
        names = [p.name for p in place.parent.iterdir()] if place.parent.is_dir() else []
        raise ReadError(f"{path}: no such file.{nearest(place.name, names)}")
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
        raise ReadError(
            f'{path} is {kind}, not a file. Pass it as standard input: "-" as the name, and '
            f"< {path}."
        )
    return place


def compression(path: str) -> str | None:
    """The ending that says how a file is compressed, or None."""
    ending = Path(path).suffix.lower()
    return ending if ending in _COMPRESSED else None


def uncompressed_name(path: str) -> str:
    """The name of a file without its compression; for a zip archive, the name of its member."""
    kind = compression(path)
    if kind == ".zip":
        _check_magic(path, kind)
        with zipfile.ZipFile(path) as archive:
            return _only_member(archive, path).filename
    return path if kind is None else path[: -len(kind)]


def open_bytes(path: str) -> io.BufferedReader:
    """A file as a stream of uncompressed bytes."""
    check_exists(path)
    kind = compression(path)
    if kind is None:
        return open(path, "rb")
    _check_magic(path, kind)
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    stream: Any
    if kind == ".zip":
        with zipfile.ZipFile(path) as archive:  # the member keeps the file open
            stream = archive.open(_only_member(archive, path))
    elif kind == ".zst":
        stream = _open_zstd(path)
    else:
        stream = openers[kind](path, "rb")
    return io.BufferedReader(stream)


def open_text(path: str, encoding: str) -> io.TextIOWrapper:
    """A file as a stream of text; bytes that are not in the encoding become lone surrogates.

    All line ends are ``\\n``.
    """
    errors = "surrogateescape" if extends_ascii(encoding) else "strict"
    return io.TextIOWrapper(open_bytes(path), _with_mark(encoding), errors)


def read_head(path: str) -> bytes:
    """The first bytes of a file, uncompressed."""
    with open_bytes(path) as stream:
        return stream.read(HEAD_BYTES)


def read_lines(path: str, encoding: str) -> list[str]:
    """All lines of a small file."""
    with reading(path), open_bytes(path) as stream:
        raw = stream.read()
    extends_ascii(encoding)
    try:
        text = raw.decode(_with_mark(encoding))
    except UnicodeError as error:
        raise ReadError(f"{path}: {error}. {encoding_advice(encoding)}") from None
    lines = text.split("\n")  # not splitlines: a word may contain other separators
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn errors of the system, of decompression and of decoding into a ReadError."""
    try:
        yield
    except ReadError:
        raise
    except UnicodeError as error:
        raise ReadError(
            f"{path}: {' '.join(str(error).split())}. Pass the file's encoding: encoding= "
            "(--encoding)."
        ) from error
    except MemoryError as error:
        raise ReadError(f"{path} does not fit into memory. Split it into smaller files.") from error
    except (OSError, *_DAMAGED) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        again = " Download or compress it again." if isinstance(error, _DAMAGED) else ""
        raise ReadError(f"{path} cannot be read: {reason.rstrip('.')}.{again}") from error


def check_text(head: bytes, path: str, encoding: str) -> None:
    """Refuse a file that is empty or is not text."""
    if not head:
        raise ReadError(f"{path} is empty. Check how it was written.")
    found = identify(head)
    if found:
        raise ReadError(
            f"{path} is not what its name says: it is {found}. Rename it, or export it as CSV."
        )
    if not extends_ascii(encoding):
        return
    wide = _wide_encoding(head)
    if wide:
        name = wide.upper().removesuffix("-LE").removesuffix("-BE")
        raise ReadError(f'{path} is {name}. Pass encoding="{wide}" (--encoding {wide}).')
    if b"\0" in head:
        raise ReadError(
            f"{path} is not text: it contains NUL bytes. Check what kind of file it is; if it is "
            'UTF-16, pass encoding="utf-16" (--encoding utf-16).'
        )


def identify(head: bytes) -> str | None:
    """The format that the first bytes of a file belong to, None if it may be text."""
    return next((name for magic, name in _MAGIC if head.startswith(magic)), None)


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
    return encoding.replace("_", "-").lower() in ("utf-8", "utf8")


def _with_mark(encoding: str) -> str:
    """UTF-8 files may begin with a byte order mark."""
    return "utf-8-sig" if _is_utf8(encoding) else encoding


def _wide_encoding(head: bytes) -> str | None:
    """UTF-32 or UTF-16, by the byte order mark or by the zero bytes of the first characters."""
    # The mark of UTF-32 begins with that of UTF-16.
    if head.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    zeros = "".join("0" if byte == 0 else "x" for byte in head[:4])
    known = {"x000": "utf-32-le", "000x": "utf-32-be", "x0x0": "utf-16-le", "0x0x": "utf-16-be"}
    return known.get(zeros)


def _check_magic(path: str, kind: str) -> None:
    magic, maker = _COMPRESSED[kind]
    with open(path, "rb") as stream:
        head = stream.read(8)
    if not head:
        raise ReadError(f"{path} is empty. Check how it was written.")
    if not head.startswith(magic):
        raise ReadError(f"{path} is named {kind} but is not compressed by {maker}. Rename it.")


def _open_zstd(path: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise ReadError(
            f"{path}: reading .zst needs pyarrow. Install it: pip install 'topicfocus[tables]'."
        ) from None
    return pa.input_stream(path, compression="zstd")


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
        held = f"contains {len(files)} files ({names})" if files else "contains no files"
        raise ReadError(
            f"{path} {held}, and exactly one is needed. Extract it, and pass the files or their "
            "folder."
        )
    if files[0].flag_bits & 1:
        raise ReadError(f"{path} is encrypted. Extract it first.")
    if files[0].compress_type not in (0, 8, 12, 14):
        raise ReadError(f"{path} uses a compression that Python cannot undo. Extract it first.")
    return files[0]
