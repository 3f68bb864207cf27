"""The table of characters says what Python says, for every code point there is."""

import re
import sys

import pytest

from topicfocus.kernels.tokens import APOSTROPHE, ENDS, HYPHEN, JOINS, LINE_END, SPACE
from topicfocus.text.tokenizer import fold_table, lower_is_special, special_pairs

LETTER = re.compile(r"[^\W_]")


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_code_point(lowercase):
    table = fold_table(lowercase).tolist()
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        folded = character.lower() if lowercase and not lower_is_special(character) else character
        if LETTER.match(folded):
            assert table[point] == ord(folded), hex(point)
        else:
            assert table[point] <= 0, hex(point)


def test_what_characters_do_between_words():
    table = fold_table(True)
    kinds = {ENDS: ".!?,;(👍", JOINS: "/_*\u0301", SPACE: " \t\u3000", APOSTROPHE: "'’"}
    for kind, characters in kinds.items():
        assert {int(table[ord(character)]) for character in characters} == {kind}
    assert (table[10], table[ord("-")]) == (LINE_END, HYPHEN)


def test_the_special_ones_are_the_dotted_capital_i_and_the_capital_sigma():
    first, second = special_pairs()
    pairs = {bytes(pair) for pair in zip(first, second, strict=True)}
    assert pairs == {"İ".encode(), "Σ".encode()}


def test_what_python_lowered_stays_as_it_is_when_it_is_folded_again():
    """Documents with special characters are lowered by Python, then folded like all others."""
    table = fold_table(True)
    for text in ("İ", "ΟΔΟΣ ΟΔΟΣ.", "Σ", "aΣ̈b aΣ̈", "ẞ"):
        lowered = text.lower()
        assert all(table[ord(c)] <= 0 or table[ord(c)] == ord(c) for c in lowered)
    points = [p for p in range(sys.maxunicode + 1) if chr(p).lower() != chr(p)]
    assert all(c.lower() == c for p in points for c in chr(p).lower())
