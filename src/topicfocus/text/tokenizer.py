"""Split texts into words: the rule as a regular expression, and its tables for `kernels.tokens`.

A word is a run of letters and digits. Contractions stay whole and apostrophes of all kinds are the
same (didn't); numbers and times keep their shape (4.5, 10:30, 5'3). Punctuation ends a segment,
which no phrase crosses. HTML tags, entities and URLs are no words. The page of
`topicfocus.report` has the same rule in JavaScript (report/static/engine.js).
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels.tokens import APOSTROPHE, ENDS, HYPHEN, JOINS, LINE_END, SPACE, Rule

#: Start, stop and name of a word or term.
Span = tuple[int, int, str]

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
    """How texts are split. `elisions` are dropped before an apostrophe: l'homme is homme."""

    lowercase: bool = True
    elisions: tuple[str, ...] = ()


def segments(text: str, rule: TokenRule) -> list[list[Span]]:
    """(start, stop, word) of each word of a text, in segments that phrases do not cross."""
    lower, origin = _lower(text) if rule.lowercase else (text, None)
    out: list[list[Span]] = [[]]
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
    return unicodedata.category(character)[0] == "M"


def term_spans(text: str, rule: TokenRule, terms: Collection[str], longest: int) -> list[Span]:
    """(start, stop, term) of a text: the longest known phrase at each place, else the word."""
    out: list[Span] = []
    for segment in segments(text, rule):
        i = 0
        while i < len(segment):
            for size in range(min(longest, len(segment) - i), 0, -1):
                run = segment[i : i + size]
                term = " ".join(word for *_, word in run)
                if size == 1 or term in terms:
                    break
            out.append((run[0][0], run[-1][1], term))
            i += size
    return out


def code_spans(text: str, separator: str) -> list[Span]:
    """(start, stop, code) of each code between separators, without the spaces around it."""
    out, start = [], 0
    for part in text.split(separator):
        if code := part.strip():
            at = start + part.index(code)
            out.append((at, at + len(code), code))
        start += len(part) + len(separator)
    return out


def token_spans(text: str, lowercase: bool, tokens: Callable[[str], Iterable[str]]) -> list[Span]:
    """(start, stop, token) of the tokens of a function that occur in the text, in their order."""
    lower, origin = _lower(text) if lowercase else (text, None)
    out: list[Span] = []
    end = 0
    for token in tokens(lower):
        at = lower.find(token, end) if token else -1
        if at >= 0:
            end = at + len(token)
            place = (at, end) if origin is None else (origin[at], origin[end - 1] + 1)
            out.append((*place, token))
    return out


# ---- the same rule for the kernel ----------------------------------------------------------------

_BLOCK = 4096
#: Characters whose lower case is not one character (the dotted capital I), or depends on its
#: neighbours (the capital sigma). Documents with these are put into lower case by Python.
SPECIAL = "İΣ"


@lru_cache(maxsize=2)
def fold_table(lowercase: bool) -> NDArray[np.int32]:
    """For each code point: the lower case of a letter or digit, else its role between words.

    Made with `re` and `str.lower`, so that the kernel and Python use the same version of Unicode.
    """
    n = sys.maxunicode + 1
    characters = "".join(map(chr, range(n)))
    table = np.arange(n, dtype=np.int32)
    if lowercase:
        for point, character in _with_lower_case(characters):
            if character not in SPECIAL:
                table[point] = ord(character.lower())
    word = np.zeros(n, dtype=bool)
    for run in re.finditer(r"[^\W_]+", characters):
        word[run.start() : run.end()] = True
    table[~word[table]] = ENDS
    marks = [unicodedata.category(character)[0] == "M" for character in characters]
    table[marks] = JOINS
    for kind, group in (
        (JOINS, JOINERS),
        (SPACE, SPACES),
        (LINE_END, "\n"),
        (HYPHEN, "-"),
        (APOSTROPHE, APOSTROPHES),
    ):
        table[[ord(character) for character in group]] = kind
    table.flags.writeable = False
    return table


def _with_lower_case(characters: str) -> Iterator[tuple[int, str]]:
    for start in range(0, len(characters), _BLOCK):
        block = characters[start : start + _BLOCK]
        if block.lower() != block:  # most blocks have no character with a lower case
            for point, character in enumerate(block, start):
                if character.lower() != character:
                    yield point, character


@lru_cache(maxsize=16)
def kernel_rule(rule: TokenRule) -> Rule:
    """The rule as tables for `kernels.tokens`."""
    names = (APOSTROPHE_ENTITIES, SPACE_ENTITIES, rule.elisions)
    return Rule(fold_table(rule.lowercase), *map(_packed, names))


def _packed(names: tuple[str, ...]) -> NDArray[np.int64]:
    """Names of up to seven ASCII characters as numbers, as the kernel compares them."""
    codes = [int.from_bytes(name.encode("ascii"), "big") for name in names]
    return np.array(codes, dtype=np.int64)
