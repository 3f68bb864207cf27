"""What all readers of tables share: the request, its columns, and blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicfocus.text.errors import BadRows, ReadError
from topicfocus.text.files import nearest

_SHOWN_COLUMNS = 20
#: What files write where a value is not known, in lower case.
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "nil", "?", "-", ".", "<na>", "#n/a"))
#: A block is handed on when its texts have this many characters, however few rows that is.
BLOCK_CHARACTERS = 1 << 23


@dataclass(frozen=True)
class Request:
    """What to read from where."""

    path: str
    text: str | None = None
    target: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    block_rows: int = 20_000
    bad: BadRows = field(default_factory=lambda: BadRows(skip=False))
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """Some rows of a table.

    Attributes
    ----------
    texts : list of str, or a column of Arrow
        `TokenCounter` takes either; `strings` is always a list.
    target : list of str or None, or None
        Values as they are in the file, None where there is none; None if no target was asked for.
    rows : array of int
        Numbers of the rows in the file: the first row of data is 1.
    numbers : array (rows, columns)
        Of the columns that were asked for as numbers; all finite.
    checked : bool
        Whether texts are known to be valid UTF-8: a column of Arrow need not be.
    """

    texts: Any
    target: list[str | None] | None
    rows: NDArray[np.int64]
    numbers: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    checked: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def strings(self) -> list[str]:
        """The texts as Python strings."""
        return self.texts if isinstance(self.texts, list) else self.texts.to_pylist()


def find_column(name: str | None, columns: list[str], what: str, path: str) -> int:
    """The place of a column; if it is not there, an error that lists those there are."""
    shown = ", ".join(columns[:_SHOWN_COLUMNS]) + (", ..." if len(columns) > _SHOWN_COLUMNS else "")
    option = f"{what}= (--{what})"
    if name is None:
        raise ReadError(f"{path}: say which column is the {what}, {option}. Columns: {shown}.")
    places = [i for i, column in enumerate(columns) if column == name]
    if not places:
        near = nearest(name, columns)
        raise ReadError(f"{path} has no column {name!r}.{near} Columns: {shown}.")
    if len(places) > 1:
        raise ReadError(f"{path} has {len(places)} columns named {name!r}. Rename all but one.")
    return places[0]


#: Row, text, target, and the columns that were asked for as numbers.
Record = tuple[int, str, str | None, list[float]]


class BadNumber(ValueError):
    """A value that is no number in a column of numbers."""


def read_numbers(values: Iterable[Any], names: Iterable[str]) -> list[float]:
    """The numbers of one row; all must be there, because a model has no place for a gap."""
    out = []
    for value, name in zip(values, names, strict=True):
        if value is None or (isinstance(value, str) and value.strip().lower() in MISSING):
            raise BadNumber(f"{name!r} is missing. Fill it in.")
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number) or "_" in str(value):
            raise BadNumber(
                f"{name!r} is {value!r:.40}, not a number. Turn categories into columns of 0 and 1."
            )
        out.append(number)
    return out


def in_blocks(records: Iterable[Record], request: Request) -> Iterator[Block]:
    """Records as blocks."""
    texts: list[str] = []
    target: list[str | None] = []
    rows: list[int] = []
    numbers: list[list[float]] = []
    size = 0

    def block() -> Block:
        wanted = target if request.target is not None else None
        columns = np.array(numbers, dtype=np.float64).reshape(len(rows), len(request.numbers))
        return Block(texts, wanted, np.array(rows, dtype=np.int64), columns)

    for row, text, value, more in records:
        texts.append(text)
        target.append(value)
        rows.append(row)
        numbers.append(more)
        size += len(text)
        if len(rows) >= request.block_rows or size >= BLOCK_CHARACTERS:
            yield block()
            texts, target, rows, numbers, size = [], [], [], [], 0
    if rows:
        yield block()
