"""Documents of any kind as sequences of word ids, from which terms are chosen and counted.

Documents are cut into chunks of a few megabytes of UTF-8. One pass over these gives each word a
number (`TokenizedTexts`): four bytes for each word of a text, in memory or in a temporary file.
Chunks are split on threads, each with a table of words of its own, and the tables are merged in
order.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels import tokens
from topicfocus.kernels.threads import map_in_order
from topicfocus.kernels.tokens import BREAK, Sequences
from topicfocus.kernels.words import Words, add_words, copy_words, empty_words
from topicfocus.text.tokenizer import SPECIAL, TokenRule, kernel_rule

#: Bytes of text in a chunk. Its words fit into a core's cache, and merging them costs little.
CHUNK_BYTES = 1 << 23
#: Slots of a new table of words: enough for most chunks.
_SLOTS = 1 << 16
#: Bytes of word ids that stay in memory; more are written to a temporary file.
IN_MEMORY = 1 << 24
#: Documents that are Python strings, or lists of them, at a time: these take more room.
_DOCUMENTS_AT_ONCE = 1024
_SPECIAL = [character.encode() for character in SPECIAL]


@dataclass(frozen=True)
class Texts:
    """A chunk: document d is ``data[offsets[d] : offsets[d + 1]]``, and `data` is read-only."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, d: int) -> bytes:
        return self.data[self.offsets[d] : self.offsets[d + 1]].tobytes()


def join(documents: list[bytes]) -> Texts:
    """Encoded documents as one buffer."""
    return _chunk(documents, [_sizes(documents)])


def _sizes(documents: list[bytes]) -> NDArray[np.int64]:
    return np.fromiter(map(len, documents), np.int64, len(documents))


def _chunk(buffers: list[Any], sizes: list[NDArray[np.int64]]) -> Texts:
    """Documents of these sizes, which are in the buffers one after the other."""
    offsets = np.concatenate([np.zeros(1, np.int64), *sizes]).cumsum()
    return Texts(np.frombuffer(b"".join(buffers), dtype=np.uint8), offsets)


#: Splits a chunk: (table of words, sequences). It adds new words to the table if the flag is set.
Split = Callable[[Texts, Words, bool], tuple[Words, Sequences]]
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class TokenizedTexts:
    """Documents as sequences of word ids, and the words.

    Attributes
    ----------
    words : Words
        The table of words.
    parts : iterable of Sequences
        The word ids, one chunk of documents after the other.
    document_frequency, frequency : array
        Documents with each word, and its occurrences, in the documents of `rows`.
    n_docs : int
        Number of documents, of all rows.
    n_jobs : int, optional
        Threads.
    rows : array of bool, optional
        The documents that terms are chosen from; by default all.
    """

    words: Words
    parts: Iterable[Sequences]
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
        """Number of documents that terms are chosen from."""
        return self.n_docs if self.rows is None else int(self.rows.sum())

    def names(self, ids: NDArray[np.intp]) -> list[str]:
        """The words with these ids."""
        return self.words.texts(ids)

    def each(
        self, function: Callable[[Sequences, int], _Value], renamed: NDArray[np.int32] | None = None
    ) -> Iterator[_Value]:
        """``function(part, number of its first document)`` for each part, on threads, in order.

        Words get the ids of `renamed`. With `rows`, parts have these documents only.
        """

        def jobs() -> Iterator[tuple[Sequences, Any, int]]:
            start = first = 0
            for part in self.parts:
                stop = start + len(part.lengths)
                kept = None if self.rows is None else self.rows[start:stop]
                yield part, kept, first
                first += stop - start if kept is None else int(kept.sum())
                start = stop

        def work(job: tuple[Sequences, Any, int]) -> _Value:
            (ids, lengths), kept, first = job
            if kept is not None:
                ids, lengths = ids[np.repeat(kept, lengths)], lengths[kept]
            if renamed is not None:
                ids = renamed[ids]
            return function(Sequences(ids, lengths), first)

        return map_in_order(work, jobs(), self.n_jobs)

    def of(self, rows: NDArray[np.intp]) -> Self:
        """The same texts, with the documents that terms are chosen from."""
        chosen = np.zeros(self.n_docs, dtype=bool)
        chosen[rows] = True
        return replace(self, rows=chosen)._counted()

    def without(self, rows: NDArray[np.intp]) -> Self:
        """The documents that are left when some are removed; their number changes."""
        some = self.of(np.delete(np.arange(self.n_docs), rows))
        parts = Parts()
        for part in some.each(lambda part, _: part):
            parts.append(part)
        return replace(some, parts=parts, n_docs=some.n_chosen, rows=None)

    def _counted(self) -> Self:
        """With the frequencies of the words in the documents of `rows`."""
        n = int(self.words.sizes[0])
        in_docs, often = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for a, b in self.each(lambda part, _: tokens.frequencies(part, n)):
            in_docs += a
            often += b
        return replace(self, document_frequency=in_docs, frequency=often)

    def places_of(self, names: Sequence[str]) -> NDArray[np.int32]:
        """For `each`: the place of each word among `names`, -1 if it is not there."""
        texts = _encoded(names)
        n = int(self.words.sizes[0])
        # A word that is not in the table gets a number behind its last word.
        ids = _added(copy_words(self.words), texts)[1]
        renamed = np.full(n + 1, BREAK, dtype=np.int32)
        known = ids < n
        renamed[ids[known]] = np.flatnonzero(known)
        return renamed


