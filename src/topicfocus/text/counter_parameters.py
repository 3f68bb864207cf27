"""What the parameters of `TokenCounter` may be, and what is said of one that may not."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

from topicfocus.text.stop_words import LANGUAGES, words_of
from topicfocus.text.tokenizer import TokenRule, segments


def check_separator(separator: Any, tokenizer: Any, orders: tuple[int, int]) -> None:
    """Raise where codes or a function are not what they must be, or do not go together."""
    if separator is not None:
        if not isinstance(separator, str) or not separator:
            raise ValueError(f"separator must be one character or more, got {separator!r}.")
        if tokenizer is not None:
            raise ValueError("separator and tokenizer do not go together: give one of them.")
        if orders != (1, 1):
            raise ValueError("there are no n-grams of codes: leave ngram_range with a separator.")
    if isinstance(tokenizer, str):
        raise TypeError(
            f"tokenizer is only the name of a function, {tokenizer!r}. Pass the function itself."
        )
    if tokenizer is not None and not callable(tokenizer):
        raise TypeError(f"tokenizer must be a function, got {tokenizer!r:.40}.")


def read_orders(ngram_range: Any) -> tuple[int, int]:
    """The lowest and the highest order of n-grams."""
    try:
        low, high = ngram_range
    except (TypeError, ValueError):
        raise ValueError(
            f"ngram_range must be two whole numbers such as (1, 2), got {ngram_range!r}."
        ) from None
    check_count("ngram_range[0]", low)
    check_count("ngram_range[1]", high)
    if low > high:
        raise ValueError(f"ngram_range must not fall, got {ngram_range!r}.")
    return int(low), int(high)


def check_stop_words(stop: tuple[str, ...], rule: TokenRule) -> None:
    """Stop words that no text can contain as they are written do nothing: say so."""
    parts = {
        part for word in stop for segment in segments(word, rule) for _, _, part in segment
    } - set(stop)
    if parts:
        shown = ", ".join(map(repr, sorted(parts)[:10])) + (", ..." if len(parts) > 10 else "")
        warnings.warn(
            "Your stop_words may be inconsistent with your preprocessing. Some are split or put "
            f"into lower case like any text and become {shown}, not in stop_words.",
            UserWarning,
            stacklevel=5,
        )


def check_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")


def check_frequency(name: str, value: Any) -> None:
    if value is None:
        return
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    share = isinstance(value, numbers.Real) and not isinstance(value, (bool, numbers.Integral))
    if not (whole and value >= 1) and not (share and 0 <= value <= 1):
        raise ValueError(
            f"{name} must be a whole number of documents from 1 or a share of them between 0.0 and "
            f"1.0, got {value!r}."
        )


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
