"""Checks of what users hand in: every message says what is wrong, where, and what to do."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Set
from functools import partial
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topicfocus.counts import MappedCounts, chunks, index_dtype

_TEXT_ADVICE = (
    "Turn text into counts first, with sklearn.feature_extraction.text.CountVectorizer or in a "
    "pipeline: make_pipeline(CountVectorizer(), model)."
)

#: Beyond it floats leave out whole numbers, and sums over documents may overflow.
LARGEST_COUNT = 1e15


def column_names(counts: Any) -> list[str] | None:
    """Names of a dataframe's columns; None for anything else or if one is not a string."""
    columns = getattr(counts, "columns", None)
    if columns is None or callable(columns):
        return None
    names = list(columns)
    # Unnamed columns (0, 1, 2, ...) are positions, not words.
    return names if names and all(isinstance(word, str) for word in names) else None


def check_vocabulary(vocabulary: Any, n_words: int, *, name: str = "X") -> tuple[str, ...]:
    """Check that there is one distinct string for each column.

    Parameters
    ----------
    vocabulary : sequence of str
    n_words : int
        Number of columns.
    name : str, default="X"
        What messages call the matrix.

    Returns
    -------
    tuple of str
    """
    if isinstance(vocabulary, (str, bytes, Mapping, Set)):
        # A mapping or a set iterates in an order that need not be that of the columns.
        raise TypeError(
            f"vocabulary must be a sequence of words in the order of {name}'s columns, got "
            f"{type(vocabulary).__name__}. Pass vectorizer.get_feature_names_out()."
        )
    words = tuple(vocabulary)
    if len(words) != n_words:
        raise ValueError(
            f"vocabulary has {len(words)} words but {name} has {n_words} columns. "
            "Pass one word for each column."
        )
    first_at: dict[str, int] = {}
    for column, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(f"vocabulary must hold strings, but word {column} is {word!r}")
        if word in first_at:
            raise ValueError(
                f"vocabulary has duplicates: columns {first_at[word]} and {column} are both "
                f"{str(word)!r}. Add such columns up or rename one."
            )
        first_at[word] = column
    return tuple(str(word) for word in words)


def read_matrix(counts: Any, *, name: str = "X") -> sparse.csr_array:
    """Read documents x words numbers of any kind as canonical CSR of float64.

    Only what kind of thing it is and its shape are checked here; the values are the business of
    :func:`check_counts`. Shares memory with a matrix that is canonical already.

    Parameters
    ----------
    counts : scipy sparse, dense array, list of lists or dataframe
    name : str, default="X"
        What messages call the matrix.

    Returns
    -------
    scipy.sparse.csr_array
        Sorted indices, duplicates summed. Zeros, NaN and negative numbers may still be in it.
    """
    if sparse.issparse(counts):
        _check_shape(counts.shape, name)
        matrix = _read_sparse(counts, name)
    else:
        dense = _read_dense(counts, name)
        _check_shape(dense.shape, name)
        matrix = sparse.csr_array(_as_float(dense, name))  # NaN is stored, as it is not 0
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # sum_duplicates works in place and the arrays may be the user's
        matrix.sum_duplicates()
    return _with_smallest_indices(matrix)


class FractionWarning(UserWarning):
    """Counts are not whole numbers. They are used as they are, as weights of words."""