class Parts:
    """Word ids of one chunk after the other, in memory or in a temporary file.

    The file is used where there are many, or if a `folder` for it is given. It is removed with this
    object.
    """

    def __init__(self, folder: Any = None) -> None:
        self._place = folder or tempfile.gettempdir()
        size = IN_MEMORY if folder is None else 1
        self._stream = tempfile.SpooledTemporaryFile(size, dir=folder)  # noqa: SIM115
        weakref.finalize(self, self._stream.close)
        self._n = 0

    def append(self, part: Sequences) -> None:
        """The word ids of one more chunk."""
        self._stream.seek(0, os.SEEK_END)
        try:
            for array in part:
                np.save(self._stream, array, allow_pickle=False)
        except OSError as error:
            raise OSError(
                error.errno,
                f"word ids cannot be written to a temporary file in {self._place}: "
                f"{error.strerror}. Make room on the disk, or name a folder on another one in the "
                "variable TMPDIR",
            ) from error
        self._n += 1

    def __iter__(self) -> Iterator[Sequences]:
        place = 0
        for _ in range(self._n):
            self._stream.seek(place)
            part = [np.load(self._stream, allow_pickle=False) for _ in Sequences._fields]
            place = self._stream.tell()
            yield Sequences(*part)


# ---- chunks of texts -----------------------------------------------------------------------------


def text_chunks(documents: Any) -> Iterator[Texts]:
    """Cut documents into chunks.

    Parameters
    ----------
    documents : iterable
        Strings; or an iterator of blocks of them, which may be sequences, Arrow arrays,
        series, or objects with an attribute ``texts`` as `read_table` yields them. It is read once,
        no further ahead than needed.

    Raises
    ------
    TypeError
        If a document is not a string.
    ValueError
        If ``documents`` is one string, or a document is missing. The message names its row.
    """
    buffers: list[Any] = []
    sizes: list[NDArray[np.int64]] = []
    row = n_bytes = 0
    for part in _parts(documents):
        if hasattr(part, "__arrow_array__"):
            data, lengths = _from_arrow(part.__arrow_array__())
            buffers.append(data)
        else:
            try:
                encoded = list(map(str.encode, part))
            except (TypeError, UnicodeEncodeError):  # something missing, a surrogate
                encoded = [_encode(d, row + i) for i, d in enumerate(part)]
            buffers += encoded
            lengths = _sizes(encoded)
        sizes.append(lengths)
        row += len(lengths)
        n_bytes += int(lengths.sum())
        if n_bytes >= CHUNK_BYTES:
            yield _chunk(buffers, sizes)
            buffers, sizes, n_bytes = [], [], 0
    if sizes:
        yield _chunk(buffers, sizes)


