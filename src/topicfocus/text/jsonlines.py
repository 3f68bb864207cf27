"""JSON lines: one object a line."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

from topicfocus.text.errors import ReadError
from topicfocus.text.files import Lines, check_text, encoding_advice, open_bytes, peek
from topicfocus.text.records import (
    BadNumber,
    Block,
    Record,
    Request,
    find_column,
    in_blocks,
    read_numbers,
)


class JsonLines:
    """A file of JSON objects whose first one has been looked at."""

    def __init__(self, request: Request, stream: io.BufferedReader) -> None:
        self.request = request
        self._stream = stream if request.path == "-" else None
        head = peek(stream, request.path)
        check_text(head, request.path, request.encoding)
        if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"[":
            raise ReadError(
                f"{request.path} is one JSON array, not JSON lines. Write one object a line "
                "(pandas: to_json(path, orient='records', lines=True))."
            )
        self._check_columns(head)

    def _check_columns(self, head: bytes) -> None:
        """Complain about a wrong name before reading everything, if the first object fits."""
        first = next((line for line in head.splitlines() if line.strip()), b"")
        try:
            record = json.loads(first.decode(self.request.encoding).lstrip("\ufeff"))
        except (ValueError, UnicodeError):
            return  # longer than the look ahead, or wrong: reading it will tell
        if isinstance(record, dict):
            for what in ("text", "target"):
                name = getattr(self.request, what)
                if what == "text" or name is not None:
                    find_column(name, list(record), what, self.request.path)
            for name in self.request.numbers:
                find_column(name, list(record), "numbers", self.request.path)

    def blocks(self) -> Iterator[Block]:
        """Blocks of rows, from the first row on."""
        return in_blocks(self._records(), self.request)

    def _records(self) -> Iterator[Record]:
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
                try:
                    if lines.fault:
                        raise _Bad(f"{lines.fault}. {encoding_advice(request.encoding)}")
                    record = _read(line)
                    text = _text(record, request)
                    target = None if request.target is None else _target(record, request.target)
                    values = (record.get(name) for name in request.numbers)
                    numbers = read_numbers(values, request.numbers)
                except (_Bad, BadNumber) as bad:
                    lines.fault = None
                    where = f"{request.path}, row {row} (line {lines.number})"
                    request.bad.report(f"{where}: {bad}")
                else:
                    yield row, text, target, numbers


class _Bad(Exception):
    """A row that cannot be read."""


def _read(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise _Bad(f"not JSON: {error.msg} at column {error.colno}. Correct it.") from None
    except RecursionError:
        raise _Bad("JSON nested too deeply. Correct it.") from None
    if not isinstance(record, dict):
        raise _Bad(f"a JSON {type(record).__name__}, not an object. Write one object a line.")
    return record


def _text(record: dict[str, Any], request: Request) -> str:
    text = record.get(request.text)  # type: ignore[arg-type]
    if isinstance(text, str):
        return text
    if text is None:
        raise _Bad(f"no {request.text!r}. Give it a text, or an empty one.")
    raise _Bad(f"{request.text!r} is {text!r:.40}, not a text. Name the column that holds text.")


def _target(record: dict[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        raise _Bad(f"{name!r} is {value!r:.40}, not one value. Name another target.")
    return json.dumps(value)
