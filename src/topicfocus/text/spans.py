"""Where the words and terms of a text are, for those who show it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from topicfocus.text import listed
from topicfocus.text.tokenizer import TokenRule, segments

#: Start, stop and name of a word or term.
Span = tuple[int, int, str]


def own_spans(text: str, lowercase: bool, tokenizer: Callable[[str], Sequence[str]]) -> list[Span]:
    """(start, stop, token) of each token of a user's function."""
    lower = text.lower() if lowercase else text
    origin = list(range(len(lower)))
    if len(lower) != len(text):
        origin = [i for i, character in enumerate(text) for _ in character.lower()]
    found = listed.find_tokens(lower, tokenizer(lower))
    return [(origin[a], origin[b - 1] + 1, token) for a, b, token in found]


def term_spans(text: str, rule: TokenRule, terms: Collection[str], longest: int) -> list[Span]:
    """(start, stop, term) of a text: the longest known phrase at each place, else the word."""
    out: list[Span] = []
    for segment in segments(text, rule):
        i = 0
        while i < len(segment):
            size = next(
                (
                    n
                    for n in range(min(longest, len(segment) - i), 1, -1)
                    if " ".join(word for *_, word in segment[i : i + n]) in terms
                ),
                1,
            )
            run = segment[i : i + size]
            out.append((run[0][0], run[-1][1], " ".join(word for *_, word in run)))
            i += size
    return out
