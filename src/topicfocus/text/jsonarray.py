"""A JSON array of objects, read object by object."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

from topicfocus.text.errors import ReadError
from topicfocus.text.files import (
    LONGEST,
    check_text,
    encoding_advice,
    open_bytes,
    peek,
    splits_at_newlines,
)
from topicfocus.text.jsonlines import take_object
from topicfocus.text.records import (
    BadNumber,
    BadText,
    Block,
    Record,
    Request,
    find_columns,
    in_blocks,
)

_PIECE = 1 << 16
_SPACES = re.compile("[\ufeff \\t\\r\\n]*")
#: An error so near to the end of what was read may be for want of the rest.
_NEAR = 16


class JsonArray:
    """A file that is one array, whose first object has been looked at."""

    def __init__(self, request: Request, stream: io.BufferedReader) -> None:
        self.request = request
        self._stream = stream if request.path == "-" else None
        head = peek(stream, request.path)
        check_text(head, request.path, request.encoding)
        first = _first_object(head.decode(request.encoding, "replace"))
        if first is not None:
            find_columns(request, list(first))

    def blocks(self) -> Iterator[Block]:
        """Blocks of objects, from the first on."""
        return in_blocks(self._records(), self.request)

    def _records(self) -> Iterator[Record]:
        request = self.request
        stream = self._stream or open_bytes(request.path)
        self._stream = None
        with stream:
            for row, value in enumerate(_Objects(stream, request), start=1):
                try:
                    yield take_object(row, value, request)
                except (BadText, BadNumber) as bad:
                    request.bad.report(f"{request.path}, row {row}: {bad}")


def is_array(head: bytes, encoding: str) -> bool:
    """Whether a file of JSON begins as an array."""
    splits_at_newlines(encoding)  # an encoding of an unknown name ends here
    start = head[:4096].decode(encoding, "replace")
    return start.lstrip("\ufeff \t\r\n")[:1] == "["


def _first_object(head: str) -> dict[str, Any] | None:
    """The first object, if it is one and fits into the look ahead; reading tells the rest."""
    text = head.removeprefix("\ufeff").lstrip()[1:].lstrip()
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class _Objects:
    """Values of an array one by one; only the one that is being read is in memory."""

    def __init__(self, stream: io.BufferedReader, request: Request) -> None:
        self._request = request
        self._text = io.TextIOWrapper(stream, encoding=request.encoding)
        self._buffer, self._at = "", 0
        self._ended = False
        self._row = 0
        self._decoder = json.JSONDecoder()

    def __iter__(self) -> Iterator[Any]:
        try:
            self._expect("[")
            if self._next() == "]":
                self._expect("]")
            else:
                yield from self._values()
            if self._next():
                raise self._fault("something stands behind the end of the array")
        finally:
            self._text.detach()  # the stream is not ours to close

    def _values(self) -> Iterator[Any]:
        while True:
            self._row += 1
            yield self._value()
            if self._next() == "]":
                self._expect("]")
                return
            self._expect(",")

    def _next(self) -> str:
        """The next character that is no space, which stays; "" at the end."""
        while True:
            self._at = _SPACES.match(self._buffer, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._buffer) or not self._more(_PIECE):
                return self._buffer[self._at : self._at + 1]

    def _expect(self, character: str) -> None:
        found = self._next()
        if found != character:
            what = f"{found!r} stands" if found else "the file ends"
            raise self._fault(f"{what} where {character!r} is due")
        self._at += 1

    def _value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                whole = error.pos < len(self._buffer) - _NEAR and "Unterminated" not in error.msg
                # As much again at a time: an object of any length is begun anew a few times only.
                if whole or not self._more(max(_PIECE, len(self._buffer) - self._at)):
                    raise self._fault(f"not JSON: {error.msg}") from None
                continue
            except RecursionError:
                raise self._fault("JSON nested too deeply") from None
            except ValueError:  # Python reads no integers of more than 4,300 digits
                raise self._fault("a whole number of thousands of digits") from None
            if end == len(self._buffer) and self._more(_PIECE):
                continue  # a number that ends here may go on
            self._at = end
            return value

    def _more(self, size: int) -> bool:
        """Read on, and forget what lies behind; False at the end of the file."""
        if self._ended:
            return False
        if len(self._buffer) - self._at > LONGEST:
            raise self._fault(f"longer than {LONGEST >> 20} MiB")
        try:
            piece = self._text.read(size)
        except UnicodeError as error:
            advice = encoding_advice(self._request.encoding)
            raise self._fault(f"not {self._request.encoding} ({error}). {advice[:-1]}") from None
        self._ended = not piece
        self._buffer, self._at = self._buffer[self._at :] + piece, 0
        return not self._ended

    def _fault(self, what: str) -> ReadError:
        return ReadError(f"{self._request.path}, row {max(self._row, 1)}: {what}. Correct it.")
