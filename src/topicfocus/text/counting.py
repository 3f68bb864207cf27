"""From texts to a sparse matrix of counts, without scikit-learn.

A first pass turns texts into sequences of word ids (`TokenizedTexts`): four bytes for each word,
in memory or in a temporary file. Chunks are split on threads, each with a table of words of its
own, and merged in order. All later passes, which find phrases and count terms, are over these
sequences. Which words are frequent enough is known only after the last document.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from topicfocus.counts import Rows, counts_writer, open_counts
from topicfocus.kernels import tokens
from topicfocus.kernels.count_rows import fill_rows, kept_lengths
from topicfocus.kernels.grams import Grams, make_grams, match
from topicfocus.kernels.threads import map_in_order
from topicfocus.kernels.tokens import BREAK, Rule, Sequences
from topicfocus.kernels.words import Words, add_words, copy_words, empty_words, longer
from topicfocus.text.buffers import Texts, join
from topicfocus.text.characters import fold_table, special_pairs
from topicfocus.text.tokenizer import APOSTROPHE_ENTITIES, SPACE_ENTITIES, TokenRule, packed

#: Of a new table of words: most chunks fit without making room again.
_SLOTS = 1 << 16
#: Bytes of word ids that stay in memory; more are written to a temporary file.
IN_MEMORY = 1 << 25

_Value = TypeVar("_Value")


class Pairs(NamedTuple):
    """(entry, count) pairs of the documents of one chunk."""

    ids: NDArray[np.int32]
    counts: NDArray[np.int32] | NDArray[np.uint8]
    lengths: NDArray[np.int64]

    @classmethod
    def small(cls, ids: NDArray, counts: NDArray[np.int32], lengths: NDArray) -> Pairs:
        """Pairs with counts in a byte each, if all fit."""
        fit = counts.size == 0 or counts.max() < 256
        return cls(ids, counts.astype(np.uint8) if fit else counts, lengths)


class Parts:
    """Word ids of one chunk after the other: in memory, or in a temporary file if they are large.

    With a `folder` the file is there; it is removed with this object.
    """

    def __init__(self, folder: Any = None) -> None:
        self._folder = folder
        self._list: list[Sequences] = []
        self._stream: Any = None
        self._bytes = self._n = 0

    def append(self, part: Sequences) -> None:
        """The word ids of one more chunk."""
        self._n += 1
        self._bytes += part.ids.nbytes + part.lengths.nbytes
        if self._stream is None and (self._folder is not None or self._bytes > IN_MEMORY):
            self._stream = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - see below
            weakref.finalize(self, self._stream.close)
            for earlier in self._list:
                self._write(earlier)
            self._list = []
        if self._stream is None:
            self._list.append(part)
        else:
            self._write(part)

    def _write(self, part: Sequences) -> None:
        try:
            for array in part:
                np.save(self._stream, array, allow_pickle=False)
        except OSError as error:
            place = self._folder or tempfile.gettempdir()
            raise OSError(
                error.errno,
                f"word ids cannot be written to a temporary file in {place}: {error.strerror}. "
                "Make room on the disk, or name a folder on another one in the variable TMPDIR",
            ) from error

    def __iter__(self) -> Iterator[Sequences]:
        yield from self._list
        place = 0
        for _ in range(self._n - len(self._list)):
            self._stream.seek(place)
            part = [np.load(self._stream, allow_pickle=False) for _ in Sequences._fields]
            place = self._stream.tell()
            yield Sequences(*part)


@dataclass(frozen=True)
class TokenizedTexts:
    """Documents as sequences of word ids, and the words.

    `document_frequency` and `frequency` are those of the words; `rows` are the documents meant, all
    if it is None.
    """

    words: Any
    parts: Any
    document_frequency: NDArray[np.int64]
    frequency: NDArray[np.int64]
    n_docs: int
    n_jobs: int | None = None
    rows: NDArray[np.bool_] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words."""
        return self.n_docs, len(self.frequency)

    @property
    def n_chosen(self) -> int:
        """Documents that are meant."""
        return self.n_docs if self.rows is None else int(self.rows.sum())

    def names(self, ids: NDArray[np.intp]) -> list[str]:
        """The words with these ids."""
        if isinstance(self.words, Words):
            return self.words.texts(ids)
        return [self.words[i] for i in ids.tolist()]

    def each(
        self, function: Callable[[Sequences, int], _Value], renamed: NDArray[np.int32] | None = None
    ) -> Iterator[_Value]:
        """``function(part, number of its first document)`` for each part, on threads, in order.

        Words get the ids of `renamed`. With `rows`, parts have these documents alone.
        """

        def jobs() -> Iterator[tuple[Sequences, int, int]]:
            start = first = 0
            for part in self.parts:
                yield part, start, first
                stop = start + len(part.lengths)
                chosen = self.rows is not None
                first += int(self.rows[start:stop].sum()) if chosen else stop - start  # type: ignore[index]
                start = stop

        def work(job: tuple[Sequences, int, int]) -> _Value:
            part, start, first = job
            ids, lengths = part
            if self.rows is not None:
                kept = self.rows[start : start + len(lengths)]
                ids, lengths = ids[np.repeat(kept, lengths)], lengths[kept]
            if renamed is not None:
                ids = renamed[ids]
            return function(Sequences(ids, lengths), first)

        return map_in_order(work, jobs(), self.n_jobs)

    def of(self, rows: NDArray[np.intp]) -> TokenizedTexts:
        """The same with some of the documents meant, and the frequencies of words there."""
        chosen = np.zeros(self.n_docs, dtype=bool)
        chosen[rows] = True
        n = len(self.frequency)
        some = replace(self, rows=chosen)
        in_docs, often = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for a, b in some.each(lambda part, _: tokens.frequencies(part, n)):
            in_docs += a
            often += b
        return replace(some, document_frequency=in_docs, frequency=often)

    def without(self, rows: NDArray[np.intp]) -> TokenizedTexts:
        """The documents that are left when some are taken out; their number changes."""
        kept = np.ones(self.n_docs, dtype=bool)
        kept[rows] = False
        some = self.of(np.flatnonzero(kept))
        parts = Parts()
        for part in some.each(lambda part, _: part):
            parts.append(part)
        return replace(some, parts=parts, n_docs=int(kept.sum()), rows=None)

    def places_of(self, names: Sequence[str]) -> NDArray[np.int32]:
        """For `each`: the place of each word among `names`, -1 if it is not there."""
        renamed = np.full(len(self.frequency) + 1, BREAK, dtype=np.int32)
        place = {name: i for i, name in enumerate(names)}
        every = np.flatnonzero(self.frequency)
        renamed[every] = [place.get(name, BREAK) for name in self.names(every)]
        return renamed


