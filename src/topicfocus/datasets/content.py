"""Is what a loader will read what the project's figures were computed from?

A digest over the values that loaders use, so that it does not depend on how a file is compressed,
quoted or ordered by its publisher.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from topicfocus.datasets.sources import read_columns


def normal(value: str) -> str:
    """A value without what no loader notices: runs of blanks, and the two signs for "missing"."""
    joined = " ".join(value.split())
    return "" if joined == "NA" else joined


def rows_digest(rows: Iterable[tuple[str, ...]], *, ordered: bool = True) -> str:
    """SHA-256 over rows of values; if not ``ordered``, of rows in any order."""
    each = (hashlib.sha256("\x1f".join(map(normal, row)).encode("utf-8")).digest() for row in rows)
    whole = hashlib.sha256()
    for digest in each if ordered else sorted(each):
        whole.update(digest)
    return whole.hexdigest()


def file_digest(path: Path, columns: tuple[str, ...], *, ordered: bool = True) -> str:
    """Of some columns of a gzipped CSV file."""
    return rows_digest(read_columns(path, *columns), ordered=ordered)