def check_counts(
    matrix: sparse.csr_array,
    vocabulary: tuple[str, ...] | None = None,
    *,
    name: str = "X",
    tolerance: float = 1e-6,
    fractions: bool = False,
    first_row: int = 0,
) -> sparse.csr_array:
    """Check that all numbers are counts: finite, not negative, and whole up to a tolerance.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array
        From :func:`read_matrix`. It is not modified.
    vocabulary : tuple of str, optional
        Used to name the offending word.
    name : str, default="X"
        What messages call the matrix.
    tolerance : float, default=1e-6
        A number c is whole when abs(c - round(c)) <= tolerance.
    fractions : bool, default=False
        Warn about numbers that are not whole instead of raising, and keep them as they are.
    first_row : int, default=0
        What messages call the first row.

    Returns
    -------
    scipy.sparse.csr_array
        The rounded counts without stored zeros; ``matrix`` itself if nothing had to change.
    """
    data = matrix.data
    if data.size == 0:
        return matrix
    where = partial(_where, matrix, vocabulary, first_row)
    finite = np.isfinite(data)
    if not finite.all():
        position = int(np.argmin(finite))
        kind, advice = (
            ("NaN", "Replace missing counts by 0.")
            if np.isnan(data[position])
            else ("infinity", "Counts must be finite.")
        )
        raise ValueError(f"{name} contains {kind} at {where(position)}. {advice}")
    if data.min() < -tolerance:
        position = int(np.argmax(data < -tolerance))
        raise ValueError(
            f"Negative values in data passed to {name}: {where(position)} is "
            f"{data[position]:g}. Counts say how often a word occurs and cannot be negative; pass "
            "them without centring or scaling."
        )
    if data.max() > LARGEST_COUNT:
        position = int(np.argmax(data))
        raise ValueError(
            f"{name} has a count of {data[position]:g}: {where(position)}. "
            f"Counts say how often a word occurs and are at most {LARGEST_COUNT:g}."
        )
    rounded = np.rint(data)
    deviation = np.abs(data - rounded)
    if deviation.max() > tolerance:
        position = int(np.argmax(deviation > tolerance))
        message = (
            f"{name} has counts that are not whole numbers: {where(position)} "
            f"is {data[position]:g}. Use CountVectorizer instead of TfidfVectorizer, unscaled."
        )
        if not fractions:
            raise ValueError(message)
        warnings.warn(message, FractionWarning, stacklevel=5)
        rounded = np.maximum(data, 0.0)
        deviation = np.abs(data - rounded)
    if deviation.max() == 0 and data.min() > 0:
        return matrix
    clean = sparse.csr_array(
        (rounded, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True
    )
    clean.eliminate_zeros()
    return clean


def check_mapped(
    matrix: Any,
    vocabulary: Any = None,
    *,
    name: str = "X",
    tolerance: float = 1e-6,
    fractions: bool = False,
) -> None:
    """Check a memory-mapped CSR matrix chunk by chunk; unlike others it has to be canonical."""
    _check_shape(matrix.shape, name)
    indptr, nnz = np.asarray(matrix.indptr), len(matrix.data)
    if (
        indptr[0] != 0
        or np.any(np.diff(indptr) < 0)
        or not indptr[-1] == nnz == len(matrix.indices)
    ):
        raise ValueError(f"{name} is not a valid csr matrix: its indptr does not match its data.")
    _as_float(matrix.data[:1], name)
    words = None if vocabulary is None else check_vocabulary(vocabulary, matrix.shape[1], name=name)
    counts = MappedCounts.of(matrix)
    for first, last in chunks(counts):
        rows = counts.read(first, last)
        if (
            len(rows.indices)
            and not 0 <= rows.indices.min() <= rows.indices.max() < matrix.shape[1]
        ):
            raise ValueError(f"{name} is not a valid csr matrix: indices outside its columns.")
        part = sparse.csr_array(
            (rows.data, rows.indices, rows.indptr), (last - first, matrix.shape[1])
        )
        clean = check_counts(
            part, words, name=name, tolerance=tolerance, fractions=fractions, first_row=first
        )
        if not part.has_canonical_format or clean.nnz < part.nnz:
            raise ValueError(
                f"{name} is memory-mapped and has unsorted, repeated or zero entries in rows "
                f"{first} to {last - 1}. Write it with sorted columns, each once, and without "
                "zeros (topicfocus.write_counts does)."
            )


def check_target(
    target: Any,
    n_docs: int,
    *,
    kind: Literal["real", "binary"] = "real",
    allow_missing: bool = False,
    name: str = "y",
) -> NDArray[np.float64]:
    """Check the target of a model: one usable number for each document.

    Parameters
    ----------
    target : array-like of shape (n_docs,) or (n_docs, 1)
    n_docs : int
        Number of documents.
    kind : {"real", "binary"}, default="real"
        A real target must not be constant; a binary one is 0 or 1, and both must occur.
    allow_missing : bool, default=False
        Accept NaN as "not known", if at least one target is known.
    name : str, default="y"
        What messages call the target.

    Returns
    -------
    ndarray of float64, shape (n_docs,)
        Always a copy.

    Raises
    ------
    ValueError
        If the target has another length than ``X``, values that are no targets, none at all, or one
        value only. The message names the row.

    Examples
    --------
    >>> from topicfocus.corpus import check_target
    >>> check_target([1, 2, 5], 3).tolist()
    [1.0, 2.0, 5.0]
    """
    if kind not in ("real", "binary"):
        raise ValueError(f'kind must be "real" or "binary", got {kind!r}')
    if target is None:
        raise ValueError(
            f"this model requires y to be passed, but the target {name} is None. "
            "Use LDA for documents without a target."
        )
    values = _read_dense(target.toarray() if sparse.issparse(target) else target, name, text=False)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"{name} has shape {values.shape}; it must be one value for each document, ({n_docs},)"
        )
    if len(values) != n_docs:
        raise ValueError(f"{name} has {len(values)} values but X has {n_docs} documents")
    values = _as_float(values, name).copy()

    usable = np.isfinite(values) | (np.isnan(values) & allow_missing)
    if not usable.all():
        row = int(np.argmin(usable))
        shown = "NaN" if np.isnan(values[row]) else "infinity"
        raise ValueError(
            f"{name} contains {shown} at row {row}. Drop documents without a usable target."
        )
    known = values[~np.isnan(values)]
    if known.size == 0:
        raise ValueError(f"every value of {name} is missing; at least one target must be known")
    if kind == "binary":
        _check_binary(values, known, name)
    elif (known == known[0]).all():
        raise ValueError(
            f"{name} is constant (n_samples={known.size}, all {known[0]:g}): there is nothing to "
            "predict. Check the column, or use LDA, which needs no target."
        )
    return values


