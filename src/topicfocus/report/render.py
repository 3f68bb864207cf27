"""A summary as one HTML file: packed arrays, static parts, and escaped data.

The page may load nothing and run nothing but the script identified by its hash: whatever words,
documents or names contain, they cannot run or send anything.

Arrays and texts are deflated and base64-encoded. An array is stored as planes of bytes, all first
bytes, then all second bytes: exponents and high bytes repeat, and deflate compresses repetitions
only when they are adjacent. Every browser since 2023 has deflate (`DecompressionStream`).
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

#: Comments, which pages do not need.
_COMMENT = re.compile(r"^ *(?:/\*\*[\s\S]*?\*/|//.*)\n", re.MULTILINE)


@cache
def _parts() -> tuple[str, str, str]:
    """Template, style and script; the order of the script's files does not matter."""
    static = resources.files("topicfocus.report") / "static"
    parts = [part for part in static.iterdir() if part.name.endswith((".html", ".css", ".js"))]
    text = {part.name: part.read_text(encoding="utf-8") for part in parts}
    body = "\n".join(_COMMENT.sub("", text[name]) for name in sorted(text) if name.endswith(".js"))
    script = f'(() => {{\n"use strict";\n{body}\n}})();\n'
    return text["page.html"], text["style.css"], script


def frame_size() -> int:
    """Bytes of a page without its data."""
    return sum(len(part.encode("utf-8")) for part in _parts())


def _source(text: str) -> str:
    """The hash of an inline script or style in a Content-Security-Policy."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def embed(value: Any) -> str:
    """JSON that is safe inside a script element, whatever strings it contains."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def render(summary: dict[str, Any]) -> str:
    """The page of a summary."""
    template, style, script = _parts()
    policy = (
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": html.escape(policy),
        "title": html.escape(summary["title"]),
        "style": style,
        "data": embed(summary),
        "script": script,
    }
    # One pass over the template: inserted text is not expanded again.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], template)


def frame(page: str, height: int = 760) -> str:
    """The page for a notebook, in a sandboxed frame."""
    return (
        '<iframe title="topicfocus explorer" sandbox="allow-scripts allow-downloads" '
        f'style="width:100%;height:{height}px;border:1px solid #8886;border-radius:8px" '
        f'srcdoc="{html.escape(page)}"></iframe>'
    )


# ---- packed arrays ------------------------------------------------------------------------------


def _deflate(data: bytes) -> str:
    # Raw deflate: no header or checksum for the browser to trip over.
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(compressor.compress(data) + compressor.flush()).decode("ascii")


def _inflate(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text), -15)


def pack(values: Any, kind: str, step: float | None = None) -> dict[str, Any]:
    """Numbers as a record {t, z}; with `step`, rounded to multiples of it."""
    array, stored = np.asarray(values).ravel(), np.dtype(f"<{kind}")
    record: dict[str, Any] = {"t": kind}
    if step is not None:
        limits = np.iinfo(stored)
        array = np.clip(np.round(array / step), limits.min, limits.max)
        record["s"] = step
    typed = np.ascontiguousarray(array, dtype=stored)
    planes = typed.view(np.uint8).reshape(len(typed), typed.itemsize).T
    record["z"] = _deflate(planes.tobytes())
    return record


def unpack(record: dict[str, Any]) -> np.ndarray:
    """Inverse of `pack`, as in the browser."""
    kind = np.dtype(f"<{record['t']}")
    data = np.frombuffer(_inflate(record["z"]), dtype=np.uint8)
    planes = data.reshape(kind.itemsize, len(data) // kind.itemsize)
    values = np.ascontiguousarray(planes.T).view(kind).ravel()
    return values * record["s"] if "s" in record else values


def pack_texts(texts: Sequence[str | None]) -> dict[str, Any]:
    """Strings as a record {t: "json", z}."""
    return {"t": "json", "z": _deflate(json.dumps(list(texts)).encode("ascii"))}


def unpack_texts(record: dict[str, Any]) -> list[str]:
    """Inverse of `pack_texts`, as in the browser."""
    return json.loads(_inflate(record["z"]))


def roughly(values: Any) -> dict[str, Any]:
    """Numbers for display: floats with trailing bits zero, which deflate compresses well."""
    bits = np.asarray(values, dtype="<f4").ravel().view(np.uint32)
    return pack(((bits + 0x1000) & 0xFFFFE000).view(np.float32), "f4")


def whole(values: np.ndarray) -> dict[str, Any]:
    """Counts in the smallest integer type that fits; fractions as doubles."""
    if len(values) == 0 or np.all((values == np.floor(values)) & (values >= 0)):
        largest = values.max(initial=0)
        for kind in ("u1", "u2", "u4"):
            if largest <= np.iinfo(kind).max:
                return pack(values, kind)
    return pack(values, "f8")


def pack_rounded(values: np.ndarray, budget: int = 120_000) -> dict[str, Any]:
    """Numbers for display in at most `budget` characters, if necessary rounded to steps."""
    packed = pack(values, "f4")
    largest = max(float(np.abs(values).max(initial=0.0)), 1e-12)
    for steps in (32767, 8000, 2000, 500, 125):
        if size(packed) <= budget:
            break
        packed = pack(values, "i2", largest / steps)
    return packed


def size(record: dict[str, Any]) -> int:
    """Number of characters of a record in the page."""
    return len(record["z"])
