"""Documents of any kind as chunks of UTF-8 bytes, a few megabytes each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Bytes of text in a chunk. Its words fit into a core's cache, and merging them costs little.
CHUNK_BYTES = 1 << 23
_DOCUMENTS_AT_ONCE = 1024


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
    offsets = np.zeros(len(documents) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, documents), np.int64, len(documents)), out=offsets[1:])
    return Texts(np.frombuffer(b"".join(documents), dtype=np.uint8), offsets)


def text_chunks(
    documents: Any, *, encoding: str = "utf-8", decode_error: str = "strict"
) -> Iterator[Texts]:
    """Cut documents into chunks.

    Parameters
    ----------
    documents : iterable
        Strings or bytes; or an iterator of blocks of them, which may be sequences, Arrow arrays,
        series, or objects with an attribute ``texts`` as `read_table` yields them. It is read once,
        no further ahead than needed.
    encoding, decode_error : str
        How bytes are decoded.

    Raises
    ------
    TypeError
        If a document is neither string nor bytes.
    ValueError
        If ``documents`` is one string; if a document is missing or cannot be decoded. The message
        names its row.
    """
    pending: list[bytes] = []
    size = row = 0
    for part in _parts(documents):
        try:
            encoded = list(map(str.encode, part))
        except (TypeError, UnicodeEncodeError):  # bytes, a surrogate, something missing
            encoded = [_encode(d, row + i, encoding, decode_error) for i, d in enumerate(part)]
        pending += encoded
        row += len(encoded)
        size += sum(map(len, encoded))
        if size >= CHUNK_BYTES:
            yield join(pending)
            pending, size = [], 0
    if pending:
        yield join(pending)


def _parts(documents: Any) -> Iterator[list[Any]]:
    """Lists of some documents each, from documents or from blocks of them."""
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


def _slices(block: Any) -> Iterator[list[Any]]:
    """A block as lists of Python strings; an Arrow column is converted slice by slice."""
    if not hasattr(block, "to_pylist"):
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


def _encode(document: Any, row: int, encoding: str, decode_error: str) -> bytes:
    if isinstance(document, bytes):
        try:
            document = document.decode(encoding, decode_error)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"document {row} is not {encoding}: {error.reason} at byte {error.start}. Give the "
                'right encoding, for example encoding="latin-1", or decode_error="replace".'
            ) from None
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
        "other values into strings first."
    )