def check_feature_count(n_words: int, expected: int, *, name: str = "X") -> None:
    """Raise ValueError unless new documents have the columns that the model was fitted with.

    Parameters
    ----------
    n_words, expected : int
        Columns of new documents, and of those that a model was fitted to.
    name : str, default="X"
        What messages call the matrix.

    Raises
    ------
    ValueError
        If the number of columns is another one.

    Examples
    --------
    >>> from topicfocus.corpus import check_feature_count
    >>> check_feature_count(3, 3)
    """
    if n_words != expected:
        raise ValueError(
            f"{name} has {n_words} features, but the model was fitted with {expected}. Use the "
            "transform of the vectoriser that made the training counts; do not fit it again."
        )


def _check_binary(values: NDArray[np.float64], known: NDArray[np.float64], name: str) -> None:
    valid = np.isnan(values) | (values == 0) | (values == 1)
    if not valid.all():
        row = int(np.argmin(valid))
        raise ValueError(
            f"{name} must be 0 or 1 for a binary target, but row {row} is {values[row]:g}"
        )
    if (known == known[0]).all():
        raise ValueError(
            f"{name} has one class only (all {known.size} values are {known[0]:g}): there is "
            "nothing to tell apart. Pass documents of both classes."
        )


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"{name} has {len(shape)} dimension(s), shape {shape}, but counts are documents x "
            "words. Reshape your data: reshape(1, -1) makes a single document of one row of counts."
        )
    if shape[0] == 0:
        raise ValueError(f"{name} has no documents: 0 sample(s) (shape={shape}); at least 1 needed")
    if shape[1] == 0:
        raise ValueError(
            f"{name} has no words: 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )


def _read_sparse(counts: Any, name: str) -> sparse.csr_array:
    """CSR of float64, possibly a view of the user's arrays, duplicates perhaps not yet summed."""
    # To float before duplicates are summed: 200 + 200 overflows in uint8.
    compressed = {"csr": sparse.csr_array, "csc": sparse.csc_array}.get(counts.format)
    if compressed is None:
        entries = counts.tocoo()
        data = _as_float(entries.data, name)
        return sparse.coo_array((data, (entries.row, entries.col)), shape=counts.shape).tocsr()
    parts = (_as_float(counts.data, name), counts.indices, counts.indptr)
    try:
        # A view of our own, as checking changes attributes of what it checks. The full check
        # matters: an index out of range would corrupt memory in compiled code.
        view = compressed(parts, shape=counts.shape)
        view.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"{name} is not a valid {counts.format} matrix: {error}") from error
    return view.tocsr()


