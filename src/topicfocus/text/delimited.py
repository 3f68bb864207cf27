"""CSV and TSV: the standard library's reader, and Arrow's for large files where it is installed.

The standard library is the judge: what Arrow cannot read is read again by it from the row reached,
and its verdict, with the number of the row, is what the user sees.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from topicfocus.text.arrow import LARGE, READ_BYTES, gathered, may_help
from topicfocus.text.errors import ReadError
from topicfocus.text.files import LONGEST, Lines, check_text, encoding_advice, open_bytes, peek
from topicfocus.text.records import (
    BadNumber,
    Block,
    Record,
    Request,
    find_columns,
    group_name,
    in_blocks,
    read_numbers,
    take_fields,
)

_LAST = "\x1e end of file \x1e"


class Delimited:
    """A delimited file whose header has been read and checked.

    Parameters
    ----------
    request : Request
    stream : binary stream
        At its beginning. Kept only if it is standard input, which cannot be opened again.
    default : str
        The delimiter of files with this name, "," or a tab.
    """

    def __init__(self, request: Request, stream: io.BufferedReader, default: str) -> None:
        self.request = request
        head = peek(stream, request.path)
        check_text(head, request.path, request.encoding)
        self.delimiter = request.delimiter or _delimiter(head, request.encoding, default)
        self._lines, self._reader = self._open(stream)
        header = self._next_header()
        self.columns = [name.strip() for name in header]
        self._places = find_columns(request, self.columns)
        self._header_lines = self._lines.number
        self._stream = stream if request.path == "-" else None
        self._arrow_finished = False

    def blocks(self) -> Iterator[Block]:
        """Blocks of rows, from the first row on."""
        done = 0
        if self._arrow_may_help():
            for block in self._arrow_blocks():
                done += len(block)
                yield block
            if self._arrow_finished:
                return
        yield from in_blocks(self._records(done), self.request)

    # The standard library's reader.

    def _open(self, stream: io.BufferedReader) -> tuple[Lines, Any]:
        lines = Lines(stream, self.request.path, self.request.encoding)
        if csv.field_size_limit() < LONGEST:
            # Its own limit is less than a long review; longer is a quote that is never closed.
            csv.field_size_limit(LONGEST)
        return lines, csv.reader(iter(lines), delimiter=self.delimiter)

    def _next_header(self) -> list[str]:
        path = self.request.path
        try:
            header: list[str] = next((fields for fields in self._reader if fields), [])
        except csv.Error as error:
            raise ReadError(f"{path}: the header cannot be read ({error}).") from None
        if not header:
            raise ReadError(f"{path} is empty: it holds nothing but blank lines.")
        if self._lines.fault:
            advice = encoding_advice(self.request.encoding)
            raise ReadError(f"{path}, header: {self._lines.fault}. {advice}")
        if self._lines.ended and self._lines.number > 1:
            raise ReadError(f"{path}: a quote that is opened in the header is never closed.")
        return header

    def _records(self, done: int) -> Iterator[Record]:
        if self._stream is None:
            self._stream = open_bytes(self.request.path)
            self._lines, self._reader = self._open(self._stream)
            self._next_header()
        stream, self._stream = self._stream, None
        with stream:
            yield from self._good_records(done)

    def _good_records(self, done: int) -> Iterator[Record]:
        lines, reader = self._lines, self._reader
        n = len(self.columns)
        row = 0
        begun = lines.number + 1
        while True:
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                row += 1
                self._bad(row, begun, f"{error}. Correct it.")
                begun = lines.number + 1
                continue
            if fields:
                row += 1
                if lines.fault:
                    self._bad(
                        row, begun, f"{lines.fault}. {encoding_advice(self.request.encoding)}"
                    )
                    lines.fault = None
                elif lines.ended:  # the reader ran through all lines for the end of this row
                    self._bad(row, begun, "a quote is opened and never closed. Correct it.")
                elif len(fields) != n:
                    self._bad(row, begun, _ragged(len(fields), n, self.delimiter))
                elif row > done:
                    try:
                        yield take_fields(row, fields, self._places, self.request)
                    except BadNumber as bad:
                        self._bad(row, begun, str(bad))
            begun = lines.number + 1

    def _bad(self, row: int, line: int, what: str) -> None:
        self.request.bad.report(f"{self.request.path}, row {row} (line {line}): {what}")

    # Arrow's.

    def _arrow_may_help(self) -> bool:
        if any("\n" in name for name in self.columns):  # Arrow is told to skip lines, not rows
            return False
        return may_help(self.request, LARGE)

    def _arrow_blocks(self) -> Iterator[Block]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        self._arrow_finished = False
        names = [str(i) for i in range(len(self.columns))]
        places = self._places
        every = [places.text, places.target, *places.numbers, places.group]
        wanted = [names[i] for i in every if i is not None]
        last_row = "\n" + self.delimiter.join([_LAST] * len(names)) + "\n"
        with open_bytes(self.request.path) as stream:
            source = pa.PythonFile(_Followed(stream, last_row.encode()), mode="r")
            try:
                reader = arrow_csv.open_csv(
                    source,
                    read_options=arrow_csv.ReadOptions(
                        column_names=names, skip_rows=self._header_lines, block_size=READ_BYTES
                    ),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self.delimiter, newlines_in_values=True
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        include_columns=list(dict.fromkeys(wanted)),
                        column_types=dict.fromkeys(wanted, pa.large_string()),
                        strings_can_be_null=False,
                    ),
                )
                yield from self._before_last(reader)
            except pa.ArrowInvalid:
                return  # the other reader will find out what is wrong, and where

    def _before_last(self, reader: Any) -> Iterator[Block]:
        """Blocks of Arrow's batches up to our last row, if that arrives as it should."""
        row, held, text = 0, None, str(self._places.text)
        for batch in chain(gathered(reader), [None]):
            if held is not None:
                if batch is None:
                    if held[text][-1].as_py() != _LAST:
                        return
                    self._arrow_finished = True
                    held = held.slice(0, len(held) - 1)
                if len(held):
                    try:
                        yield self._arrow_block(held, row)
                    except BadNumber:
                        self._arrow_finished = False
                        return  # the other reader knows its line
                    row += len(held)
            held = batch

    def _arrow_block(self, held: Any, row: int) -> Block:
        places, request = self._places, self.request
        rows = np.arange(row + 1, row + 1 + len(held), dtype=np.int64)
        columns = [held[str(i)].to_pylist() for i in places.numbers]
        numbers = [read_numbers(values, request) for values in zip(*columns, strict=True)]
        more = np.array(numbers).reshape(len(rows), len(columns))
        target = None if places.target is None else held[str(places.target)].to_pylist()
        group = None
        if places.group is not None:
            group = [group_name(value) for value in held[str(places.group)].to_pylist()]
        return Block(held[str(places.text)], target, rows, more, checked=True, group=group)


class _Followed:
    """A stream with something behind its end.

    Arrow takes the end of the file for a closing quote. A row of our own behind it does not arrive
    if a quote is open.
    """

    closed = False

    def __init__(self, stream: io.BufferedReader, last: bytes) -> None:
        self._stream = stream
        self._last = last

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        if not data:
            data, self._last = self._last, b""
        return data

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def _delimiter(head: bytes, encoding: str, default: str) -> str:
    """The delimiter of the header: what the name says, unless only another one occurs."""
    lines = head.decode(encoding, "replace").lstrip("\ufeff\r\n").splitlines()
    outside = "".join(lines[0].split('"')[::2]) if lines else ""  # not inside quotes
    if default in outside:
        return default
    found = [d for d in (",", "\t", ";", "|") if d in outside]
    return max(found, key=outside.count) if found else default


def _ragged(found: int, wanted: int, delimiter: str) -> str:
    name = {",": "comma", "\t": "tab", ";": "semicolon"}.get(delimiter, repr(delimiter))
    advice = f"Quote texts that hold a {name}" if found > wanted else "Correct it"
    fields = "field" if found == 1 else "fields"
    return f"{found} {fields} where the header has {wanted}. {advice}."
