"""Counting tokens that Python makes: codes between separators, or those of a user's function.

`counting.learn` and `counting.count_known`, for documents that are lists of tokens already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from topicfocus.text.buffers import Texts
from topicfocus.text.counting import Pairs, to_csr

#: From a text to its tokens.
Tokens = Callable[[str], Sequence[str]]


@dataclass
class ListedTally:
    """Everything counted, as `counting.Tally`: all terms, how often, and pairs of the documents."""

    names: list[str]
    document_frequency: NDArray[np.int64]
    frequency: NDArray[np.int64]
    pairs: list[Pairs]
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

    def terms(text: str) -> list[str]:
        words = [_checked(word) for word in tokens(text)]
        if stop:
            words = [word for word in words if word not in stop]
        if (low, high) == (1, 1):
            return words
        ends = [(n, len(words) - n + 1) for n in range(low, high + 1)]
        return [" ".join(words[i : i + n]) for n, end in ends for i in range(end)]

    return terms


def _checked(token: object) -> str:
    if not isinstance(token, str):
        raise TypeError(f"the tokenizer gave {token!r:.40}, not a string. Let it give strings.")
    return token


def learn_listed(chunks: Iterable[Texts], terms: Tokens, *, keep_pairs: bool) -> ListedTally:
    """Count every term there is."""
    ids: dict[str, int] = {}
    in_docs: list[int] = []
    frequency: list[int] = []
    pairs, n_docs = [], 0
    for chunk in chunks:
        rows = []
        for counts in _counted(chunk, terms):
            row = []
            for term, n in counts.items():
                entry = ids.setdefault(term, len(ids))
                if entry == len(in_docs):
                    in_docs.append(0)
                    frequency.append(0)
                in_docs[entry] += 1
                frequency[entry] += n
                row.append((entry, n))
            rows.append(row)
        n_docs += len(rows)
        if keep_pairs:
            pairs.append(_pairs(rows))
    return ListedTally(
        list(ids),
        np.array(in_docs, dtype=np.int64),
        np.array(frequency, dtype=np.int64),
        pairs,
        n_docs,
    )


def count_listed(
    chunks: Iterable[Texts],
    terms: Tokens,
    vocabulary: Sequence[str],
    dtype: DTypeLike,
    n_jobs: int | None,
) -> sparse.csr_array:
    """Counts of the terms of a vocabulary, in its order; all others are left out."""
    place = {term: i for i, term in enumerate(vocabulary)}
    pairs = [
        _pairs(
            [
                [(place[term], n) for term, n in counts.items() if term in place]
                for counts in _counted(chunk, terms)
            ]
        )
        for chunk in chunks
    ]
    column = np.arange(len(vocabulary), dtype=np.int64)
    return to_csr(pairs, column, len(vocabulary), dtype, n_jobs)


def _counted(chunk: Texts, terms: Tokens) -> Iterator[Counter[str]]:
    for d in range(len(chunk)):
        yield Counter(terms(chunk[d].decode("utf-8", "surrogatepass")))


def _pairs(rows: list[list[tuple[int, int]]]) -> Pairs:
    flat = [pair for row in rows for pair in row]
    ids, counts = np.array(flat, dtype=np.int32).reshape(-1, 2).T.copy()
    return Pairs.small(ids, counts, np.array([len(row) for row in rows], dtype=np.int64))