def _read_dense(values: Any, name: str, *, text: bool = True) -> NDArray[Any]:
    """Array of whatever was given, unless it is text or ragged."""
    advice = _TEXT_ADVICE if text else "Encode labels as numbers first."
    wanted = "counts" if text else "numbers"
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; fill it first, e.g. {name}.filled(0)")
    try:
        array = np.asarray(values)
    except ValueError as error:  # numpy's message for rows of different lengths
        if _holds_text(values):
            raise TypeError(f"{name} holds text instead of {wanted}. {advice}") from error
        raise ValueError(
            f"the rows of {name} have different lengths; every row needs one number for each column"
        ) from error
    if array.dtype.kind in "USOT" and _holds_text(array):
        raise TypeError(f"{name} holds text instead of {wanted}{_first_text(array)}. {advice}")
    return array


def _holds_text(values: Any) -> bool:
    if isinstance(values, (str, bytes)):
        return True
    if isinstance(values, np.ndarray):
        return values.dtype.kind in "UST" or any(map(_holds_text, values.flat))
    return isinstance(values, (list, tuple)) and any(map(_holds_text, values))


def _first_text(array: NDArray[Any]) -> str:
    """Where a table of numbers has its first text; empty for anything but a table."""
    if array.ndim != 2:
        return ""
    position = next(i for i, value in enumerate(array.flat) if _holds_text(value))
    row, column = divmod(position, array.shape[1])
    return f": row {row}, column {column} is {str(array[row, column])!r}"


def _as_float(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers")
    if values.dtype.kind in "biuf":
        return values.astype(np.float64, copy=False)
    if values.dtype.kind == "O":
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError) as error:
            _raise_not_a_number(values, name, error)
    raise TypeError(f"{name} must hold numbers, but its type is {values.dtype}")


def _raise_not_a_number(values: NDArray[Any], name: str, error: Exception) -> NoReturn:
    for position, value in enumerate(values.flat):
        try:
            float(value)
        except (TypeError, ValueError):
            where = tuple(int(i) for i in np.unravel_index(position, values.shape))
            label = f"row {where[0]}" + (f", column {where[1]}" if len(where) == 2 else "")
            raise TypeError(
                f"{name} must hold numbers, but {label} is {value!r}: {error}"
            ) from error
    raise TypeError(f"{name} must hold numbers: {error}") from error


def _with_smallest_indices(matrix: sparse.csr_array) -> sparse.csr_array:
    """Indices of int32 where rows, columns and number of entries allow it, else of int64."""
    dtype = index_dtype(max(matrix.nnz, *matrix.shape))
    if matrix.indices.dtype == dtype and matrix.indptr.dtype == dtype:
        return matrix
    indices, indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    return sparse.csr_array((matrix.data, indices, indptr), shape=matrix.shape)


def _where(
    matrix: sparse.csr_array, vocabulary: tuple[str, ...] | None, first_row: int, position: int
) -> str:
    """Row, column and word of the entry at a position of ``matrix.data``."""
    row = int(np.searchsorted(matrix.indptr, position, side="right")) - 1
    column = int(matrix.indices[position])
    word = "" if vocabulary is None else f" (word {vocabulary[column]!r})"
    return f"row {first_row + row}, column {column}{word}"
