"""`ReadError`, and parts of its messages. Imports nothing heavy."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

_SHOWN = 40


class ReadError(ValueError):
    """A file cannot be read. One line: what is wrong, where, and what to do."""


def nearest(name: str, names: Sequence[str]) -> str:
    """A question to append to a message if one of the names is similar; otherwise nothing."""
    lower = {other.lower(): other for other in reversed(names)}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    return f" Did you mean {lower[close[0]]!r}?" if close else ""


def shown(value: object) -> str:
    """A value in a message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4]}...{text[-1]}"
