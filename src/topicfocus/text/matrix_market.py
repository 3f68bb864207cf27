"""Matrix Market, read by NumPy: SciPy's reader (1.17, fast_matrix_market) crashes on damaged files.

A file from a stranger must not be able to do that, so sizes and places are checked before anything
is put anywhere. Counts are real or whole numbers, or a pattern of ones; a matrix of documents and
words has no symmetry.
"""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np

from topicfocus.text.errors import ReadError

#: Empty rows that a file may claim: so many, and some for each of its bytes.
_EMPTY_ROWS = 10**6


def read_matrix_market(stream: io.BufferedReader, path: str) -> Any:
    """A sparse matrix, or an array if the file has all numbers; ReadError for anything amiss."""
    from scipy import sparse

    words = stream.readline(200).decode("latin-1").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise ReadError(f"{path} is not Matrix Market: its first line is not that of a matrix.")
    layout, field, symmetry = words[2:]
    if layout not in ("coordinate", "array") or field not in ("real", "integer", "pattern"):
        raise ReadError(
            f"{path} is Matrix Market of {field} {layout} numbers; counts are real or integer."
        )
    if symmetry != "general":
        raise ReadError(f"{path} is {symmetry}: a matrix of documents and words is general.")
    n_rows, n_columns, *stored = _sizes(stream, path, 3 if layout == "coordinate" else 2)
    body = stream.read()
    if n_rows > _EMPTY_ROWS + 10 * len(body) or n_columns > 2**31 - 2:
        raise ReadError(f"{path} claims {n_rows} rows and {n_columns} columns, which it has not.")
    width = 1 if layout == "array" else (2 if field == "pattern" else 3)
    expected = width * (stored[0] if stored else n_rows * n_columns)
    numbers = _numbers(body, path)
    if len(numbers) != expected:
        raise ReadError(
            f"{path} has {len(numbers)} numbers where its header says {expected}. It is truncated "
            "or was altered; write it again."
        )
    if layout == "array":
        return numbers.reshape(n_columns, n_rows).T
    entries = numbers.reshape(-1, width)
    rows, columns = (
        _places(entries[:, j], limit, path) for j, limit in enumerate((n_rows, n_columns))
    )
    values = np.ones(len(entries)) if width == 2 else entries[:, 2]
    return sparse.coo_array((values, (rows, columns)), shape=(n_rows, n_columns))


def _sizes(stream: io.BufferedReader, path: str, n: int) -> list[int]:
    """The line of sizes, behind comments and blank lines."""
    for line in stream:
        text = line.strip()
        if text and not text.startswith(b"%"):
            parts = text.split()
            if len(parts) == n and all(p.isdigit() and len(p) <= 15 for p in parts):
                return [int(p) for p in parts]
            break
    raise ReadError(f"{path} is not Matrix Market: it has no line of {n} sizes.")


def _numbers(body: bytes, path: str) -> np.ndarray:
    with warnings.catch_warnings():
        # What cannot be read is a warning of NumPy's, so far.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(body.decode("ascii"), sep=" ")
        except (ValueError, UnicodeError, DeprecationWarning):
            raise ReadError(f"{path} is not Matrix Market: not all of it is numbers.") from None


def _places(numbers: np.ndarray, limit: int, path: str) -> np.ndarray:
    """Rows or columns, which the file counts from 1."""
    good = (numbers >= 1) & (numbers <= limit) & (numbers == np.floor(numbers))
    if not good.all():
        i = int(np.argmin(good))
        raise ReadError(f"{path}, entry {i + 1}: {numbers[i]:g} is not a place from 1 to {limit}.")
    return numbers.astype(np.int64) - 1
