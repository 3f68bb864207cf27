"""What all readers of tables share: the request, its columns, and blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicfocus.text.errors import BadRows, ReadError
from topicfocus.text.files import nearest
from topicfocus.text.numbers import (
    LARGEST,
    advice,
    is_missing,
    parse_number,
    shown,
    why_no_number,
)

_SHOWN_COLUMNS = 20
#: Longer names of columns are cut in messages; they are documents, mostly.
_LONG_NAME = 30
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
    gaps: tuple[str, ...] = ()
    group: str | None = None
    separator: str | None = None
    sheet: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns that were asked for, each once, the text first."""
        named = [self.text, self.target, *self.numbers, self.group]
        return list(dict.fromkeys(name for name in named if name is not None))


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
        Of the columns that were asked for as numbers; NaN only in those that may have gaps.
    checked : bool
        Whether texts are known to be valid UTF-8: a column of Arrow need not be.
    group : list of str or None, or None
        Of the column that was asked for as groups, None where there is none.
    path : str
        The file that the rows are of, where a table is of several.
    """

    texts: Any
    target: list[str | None] | None
    rows: NDArray[np.int64]
    numbers: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    checked: bool = False
    group: list[str | None] | None = None
    path: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def strings(self) -> list[str]:
        """The texts as Python strings."""
        return self.texts if isinstance(self.texts, list) else self.texts.to_pylist()


def find_column(name: str | None, columns: list[str], what: str, path: str) -> int:
    """The place of a column; if it is not there, an error that lists those there are."""
    listed = [
        column if len(column) <= _LONG_NAME else f"{column[:_LONG_NAME]}..." for column in columns
    ]
    listed = listed[:_SHOWN_COLUMNS] + ["..."] * (len(columns) > _SHOWN_COLUMNS)
    found = f"Columns: {', '.join(listed)}."
    if _no_header(columns):
        found += (
            " These do not look like names: if the file has no line of names, write one above its "
            "first row."
        )
    option = f"{what}= (--{what})"
    if name is None:
        raise ReadError(f"{path}: say which column is the {what}, {option}. {found}")
    places = [i for i, column in enumerate(columns) if column == name]
    if not places:
        near = nearest(name, columns)
        raise ReadError(f"{path} has no column {name!r}.{near} {found}")
    if len(places) > 1:
        raise ReadError(f"{path} has {len(places)} columns named {name!r}. Rename all but one.")
    return places[0]


def _no_header(columns: list[str]) -> bool:
    """Whether the first line of a file is a row: it has numbers or sentences."""
    return any(
        parse_number(name) is not None or len(name) > 80 or name.count(" ") > 7 for name in columns
    )


@dataclass(frozen=True)
class Places:
    """Where the columns of a request are."""

    text: int
    target: int | None
    numbers: tuple[int, ...]
    group: int | None


def find_columns(request: Request, columns: list[str]) -> Places:
    """The places of all columns that were asked for."""

    def find(name: str, what: str) -> int:
        return find_column(name, columns, what, request.path)

    text = find_column(request.text, columns, "text", request.path)
    return Places(
        text,
        None if request.target is None else find(request.target, "target"),
        tuple(find(name, "numbers") for name in request.numbers),
        None if request.group is None else find(request.group, "group"),
    )


class Record(NamedTuple):
    """One row: the columns that were asked for."""

    row: int
    text: str
    target: str | None
    numbers: list[float]
    group: str | None = None


def group_name(value: str | None) -> str | None:
    """The group that a value names, None if it says that it is not known."""
    return None if value is None or is_missing(value) else value.strip()


class BadText(ValueError):
    """A value that cannot be a document."""


def join_items(items: Iterable[Any], request: Request) -> str:
    """A list of codes as one text, with the separator between them."""
    name, separator = request.text, request.separator
    if separator is None:
        raise BadText(
            f"{name!r} is a list, not a text. To count its items whole, give a separator that "
            "occurs in none of them: separator=';' (--separator ';')."
        )
    texts = []
    for item in items:
        if isinstance(item, bool) or not isinstance(item, (str, int, float)):
            raise BadText(f"{name!r} has the item {shown(item)}, not a text. Correct it.")
        text = str(item)
        if separator in text:
            raise BadText(
                f"{name!r} has the item {shown(text)}, in which the separator {separator!r} "
                "occurs. Take another: separator= (--separator)."
            )
        texts.append(text)
    return separator.join(texts)


class BadNumber(ValueError):
    """A value that is no number in a column of numbers."""


def read_numbers(values: Iterable[Any], request: Request) -> list[float]:
    """The numbers of one row; NaN where one is missing that may be."""
    out = []
    for value, name in zip(values, request.numbers, strict=True):
        if type(value) is float and abs(value) <= LARGEST:  # as Arrow gives them; NaN is not
            out.append(value)
            continue
        text = "" if value is None else str(value).strip()
        if is_missing(text):
            if name in request.gaps:
                out.append(math.nan)
                continue
            raise BadNumber(f"{name!r} is missing. Fill it in.")
        number = None if isinstance(value, (list, dict)) else parse_number(text)
        if number is None:
            reason = why_no_number(text)
            raise BadNumber(f"{name!r} is {shown(value)}, {reason}. {advice(reason)}.")
        out.append(number)
    return out


def take_fields(row: int, fields: list[str], places: Places, request: Request) -> Record:
    """The record of a row of a table, whose cells are texts."""
    return Record(
        row,
        fields[places.text],
        None if places.target is None else fields[places.target],
        read_numbers((fields[i] for i in places.numbers), request),
        None if places.group is None else group_name(fields[places.group]),
    )


def in_blocks(records: Iterable[Record], request: Request) -> Iterator[Block]:
    """Records as blocks."""
    texts: list[str] = []
    target: list[str | None] = []
    rows: list[int] = []
    numbers: list[list[float]] = []
    groups: list[str | None] = []
    size = 0

    def block() -> Block:
        wanted = target if request.target is not None else None
        columns = np.array(numbers, dtype=np.float64).reshape(len(rows), len(request.numbers))
        grouped = groups if request.group is not None else None
        return Block(texts, wanted, np.array(rows, dtype=np.int64), columns, group=grouped)

    for row, text, value, more, group in records:
        texts.append(text)
        target.append(value)
        rows.append(row)
        numbers.append(more)
        groups.append(group)
        size += len(text)
        if len(rows) >= request.block_rows or size >= BLOCK_CHARACTERS:
            yield block()
            texts, target, rows, numbers, groups, size = [], [], [], [], [], 0
    if rows:
        yield block()
