"""Counts on disk: a folder of plain arrays and a manifest, read a piece at a time.

    manifest.json   format and version, shape, types, checksums, what was counted and how; a seal
    lengths.bin     uint32 a document: how many different words it has
    indices.bin     the words of all documents, one after the other, ascending in each
    counts.bin      how often each occurs
    words.json      the words of the columns, where they are known

Integers are as wide as they need to be: two bytes for a word and one for its count in most corpora,
where a matrix in memory has twelve. A folder is written beside its place and takes its name when it
is whole, so that there is never half of one.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import weakref
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicfocus.corpus.parts import Rows
from topicfocus.corpus.scratch import MAKE_ROOM
from topicfocus.corpus.validation import check_vocabulary

FORMAT, VERSION = "topicfocus counts", 2
#: Version 1 has no checksum of the words, and no seal.
_READABLE = (1, VERSION)
MANIFEST = "manifest.json"
_WORDS = "words.json"
_ARRAYS = ("lengths", "indices", "counts")
_INDEX_TYPES = ("uint16", "uint32")
_COUNT_TYPES = ("uint8", "uint16", "uint32", "float64")
#: What a store is made of; whatever else is in its folder is not ours.
_OURS = frozenset({MANIFEST, _WORDS, "counts.old", *(f"{name}.bin" for name in _ARRAYS)})
_AGAIN = "Remove the store and count again (topicfocus cache remove)."
#: Bytes looked at in one go when checksums are compared.
_BLOCK = 1 << 24


class StoreError(OSError):
    """A store of counts that cannot be read or written; the message says why and what to do."""


class StoreWriter:
    """Writes a store, documents in blocks; nothing takes its place before `close`.

    Parameters
    ----------
    folder : path
        Where it is to be; an existing store there is replaced.
    n_words : int
    about : dict, optional
        What was counted and how, kept in the manifest.
    """

    def __init__(self, folder: Path, n_words: int, about: dict[str, Any] | None = None) -> None:
        self.folder, self._about = Path(folder), about or {}
        self._n_words, self._n_docs, self._nnz = n_words, 0, 0
        self._index = np.dtype(np.uint16 if n_words <= 1 << 16 else np.uint32)
        self._kind = 0
        self._place = self.folder.with_name(f".{self.folder.name}-{secrets.token_hex(4)}.tmp")
        self._crc = dict.fromkeys(_ARRAYS, 0)
        check_ours(self.folder)
        self._place.mkdir(parents=True)
        self._streams: dict[str, Any] = {}
        for name in _ARRAYS:
            self._streams[name] = open(self._place / f"{name}.bin", "wb")  # noqa: SIM115

    def add(self, rows: Rows) -> None:
        """Some more documents."""
        lo, hi = int(rows.indptr[0]), int(rows.indptr[-1])
        data = rows.data[lo:hi]
        kind = _narrowest(data)
        try:
            if kind > self._kind:
                self._widen(kind)
            self._write("lengths", np.diff(rows.indptr).astype(np.uint32))
            self._write("indices", rows.indices[lo:hi].astype(self._index))
            self._write("counts", data.astype(_COUNT_TYPES[self._kind]))
        except OSError as error:
            self.discard()
            raise _unwritten(self.folder, error) from error
        self._n_docs += rows.n_docs
        self._nnz += hi - lo

    def _write(self, name: str, array: NDArray[Any]) -> None:
        view = np.ascontiguousarray(array).view(np.uint8).data if array.size else b""
        self._crc[name] = zlib.crc32(view, self._crc[name])
        self._streams[name].write(view)

    def _widen(self, kind: int) -> None:
        """A larger count has come: those before it are written again, as wide as it needs."""
        old, new = _COUNT_TYPES[self._kind], _COUNT_TYPES[kind]
        self._kind = kind
        if not self._nnz:
            return
        path = self._place / "counts.bin"
        self._streams["counts"].close()
        before = path.rename(path.with_suffix(".old"))
        self._streams["counts"] = open(path, "wb")  # noqa: SIM115
        self._crc["counts"] = 0
        with open(before, "rb") as stream:
            while block := stream.read(_BLOCK):
                self._write("counts", np.frombuffer(block, dtype=old).astype(new))
        before.unlink()

    def close(self, vocabulary: Sequence[str] | None = None, **about: Any) -> None:
        """The store takes its place."""
        words = b"" if vocabulary is None else json.dumps(list(vocabulary)).encode("ascii")
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "documents": self._n_docs,
            "words": self._n_words,
            "nonzeros": self._nnz,
            "types": {"indices": self._index.name, "counts": _COUNT_TYPES[self._kind]},
            "checksums": {**self._crc, "words": zlib.crc32(words)},
            "about": {**self._about, **about},
        }
        manifest["seal"] = _seal(manifest)
        try:
            for stream in self._streams.values():
                stream.flush()
                os.fsync(stream.fileno())
                stream.close()
            if vocabulary is not None:
                (self._place / _WORDS).write_bytes(words)
            text = json.dumps(manifest, indent=1)
            (self._place / MANIFEST).write_text(text, encoding="utf-8")
            remove_store(self.folder)
            self._place.rename(self.folder)
        except OSError as error:
            self.discard()
            raise _unwritten(self.folder, error) from error

    def discard(self) -> None:
        """Nothing is left of it."""
        for stream in self._streams.values():
            with suppress(OSError):  # what was buffered does not fit the disk, either
                stream.close()
        shutil.rmtree(self._place, ignore_errors=True)


def _narrowest(data: NDArray[np.float64]) -> int:
    """The place of the narrowest type that holds these counts."""
    if data.size == 0:
        return 0
    if np.any(data != np.rint(data)) or data.min() < 0:
        return 3
    largest = data.max()
    return next((i for i, top in enumerate((2**8, 2**16, 2**32)) if largest < top), 3)


def _unwritten(folder: Path, error: OSError) -> StoreError:
    reason = error.strerror or str(error)
    free = shutil.disk_usage(folder.parent).free if folder.parent.exists() else 0
    return StoreError(
        error.errno,
        f"counts cannot be written to {folder}: {reason} ({free / 1e9:.1f} GB are free there). "
        f"{MAKE_ROOM}",
    )


def _seal(manifest: dict[str, Any]) -> int:
    """A checksum of what a manifest says."""
    rest = {key: value for key, value in manifest.items() if key != "seal"}
    return zlib.crc32(json.dumps(rest, sort_keys=True).encode("ascii"))


def check_ours(folder: Path) -> None:
    """StoreError if there is something at a store's place that is none, or more than one."""
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        raise StoreError(f"{folder} is in the way: it is no folder of counts. Move it away.")
    others = sorted({path.name for path in folder.iterdir()} - _OURS)
    if others:
        raise StoreError(
            f"{folder} holds {others[0]!r}, which is not a part of a store of counts: nothing in "
            "it is replaced. Move it away."
        )


