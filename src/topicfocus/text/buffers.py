"""Documents of any kind as chunks of UTF-8 bytes, a few megabytes each.

Python strings are encoded. Columns of Arrow (pyarrow, polars, pandas with Arrow strings) are UTF-8
already and are used where they lie.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Bytes of text in a chunk. Its words fit into a core's cache, and merging them costs little.
CHUNK_BYTES = 1 << 23
_DOCUMENTS_AT_ONCE = 1024


@dataclass(frozen=True)
class Texts:
    """Document d of a chunk is ``data[offsets[d] : offsets[d + 1]]``, row ``first_row + d`` of all.

    ``data`` is always read-only, as the buffers of Arrow are: kernels are compiled once for it.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    first_row: int = 0

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, d: int) -> bytes:
        return self.data[self.offsets[d] : self.offsets[d + 1]].tobytes()


def join(documents: list[bytes], first_row: int = 0) -> Texts:
    """Encoded documents as one buffer."""
    offsets = np.zeros(len(documents) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, documents), np.int64, len(documents)), out=offsets[1:])
    return Texts(np.frombuffer(b"".join(documents), dtype=np.uint8), offsets, first_row)


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
    if isinstance(documents, (str, bytes)):
        raise ValueError(
            "Iterable over raw text documents expected, string object received. "
            "Pass a list: [text]."
        )
    row = 0
    for block, checked in _blocks(documents):
        chunks = _arrow_chunks(block, row, checked)
        if chunks is None:
            chunks = _string_chunks(block, row, encoding, decode_error)
        for chunk in chunks:
            yield chunk
            row += len(chunk)


def _blocks(documents: Any) -> Iterator[tuple[Any, bool]]:
    """Blocks of documents, from documents or from blocks; and whether they are known as UTF-8."""
    listed = isinstance(documents, (list, tuple))
    if _is_column(documents) or (listed and documents and isinstance(documents[0], str)):
        yield documents, False
        return
    single: list[Any] = []
    size = 0
    for item in documents:
        block = getattr(item, "texts", item)
        if isinstance(block, (list, tuple)) and listed and block is item:
            raise TypeError(
                f"document {len(single)} is a {type(block).__name__}, not text. Join the words of "
                "documents that are split already; to pass blocks of documents, pass an iterator."
            )
        if isinstance(block, (list, tuple)) or _is_column(block):
            if single:
                yield single, False
                single, size = [], 0
            yield block, getattr(item, "checked", False)
            continue
        single.append(block)  # a document, or something that will be complained about
        size += len(block) if isinstance(block, (str, bytes)) else CHUNK_BYTES
        if size >= CHUNK_BYTES and not listed:
            yield single, False
            single, size = [], 0
    if single:
        yield single, False


def _is_column(thing: Any) -> bool:
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


def _string_chunks(block: Any, row: int, encoding: str, decode_error: str) -> Iterator[Texts]:
    if hasattr(block, "tolist"):  # an array or a series: strings of Python, not of NumPy
        block = block.tolist()
    elif hasattr(block, "to_list"):
        block = block.to_list()
    pending: list[bytes] = []
    size = 0
    for start in range(0, len(block), _DOCUMENTS_AT_ONCE):
        part = block[start : start + _DOCUMENTS_AT_ONCE]
        try:
            encoded = list(map(str.encode, part))
        except (TypeError, UnicodeEncodeError):  # bytes, a surrogate, something missing
            at = row + len(pending)
            encoded = [_encode(d, at + i, encoding, decode_error) for i, d in enumerate(part)]
        pending += encoded
        size += sum(map(len, encoded))
        if size >= CHUNK_BYTES:
            yield join(pending, row)
            row += len(pending)
            pending, size = [], 0
    if pending:
        yield join(pending, row)


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
    if document is None or document != document:  # NaN of any kind, pandas' NaT
        raise ValueError(missing_message(row, document))
    kind = type(document).__name__
    if kind == "NAType":
        raise ValueError(missing_message(row, document))
    raise TypeError(
        f"document {row} is {kind} ({document!r:.40}), not text. Documents must be strings; turn "
        "other values into strings first."
    )


