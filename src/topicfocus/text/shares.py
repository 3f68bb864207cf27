"""The files of a table as parts that other processes read.

A `Share` is plain data that says where to read. The columns besides the texts that a worker has
read are sent back (`Seen`); in the order of the shares they are those of the whole table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicfocus.text.blocks import Block, Request
from topicfocus.text.errors import ReadError
from topicfocus.text.formats import Source
from topicfocus.text.tables import Table


@dataclass(frozen=True)
class Share:
    """One file of a table, with its absolute path.

    Attributes
    ----------
    source : Source
    request : Request
    name : str
        The path that the user wrote.
    stamp : (int, int)
        Size and time of the file when it was opened.
    """

    source: Source
    request: Request
    name: str
    stamp: tuple[int, int]

    def open(self) -> Table:
        """A table of this file alone."""
        self.check()
        return _PartialTable(self.name, [self.source], self.request)

    def check(self, table: Table | None = None) -> None:
        """Raise ReadError if the file has changed since the work was distributed."""
        if _stamp(self.source) != self.stamp:
            raise ReadError(f"{self.name} was changed while it was being read. Try again.")


class _PartialTable(Table):
    """A table that may have no rows."""

    def _check_any(self) -> None:
        pass


class Keeping:
    """Blocks passed on unchanged, with the first texts kept up to a number of characters."""

    def __init__(self, blocks: Any, characters: int) -> None:
        self._blocks, self._room = blocks, characters
        self.texts: list[str] = []

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            if self._room > 0:
                strings = block.strings
                self.texts += strings
                self._room -= sum(map(len, strings))
            yield block


class Seen(NamedTuple):
    """The columns of a share besides its texts."""

    rows: NDArray[np.int64]
    numbers: NDArray[np.float64]
    target: list[str | None] | None
    group: list[str | None] | None
    path: str
    n_bad: int
    messages: list[str]


def shares_of(table: Table) -> list[Share] | None:
    """The shares of a table in the order of its rows; None for standard input."""
    if table.path == "-":
        return None
    out = []
    for source in table.sources:
        place = os.path.abspath(source.place)
        documents = tuple((os.path.abspath(path), name) for path, name in source.documents)
        moved = replace(source, place=place, documents=documents)
        out.append(Share(moved, table.request, source.path, _stamp(moved)))
    return out


def seen_of(table: Table, name: str) -> Seen:
    """The columns of the table of a share."""
    columns = (table.rows, table.numbers, table.target, table.group)
    return Seen(*columns, name, table.n_skipped, table.skipped)


def take_seen(table: Table, parts: list[Seen]) -> None:
    """Give a table the columns that others have read."""
    table.forget()
    for part in parts:
        if len(part.rows):
            table._keep(Block([], part.target, part.rows, part.numbers, part.group, part.path))
        table._bad.n += part.n_bad
        table._bad.messages += part.messages
    table._check_any()


def _stamp(source: Source) -> tuple[int, int]:
    """Size and time of a file; for a folder, the number of its files."""
    if source.documents:
        return len(source.documents), 0
    try:
        found = os.stat(source.place)
    except OSError as error:
        raise ReadError(f"{source.path}: {error.strerror or error}.") from None
    return found.st_size, found.st_mtime_ns
