"""Output streams that take every character, or something like it."""

from __future__ import annotations

import codecs
import json
import re
import sys
import unicodedata
from collections.abc import Callable
from typing import Any

from topicfocus.workflow.printable import escaped, printable

#: Characters of our own that an encoding may lack, and what stands for them.
_PLAIN = {
    "→": "->",
    "●": "o",
    "↑": "^",
    "↓": "v",
    "±": "+-",
    "²": "2",
    "…": "...",
    "─": "-",
    "━": "-",
    "—": "-",
    "–": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
}
#: What encoding with this handler does to characters that an encoding lacks.
DEGRADE = "topicfocus-degrade"
#: Encodings that lacked a character so far.
_DEGRADED: set[str] = set()


def _degrade(error: UnicodeError) -> tuple[str, int]:
    """Signs that look like ours, letters without their accents, and ? for all others."""
    assert isinstance(error, UnicodeEncodeError)
    _DEGRADED.add(error.encoding)
    out = []
    for character in error.object[error.start : error.end]:
        plain = _PLAIN.get(character)
        if plain is None:
            parts = unicodedata.normalize("NFKD", character)
            plain = "".join(c for c in parts if not unicodedata.combining(c))
        try:
            plain.encode(error.encoding)
        except (UnicodeError, LookupError):
            plain = "?"
        out.append(plain or "?")
    return "".join(out), error.end


codecs.register_error(DEGRADE, _degrade)


def degrade_streams() -> None:
    """Output streams write what their encoding has, and something like it for the rest."""
    _DEGRADED.clear()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=DEGRADE)


def is_utf() -> bool:
    """Whether standard output takes every character."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def sign(character: str) -> str:
    """One of ours as it will be written, so that tables know its width beforehand."""
    try:
        character.encode(sys.stdout.encoding or "ascii")
    except UnicodeError:
        return _PLAIN[character]
    return character


def _ascii(text: str) -> str:
    """JSON in ASCII, the same to who reads it."""
    return re.sub(r"[^\x00-\x7e]", lambda found: json.dumps(found[0])[1:-1], escaped(text))


class _Cleaned:
    """Standard output that is a terminal: what is written is made printable on the way."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean

    def write(self, text: str) -> int:
        return sys.stdout.write(self._clean(text))


def result_stream(*, as_json: bool) -> Any:
    """Standard output for data: as it is in a pipe or a file, printable in a terminal."""
    if as_json:
        return _Cleaned(escaped if is_utf() else _ascii)
    return _Cleaned(printable) if sys.stdout.isatty() else sys.stdout


def warn_of_degraded(remarks: Any) -> None:
    """Data in which characters were replaced are not what was asked for."""
    sys.stdout.flush()
    if sys.stdout.encoding in _DEGRADED:
        remarks.warn(
            f"standard output is {sys.stdout.encoding}, which lacks some characters: they were "
            "replaced. With --out FILE, or PYTHONIOENCODING=utf-8, they are kept."
        )
