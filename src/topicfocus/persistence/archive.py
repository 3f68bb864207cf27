"""The container: a zip of one JSON header and .npy arrays, nothing compressed, and a seal.

Members are stored as they are, so what a file may claim of memory is bounded by its own size, and
the same model always gives the same bytes. The header has the size, type, shape and SHA-256 of
every array. The zip's comment ends in the SHA-256 of all bytes before that: the seal. It tells
accidents and careless edits from the file as it was written; it is no signature.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import zipfile
from typing import Any, BinaryIO

import numpy as np

from topicfocus.persistence.errors import ModelFileError

FORMAT = "topicfocus model"
#: Goes up when files change so that an older topicfocus would misread them.
VERSION = 2
HEADER = "topicfocus.json"

_SEAL = b"topicfocus sha256 "
_DIGEST_LENGTH = 64
#: Of the first member of every model file: a zip's signature, 26 bytes of it, then the name.
_BEGINNING = re.compile(rb"PK\x03\x04.{26}" + re.escape(HEADER).encode(), re.DOTALL)
_NUMBERS = re.compile(r"\|b1|[|<][iu]1|<[iu][248]|<f[248]")
_STRINGS = re.compile(r"<U[0-9]{1,9}")

DAMAGED = "it is truncated or was altered; get it again from where it came, or save the model anew"


def is_storable(dtype: np.dtype) -> bool:
    """Whether arrays of this type can be members: real numbers of 8 bytes at most, and strings."""
    text = dtype.newbyteorder("<").str
    return bool(_NUMBERS.fullmatch(text) or _STRINGS.fullmatch(text))


# ---- writing ----------------------------------------------------------------------------------


def write_archive(stream: BinaryIO, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write header and arrays to an empty stream that can be read and sought.

    `header` gets "format", "version" and "members" added in front.
    """
    arrays = {name: _little_endian(array) for name, array in arrays.items()}
    members = {name: _describe(array) for name, array in arrays.items()}
    whole = {"format": FORMAT, "version": VERSION, **header, "members": members}
    text = json.dumps(whole, allow_nan=False).encode("ascii")
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = _SEAL + b"0" * _DIGEST_LENGTH
        with archive.open(_member(HEADER, len(text)), "w") as member:
            member.write(text)
        for name, array in arrays.items():
            with archive.open(_member(name, members[name]["bytes"]), "w") as member:
                _write_array(member, array)
    stream.seek(0, os.SEEK_END)
    end = stream.tell() - _DIGEST_LENGTH
    seal = _digest(stream, end)
    stream.seek(end)
    stream.write(seal)
    stream.flush()


def _member(name: str, size: int) -> zipfile.ZipInfo:
    """A member without time or machine in it. The size is needed to know if it takes zip64."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    info.external_attr = 0o644 << 16
    info.file_size = size
    return info


def _little_endian(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _write_array(stream: Any, array: np.ndarray) -> None:
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)


class _Hashing:
    """A stream that only counts and hashes, so that no copy of an array is made for it."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        self.digest.update(data)
        self.size += len(data)


def _describe(array: np.ndarray) -> dict[str, Any]:
    stream = _Hashing()
    _write_array(stream, array)
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "bytes": stream.size,
        "sha256": stream.digest.hexdigest(),
    }


def _digest(stream: BinaryIO, end: int) -> bytes:
    """SHA-256 of the bytes before `end`, in hexadecimal."""
    digest = hashlib.sha256()
    stream.seek(0)
    while (left := end - stream.tell()) > 0:
        chunk = stream.read(min(left, 1 << 20))
        if not chunk:
            break
        digest.update(chunk)
    return digest.hexdigest().encode("ascii")


# ---- reading ----------------------------------------------------------------------------------