def missing_message(row: int, value: Any = None) -> str:
    """What to say of a document that is not there."""
    return (
        f"document {row} is missing ({value}). Drop rows without text, or replace them by an empty "
        "string."
    )


def _arrow_chunks(block: Any, row: int, checked: bool) -> Iterator[Texts] | None:
    """Chunks of an Arrow column without a copy, None for anything else."""
    if not any(hasattr(block, f"__arrow_c_{kind}__") for kind in ("stream", "array")):
        return None
    kind = getattr(block, "dtype", "")
    if (
        "pandas" in type(block).__module__
        and "pyarrow" not in f"{kind}{getattr(kind, 'storage', '')}"
    ):
        return None  # strings of Python inside: encoding them here is what Arrow would do
    if "pyarrow" not in sys.modules and "polars" not in type(block).__module__:
        return None
    try:
        import pyarrow as pa
    except ImportError:  # polars does not need it
        return None
    return _from_arrow(pa, block, row, checked)


def _from_arrow(pa: Any, block: Any, row: int, checked: bool) -> Iterator[Texts]:
    column = block if isinstance(block, (pa.Array, pa.ChunkedArray)) else pa.chunked_array(block)
    if pa.types.is_dictionary(column.type) or str(column.type) == "string_view":
        try:
            column = column.cast(pa.large_string())
        except pa.ArrowNotImplementedError:  # categories of polars, for one
            column = pa.array(column.to_pylist(), pa.large_string())
    kind = column.type
    if pa.types.is_null(kind) and len(column):
        raise ValueError(missing_message(row))
    known = (pa.types.is_string(kind), pa.types.is_large_string(kind), pa.types.is_null(kind))
    if not any(known):
        raise TypeError(
            f"the column of documents holds {kind}, not text. Cast it to strings first."
        )
    for array in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        if array.null_count:
            first = array.is_null().to_pylist().index(True)
            raise ValueError(missing_message(row + first))
        texts = _arrow_buffers(pa, array, row)
        try:
            # Kernels trust their bytes, and a Parquet file can hold anything.
            array.validate(full=not checked)
        except pa.ArrowInvalid:
            _find_malformed(texts)
            raise
        yield from _cut(texts)
        row += len(array)


def _arrow_buffers(pa: Any, array: Any, row: int) -> Texts:
    if len(array) == 0:
        return join([], row)
    width = np.int64 if pa.types.is_large_string(array.type) else np.int32
    _, offsets, data = array.buffers()
    places = np.frombuffer(offsets, dtype=width)[array.offset : array.offset + len(array) + 1]
    data = b"" if data is None else data
    return Texts(np.frombuffer(data, dtype=np.uint8), places.astype(np.int64), row)


def _find_malformed(texts: Texts) -> None:
    for d in range(len(texts)):
        try:
            texts[d].decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"document {texts.first_row + d} is not valid UTF-8: {error.reason} at byte "
                f"{error.start}. Decode the column with its own encoding first."
            ) from None


def _cut(texts: Texts) -> Iterator[Texts]:
    """A long buffer in chunks of about the same size; cuts depend on the data alone."""
    offsets = texts.offsets
    if len(texts) == 0:
        return
    n_chunks = max(1, int(offsets[-1] - offsets[0]) // CHUNK_BYTES)
    goals = offsets[0] + np.arange(1, n_chunks) * ((offsets[-1] - offsets[0]) / n_chunks)
    cuts = np.unique(np.concatenate([[0], np.searchsorted(offsets, goals), [len(texts)]]))
    for first, last in pairwise(cuts.tolist()):
        yield Texts(texts.data, offsets[first : last + 1], texts.first_row + first)


__all__ = [
    "CHUNK_BYTES",
    "Texts",
    "join",
    "missing_message",
    "text_chunks",
]
