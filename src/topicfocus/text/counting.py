"""From chunks of text to a sparse matrix of counts, without scikit-learn.

Chunks are counted on threads, each with a table of words of its own, and merged in order. Only
(word, count) pairs are kept of a document, never its text. Which words are frequent enough is known
only after the last document, so nothing is thrown away before: pruning while reading could drop a
word that becomes frequent later, or count it from the middle of the corpus on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from topicfocus.counts import Rows, counts_writer, open_counts
from topicfocus.kernels import tokens
from topicfocus.kernels.count_rows import fill_rows, kept_lengths
from topicfocus.kernels.threads import map_in_order
from topicfocus.kernels.tokens import Counted
from topicfocus.kernels.words import Words, add_terms, copy_words, empty_words
from topicfocus.text.buffers import Texts, join
from topicfocus.text.characters import fold_table, special_pairs

#: Of a new table of words: most chunks fit without making room again.
_SLOTS = 1 << 16


@dataclass(frozen=True)
class TokenRule:
    """How a text becomes words."""

    lowercase: bool = True
    min_length: int = 2
    orders: tuple[int, int] = (1, 1)
    stop_words: tuple[str, ...] = ()


class Pairs(NamedTuple):
    """(id, count) pairs of the documents of one chunk."""

    ids: NDArray[np.int32]
    counts: NDArray[np.int32] | NDArray[np.uint8]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, part: Counted) -> Pairs:
        """The pairs of a chunk; they wait for the last document, in 5 bytes each where they can."""
        return cls.small(part.ids, part.counts, part.lengths)

    @classmethod
    def small(cls, ids: NDArray, counts: NDArray[np.int32], lengths: NDArray) -> Pairs:
        """Pairs with counts in a byte each, if all fit."""
        fit = counts.size == 0 or counts.max() < 256
        return cls(ids, counts.astype(np.uint8) if fit else counts, lengths)


class PairsFile:
    """Pairs in a file until the last document is read: used like a list of them."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._n = stream, 0

    def append(self, pairs: Pairs) -> None:
        """The pairs of one more chunk."""
        for array in pairs:
            np.save(self._stream, array, allow_pickle=False)
        self._n += 1

    def __iter__(self) -> Iterator[Pairs]:
        self._stream.seek(0)
        for _ in range(self._n):
            yield Pairs(*(np.load(self._stream, allow_pickle=False) for _ in range(3)))


@dataclass
class Tally:
    """Everything counted: all words and n-grams, how often, and the pairs of the documents."""

    words: Words
    document_frequency: NDArray[np.int64]
    frequency: NDArray[np.int64]
    pairs: Any
    n_docs: int
    n_stop: int

    @property
    def n_entries(self) -> int:
        """Words and n-grams with an id, those never counted included."""
        return int(self.words.sizes[0])

    def terms(self, entries: NDArray[np.intp]) -> list[str]:
        """The characters of words and n-grams."""
        letters = self.words.letters[: self.words.sizes[1]].tobytes()
        named: dict[int, str] = {}  # words, and n-grams that others begin with

        def name(entry: int, left: int, right: int) -> str:
            if left >= 0:
                return letters[left:right].decode("utf-8", "surrogatepass")
            return f"{known(-1 - left)} {known(right)}"

        def known(entry: int) -> str:
            if entry not in named:
                left, right = int(self.words.left[entry]), int(self.words.right[entry])
                named[entry] = name(entry, left, right)
            return named[entry]

        places = (entries, self.words.left[entries], self.words.right[entries])
        return list(map(name, *(place.tolist() for place in places)))


class Countable(Protocol):
    """What `choose` needs to know: a `Tally`, or one of tokens that Python made."""

    @property
    def n_docs(self) -> int: ...
    @property
    def document_frequency(self) -> NDArray[np.int64]: ...
    @property
    def frequency(self) -> NDArray[np.int64]: ...
    @property
    def n_entries(self) -> int: ...
    def terms(self, entries: NDArray[np.intp]) -> list[str]: ...


def stop_table(rule: TokenRule) -> tuple[Words, int]:
    """A table that holds the stop words alone, with the first ids; and their number."""
    stop = sorted(set(rule.stop_words))
    # A stop word with a space can never be a word, and would be taken for an n-gram.
    encoded = [word.encode("utf-8", "surrogatepass") for word in stop if " " not in word]
    words = _add(empty_words(_SLOTS), encoded)[0]
    return words, int(words.sizes[0])


def vocabulary_table(
    rule: TokenRule, vocabulary: Sequence[str]
) -> tuple[Words, int, NDArray[np.int64]]:
    """A table of stop words and given terms; the number of stop words; the column of each id."""
    words, n_stop = stop_table(rule)
    encoded = [term.encode("utf-8", "surrogatepass") for term in vocabulary]
    words, terms, orders = _add(words, encoded)
    column = np.full(int(words.sizes[0]), -1, dtype=np.int64)
    wanted = (orders >= rule.orders[0]) & (orders <= rule.orders[1])
    column[terms[wanted]] = np.flatnonzero(wanted)
    return words, n_stop, column


def _add(words: Words, encoded: list[bytes]) -> tuple[Words, NDArray, NDArray]:
    texts = join(encoded)
    return add_terms(words, texts.data, texts.offsets)


