"""Text of strangers for a terminal or a log: control characters are shown, never obeyed."""

from __future__ import annotations

from typing import Any

#: For a character that a terminal would obey: escape sequences, and marks that reorder a line.
_SHOWN = "\ufffd"
_CONTROLS = (
    *range(0x20),
    *range(0x7F, 0xA0),
    *(0x061C, 0x200E, 0x200F, 0x2028, 0x2029),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
_TABLE = {c: _SHOWN for c in _CONTROLS if chr(c) not in "\n\t"}
_RETURN = {ord("\r"): " "}  # of lines that end in \r\n


def printable(text: str) -> str:
    """The text, with one sign for each control character; new lines and tabs stay.

    It has as many characters as before, so places in it stay what they were.
    """
    return text.translate(_TABLE | _RETURN)


def printable_values(value: Any) -> Any:
    """A result whose strings are all printable, keys included."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable_values(k): printable_values(v) for k, v in value.items()}
    if isinstance(value, list):
        return [printable_values(v) for v in value]
    return value


def escaped(text: str) -> str:
    """JSON whose strings have no such characters, and are the same strings to who reads them."""
    return text.translate({c: f"\\u{c:04x}" for c in _TABLE})
