"""The table of characters says what Python says, for every code point there is."""

import re
import sys

import pytest

from topicfocus.text.tokenizer import SPECIAL, fold_table

LETTER = re.compile(r"[^\W_]")


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_code_point(lowercase):
    table = fold_table(lowercase).tolist()
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        folded = character.lower() if lowercase and character not in SPECIAL else character
        if LETTER.match(folded):
            assert table[point] == ord(folded), hex(point)
        else:
            assert table[point] <= 0, hex(point)


def lower_is_special(character):
    """Whether the lower case is not one character, or depends on the neighbours."""
    lower = character.lower()
    return len(lower) != 1 or any(
        (before + character + after).lower() != before + lower + after
        for before in ("", "a")
        for after in ("", "a")
    )


def test_the_special_characters_are_those_of_this_python():
    assert "".join(sorted(filter(lower_is_special, map(chr, range(sys.maxunicode + 1))))) == SPECIAL
