"""Arrays and texts as short strings that a browser unpacks: deflate, then base64.

An array is stored as planes of bytes, all first bytes, then all second bytes: exponents and high
bytes repeat, and deflate finds them only when they stand together. Deflate and not a format of
our own, because every browser since 2023 has it (`DecompressionStream`).
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

_TYPES: dict[str, np.dtype[Any]] = {
    "f8": np.dtype("<f8"),
    "f4": np.dtype("<f4"),
    "u4": np.dtype("<u4"),
    "u2": np.dtype("<u2"),
    "i2": np.dtype("<i2"),
    "u1": np.dtype("u1"),
}


def _deflate(data: bytes) -> str:
    # Raw deflate: no header or checksum for the browser to trip over.
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(compressor.compress(data) + compressor.flush()).decode("ascii")


def _inflate(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text), -15)


def pack(values: Any, kind: str, step: float | None = None) -> dict[str, Any]:
    """Numbers as a record {t, z}; with `step`, whole multiples of it are stored."""
    array = np.asarray(values).ravel()
    record: dict[str, Any] = {"t": kind}
    if step is not None:
        limits = np.iinfo(_TYPES[kind])
        array = np.clip(np.round(array / step), limits.min, limits.max)
        record["s"] = step
    typed = np.ascontiguousarray(array, dtype=_TYPES[kind])
    planes = typed.view(np.uint8).reshape(len(typed), typed.itemsize).T
    record["z"] = _deflate(planes.tobytes())
    return record


def unpack(record: dict[str, Any]) -> np.ndarray:
    """What the browser does with a record of `pack`."""
    kind = _TYPES[record["t"]]
    data = np.frombuffer(_inflate(record["z"]), dtype=np.uint8)
    planes = data.reshape(kind.itemsize, len(data) // kind.itemsize)
    values = np.ascontiguousarray(planes.T).view(kind).ravel()
    return values * record["s"] if "s" in record else values


def pack_texts(texts: Sequence[str]) -> dict[str, Any]:
    """Strings as a record {t: "json", z}."""
    return {"t": "json", "z": _deflate(json.dumps(list(texts)).encode("ascii"))}


def unpack_texts(record: dict[str, Any]) -> list[str]:
    """What the browser does with a record of `pack_texts`."""
    return json.loads(_inflate(record["z"]))


def roughly(values: Any) -> dict[str, Any]:
    """Numbers to look at: floats of which the last digits are zero, which deflate makes short."""
    bits = np.asarray(values, dtype="<f4").ravel().view(np.uint32)
    return pack(((bits + 0x1000) & 0xFFFFE000).view(np.float32), "f4")


def whole(values: np.ndarray) -> dict[str, Any]:
    """Counts in the smallest type that holds them; fractions in full."""
    if len(values) == 0 or np.all((values == np.floor(values)) & (values >= 0)):
        largest = values.max(initial=0)
        for kind in ("u1", "u2", "u4"):
            if largest <= np.iinfo(_TYPES[kind]).max:
                return pack(values, kind)
    return pack(values, "f8")


def size(record: dict[str, Any]) -> int:
    """Characters that a record takes in the page."""
    return len(record["z"])
