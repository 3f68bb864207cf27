"""Counting into a store on disk: pairs wait in a file until the last document is known.

Which words are frequent enough is known only then (`counting.py`), so what is counted is written
down once as it comes, 5 bytes a pair, and once more with its columns.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicfocus.corpus.parts import Rows
from topicfocus.corpus.scratch import MAKE_ROOM
from topicfocus.corpus.store_files import StoreError, StoreWriter
from topicfocus.kernels.count_rows import fill_rows, kept_lengths
from topicfocus.text.counting import Pairs


class WaitingPairs:
    """A list of pairs that is a file: it can be added to, and gone through.

    `most` are the bytes that the words of all documents may take in memory meanwhile.
    """

    def __init__(self, stream: Any, most: int | None = None) -> None:
        self._stream, self._n, self._most = stream, 0, most

    def check_words(self, n_words: int, size: int) -> None:
        """ValueError if all words found so far take too much memory."""
        if self._most is not None and size > self._most:
            raise ValueError(
                f"there are more than {n_words:,} different words, which take {size / 1e6:,.0f} MB "
                f"of memory while they are counted, and {self._most / 1e6:,.0f} MB are left for "
                "them. Allow more memory, or count fewer: no n-grams, words from 3 letters on."
            )

    def append(self, pairs: Pairs) -> None:
        """The pairs of one more chunk."""
        try:
            for array in pairs:
                np.save(self._stream, array, allow_pickle=False)
            self._stream.flush()
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError(
                error.errno,
                f"counts cannot be written to {self._stream.name}: {reason}. {MAKE_ROOM}",
            ) from error
        self._n += 1

    def __iter__(self) -> Iterator[Pairs]:
        self._stream.seek(0)
        for _ in range(self._n):
            yield Pairs(*(np.load(self._stream, allow_pickle=False) for _ in range(3)))


@contextmanager
def waiting_pairs(
    folder: str | os.PathLike[str], most: int | None = None
) -> Iterator[WaitingPairs]:
    """Pairs in a file of a folder, which goes with the block."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    prefix = f"scratch-{os.getpid()}-pairs-"
    stream = tempfile.NamedTemporaryFile(dir=folder, prefix=prefix)  # noqa: SIM115
    try:
        yield WaitingPairs(stream, most)
    finally:
        # What is buffered does not fit a full disk, either; the block's own error says where.
        with suppress(OSError):
            stream.close()


def write_pairs(
    pairs: Iterable[Pairs],
    column: NDArray[np.int64],
    terms: Sequence[str],
    folder: Path,
    about: dict[str, Any],
) -> None:
    """The pairs that have a column as a store."""
    writer = StoreWriter(folder, len(terms), about)
    try:
        for part in pairs:
            writer.add(rows_of_pairs(part, column, len(terms)))
        writer.close(terms)
    except BaseException:
        writer.discard()
        raise


def rows_of_pairs(part: Pairs, column: NDArray[np.int64], n_columns: int) -> Rows:
    """Documents of a chunk with the counts of words that have a column."""
    kept = kept_lengths(part.ids, part.lengths, column)
    indptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
    indices = np.empty(int(indptr[-1]), dtype=np.int32)
    values = np.empty(int(indptr[-1]))
    fill_rows(*part, column, n_columns, indptr, indices, values)
    return Rows(indptr, indices, values)