def _parts(documents: Any) -> Iterator[Any]:
    """Some documents at a time, from documents or from blocks of them."""
    if isinstance(documents, (str, bytes)):
        raise ValueError(
            "Iterable over raw text documents expected, string object received. "
            "Pass a list: [text]."
        )
    if _is_column(documents):
        documents = iter([documents])
    listed = isinstance(documents, (list, tuple))
    single: list[Any] = []
    for i, item in enumerate(documents):
        block = getattr(item, "texts", item)
        if isinstance(block, (list, tuple)) and listed and block is item:
            raise TypeError(
                f"document {i} is a {type(block).__name__}, not text. Join the words of documents "
                "that are split already; to pass blocks of documents, pass an iterator."
            )
        is_block = isinstance(block, (list, tuple)) or _is_column(block)
        if not is_block:
            single.append(block)
        if single and (is_block or len(single) == _DOCUMENTS_AT_ONCE):
            yield single
            single = []
        if is_block:
            yield from _slices(block)
    if single:
        yield single


def _is_column(thing: Any) -> bool:
    if isinstance(thing, (str, bytes)):
        return False
    if isinstance(thing, np.ndarray):
        if thing.ndim != 1:
            raise ValueError(
                f"documents must be one-dimensional, got an array of shape {thing.shape}. "
                "Pass one column of text."
            )
        return True
    if hasattr(thing, "columns") and not callable(thing.columns):
        raise ValueError("documents must be one column of text, got a table. Pass table['text'].")
    return hasattr(thing, "to_numpy") or hasattr(thing, "__arrow_c_stream__")


def _slices(block: Any) -> Iterator[Any]:
    """A block as lists of Python strings, or as strings of pandas where Arrow holds them."""
    block = getattr(block, "array", block)  # of a series of pandas
    in_arrow = getattr(getattr(block, "dtype", None), "storage", None) == "pyarrow"
    if not hasattr(block, "to_pylist") and not (in_arrow and not block.isna().any()):
        names = ("tolist", "to_list")  # of NumPy and pandas, and of polars
        convert = next((getattr(block, name) for name in names if hasattr(block, name)), None)
        block = block if convert is None else convert()
    for start in range(0, len(block), _DOCUMENTS_AT_ONCE):
        part = block[start : start + _DOCUMENTS_AT_ONCE]
        try:
            yield part.to_pylist() if hasattr(part, "to_pylist") else part
        except UnicodeDecodeError as error:
            raise ValueError(
                f"one of the {len(part)} documents from {start} on is not valid UTF-8: "
                f"{error.reason}. Decode the column with its own encoding first."
            ) from None