def joined_texts(several: Iterable[TokenizedTexts], n_jobs: int | None = None) -> TokenizedTexts:
    """Tokenized texts one after the other, with one numbering of the words."""
    place: dict[str, int] = {}
    parts, n_docs = Parts(), 0
    in_docs = often = np.zeros(0, dtype=np.int64)
    for texts in several:
        names = texts.names(np.arange(len(texts.frequency)))
        renamed = np.array([place.setdefault(name, len(place)) for name in names] + [BREAK])
        in_docs, often = (
            np.concatenate([a, np.zeros(len(place) - len(a), dtype=np.int64)])
            for a in (in_docs, often)
        )
        in_docs[renamed[:-1]] += texts.document_frequency
        often[renamed[:-1]] += texts.frequency
        for part in texts.each(lambda part, _: part, renamed.astype(np.int32)):
            parts.append(part)
        n_docs += texts.n_docs
    return TokenizedTexts(list(place), parts, in_docs, often, n_docs, n_jobs)


def kernel_rule(rule: TokenRule) -> Rule:
    """What the kernel knows of a rule."""
    return Rule(
        fold_table(rule.lowercase),
        packed(APOSTROPHE_ENTITIES),
        packed(SPACE_ENTITIES),
        packed(rule.elisions),
    )


def learn(
    chunks: Iterable[Texts], rule: TokenRule, n_jobs: int | None, folder: Any = None
) -> TokenizedTexts:
    """Split texts into all the words there are; sequences wait in a file of `folder`, if given."""
    compiled = kernel_rule(rule)
    total = empty_words(_SLOTS)

    def work(texts: Texts) -> tuple[Words, Sequences, NDArray, NDArray]:
        words, part = _split(texts, rule, compiled, copy_words(empty_words(_SLOTS)), True)
        return words, part, *tokens.frequencies(part, int(words.sizes[0]))

    in_docs, often = np.zeros(1024, dtype=np.int64), np.zeros(1024, dtype=np.int64)
    parts, n_docs = Parts(folder), 0
    for words, part, part_docs, part_often in map_in_order(work, chunks, n_jobs):
        total, renamed = tokens.merge(total, words, part)
        in_docs, often = (longer(a, int(total.sizes[0])) for a in (in_docs, often))
        in_docs[renamed] += part_docs  # different words stay different
        often[renamed] += part_often
        n_docs += len(part.lengths)
        parts.append(part)
    n = int(total.sizes[0])
    return TokenizedTexts(total, parts, in_docs[:n], often[:n], n_docs, n_jobs)


