"""The table of characters says what Python says, for every code point there is."""

import re
import sys

import numpy as np
import pytest

from topicfocus.text.characters import fold_table, lower_is_special, special_pairs

WORD = re.compile(r"\w")


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_code_point(lowercase):
    table = fold_table(lowercase).tolist()
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        folded = character.lower() if lowercase else character
        if table[point] == -1:
            assert lowercase and lower_is_special(character)
        else:
            expected = ord(folded) if WORD.match(folded) else 0
            assert table[point] == expected, hex(point)


def test_the_special_ones_are_the_dotted_capital_i_and_the_capital_sigma():
    assert np.flatnonzero(fold_table(True) < 0).tolist() == [0x130, 0x3A3]
    assert np.flatnonzero(fold_table(False) < 0).tolist() == []
    first, second = special_pairs()
    pairs = {bytes(pair) for pair in zip(first, second, strict=True)}
    assert pairs == {"İ".encode(), "Σ".encode()}


def test_what_python_lowered_stays_as_it_is_when_it_is_folded_again():
    """Documents with special characters are lowered by Python, then folded like all others."""
    table = fold_table(True)
    for text in ("İ", "ΟΔΟΣ ΟΔΟΣ.", "Σ", "aΣ̈b aΣ̈", "ẞ"):
        lowered = text.lower()
        assert all(table[ord(c)] in (0, ord(c)) for c in lowered)
    points = [p for p in range(sys.maxunicode + 1) if chr(p).lower() != chr(p)]
    assert all(c.lower() == c for p in points for c in chr(p).lower())
