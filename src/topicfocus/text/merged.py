"""Counting by several: each counts a share of the documents, words are put together, then columns.

A share is counted once, with numbers of its own for its words (`tally_of`). What it says of them
(`summary_of`: each word, in how many documents, how often) is added up over all shares, which gives
the very numbers that counting all documents in one place gives, so the vocabulary is the same
(`learn_from`). Then every share puts its own numbers into the columns of that (`rows_of`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicfocus.corpus.parts import NO_ROWS, Rows, joined_rows
from topicfocus.text.counter import TokenCounter
from topicfocus.text.counting import Tally
from topicfocus.text.listed import ListedTally
from topicfocus.text.stored import rows_of_pairs


class Summary(NamedTuple):
    """The words of a share, in how many of its documents they are, and how often."""

    terms: list[str]
    document_frequency: NDArray[np.int64]
    frequency: NDArray[np.int64]
    n_docs: int


class MergedTally:
    """What the shares have counted, added up: `counting.Countable` of all documents."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self.document_frequency = np.zeros(0, dtype=np.int64)
        self.frequency = np.zeros(0, dtype=np.int64)
        self.n_docs = 0

    def add(self, part: Summary) -> None:
        """One more share."""
        names = self._names
        places = np.array([names.setdefault(term, len(names)) for term in part.terms], np.intp)
        longer = len(names) - len(self.frequency)
        for name in ("document_frequency", "frequency"):
            sums = np.concatenate([getattr(self, name), np.zeros(longer, dtype=np.int64)])
            sums[places] += getattr(part, name)  # a word is there once
            setattr(self, name, sums)
        self.n_docs += part.n_docs

    @property
    def n_entries(self) -> int:
        return len(self._names)

    def terms(self, entries: NDArray[np.intp]) -> list[str]:
        """The words of some numbers."""
        names = list(self._names)
        return [names[entry] for entry in entries]


def tally_of(counter: TokenCounter, texts: Any) -> Tally | ListedTally:
    """Everything counted in a share of the documents."""
    return counter._tally(texts, counter.rule(), True)


def summary_of(tally: Tally | ListedTally) -> Summary:
    """What the others need to know of a share."""
    there = np.flatnonzero(tally.document_frequency)
    return Summary(
        tally.terms(there),
        tally.document_frequency[there],
        tally.frequency[there],
        tally.n_docs,
    )


def learn_from(counter: TokenCounter, merged: MergedTally) -> None:
    """The vocabulary, as if the counter had been fitted to all documents in one place."""
    counter._checked_rule()
    counter._check_any(merged)
    counter._choose(merged)


def rows_of(tally: Tally | ListedTally, place: Mapping[str, int]) -> Rows:
    """The counts of a share, with the columns of all."""
    column = np.full(tally.n_entries, -1, dtype=np.int64)
    there = np.flatnonzero(tally.document_frequency)
    column[there] = [place.get(term, -1) for term in tally.terms(there)]
    parts = [rows_of_pairs(pairs, column, len(place)) for pairs in tally.pairs]
    return joined_rows(parts) if parts else NO_ROWS
