"""What Python thinks of characters, as a table over all code points for the kernels."""

from __future__ import annotations

import re
import sys
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

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
    """What each code point becomes in a word: 0 if it is no part of one, -1 if Python must decide.

    Built from `re` and `str.lower` themselves, so it agrees with the running Python's Unicode.
    """
    n = sys.maxunicode + 1
    characters = "".join(map(chr, range(n)))
    word = np.zeros(n, dtype=bool)
    for run in re.finditer(r"\w+", characters):
        word[run.start() : run.end()] = True
    table = np.arange(n, dtype=np.int32)
    special = []
    if lowercase:
        for start in range(0, n, _BLOCK):
            block = characters[start : start + _BLOCK]
            if block.lower() == block:  # most of them: nothing in it has a lower case
                continue
            for point, character in enumerate(block, start):
                if character.lower() == character:
                    continue
                if lower_is_special(character):
                    special.append(point)
                else:
                    table[point] = ord(character.lower())
    table[~word[table]] = 0
    table[special] = -1
    table.flags.writeable = False
    return table


@lru_cache(maxsize=1)
def special_pairs() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The first two bytes in UTF-8 of each character whose lower case Python must decide.

    Others that begin with the same two would only be lowered by Python without need.
    """
    special = np.flatnonzero(fold_table(True) < 0).tolist()
    encoded = sorted({chr(point).encode("utf-8")[:2] for point in special})
    pairs = np.array([list(pair) for pair in encoded], dtype=np.uint8).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()