def _from_arrow(column: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of strings of Arrow, of which none is missing, and the size of each."""
    import pyarrow as pa

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.cast(pa.large_string())
    _, ends, data = array.buffers()
    ends = np.frombuffer(ends, np.int64, len(array) + 1, 8 * array.offset)
    return np.frombuffer(data, np.uint8)[ends[0] : ends[-1]], np.diff(ends)


def _encode(document: Any, row: int) -> bytes:
    if isinstance(document, str):
        return document.encode("utf-8", "surrogatepass")
    kind = type(document).__name__
    if document is None or kind == "NAType" or document != document:  # NaN of any kind, NaT
        raise ValueError(
            f"document {row} is missing ({document}). Drop rows without text, or replace them by "
            "an empty string."
        )
    raise TypeError(
        f"document {row} is {kind} ({document!r:.40}), not text. Documents must be strings; turn "
        "other values into strings first, bytes by bytes.decode."
    )


# ---- from texts to ids ---------------------------------------------------------------------------


def split_words(rule: TokenRule) -> Split:
    """Split texts into words by a rule, in compiled code."""
    compiled = kernel_rule(rule)

    def split(texts: Texts, words: Words, learn: bool) -> tuple[Words, Sequences]:
        if rule.lowercase:
            texts = _without_special(texts)
        return tokens.tokenize(texts.data, texts.offsets, compiled, words, learn)

    return split


def split_by(function: Callable[[str], Sequence[str]]) -> Split:
    """Split texts by a function of Python."""

    def split(texts: Texts, words: Words, learn: bool) -> tuple[Words, Sequences]:
        n_known = None if learn else int(words.sizes[0])
        words = words if learn else copy_words(words)
        found: list[NDArray[np.int64]] = []
        lengths: list[int] = []
        for start in range(0, len(texts), _DOCUMENTS_AT_ONCE):
            documents = range(start, min(start + _DOCUMENTS_AT_ONCE, len(texts)))
            lists = [function(texts[d].decode("utf-8", "surrogatepass")) for d in documents]
            lengths += map(len, lists)
            encoded = _encoded(chain.from_iterable(lists))
            words, ids = _added(words, encoded)
            found.append(ids)
        ids = np.concatenate([np.zeros(0, np.int64), *found])
        if n_known is not None:
            ids[ids >= n_known] = BREAK
        return words, Sequences(ids.astype(np.int32), np.array(lengths, dtype=np.int64))

    return split


def learn(
    chunks: Iterable[Texts], split: Split, n_jobs: int | None, folder: Any = None
) -> TokenizedTexts:
    """Give every word a number; word ids are in a temporary file of `folder`, if one is given."""
    found = map_in_order(lambda texts: split(texts, empty_words(_SLOTS), True), chunks, n_jobs)
    return _numbered(((words, [part]) for words, part in found), n_jobs, folder)


def joined_texts(several: Iterable[TokenizedTexts], n_jobs: int | None = None) -> TokenizedTexts:
    """Tokenized texts one after the other, with one numbering of the words."""
    return _numbered(((texts.words, texts.parts) for texts in several), n_jobs)


def _numbered(
    several: Iterable[tuple[Words, Iterable[Sequences]]], n_jobs: int | None, folder: Any = None
) -> TokenizedTexts:
    """Merge tables of words, in order, and write sequences with the new numbers."""
    total, parts, n_docs = empty_words(_SLOTS), Parts(folder), 0
    for words, sequences in several:
        total, renamed = tokens.merge(total, words)
        for ids, lengths in sequences:
            parts.append(Sequences(renamed.astype(np.int32)[ids], lengths))
            n_docs += len(lengths)
    none = np.zeros(0, dtype=np.int64)
    return TokenizedTexts(total, parts, none, none, n_docs, n_jobs)._counted()


def known_sequences(
    chunks: Iterable[Texts], split: Split, names: Sequence[str], n_jobs: int | None
) -> Iterator[Sequences]:
    """Sequences of known words, by their places among `names`; others end a segment."""
    texts = _encoded(names)
    table = _added(empty_words(_SLOTS), texts)[0]
    return map_in_order(lambda chunk: split(chunk, table, False)[1], chunks, n_jobs)


def _added(words: Words, texts: Texts) -> tuple[Words, NDArray[np.int64]]:
    """The table with the words of `texts`, one per document, and their ids."""
    return add_words(words, texts.data, texts.offsets[:-1], texts.offsets[1:])


def _encoded(words: Iterable[str]) -> Texts:
    return join([word.encode("utf-8", "surrogatepass") for word in words])


def _without_special(texts: Texts) -> Texts:
    """The chunk, with documents that have one of the characters `SPECIAL` in lower case."""
    data = texts.data.tobytes()
    # One byte is found much faster than two, and most texts lack it.
    if not any(special[:1] in data and special in data for special in _SPECIAL):
        return texts
    documents = [texts[d] for d in range(len(texts))]
    for d, document in enumerate(documents):
        if any(special in document for special in _SPECIAL):
            text = document.decode("utf-8", "surrogatepass")
            documents[d] = text.lower().encode("utf-8", "surrogatepass")
    return join(documents)
