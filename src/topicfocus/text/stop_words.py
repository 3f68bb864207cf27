"""Function words of languages, and which words may begin and end a phrase.

Articles, pronouns, auxiliaries, prepositions and conjunctions cannot stand alone as a term and
neither begin nor end a phrase, but may be inside one. Negations and quantifiers are not function
words, because they matter for targets. The lists are in function_words.toml.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class WordRoles:
    """Whether a word can be a term by itself, and begin and end a phrase."""

    function: frozenset[str]
    min_length: int = 1

    def is_function(self, word: str) -> bool:
        """Whether a word, or the first part of its contraction, is in the list."""
        if word in self.function:
            return True
        stem, apostrophe, ending = word.partition("'")
        return bool(apostrophe) and ending in _ENDINGS and stem in self.function

    def alone(self, word: str) -> bool:
        """Whether it can be a term by itself."""
        return len(word) >= self.min_length and not self.is_function(word)

    def edges(self, word: str) -> bool:
        """Whether an n-gram may begin or end with it."""
        return not self.is_function(word)

    def begins(self, word: str) -> bool:
        """Whether a phrase may begin with it."""
        return word in _ROLES["degree"] or not self.is_function(word)

    def ends(self, word: str) -> bool:
        """Whether a phrase may end with it."""
        if is_negation(word) or word in _ROLES["quantifiers"]:
            return False
        return word in _ROLES["particles"] or not self.is_function(word)


def is_negation(word: str) -> bool:
    """Whether an English word negates what follows it."""
    return word in _ROLES["negations"] or word.endswith("n't")


def is_quantifier(word: str) -> bool:
    """Whether an English word is a quantifier; a phrase with a negation may end with it."""
    return word in _ROLES["quantifiers"]


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
