"""JSON lines: one object a line."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from topicfocus.text.arrow import LARGE, READ_BYTES, gathered, may_help
from topicfocus.text.files import Lines, check_text, encoding_advice, open_bytes, peek
from topicfocus.text.records import (
    BadNumber,
    BadText,
    Block,
    Record,
    Request,
    find_columns,
    group_name,
    in_blocks,
    join_items,
    read_numbers,
)


class JsonLines:
    """A file of JSON objects whose first one has been looked at."""

    def __init__(self, request: Request, stream: io.BufferedReader) -> None:
        self.request = request
        self._stream = stream if request.path == "-" else None
        head = peek(stream, request.path)
        check_text(head, request.path, request.encoding)
        self._first = self._check_columns(head)
        self._arrow_finished = False

    def _check_columns(self, head: bytes) -> dict[str, Any] | None:
        """Complain about a wrong name before reading everything, if the first object fits."""
        first = next((line for line in head.splitlines() if line.strip()), b"")
        try:
            record = json.loads(first.decode(self.request.encoding).lstrip("\ufeff"))
        except (ValueError, RecursionError):
            return None  # longer than the look ahead, or wrong: reading it will tell
        if not isinstance(record, dict):
            return None
        find_columns(self.request, list(record))
        return record

    def blocks(self) -> Iterator[Block]:
        """Blocks of rows, from the first row on."""
        done = 0
        schema = self._schema() if may_help(self.request, LARGE) else None
        if schema is not None:
            for block in self._arrow_blocks(schema):
                done += len(block)
                yield block
            if self._arrow_finished:
                return
        yield from in_blocks(self._records(done), self.request)

    # Arrow's.

    def _schema(self) -> Any:
        """Types of the columns, by the first object; None for what is better left to Python."""
        import pyarrow as pa
        from pyarrow import json as arrow_json

        request, first = self.request, self._first
        asked = (
            1 + len(request.numbers) + (request.target is not None) + (request.group is not None)
        )
        if first is None or len(request.names) < asked or not hasattr(arrow_json, "open_json"):
            return None
        if not isinstance(first.get(request.text or ""), str):
            return None
        kinds = {str: pa.large_string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
        fields = [(request.text, pa.large_string())]
        for name in (request.target, request.group):
            if name is not None:
                kind = kinds.get(type(first.get(name)))
                if kind is None:
                    return None
                fields.append((name, kind))
        return pa.schema(fields + [(name, pa.float64()) for name in request.numbers])

    def _arrow_blocks(self, schema: Any) -> Iterator[Block]:
        """Blocks up to what Arrow or we do not like; all rows if `_arrow_finished`."""
        import pyarrow as pa
        from pyarrow import json as arrow_json

        request, row = self.request, 0
        self._arrow_finished = False
        with open_bytes(request.path) as stream:
            lines = _Counting(stream)
            try:
                reader = arrow_json.open_json(
                    pa.PythonFile(lines, mode="r"),
                    read_options=arrow_json.ReadOptions(block_size=READ_BYTES),
                    parse_options=arrow_json.ParseOptions(
                        explicit_schema=schema, unexpected_field_behavior="ignore"
                    ),
                )
                for batch in gathered(reader):
                    block = self._block(batch, row)
                    row += len(block)
                    yield block
            except (pa.ArrowInvalid, BadNumber, BadText):
                return  # the other reader will find out what is wrong, and where
        if row != lines.n:
            # Blank lines, which are fine; or an object over several lines, or several in one,
            # which Arrow takes and we do not: then this raises.
            for _ in self._records():
                pass
        self._arrow_finished = True

    def _block(self, batch: Any, row: int) -> Block:
        request = self.request
        texts = batch[request.text]
        texts.validate(full=True)
        if texts.null_count:
            raise BadText("no text")
        target = group = None
        if request.target is not None:
            target = [v if v is None else as_text(v) for v in batch[request.target].to_pylist()]
        if request.group is not None:
            values = (v if v is None else as_text(v) for v in batch[request.group].to_pylist())
            group = [group_name(value) for value in values]
        columns = [batch[name].to_pylist() for name in request.numbers]
        numbers = [read_numbers(values, request) for values in zip(*columns, strict=True)]
        more = np.array(numbers).reshape(len(batch), len(columns))
        rows = np.arange(row + 1, row + 1 + len(batch), dtype=np.int64)
        return Block(texts, target, rows, more, checked=True, group=group)

    # The standard library's.

    def _records(self, done: int = 0) -> Iterator[Record]:
        stream = self._stream or open_bytes(self.request.path)
        self._stream = None
        request = self.request
        with stream:
            lines = Lines(stream, request.path, request.encoding)
            row = 0
            for line in lines:
                if not line.strip():
                    continue
                row += 1
                if row <= done:
                    continue
                try:
                    if lines.fault:
                        raise BadText(f"{lines.fault}. {encoding_advice(request.encoding)}")
                    yield take_object(row, _read(line), request)
                except (BadText, BadNumber) as bad:
                    lines.fault = None
                    where = f"{request.path}, row {row} (line {lines.number})"
                    request.bad.report(f"{where}: {bad}")


class _Counting:
    """A stream that counts the lines that go through it."""

    closed = False

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._open_line = False
        self._ended = 0

    @property
    def n(self) -> int:
        return self._ended + self._open_line

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        if data:
            self._ended += data.count(b"\n")
            self._open_line = not data.endswith(b"\n")
        return data

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def take_object(row: int, record: Any, request: Request) -> Record:
    """The record of a JSON object; raises BadText or BadNumber."""
    if not isinstance(record, dict):
        raise BadText(f"a JSON {type(record).__name__}, not an object. Write one object a row.")
    text = _text(record, request)
    target = None if request.target is None else _value(record, request.target)
    numbers = read_numbers((record.get(name) for name in request.numbers), request)
    group = None if request.group is None else group_name(_value(record, request.group))
    return Record(row, text, target, numbers, group)


def _read(line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise BadText(f"not JSON: {error.msg} at column {error.colno}. Correct it.") from None
    except RecursionError:
        raise BadText("JSON nested too deeply. Correct it.") from None
    except ValueError:  # Python reads no integers of more than 4,300 digits
        raise BadText("a whole number of thousands of digits. Correct it.") from None


def _text(record: dict[str, Any], request: Request) -> str:
    text = record.get(request.text)  # type: ignore[arg-type]
    if isinstance(text, str):
        return text
    if isinstance(text, list):
        return join_items(text, request)
    if text is None:
        raise BadText(f"no {request.text!r}. Give it a text, or an empty one.")
    raise BadText(f"{request.text!r} is {text!r:.40}, not a text. Name the column that holds text.")


def _value(record: dict[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        raise BadText(f"{name!r} is {value!r:.40}, not one value. Name another column.")
    return as_text(value)


def as_text(value: Any) -> str:
    """A value as a CSV file would have it."""
    return value if isinstance(value, str) else json.dumps(value)
