"""Check and convert rows of any format to a `Block`: texts, target, group and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from topicfocus.text.errors import ReadError
from topicfocus.text.files import encoding_advice
from topicfocus.text.numbers import LARGEST, advice, is_missing, shown, why_no_number

#: Messages about skipped rows that are kept; all rows are counted.
MOST_MESSAGES = 10
#: Bytes that are not in the encoding, as `open_text` decodes them.
UNDECODED = re.compile("[\udc80-\udcff]")

Report = Callable[[int, str], None]


@dataclass(frozen=True)
class Block:
    """Some rows of a table.

    Attributes
    ----------
    texts : list of str, or Arrow array
        `TokenCounter` accepts both; `strings` is always a list.
    target : list of str or None, or None
        Values as in the file, None where missing; None if no target was requested.
    rows : array of int
        Row numbers in the file, from 1.
    numbers : array (rows, columns)
        Numeric columns; NaN only in those that may have missing values.
    group : list of str or None, or None
        Values of the group column, None where missing.
    path : str
        The file.
    checked : bool
        Whether an Arrow array is known to be valid UTF-8.
    """

    texts: Any
    target: list[str | None] | None
    rows: NDArray[np.int64]
    numbers: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    group: list[str | None] | None = None
    path: str = ""
    checked: bool = True

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def strings(self) -> list[str]:
        """The texts as Python strings."""
        return self.texts if isinstance(self.texts, list) else self.texts.to_pylist()


@dataclass(frozen=True)
class Request:
    """The columns to read, and how."""

    text: str | None = None
    target: str | None = None
    numbers: tuple[str, ...] = ()
    allow_missing: tuple[str, ...] = ()
    group: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    block_rows: int = 20_000
    separator: str | None = None
    sheet: str | None = None
    skip_bad: bool = False

    @property
    def names(self) -> list[str]:
        """The requested columns, each once."""
        named = [self.text, self.target, *self.numbers, self.group]
        return list(dict.fromkeys(name for name in named if name is not None))


class Rows(NamedTuple):
    """A piece of a file: row numbers, and the requested columns with their values as read."""

    rows: NDArray[np.int64]
    columns: dict[str, Any]


class BadRows:
    """Rows that cannot be read: the first one raises, or all are skipped and counted."""

    def __init__(self, skip: bool) -> None:
        self.skip = skip
        self.n = 0
        self.messages: list[str] = []

    def report(self, message: str) -> None:
        """Count a row, or raise."""
        if not self.skip:
            raise ReadError(f"{message} Or leave such rows out: skip_bad=True (--skip-bad).")
        self.n += 1
        if len(self.messages) < MOST_MESSAGES:
            self.messages.append(message)


def make_block(found: Rows, path: str, request: Request, bad: BadRows) -> Block:
    """Check and convert the values of a piece; rows with an unusable value are reported."""
    good = np.ones(len(found.rows), dtype=bool)

    def report(i: int, what: str) -> None:
        if good[i]:
            bad.report(f"{path}, row {found.rows[i]}: {what}")
        good[i] = False

    def listed(name: str) -> list[Any]:
        values = found.columns[name]  # an Arrow array if the text is requested twice
        return list(values) if isinstance(values, list) else values.to_pylist()

    def labels(name: str | None) -> list[str | None] | None:
        return None if name is None else _labels(listed(name), name, request, report)

    texts = _texts(found.columns[request.text or ""], request, report)
    target, group = labels(request.target), labels(request.group)
    if group is not None:
        group = [None if v is None or is_missing(v) else v.strip() for v in group]
    numbers = np.empty((len(found.rows), 0))
    if request.numbers:
        columns = [_numbers(listed(n), n, request, report) for n in request.numbers]
        numbers = np.column_stack(columns)
    if not good.all():
        texts = list(compress(texts, good)) if isinstance(texts, list) else texts.filter(good)
        target, group = (
            None if values is None else list(compress(values, good)) for values in (target, group)
        )
        numbers = numbers[good]
    return Block(texts, target, found.rows[good], numbers, group, path)


def _texts(values: Any, request: Request, report: Report) -> Any:
    """Documents as strings; an Arrow array stays one."""
    if not isinstance(values, list):
        if values.null_count:
            for i in np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False)).tolist():
                report(i, f"no {request.text!r}. Give it a text, or an empty one.")
        return values
    for i, value in enumerate(values):
        if type(value) is not str:
            values[i] = ""
            try:
                values[i] = _as_text(value, request)
            except ValueError as error:
                report(i, str(error))
    _report_undecoded(values, request.encoding, report)
    return values


def _as_text(value: Any, request: Request) -> str:
    """A list of codes as one text with the separator between them; ValueError for other values."""
    name, separator = request.text, request.separator
    if value is None:
        raise ValueError(f"no {name!r}. Give it a text, or an empty one.")
    if not isinstance(value, list):
        raise ValueError(
            f"{name!r} is {shown(value)}, not a text. Name the column that contains text."
        )
    if separator is None:
        raise ValueError(list_message(request))
    for item in value:
        if isinstance(item, bool) or not isinstance(item, (str, int, float)):
            raise ValueError(f"{name!r} has the item {shown(item)}, not a text. Correct it.")
        if separator in str(item):
            raise ValueError(
                f"{name!r} has the item {shown(item)}, which contains the separator "
                f"{separator!r}. Use another: separator= (--separator)."
            )
    return separator.join(map(str, value))


def list_message(request: Request) -> str:
    return (
        f"{request.text!r} is a list, not a text. To count its items as codes, pass a separator "
        "that occurs in none of them: separator=';' (--separator ';')."
    )


def _labels(values: list[Any], name: str, request: Request, report: Report) -> list[str | None]:
    """Values of a target or a group as texts, None where missing."""
    out: list[str | None] = []
    for i, value in enumerate(values):
        if type(value) is str:
            out.append(value)
        elif value is None or value != value:
            out.append(None)
        elif isinstance(value, (dict, list)):
            report(i, f"{name!r} is {shown(value)}, not one value. Name another column.")
            out.append(None)
        else:
            out.append(as_label(value))
    _report_undecoded(out, request.encoding, report)
    return out


def as_label(value: Any) -> str:
    """A value as a CSV file would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _numbers(values: list[Any], name: str, request: Request, report: Report) -> NDArray[np.float64]:
    """A numeric column; NaN where it may be missing and is."""
    plain = [v if isinstance(v, (str, float)) or v is None else str(v) for v in values]
    numbers = pd.to_numeric(pd.Series(plain, dtype=object), errors="coerce").to_numpy(np.float64)
    for i in np.flatnonzero(~(np.abs(numbers) <= LARGEST)).tolist():
        text = "" if plain[i] is None else str(plain[i]).strip()
        if not is_missing(text):
            reason = why_no_number(text)
            report(i, f"{name!r} is {shown(values[i])}, {reason}. {advice(reason)}.")
        elif name not in request.allow_missing:
            report(i, f"{name!r} is missing. Fill it in.")
    return numbers


def _report_undecoded(values: Sequence[str | None], encoding: str, report: Report) -> None:
    """Report texts with bytes that are not in the encoding of the file."""
    try:
        "".join(filter(None, values)).encode("utf-8")
    except UnicodeEncodeError:
        for i, value in enumerate(values):
            if value is not None and UNDECODED.search(value):
                report(i, undecoded(value, encoding))


def undecoded(text: str, encoding: str) -> str:
    found = UNDECODED.search(text)
    byte, before = (ord(found[0]) - 0xDC00, text[: found.start()][-20:]) if found else (0, "")
    return f"not {encoding}: byte 0x{byte:02x} after {before!r}. {encoding_advice(encoding)}"