def known_sequences(
    chunks: Iterable[Texts], rule: TokenRule, names: Sequence[str], n_jobs: int | None
) -> Iterator[Sequences]:
    """Sequences of known words, by their places among `names`; others end a segment."""
    texts = join([name.encode("utf-8", "surrogatepass") for name in names])
    table = add_words(empty_words(_SLOTS), texts.data, texts.offsets)[0]
    compiled = kernel_rule(rule)
    return map_in_order(lambda t: _split(t, rule, compiled, table, False)[1], chunks, n_jobs)


def _split(
    texts: Texts, rule: TokenRule, compiled: Rule, words: Words, learning: bool
) -> tuple[Words, Sequences]:
    if rule.lowercase:
        texts = _without_special(texts)
    return tokens.tokenize(texts.data, texts.offsets, compiled, words, learning)


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


@dataclass(frozen=True)
class Matcher:
    """Counts terms in sequences: words and n-grams, by their columns (-1: none).

    Of several terms that begin with a word the longest is counted, and it consumes its words; with
    `every`, all of them are counted.
    """

    grams: Grams
    column: NDArray[np.int64]
    orders: tuple[int, int]
    every: bool

    @classmethod
    def of_terms(
        cls, terms: Sequence[str], orders: tuple[int, int], every: bool, whole: bool = False
    ) -> tuple[Matcher, list[str]]:
        """One for given terms, in the order of their columns; and the words that they consist of.

        With `whole`, each term is one word, spaces or not.
        """
        split = [[term] if whole else term.split(" ") for term in terms]
        words = list(dict.fromkeys(word for parts in split for word in parts))
        place = {word: i for i, word in enumerate(words)}
        keys: dict[int, int] = {}
        for depth in range(1, max(map(len, split), default=1)):
            for parts in split:
                if len(parts) > depth:
                    keys.setdefault(_key(parts[: depth + 1], place, keys, len(words)), len(keys))
        column = np.full(len(words) + len(keys), -1, dtype=np.int64)
        for i, parts in enumerate(split):
            if orders[0] <= len(parts) <= orders[1]:
                column[_entry(parts, place, keys, len(words))] = i
        table = make_grams(len(words), np.array(list(keys), dtype=np.int64))
        return cls(table, column, orders, every), words

    def __call__(self, part: Sequences, _: int = 0) -> Pairs:
        """The terms of each document of a part, by entry."""
        return Pairs.small(*match(part, self.orders, self.grams, self.column >= 0, self.every))


def _entry(parts: Sequence[str], place: dict[str, int], keys: dict[int, int], n: int) -> int:
    entry = place[parts[0]]
    for word in parts[1:]:
        entry = n + keys[entry << 32 | place[word]]
    return entry


def _key(parts: Sequence[str], place: dict[str, int], keys: dict[int, int], n: int) -> int:
    return _entry(parts[:-1], place, keys, n) << 32 | place[parts[-1]]


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


__all__ = ["BREAK", "Matcher", "Pairs", "TokenizedTexts", "known_sequences", "learn"]
