"""Parquet, by Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import Any

import numpy as np

from topicfocus.text.errors import ReadError
from topicfocus.text.files import check_exists, what_it_is
from topicfocus.text.records import (
    BLOCK_CHARACTERS,
    BadNumber,
    BadText,
    Block,
    Request,
    find_columns,
    group_name,
    join_items,
    read_numbers,
)

#: Bytes of a column that are read at a time; Arrow's default is to read all columns ahead.
_READ_BYTES = 1 << 20


class Parquet:
    """A Parquet file whose schema has been read and checked."""

    def __init__(self, request: Request) -> None:
        self.request = request
        with check_exists(request.path).open("rb") as stream:
            head = stream.read(64)
        if not head:
            raise ReadError(f"{request.path} is empty. Check how it was written.")
        if not head.startswith(b"PAR1"):
            found = what_it_is(head) or "perhaps text"
            raise ReadError(
                f"{request.path} is not what its name says: it is not Parquet but {found}. Rename "
                "it, or say its format."
            )
        with self._open() as file:
            schema = file.schema_arrow
            n_rows = file.metadata.num_rows
            self._block_rows = min(request.block_rows, _rows_of(file.metadata, request.text))
        if n_rows == 0:
            raise ReadError(f"{request.path} has columns but no rows.")
        self._groups: range | None = None
        places = find_columns(request, schema.names)
        self._is_text(schema.field(places.text).type)

    def _open(self) -> Any:
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError:
            raise ReadError(
                f"{self.request.path}: reading Parquet needs pyarrow. Install it: "
                "pip install 'topicfocus[tables]'."
            ) from None
        try:
            return parquet.ParquetFile(self.request.path, pre_buffer=False, buffer_size=_READ_BYTES)
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise ReadError(f"{self.request.path} is not a whole Parquet file: {reason}") from None

    def _is_text(self, kind: Any) -> None:
        import pyarrow as pa

        if _is_list(kind):
            if self.request.separator is None:
                raise ReadError(f"{self.request.path}: {_of_lists(self.request)}")
            return
        inner = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not (pa.types.is_string(inner) or pa.types.is_large_string(inner)):
            raise ReadError(
                f"{self.request.path}: column {self.request.text!r} holds {kind}, not text. Name "
                "the column that holds text."
            )

    def sizes(self) -> list[int]:
        """Bytes of each row group in memory."""
        with self._open() as file:
            metadata = file.metadata
            return [metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]

    def restrict(self, first: int, last: int) -> None:
        """Read these row groups only; rows keep their numbers."""
        self._groups = range(first, last)

    def blocks(self) -> Iterator[Block]:
        """Blocks of rows, from the first row on."""
        import pyarrow as pa

        request = self.request
        row = 0
        try:
            with self._open() as file:
                groups = self._groups or range(file.num_row_groups)
                row = sum(file.metadata.row_group(i).num_rows for i in range(groups.start))
                batches = file.iter_batches(self._block_rows, groups, columns=request.names)
                for batch in batches:
                    yield from self._block(batch, row)
                    row += len(batch)
        except pa.ArrowException as error:
            reason = str(error).splitlines()[0]
            raise ReadError(f"{request.path}, after row {row}: {reason}") from None

    def _block(self, batch: Any, row: int) -> Iterator[Block]:
        import pyarrow as pa

        request = self.request
        rows = np.arange(row + 1, row + 1 + len(batch), dtype=np.int64)
        texts = batch[request.text]
        if pa.types.is_dictionary(texts.type):
            texts = texts.cast(pa.large_string())
        target = _labels(batch, request.target)
        group = _labels(batch, request.group)
        group = None if group is None else [group_name(value) for value in group]
        present = np.ones(len(batch), dtype=bool)
        if texts.null_count:
            present = texts.is_valid().to_numpy(zero_copy_only=False).copy()
            for missing in rows[~present]:
                where = f"{request.path}, row {missing}"
                request.bad.report(
                    f"{where}: no {request.text!r}. Give it a text, or an empty one."
                )
        if _is_list(texts.type):
            texts = pa.array(self._joined(texts.to_pylist(), rows, present), pa.large_string())
        numbers = self._numbers(batch, rows, present)
        if not present.all():
            texts = texts.filter(pa.array(present))
            rows, numbers = rows[present], numbers[present]
            target, group = (
                None if values is None else list(compress(values, present))
                for values in (target, group)
            )
        if len(rows):
            yield Block(texts, target, rows, numbers, group=group)

    def _joined(self, lists: list[Any], rows: np.ndarray, present: np.ndarray) -> list[str]:
        """Lists of codes as texts; rows that cannot be are reported and marked."""
        out = []
        for i, items in enumerate(lists):
            try:
                out.append(join_items(items or (), self.request))
            except BadText as bad:
                out.append("")
                self.request.bad.report(f"{self.request.path}, row {rows[i]}: {bad}")
                present[i] = False
        return out

    def _numbers(self, batch: Any, rows: np.ndarray, present: np.ndarray) -> np.ndarray:
        """Columns of numbers; rows without one are reported and marked as not present."""
        names = self.request.numbers
        out = np.zeros((len(batch), len(names)))
        if not names:
            return out
        columns = [batch[name].to_pylist() for name in names]
        for i, values in enumerate(zip(*columns, strict=True)):
            try:
                out[i] = read_numbers(values, self.request)
            except BadNumber as bad:
                if present[i]:
                    self.request.bad.report(f"{self.request.path}, row {rows[i]}: {bad}")
                present[i] = False
        return out


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_list(kind) for is_list in lists)


def _of_lists(request: Request) -> str:
    try:
        return join_items((), request)
    except BadText as bad:
        return str(bad)


def _labels(batch: Any, name: str | None) -> list[str | None] | None:
    if name is None:
        return None
    return [None if value is None else _shown(value) for value in batch[name].to_pylist()]


def _shown(value: Any) -> str:
    """A value as a CSV file would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _rows_of(metadata: Any, name: str | None) -> int:
    """How many rows make a block of the size we like, by the average size of a text."""
    size = 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        for j in range(group.num_columns):
            if group.column(j).path_in_schema == name:
                size += group.column(j).total_uncompressed_size
    return max(1, BLOCK_CHARACTERS * metadata.num_rows // max(1, size))
