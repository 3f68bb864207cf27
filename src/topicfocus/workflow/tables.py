"""Results as plain data: JSON, cells of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A result as JSON has it: Python's own numbers, None for what is not a number."""
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
    """Words in a row; those that have spaces themselves, such as codes, with semicolons."""
    words = list(words)
    return ("; " if any(" " in word for word in words) else " ").join(words)


def cells(column: Any) -> list[str]:
    """`cell` of every value of a column, in one go where they are numbers."""
    kind = column.dtype.kind if isinstance(column, np.ndarray) else "O"
    if kind == "f":
        return ["" if value != value else f"{value:.6g}" for value in column.tolist()]
    if kind in "iub":
        return list(map(str, column.tolist()))
    return list(map(cell, column))


def cell(value: Any) -> str:
    """A value in a CSV file: numbers with six digits, empty where nothing is known."""
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)
