"""Bytes of all kinds, valid tables, and what a few changes make of something valid."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from pathlib import Path

import numpy as np

_PIECES = (
    *(
        b"\0",
        b"\xff",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b'"',
        b'""',
        b",",
        b"\t",
        b"\n",
        b"\r",
        b"\r\n",
    ),
    *(
        b"\x1b[31m",
        b"text",
        b"stars",
        b"1e309",
        b"nan",
        b"-inf",
        b"9" * 400,
        b"{",
        b"}",
        b"[",
        b"]",
    ),
    *(
        b"\\u0000",
        b"\\ud800",
        "é漢😀".encode(),
        b"PK\x03\x04",
        b"\x1f\x8b",
        b"PAR1",
        b"%%MatrixMarket",
    ),
    *(b"[" * 5000, b'{"a":' * 3000),
    *(b"-1", b"0", b"null", b"true", b":", b" ", b"\x80\x04", b"\xe9", b"\xc2\x85", b"a" * 5000),
)


def some_bytes(rng: np.random.Generator) -> bytes:
    """Bytes of all kinds, or pieces that mean something somewhere."""
    if rng.random() < 0.4:
        return rng.integers(0, 256, int(rng.integers(0, 300)), dtype=np.uint8).tobytes()
    return b"".join(_PIECES[i] for i in rng.integers(0, len(_PIECES), int(rng.integers(0, 40))))


def mutated(rng: np.random.Generator, content: bytes) -> bytes:
    """A few changes to something valid."""
    out = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        place, how = int(rng.integers(0, len(out) + 1)), rng.integers(0, 6)
        size = int(rng.integers(1, 30))
        if how == 0:
            del out[place:]
        elif how == 1:
            del out[place : place + size]
        elif how == 2:
            out[place:place] = _PIECES[int(rng.integers(0, len(_PIECES)))]
        elif how == 3 and place < len(out):
            out[place] ^= 1 << int(rng.integers(0, 8))
        elif how == 4:
            out[place:place] = out[place : place + size]
        else:
            out[place : place + size] = some_bytes(rng)[:size]
    return bytes(out)


def _workbook(rows: list[list[str]]) -> bytes:
    import openpyxl

    book, stream = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(stream)
    return stream.getvalue()


def packed(content: bytes, ending: str) -> bytes:
    if ending == ".zip":
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("a.csv", content)
        return stream.getvalue()
    return {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[ending](content)


def table(rng: np.random.Generator, reviews: Path, ending: str) -> bytes:
    """A valid file of some reviews."""
    lines = reviews.read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines[1 : int(rng.integers(2, 60))]]
    if ending in (".jsonl", ".json"):
        records = [{"id": int(a), "text": b, "stars": float(c)} for a, b, c in rows]
        if rng.random() < 0.3:  # lists of codes
            records = [{**r, "text": str(r["text"]).split()} for r in records]
        if ending == ".json":
            return json.dumps(records, indent=int(rng.integers(0, 2))).encode()
        return "\n".join(map(json.dumps, records)).encode()
    if ending == ".xlsx":
        return _workbook([lines[0].split(","), *rows])
    joined = "\n".join([lines[0], *map(",".join, rows)])
    return (joined.replace(",", "\t") if ending == ".tsv" else joined).encode()
