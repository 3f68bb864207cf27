"""Where the tokens of a text are, for those who show it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from topicfocus.text import listed
from topicfocus.text.counting import TokenRule


def word_pattern(rule: TokenRule) -> re.Pattern[str]:
    """Words as Python's regular expressions find them; the compiled tokeniser finds the same."""
    return re.compile(rf"(?u)\b\w{{{rule.min_length},}}\b")


def token_spans(
    text: str, rule: TokenRule, tokenizer: Callable[[str], Sequence[str]] | None
) -> list[tuple[int, int, str]]:
    """(start, stop, token) of each token, by a user's function where there is one."""
    lower = text.lower() if rule.lowercase else text
    # Lower case may be longer: one dotted capital I becomes two characters.
    origin = list(range(len(lower)))
    if len(lower) != len(text):
        origin = [i for i, character in enumerate(text) for _ in character.lower()]
    if tokenizer is not None:
        found = listed.find_tokens(lower, tokenizer(lower))
        return [(origin[a], origin[b - 1] + 1, token) for a, b, token in found]
    return [
        (origin[match.start()], origin[match.end() - 1] + 1, match.group())
        for match in word_pattern(rule).finditer(lower)
    ]
