"""What Python thinks of characters, as a table over all code points for the kernels."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels.tokens import APOSTROPHE, ENDS, HYPHEN, JOINS, LINE_END, SPACE
from topicfocus.text.tokenizer import APOSTROPHES, JOINERS, SPACES

_BLOCK = 4096


def lower_is_special(character: str) -> bool:
    """Whether a character's lower case is not one character, or depends on its neighbours.

    In Unicode these are the dotted capital I, which becomes two, and the capital sigma, which
    becomes another letter at the end of a word.
    """
    lower = character.lower()
    return len(lower) != 1 or any(
        (before + character + after).lower() != before + lower + after
        for before in ("", "a")
        for after in ("", "a")
    )


@lru_cache(maxsize=2)
def fold_table(lowercase: bool) -> NDArray[np.int32]:
    """The lower case of each letter and digit; what another character does between words.

    Built from `re` and `str.lower` themselves, so it agrees with the running Python's Unicode.
    """
    n = sys.maxunicode + 1
    characters = "".join(map(chr, range(n)))
    table = np.arange(n, dtype=np.int32)
    if lowercase:
        for point, character in _with_lower_case(characters):
            if not lower_is_special(character):
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
        if block.lower() != block:  # of most blocks nothing has a lower case
            for point, character in enumerate(block, start):
                if character.lower() != character:
                    yield point, character


@lru_cache(maxsize=1)
def special_pairs() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The first two bytes in UTF-8 of each character whose lower case Python must decide.

    Others that begin with the same two would only be lowered by Python without need.
    """
    characters = "".join(map(chr, range(sys.maxunicode + 1)))
    special = [c for _, c in _with_lower_case(characters) if lower_is_special(c)]
    encoded = sorted({character.encode("utf-8")[:2] for character in special})
    pairs = np.array([list(pair) for pair in encoded], dtype=np.uint8).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()