def learn(
    chunks: Iterable[Texts],
    rule: TokenRule,
    n_jobs: int | None,
    *,
    pairs: Any = None,
) -> Tally:
    """Count every word and n-gram there is; the pairs of the documents are appended to `pairs`."""
    seed, n_stop = stop_table(rule)
    total = copy_words(seed)

    def work(texts: Texts) -> Counted:
        return _count(texts, rule, n_stop, copy_words(seed), True)

    document_frequency = np.zeros(1024, dtype=np.int64)
    frequency = np.zeros(1024, dtype=np.int64)
    n_docs = 0
    for part in map_in_order(work, chunks, n_jobs):
        total, document_frequency, frequency = tokens.merge(
            total, document_frequency, frequency, part
        )
        n_docs += len(part.lengths)
        if pairs is not None:
            pairs.append(Pairs.of(part))
    n = int(total.sizes[0])
    return Tally(total, document_frequency[:n], frequency[:n], pairs, n_docs, n_stop)


def known_pairs(
    chunks: Iterable[Texts], rule: TokenRule, vocabulary: Sequence[str], n_jobs: int | None
) -> tuple[NDArray[np.int64], Iterator[Pairs]]:
    """The column of each id, and the pairs of each chunk, counted as they are asked for."""
    words, n_stop, column = vocabulary_table(rule, vocabulary)

    def work(texts: Texts) -> Pairs:
        return Pairs.of(_count(texts, rule, n_stop, words, False))

    return column, map_in_order(work, chunks, n_jobs)


def _count(texts: Texts, rule: TokenRule, n_stop: int, words: Words, learning: bool) -> Counted:
    if rule.lowercase:
        texts = _without_special(texts)
    fold = fold_table(rule.lowercase)
    return tokens.count(
        texts.data,
        texts.offsets,
        fold,
        rule.min_length,
        rule.orders,
        n_stop,
        words,
        learning,
    )


def _without_special(texts: Texts) -> Texts:
    """The chunk with documents that need it put into lower case by Python itself."""
    found = np.zeros(len(texts), dtype=np.uint8)
    tokens.find_pairs(texts.data, texts.offsets, *special_pairs(), found)
    if not found.any():
        return texts
    documents = [texts[d] for d in range(len(texts))]
    for d in np.flatnonzero(found):
        text = documents[d].decode("utf-8", "surrogatepass")
        documents[d] = text.lower().encode("utf-8", "surrogatepass")
    return join(documents)


def choose(
    tally: Countable, least: float, most: float, max_features: int | None
) -> tuple[list[str], NDArray[np.int64]]:
    """The terms to keep, in alphabetical order, and the column of each id (-1: none).

    Kept are terms in at least ``least`` and at most ``most`` documents, and of these the
    ``max_features`` most frequent.
    """
    in_docs = tally.document_frequency
    kept = np.flatnonzero((in_docs > 0) & (in_docs >= least) & (in_docs <= most))
    named = sorted(zip(tally.terms(kept), kept.tolist(), strict=True))
    if max_features is not None and len(named) > max_features:
        frequency = tally.frequency[[entry for _, entry in named]]
        # The very expression of scikit-learn, on the same array: ties are broken as it does.
        best = (-frequency).argsort()[:max_features]
        named = [named[i] for i in np.sort(best)]
    column = np.full(tally.n_entries, -1, dtype=np.int64)
    column[[entry for _, entry in named]] = np.arange(len(named))
    return [term for term, _ in named], column


def to_csr(
    pairs: list[Pairs],
    column: NDArray[np.int64],
    n_columns: int,
    dtype: DTypeLike,
    n_jobs: int | None,
) -> sparse.csr_array:
    """The pairs that have a column as a canonical CSR matrix. Empties ``pairs`` on the way."""
    kept = list(map_in_order(lambda p: kept_lengths(p.ids, p.lengths, column), pairs, n_jobs))
    indptr = np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *kept]))
    n_docs, n_pairs = len(indptr) - 1, int(indptr[-1])
    index = np.int32 if max(n_pairs, n_columns) < 2**31 else np.int64
    indices = np.empty(n_pairs, dtype=index)
    values = np.empty(n_pairs, dtype=dtype)

    def jobs() -> Iterable[tuple[Pairs, NDArray[np.int64]]]:
        row = 0
        pairs.reverse()
        for rows in kept:
            yield pairs.pop(), indptr[row : row + len(rows) + 1]  # freed when it is written
            row += len(rows)

    def fill(job: tuple[Pairs, NDArray[np.int64]]) -> None:
        part, places = job
        fill_rows(*part, column, n_columns, places, indices, values)

    for _ in map_in_order(fill, jobs(), n_jobs):
        pass
    matrix = sparse.csr_array(
        (values, indices, indptr.astype(index)), shape=(n_docs, n_columns), copy=False
    )
    matrix.has_canonical_format = True  # sorted, no duplicates: fill_rows sees to it
    return matrix


def rows_of_pairs(part: Pairs, column: NDArray[np.int64], n_columns: int) -> Rows:
    """The documents of a chunk with the counts of terms that have a column."""
    kept = kept_lengths(part.ids, part.lengths, column)
    indptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
    indices = np.empty(int(indptr[-1]), dtype=np.int32)
    values = np.empty(int(indptr[-1]))
    fill_rows(*part, column, n_columns, indptr, indices, values)
    return Rows(indptr, indices, values)


def to_folder(
    pairs: Iterable[Pairs], column: NDArray[np.int64], terms: Sequence[str], folder: Any
) -> sparse.csr_array:
    """The pairs that have a column as memory-mapped counts in a new folder."""
    with counts_writer(folder) as writer:
        for part in pairs:
            writer.add(rows_of_pairs(part, column, len(terms)), len(terms))
        writer.finish(terms)
    return open_counts(folder)[0]
