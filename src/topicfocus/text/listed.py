"""Tokens that Python makes: codes between separators, or those of a user's function.

`counting.learn` and `counting.known_sequences`, for documents that are lists of tokens already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels.tokens import Sequences, frequencies
from topicfocus.text.buffers import Texts
from topicfocus.text.counting import Parts, TokenizedTexts

#: From a text to its tokens.
Tokens = Callable[[str], Sequence[str]]
#: So many are lists of strings at a time, which take more room than their text.
_DOCUMENTS_AT_ONCE = 1024


def codes_of(separator: str) -> Tokens:
    """What stands between separators, as it is, without the spaces around it."""

    def codes(text: str) -> list[str]:
        return [code for code in map(str.strip, text.split(separator)) if code]

    return codes


def code_spans(text: str, separator: str) -> list[tuple[int, int, str]]:
    """Where each code is in a text."""
    out, start = [], 0
    for part in text.split(separator):
        code = part.strip()
        if code:
            at = start + part.index(code)
            out.append((at, at + len(code), code))
        start += len(part) + len(separator)
    return out


def find_tokens(text: str, tokens: Iterable[str]) -> list[tuple[int, int, str]]:
    """Where tokens are in a text, as far as they are parts of it, one behind the other."""
    out, end = [], 0
    for token in tokens:
        at = text.find(token, end) if token else -1
        if at >= 0:
            end = at + len(token)
            out.append((at, end, token))
    return out


def terms_of(tokens: Tokens, stop_words: Iterable[str], orders: tuple[int, int]) -> Tokens:
    """Tokens without stop words, and what n-grams there are of them."""
    stop, (low, high) = frozenset(stop_words), orders

    def terms(text: str) -> Sequence[str]:
        words = tokens(text)
        if stop:
            words = [word for word in words if word not in stop]
        if (low, high) == (1, 1):
            return words
        ends = [(n, len(words) - n + 1) for n in range(low, high + 1)]
        return [" ".join(words[i : i + n]) for n, end in ends for i in range(end)]

    return terms


def checked(function: Callable[[str], Iterable[str]]) -> Tokens:
    """A user's function, whose tokens are seen to be strings."""

    def tokens(text: str) -> list[str]:
        found = list(function(text))
        if not set(map(type, found)) <= {str}:
            wrong = next(token for token in found if type(token) is not str)
            raise TypeError(f"the tokenizer gave {wrong!r:.40}, not a string. Let it give strings.")
        return found

    return tokens


def listed_terms(
    lowercase: bool,
    orders: tuple[int, int],
    stop_words: Iterable[str],
    separator: str | None,
    tokenizer: Callable[[str], Sequence[str]] | None,
) -> Tokens | None:
    """From a text to its terms, where Python makes them; None for words."""
    if separator is not None:
        return terms_of(codes_of(separator), stop_words, orders)
    if tokenizer is None:
        return None
    function = checked(tokenizer)
    tokens = (lambda text: function(text.lower())) if lowercase else function
    return terms_of(tokens, stop_words, orders)


def learn_listed(
    chunks: Iterable[Texts], terms: Tokens, n_jobs: int | None, folder: Any = None
) -> TokenizedTexts:
    """Number every term there is, and the terms of each document."""
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__  # a new term has the next number
    in_docs = often = np.zeros(0, dtype=np.int64)
    parts, n_docs = Parts(folder), 0
    for chunk in chunks:
        part = _numbers(chunk, terms, lambda flat: map(ids.__getitem__, flat))
        part_docs, part_often = frequencies(part, len(ids))
        in_docs, often = _added(in_docs, part_docs), _added(often, part_often)
        n_docs += len(part.lengths)
        parts.append(part)
    return TokenizedTexts(list(ids), parts, in_docs, often, n_docs, n_jobs)


def known_listed(
    chunks: Iterable[Texts], terms: Tokens, vocabulary: Sequence[str]
) -> Iterator[Sequences]:
    """Sequences of known terms, by their places in the vocabulary; others are left out."""
    place = {term: i for i, term in enumerate(vocabulary)}

    def numbers(flat: Iterator[str]) -> Iterator[int]:
        return map(place.get, flat, repeat(-1))

    return (_numbers(chunk, terms, numbers) for chunk in chunks)


def _numbers(
    chunk: Texts, terms: Tokens, numbers: Callable[[Iterator[str]], Iterator[int]]
) -> Sequences:
    """The number of each term, document after document, and how many each document has."""
    found: list[NDArray[np.int32]] = []
    lengths: list[int] = []
    for start in range(0, len(chunk), _DOCUMENTS_AT_ONCE):
        documents = range(start, min(start + _DOCUMENTS_AT_ONCE, len(chunk)))
        lists = [terms(chunk[d].decode("utf-8", "surrogatepass")) for d in documents]
        lengths += map(len, lists)
        found.append(np.fromiter(numbers(chain.from_iterable(lists)), np.int32))
    return Sequences(
        np.concatenate([np.zeros(0, np.int32), *found]), np.array(lengths, dtype=np.int64)
    )


def _added(sums: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums over as many terms as there are by now."""
    more[: len(sums)] += sums
    return more
