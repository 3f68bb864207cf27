"""A table cut into shares that other processes read by themselves.

A share is a file, some row groups of a Parquet file, or some files of a folder of texts: plain data
that says where to read, so that only names travel. What a reader of a share has seen besides texts
(targets, numbers of rows, other columns) is small and goes back (`Seen`); put together in the order
of the shares it is what reading the whole table would have left behind.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicfocus.text.delimited import Delimited
from topicfocus.text.errors import BadRows, ReadError
from topicfocus.text.folders import Folder
from topicfocus.text.parquet import Parquet
from topicfocus.text.records import Request
from topicfocus.text.tables import Table, _source_of
from topicfocus.text.values import Values

#: Bytes of a share, about, where a file can be cut.
SHARE_BYTES = 1 << 26


@dataclass(frozen=True)
class Share:
    """Where a share is: a file, or items first..last-1 of it.

    Attributes
    ----------
    request : Request
        With the whole path, since workers may be somewhere else.
    format : str
    name : str
        What the user calls the file.
    span : (int, int), optional
        Row groups of a Parquet file, or files of a folder.
    stamp : (int, int), optional
        Bytes and time of the file when the work was handed out: if they are others when it is read,
        counts would be of two files. Of a folder: how many files, and 0.
    """

    request: Request
    format: str
    name: str
    span: tuple[int, int] | None = None
    stamp: tuple[int, int] | None = None

    def open(self) -> Table:
        """A table of this share alone, which may have no rows."""
        request = replace(self.request, bad=BadRows(self.request.bad.skip))
        source, kind = _source_of(request, self.format)
        if self.span is not None:
            source.restrict(*self.span)
        table = Table(source, kind, some_rows=False)
        self.check(table)
        return table

    def check(self, table: Table) -> None:
        """ReadError if the file has changed; to be called after it was read, too."""
        if _stamp(table._source) != self.stamp:
            raise ReadError(f"{self.request.path} was changed while it was being read. Try again.")


class Seen(NamedTuple):
    """What iterating over a share has left behind."""

    rows: NDArray[np.int64]
    numbers: NDArray[np.float64]
    target: Values | None
    group: Values | None
    path: str
    n_bad: int
    messages: list[str]


class Keeping:
    """Blocks on their way to the counter, with texts kept until there is no more room."""

    def __init__(self, blocks: Any, room: int) -> None:
        self._blocks, self._room = blocks, room
        self.texts: list[str] = []

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            if self._room > 0:
                strings = block.strings
                self.texts += strings
                self._room -= sum(map(len, strings))
            yield block


def shares_of(table: Table) -> list[Share] | None:
    """The shares of a table in the order of its rows; None if it can be read only here."""
    source = table._source
    sources = getattr(source, "_sources", [source])  # of several files
    if any(one.request.path == "-" for one in sources):
        return None
    out: list[Share] = []
    for one in sources:
        request, kind = one.request, _KINDS[type(one).__name__]
        if isinstance(one, Delimited):  # what was found out by its header
            request = replace(request, delimiter=one.delimiter)
        whole = Share(
            replace(request, path=os.path.abspath(request.path)),
            kind,
            request.path,
            stamp=_stamp(one),
        )
        if isinstance(one, (Parquet, Folder)):
            spans = _spans(one.sizes(), SHARE_BYTES)
            out += [replace(whole, span=span) for span in spans]
        else:
            out.append(whole)
    return out


_KINDS = {
    "Delimited": "csv",
    "JsonLines": "jsonl",
    "JsonArray": "jsonl",
    "Parquet": "parquet",
    "Excel": "xlsx",
    "Folder": "folder",
}


def seen_of(table: Table, name: str) -> Seen:
    """What the table of a share has seen so far."""
    return Seen(
        table.rows,
        table.numbers,
        table.target,
        table.group,
        name,
        table.n_skipped,
        table.skipped,
    )


def take_seen(table: Table, parts: list[Seen]) -> None:
    """The table as if it had been read here; shares of one file are one behind the other."""
    table._forget()
    bad = table._source.request.bad
    bad.n, bad.messages = 0, []
    for part in parts:
        table._add_rows(part.rows)
        table._numbers.append(part.numbers)
        table._paths.append((part.path, len(part.rows)))
        if table.target is not None:
            table.target += part.target or ()
        if table.group is not None:
            table.group += part.group or ()
        bad.n += part.n_bad
        bad.messages = (bad.messages + part.messages)[: bad.SHOWN]
    table._check_rows()


def _stamp(source: Any) -> tuple[int, int]:
    """Bytes and time of a file; of a folder how many files it has."""
    if isinstance(source, Folder):
        return len(source.names), 0
    path = source.request.path
    try:
        found = os.stat(path)
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}.") from None
    return found.st_size, found.st_mtime_ns


def _spans(sizes: list[int], most: int) -> list[tuple[int, int]]:
    """Items in a row, each with so many bytes, in spans of about `most`."""
    out, first, held = [], 0, 0
    for i, size in enumerate(sizes):
        if i > first and held + size > most:
            out.append((first, i))
            first, held = i, 0
        held += size
    return [*out, (first, len(sizes))]