def read_archive(stream: BinaryIO) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a stream that can be sought; ModelFileError for anything amiss.

    The version is looked at before all else: the file of a newer format is told as such even if
    that format has other members and another seal.
    """
    size = stream.seek(0, os.SEEK_END)
    _check_beginning(stream, size)
    try:
        with zipfile.ZipFile(stream) as archive:
            infos = _members(archive)
            _check_sizes([infos[HEADER]], size)
            header = _read_header(archive, infos[HEADER])
            _check_sizes(list(infos.values()), size)
            del infos[HEADER]
            if archive.comment[:-_DIGEST_LENGTH] != _SEAL:
                raise ModelFileError(DAMAGED)
            if _digest(stream, size - _DIGEST_LENGTH) != archive.comment[-_DIGEST_LENGTH:]:
                raise ModelFileError(DAMAGED)
            members = header.get("members")
            if not isinstance(members, dict) or set(members) != set(infos):
                raise ModelFileError("its header does not list the arrays that are in it")
            arrays = {
                name: _read_array(archive, info, members[name]) for name, info in infos.items()
            }
    # What zipfile raises on hostile bytes is not documented as a list: these have been seen.
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise ModelFileError(DAMAGED) from error
    return header, arrays


def _check_beginning(stream: BinaryIO, size: int) -> None:
    stream.seek(0)
    beginning = stream.read(30 + len(HEADER))
    if not size:
        raise ModelFileError("it is empty; save the model anew")
    if _BEGINNING.match(beginning):
        return
    if beginning[:1] == b"\x80":
        raise ModelFileError(
            "it looks like a pickle, which topicfocus never loads; open it the way it was written "
            "if you trust it, and save the model with topicfocus.save"
        )
    raise ModelFileError("it is not a model file; load takes what topicfocus.save has written")


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = {info.filename: info for info in archive.infolist()}
    if len(infos) != len(archive.infolist()) or HEADER not in infos:
        raise ModelFileError(DAMAGED)
    return infos


def _check_sizes(infos: list[zipfile.ZipInfo], size: int) -> None:
    """Members are stored as they are and do not overlap, so together they fit into the file."""
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ModelFileError(
                f"its part {info.filename[:80]!r} is compressed, which topicfocus.save never does; "
                "save the model anew"
            )
    if sum(info.file_size for info in infos) > size:
        raise ModelFileError("its parts claim to be larger than the file; save the model anew")


def _read_header(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> dict[str, Any]:
    def refuse(name: str) -> float:
        raise ValueError(f"{name} is not JSON")

    try:
        header = json.loads(archive.read(info), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(DAMAGED) from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError("it is not a model file; load takes what topicfocus.save has written")
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise ModelFileError("its header has no format version; save the model anew")
    if version > VERSION:
        writer = header.get("created_by")
        writer = writer.get("topicfocus") if isinstance(writer, dict) else None
        by = f" by topicfocus {writer[:40]}" if isinstance(writer, str) else ""
        raise ModelFileError(
            f"it was written{by} in format {version}, and this version of topicfocus reads up to "
            f"format {VERSION}; upgrade topicfocus"
        )
    return header


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, told: Any) -> np.ndarray:
    """An array, after what the header tells of it has been compared with what is there."""
    wrong = f"its array {info.filename[:80]!r} is not what its header says; save the model anew"
    try:
        text, shape, size = told["dtype"], tuple(told["shape"]), told["bytes"]
        if not (_NUMBERS.fullmatch(text) or _STRINGS.fullmatch(text)):
            raise ModelFileError(wrong)
        dtype = np.dtype(text)
        if any(type(n) is not int or n < 0 for n in shape) or size != info.file_size:
            raise ModelFileError(wrong)
        data = archive.read(info)
        if hashlib.sha256(data).hexdigest() != told["sha256"]:
            raise ModelFileError(DAMAGED)
        stream = io.BytesIO(data)
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ModelFileError(wrong)
        found_shape, _, found_dtype = np.lib.format.read_array_header_1_0(stream)
        nbytes = math.prod(shape) * dtype.itemsize
        if (found_shape, found_dtype) != (shape, dtype) or stream.tell() + nbytes != size:
            raise ModelFileError(wrong)
        stream.seek(0)
        array = np.lib.format.read_array(stream, allow_pickle=False)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(wrong) from error
    _check_elements(array, wrong)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _check_elements(array: np.ndarray, wrong: str) -> None:
    """Bit patterns that NumPy itself would never make, and does not expect."""
    if not array.size:
        return
    flat = array.ravel(order="K")
    if array.dtype.kind == "b" and flat.view(np.uint8).max() > 1:
        raise ModelFileError(wrong)
    if array.dtype.kind == "U" and array.itemsize and flat.view("<u4").max() > 0x10FFFF:
        raise ModelFileError(wrong)
