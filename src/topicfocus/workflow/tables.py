"""Results as plain data: JSON values, and tables as CSV or JSON lines."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

#: Columns of a table by name, all of the same length.
Table = dict[str, Any]
#: Rows that are converted to strings at a time, to save memory.
_ROWS = 1 << 14


def plain(value: Any) -> Any:
    """A value as JSON has it: Python's own numbers, None for NaN and infinity."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def joined(words: Iterable[str]) -> str:
    """Words in a row; with semicolons if some contain spaces, as codes may."""
    words = list(words)
    return ("; " if any(" " in word for word in words) else " ").join(words)


def write_tables(tables: Iterable[Table], stream: Any, *, as_json: bool = False) -> int:
    """Write tables one below the other as CSV or JSON lines; returns the number of rows."""
    n = 0
    for table in tables:
        if as_json:
            write_json_lines(table, stream)
        else:
            write_csv(table, stream, header=n == 0)
        n += len(table["row"])
    return n


def write_csv(table: Table, stream: Any, *, header: bool = True) -> None:
    """Numbers with six digits; empty cells for missing values."""
    writer = csv.writer(stream, lineterminator="\n")
    if header:
        writer.writerow(table)
    n = len(next(iter(table.values()), ()))
    for first in range(0, n, _ROWS):
        block = (_cells(column[first : first + _ROWS]) for column in table.values())
        writer.writerows(zip(*block, strict=True))


def write_json_lines(table: Table, stream: Any) -> None:
    """One object per row."""
    names = list(table)
    for values in zip(*(plain(np.asarray(c)) for c in table.values()), strict=True):
        line = json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False)
        stream.write(line + "\n")


def _cells(column: Any) -> list[str]:
    kind = column.dtype.kind if isinstance(column, np.ndarray) else "O"
    if kind == "f":
        return ["" if value != value else f"{value:.6g}" for value in column.tolist()]
    if kind in "iub":
        return list(map(str, column.tolist()))
    return list(map(_cell, column))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)
