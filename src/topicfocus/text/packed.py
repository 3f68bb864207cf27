"""Compressed files, undone as a stream: what is read at once is small, however much comes out."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, Any

from topicfocus.text.errors import ReadError

#: Endings, what a file of that name begins with, and who made it.
_PACKED = {
    ".gz": (b"\x1f\x8b", "gzip"),
    ".bz2": (b"BZh", "bzip2"),
    ".xz": (b"\xfd7zXZ", "xz"),
    ".zip": (b"PK", "zip"),
}
PACKED = tuple(_PACKED)
#: What a broken file may raise while it is unpacked.
BROKEN = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
#: A file of xz says how much memory undoing it takes; `xz -9` asks for 65 MiB.
_MEMORY = 1 << 28
_PIECE = 1 << 16
_SHOWN = 5


def packing(path: str) -> str | None:
    """How a file is compressed, by its name: one of `PACKED`, or None."""
    ending = Path(path).suffix.lower()
    return ending if ending in _PACKED else None


def unpacked_name(path: str) -> str:
    """What a compressed file is called inside."""
    kind = packing(path)
    if kind is None:
        return path
    if kind == ".zip":
        check_magic(path, kind)
        with zipfile.ZipFile(path) as archive:
            return _only_member(archive, path).filename
    return path[: -len(kind)]


def open_packed(path: str, kind: str) -> Any:
    """The content of a compressed file as a stream of bytes."""
    check_magic(path, kind)
    if kind == ".gz":
        return gzip.GzipFile(path)
    if kind == ".bz2":
        return bz2.BZ2File(path)
    if kind == ".xz":
        return _Xz(path)
    return _Member(path)


def check_magic(path: str, kind: str) -> None:
    """Refuse a file that its name does not fit."""
    magic, maker = _PACKED[kind]
    with open(path, "rb") as stream:
        head = stream.read(8)
    if not head:
        raise ReadError(f"{path} is empty. Check how it was written.")
    if not head.startswith(magic):
        raise ReadError(f"{path} is named {kind} but is not compressed by {maker}. Rename it.")


class _Xz(io.RawIOBase):
    """A file of xz, like Python's own reader, but with a limit to its memory."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = open(path, "rb")  # noqa: SIM115 - closed by close
        self._decompressor = self._new()

    def _new(self) -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(memlimit=_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._next(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _next(self, size: int) -> bytes:
        while True:
            made = self._decompressor
            rest = made.unused_data if made.eof else b""
            if made.eof:
                # Streams may stand one behind the other, with zeros between them.
                rest = (rest or self._file.read(_PIECE)).lstrip(b"\0")
                if not rest:
                    more = self._file.read(_PIECE)
                    if not more:
                        return b""
                    rest = more.lstrip(b"\0")
                made = self._decompressor = self._new()
            elif made.needs_input:
                rest = self._file.read(_PIECE)
                if not rest:
                    raise EOFError("the file ends before the end of its content")
            data = self._decompress(rest, size)
            if data:
                return data

    def _decompress(self, piece: bytes, size: int) -> bytes:
        try:
            return self._decompressor.decompress(piece, size)
        except lzma.LZMAError as error:
            if "memory" in str(error).lower():
                raise ReadError(
                    f"{self._path} needs more than {_MEMORY >> 20} MiB to be unpacked. Unpack it "
                    "first, or compress it with a smaller dictionary."
                ) from None
            raise

    def close(self) -> None:
        _close(self, "_file")
        super().close()


class _Member(io.RawIOBase):
    """The only file in a zip archive."""

    def __init__(self, path: str) -> None:
        self._archive = zipfile.ZipFile(path)
        try:
            member = _only_member(self._archive, path)
            if member.flag_bits & 1:
                raise ReadError(f"{path} is encrypted. Unpack it first.")
            self._stream: IO[bytes] = self._archive.open(member)
        except NotImplementedError:
            self._archive.close()
            raise ReadError(
                f"{path} is compressed in a way that Python cannot undo. Unpack it first."
            ) from None
        except BaseException:
            self._archive.close()
            raise

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        _close(self, "_stream", "_archive")
        super().close()


def _close(owner: object, *names: str) -> None:
    """Closes what was opened: where opening failed, Python closes the owner without it."""
    for name in names:
        opened = getattr(owner, name, None)
        if opened is not None:
            opened.close()


def _only_member(archive: zipfile.ZipFile, path: str) -> zipfile.ZipInfo:
    """The one file, folders and what systems leave beside files apart."""
    files = [
        info
        for info in archive.infolist()
        if not info.is_dir()
        and not info.filename.startswith("__MACOSX/")
        and not PurePosixPath(info.filename).name.startswith(".")
    ]
    if not files:
        raise ReadError(f"{path} is an archive without files. Check how it was written.")
    if len(files) > 1:
        names = ", ".join(info.filename for info in files[:_SHOWN])
        more = ", ..." if len(files) > _SHOWN else ""
        raise ReadError(
            f"{path} holds {len(files)} files ({names}{more}), and one is needed. Unpack it, and "
            "name the files or their folder."
        )
    return files[0]
