"""`ReadError`, and texts of strangers in messages. Imports nothing heavy."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

_SHOWN = 40
_SIGN = "\ufffd"
_CONTROLS = (
    *range(0x20),
    *range(0x7F, 0xA0),
    *(0x061C, 0x200E, 0x200F, 0x2028, 0x2029),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
#: For `str.translate`: characters that a terminal would obey, escape sequences and marks that
#: reorder text, become a sign; new lines and tabs stay.
PRINTABLE = {c: _SIGN for c in _CONTROLS if chr(c) not in "\n\t"}


class ReadError(ValueError):
    """A file cannot be read. One line: what is wrong, where, and what to do."""


class MissingColumn(ReadError):
    """A table lacks a column that was asked for."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.column = column


def printable(text: str) -> str:
    """The text with one sign for each control character, so that positions in it stay valid."""
    return text.translate(PRINTABLE | {ord("\r"): " "})


def nearest(name: str, names: Sequence[str]) -> str:
    """A question to append to a message if one of the names is similar; otherwise nothing."""
    lower = {other.lower(): other for other in reversed(names)}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    return f" Did you mean {lower[close[0]]!r}?" if close else ""


def shown(value: object) -> str:
    """A value in a message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4]}...{text[-1]}"