def remove_store(folder: Path) -> None:
    """Remove a store, whole or damaged, if there is one; StoreError for a folder with more in it.

    Its manifest goes first: what is left if that is interrupted is no store.
    """
    check_ours(folder)
    if folder.exists():
        (folder / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(folder)


def is_store(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder is a store of counts, of whatever version."""
    try:
        return _manifest(Path(folder)).get("format") == FORMAT
    except StoreError:
        return False


def read_manifest(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What a store says of itself; StoreError if it is none, or of another version."""
    path = Path(folder)
    found = _manifest(path)
    if found.get("format") != FORMAT:
        raise StoreError(f"{path} is not a store of counts.")
    if found.get("version") not in _READABLE:
        raise StoreError(
            f"{path} is of version {str(found.get('version'))[:20]} and this program reads version "
            f"{VERSION}: count again (topicfocus cache remove)."
        )
    if not _holds_together(found):
        raise StoreError(f"{path / MANIFEST} is damaged. {_AGAIN}")
    return found


def _holds_together(found: dict[str, Any]) -> bool:
    """Whether a manifest is as it was written, as far as it can tell."""
    types, sums = found.get("types"), found.get("checksums")
    sizes = [found.get(key) for key in ("documents", "words", "nonzeros")]
    return (
        (found["version"] == 1 or found.get("seal") == _seal(found))
        and all(type(n) is int and n >= 0 for n in sizes)
        and isinstance(types, dict)
        and set(types) == {"indices", "counts"}
        and types["indices"] in _INDEX_TYPES
        and types["counts"] in _COUNT_TYPES
        and isinstance(sums, dict)
        and set(_ARRAYS) <= set(sums)
        and isinstance(found.get("about"), dict)
    )


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StoreError(f"{folder} is not a store of counts: it has no {MANIFEST}.") from None
    except (OSError, ValueError) as error:
        raise StoreError(f"{folder / MANIFEST} cannot be read: {error}") from error
    return found if isinstance(found, dict) else {}


class StoreFiles:
    """The arrays of a store, and where its documents begin.

    Its files stay open where the system can read one from several threads: who removes the store,
    or counts it again, does not change what is read here.
    """

    def __init__(self, folder: Path, *, check: bool = False) -> None:
        manifest = read_manifest(folder)
        self.folder, self.about = folder, manifest["about"]
        self.shape = (int(manifest["documents"]), int(manifest["words"]))
        self.nnz = int(manifest["nonzeros"])
        self.seal = _seal(manifest)
        self._words_sum = manifest["checksums"].get("words")
        self.types = {"lengths": np.dtype(np.uint32)}
        self.types |= {name: np.dtype(kind) for name, kind in manifest["types"].items()}
        sizes = {"lengths": self.shape[0], "indices": self.nnz, "counts": self.nnz}
        self._open: dict[str, int] = {}
        for name, size in sizes.items():
            self._check_file(name, size * self.types[name].itemsize)
            if hasattr(os, "preadv"):
                self._open[name] = os.open(folder / f"{name}.bin", os.O_RDONLY)
                weakref.finalize(self, os.close, self._open[name])
            if check:
                self._check_content(name, manifest["checksums"][name])
        self.indptr = np.zeros(self.shape[0] + 1, dtype=np.int64)
        np.cumsum(self.read("lengths", 0, self.shape[0]), out=self.indptr[1:])
        if self.indptr[-1] != self.nnz:
            raise self._damaged("lengths", "documents do not add up")
        if check:
            _ = self.vocabulary

    def _check_file(self, name: str, expected: int) -> None:
        try:
            size = (self.folder / f"{name}.bin").stat().st_size
        except OSError:
            raise self._damaged(name, "it is missing") from None
        if size != expected:
            raise self._damaged(name, f"it has {size:,} bytes instead of {expected:,}")

    def _check_content(self, name: str, expected: int) -> None:
        found = 0
        with open(self.folder / f"{name}.bin", "rb") as stream:
            while block := stream.read(_BLOCK):
                found = zlib.crc32(block, found)
        if found != expected:
            raise self._damaged(name, "its content is not what was written")

    def _damaged(self, name: str, how: str) -> StoreError:
        file = name if "." in name else f"{name}.bin"
        return StoreError(f"{self.folder / file} is damaged: {how}. {_AGAIN}")

    def read(self, name: str, first: int, last: int) -> NDArray[Any]:
        """Entries first..last-1 of an array."""
        kind, n = self.types[name], last - first
        try:
            if name in self._open:
                found = _read_at(self._open[name], kind, n, first * kind.itemsize)
            else:
                path = self.folder / f"{name}.bin"
                found = np.fromfile(path, kind, n, offset=first * kind.itemsize)
        except OSError as error:
            raise self._damaged(name, error.strerror or str(error)) from error
        if len(found) != n:
            raise self._damaged(name, "it ends too early")
        # Compiled code follows these without looking.
        if name == "indices" and found.size and int(found.max()) >= self.shape[1]:
            raise self._damaged(name, "it has words that there are not")
        return found

    @property
    def vocabulary(self) -> tuple[str, ...] | None:
        path = self.folder / _WORDS
        if not path.exists():
            if self._words_sum:
                raise self._damaged(_WORDS, "it is missing")
            return None
        content = path.read_bytes()
        if self._words_sum is not None and zlib.crc32(content) != self._words_sum:
            raise self._damaged(_WORDS, "its content is not what was written")
        try:
            return check_vocabulary(json.loads(content), self.shape[1], name=str(self.folder))
        except (ValueError, TypeError) as error:
            raise self._damaged(_WORDS, str(error).rstrip(".")) from error


def _read_at(descriptor: int, kind: np.dtype, n: int, place: int) -> NDArray[Any]:
    """n entries of an open file from a byte on, or as many as there are; any thread may."""
    found = np.empty(n, dtype=kind)
    view, done = memoryview(found.view(np.uint8).data), 0
    while done < len(view):
        got = os.preadv(descriptor, [view[done:]], place + done)
        if not got:
            break
        done += got
    return found[: done // kind.itemsize]
