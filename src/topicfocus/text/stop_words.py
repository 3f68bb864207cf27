"""Function words of languages, and which words may begin and end a phrase.

Articles, pronouns, auxiliaries, prepositions and conjunctions cannot stand alone as a term and
neither begin nor end a phrase, but may be inside one. Negations and quantifiers are not function
words, because they matter for targets. The lists are in function_words.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_LISTS = tomllib.loads(Path(__file__).with_name("function_words.toml").read_text(encoding="utf-8"))
_ROLES = {role: frozenset(words.split()) for role, words in _LISTS.pop("roles").items()}
#: Languages by name.
LANGUAGES = tuple(_LISTS)
#: Endings of contractions of a function word: it's, they'll.
_ENDINGS = frozenset({"s", "re", "ll", "ve", "d", "m"})


def words_of(language: str) -> tuple[str, ...]:
    """The function words of one of the languages."""
    return tuple(sorted(set(_LISTS[language]["words"].split())))


def elisions_of(language: object) -> tuple[str, ...]:
    """Short words that are dropped before an apostrophe."""
    known = _LISTS.get(language, {}) if isinstance(language, str) else {}
    return tuple(known.get("elisions", "").split())


class Roles(NamedTuple):
    """Which words can be a term alone, begin or end an n-gram (`edges`), and begin or end a phrase.

    Negations and quantifiers are those of English; a phrase with a negation may end with a
    quantifier.
    """

    alone: NDArray[np.bool_]
    edges: NDArray[np.bool_]
    begins: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    negates: NDArray[np.bool_]
    quantifies: NDArray[np.bool_]


@dataclass(frozen=True)
class WordRoles:
    """How the roles of words follow from a list of function words and a smallest length."""

    function: frozenset[str]
    min_length: int = 1

    def of(self, words: Sequence[str]) -> Roles:
        """The roles of some words, one entry per word."""

        def where(test: Callable[[str], bool]) -> NDArray[np.bool_]:
            return np.fromiter(map(test, words), bool, len(words))

        degree, particles, quantifies = (
            where(_ROLES[name].__contains__) for name in ("degree", "particles", "quantifiers")
        )
        negates, content = where(_is_negation), ~where(self._is_function)
        return Roles(
            alone=content & where(lambda word: len(word) >= self.min_length),
            edges=content,
            begins=content | degree,
            ends=(content | particles) & ~negates & ~quantifies,
            negates=negates,
            quantifies=quantifies,
        )

    def _is_function(self, word: str) -> bool:
        """Whether a word, or the first part of its contraction, is in the list."""
        if word in self.function:
            return True
        stem, apostrophe, ending = word.partition("'")
        return bool(apostrophe) and ending in _ENDINGS and stem in self.function


def _is_negation(word: str) -> bool:
    """Whether an English word negates what follows it."""
    return word in _ROLES["negations"] or word.endswith("n't")


def read_stop_words(stop_words: Any, separator: str | None) -> tuple[str, ...]:
    """A list of function words, from the name of a language or from words.

    "auto" is English, but none for codes. In a list "english+" stands for the words of that list.
    """
    if stop_words == "auto":
        stop_words = "english" if separator is None else None
    if stop_words is None:
        return ()
    if isinstance(stop_words, str):
        if stop_words not in LANGUAGES:
            raise ValueError(
                f"stop_words must be one of {', '.join(LANGUAGES)}, a list of words, or None; got "
                f"{stop_words!r}. For one word, pass [{stop_words!r}]."
            )
        return words_of(stop_words)
    words = tuple(stop_words)
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"stop_words must hold strings, but one is {word!r}.")
    return tuple(part for word in words for part in _expanded(word))


def _expanded(word: str) -> tuple[str, ...]:
    """A word of a list; "english+" in a list stands for the words of that language."""
    language = word.removesuffix("+")
    return words_of(language) if word.endswith("+") and language in LANGUAGES else (word,)
