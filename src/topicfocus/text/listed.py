"""Counting tokens that Python makes: codes between separators, or those of a user's function.

`counting.learn` and `counting.known_pairs`, for documents that are lists of tokens already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicfocus.text.buffers import Texts
from topicfocus.text.counting import Pairs, TokenRule

#: From a text to its tokens.
Tokens = Callable[[str], Sequence[str]]
#: So many are lists of strings at a time, which take more room than their text.
_DOCUMENTS_AT_ONCE = 1024


@dataclass
class ListedTally:
    """Everything counted, as `counting.Tally`: all terms, how often, and pairs of the documents."""

    names: list[str]
    document_frequency: NDArray[np.int64]
    frequency: NDArray[np.int64]
    pairs: Any
    n_docs: int

    @property
    def n_entries(self) -> int:
        return len(self.names)

    def terms(self, entries: NDArray[np.intp]) -> list[str]:
        """The terms of some ids."""
        return [self.names[entry] for entry in entries]


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
    rule: TokenRule, separator: str | None, tokenizer: Callable[[str], Sequence[str]] | None
) -> Tokens | None:
    """From a text to its terms, where Python makes them; None for words."""
    if separator is not None:
        return terms_of(codes_of(separator), rule.stop_words, rule.orders)
    if tokenizer is None:
        return None
    function = checked(tokenizer)
    tokens = (lambda text: function(text.lower())) if rule.lowercase else function
    return terms_of(tokens, rule.stop_words, rule.orders)


def learn_listed(chunks: Iterable[Texts], terms: Tokens, *, pairs: Any = None) -> ListedTally:
    """Count every term there is; the pairs of the documents are appended to `pairs`."""
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__  # a new term has the next number
    in_docs = frequency = np.zeros(0, dtype=np.int64)
    n_docs = 0
    for chunk in chunks:
        part = _pairs(*_numbers(chunk, terms, lambda flat: map(ids.__getitem__, flat)))
        n = len(ids)
        in_docs = _added(in_docs, np.bincount(part.ids, minlength=n))
        frequency = _added(frequency, np.bincount(part.ids, part.counts, n).astype(np.int64))
        n_docs += len(part.lengths)
        if pairs is not None:
            pairs.append(part)
    return ListedTally(list(ids), in_docs, frequency, pairs, n_docs)


def known_listed(
    chunks: Iterable[Texts], terms: Tokens, vocabulary: Sequence[str]
) -> tuple[NDArray[np.int64], Iterator[Pairs]]:
    """The column of each id, and the pairs of each chunk, counted as they are asked for."""
    place = {term: i for i, term in enumerate(vocabulary)}

    def numbers(flat: Iterator[str]) -> Iterator[int]:
        return map(place.get, flat, repeat(-1))

    column = np.arange(len(vocabulary), dtype=np.int64)
    return column, (_pairs(*_numbers(chunk, terms, numbers)) for chunk in chunks)


def _numbers(
    chunk: Texts, terms: Tokens, numbers: Callable[[Iterator[str]], Iterator[int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each term, document after document, and how many each document has."""
    found: list[NDArray[np.int64]] = []
    lengths: list[int] = []
    for start in range(0, len(chunk), _DOCUMENTS_AT_ONCE):
        documents = range(start, min(start + _DOCUMENTS_AT_ONCE, len(chunk)))
        lists = [terms(chunk[d].decode("utf-8", "surrogatepass")) for d in documents]
        lengths += map(len, lists)
        found.append(np.fromiter(numbers(chain.from_iterable(lists)), np.int64))
    return np.concatenate([np.zeros(0, np.int64), *found]), np.array(lengths, dtype=np.int64)


def _pairs(ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> Pairs:
    """(id, count) pairs of documents; ids below 0 are left out."""
    document = np.repeat(np.arange(len(lengths)), lengths)
    known = ids >= 0
    width = int(ids.max(initial=0)) + 1
    both, counts = np.unique(document[known] * width + ids[known], return_counts=True)
    per_document = np.bincount(both // width, minlength=len(lengths))
    return Pairs.small((both % width).astype(np.int32), counts.astype(np.int32), per_document)


def _added(sums: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums over as many terms as there are by now."""
    out = more.astype(np.int64)
    out[: len(sums)] += sums
    return out
