"""What a word is: one rule, as a regular expression here and compiled in `kernels.tokens`.

A word is a run of letters and digits. Contractions stay whole and apostrophes of all kinds are the
same (didn't); numbers and times keep their shape (4.5, 10:30, 5'3). Punctuation ends a segment,
which no phrase crosses. HTML tags, entities and URLs are no words. The page of
`topicfocus.report` has the same rule in JavaScript (report/static/engine.js).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

#: White space, the same set for Python and JavaScript, whose ``\\s`` differ.
SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
APOSTROPHES = "'’‘＇´`"
#: Characters between words that do not end a segment, besides white space and combining marks.
JOINERS = "-/&*_#@+%$\xad\u200b\u200c\u200d" + APOSTROPHES
#: Entities that are an apostrophe, a space or an ampersand; all others end a segment.
APOSTROPHE_ENTITIES = ("#39", "#039", "#x27", "#8217", "#x2019", "apos", "rsquo")
SPACE_ENTITIES = ("nbsp", "#160", "#xa0", "amp", "#38", "#x26")

_SPACE = f"[{re.escape(SPACES)}]"
_APOSTROPHE = f"(?:[{APOSTROPHES}]|&(?:{'|'.join(APOSTROPHE_ENTITIES)});)"
_WORD = rf"[^\W_]+(?:(?:{_APOSTROPHE}|(?<=[0-9])[.,:/](?=[0-9]))[^\W_]+)*"
_TAG = rf"<![^<>\n]*>|</?[a-zA-Z][a-zA-Z0-9]*(?:/|(?!\n){_SPACE}[^<>\n]*)?>"
_MARKUP = rf"{_TAG}|(?:https?://|www\.)[^{re.escape(SPACES)}<>\"]*"
_TOKEN = re.compile(rf"{_MARKUP}|(?P<word>{_WORD})|&[a-z0-9#]{{1,8}};|[^\w]|_")
_JOINED = re.compile(_APOSTROPHE)
_NEUTRAL_ENTITY = re.compile(f"&(?:{'|'.join(APOSTROPHE_ENTITIES + SPACE_ENTITIES)});")
_NEUTRAL = frozenset(SPACES + JOINERS)
_DASH = re.compile(rf"--|{_SPACE}-{_SPACE}|\n[^\n]*\n")


@dataclass(frozen=True)
class TokenRule:
    """How a text becomes words. `elisions` are dropped before an apostrophe, as in l'homme."""

    lowercase: bool = True
    elisions: tuple[str, ...] = ()


def segments(text: str, rule: TokenRule) -> list[list[tuple[int, int, str]]]:
    """(start, stop, word) of each word of a text, in segments that phrases do not cross."""
    lower, origin = _lower(text) if rule.lowercase else (text, None)
    out: list[list[tuple[int, int, str]]] = [[]]
    gap = ""
    for match in _TOKEN.finditer(lower):
        if match["word"] is None:
            entity = _NEUTRAL_ENTITY.fullmatch(match.group())
            gap += " " if entity else match.group() if len(match.group()) == 1 else "."
            continue
        if out[-1] and _ends_segment(gap):
            out.append([])
        gap = ""
        word, start = _JOINED.sub("'", match.group()), match.start()
        parts = _JOINED.split(match.group())
        while len(parts) > 1 and parts[0] in rule.elisions:
            cut = _JOINED.search(lower, start)
            assert cut is not None
            start, parts = cut.end(), parts[1:]
            word = "'".join(parts)
        stop = match.end()
        if origin is not None:
            start, stop = origin[start], origin[stop - 1] + 1
        out[-1].append((start, stop, word))
    return out if out[-1] else out[:-1]


def _lower(text: str) -> tuple[str, list[int] | None]:
    """The text in lower case, and where each character comes from if their number changes."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower, None
    # Lower case may be longer: one dotted capital I becomes two characters.
    return lower, [i for i, character in enumerate(text) for _ in character.lower()]


def _ends_segment(gap: str) -> bool:
    return any(c not in _NEUTRAL and not _is_mark(c) for c in gap) or bool(_DASH.search(gap))


@lru_cache(maxsize=4096)
def _is_mark(character: str) -> bool:
    import unicodedata

    return unicodedata.category(character)[0] == "M"


def packed(names: tuple[str, ...]) -> NDArray[np.int64]:
    """Names of up to seven ASCII characters as numbers, as the kernel compares them."""
    codes = [int.from_bytes(name.encode("ascii"), "big") for name in names]
    return np.array(codes, dtype=np.int64)
