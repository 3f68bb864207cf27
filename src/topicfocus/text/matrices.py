"""Read count matrices (.npz, .mtx), with their vocabulary in a file beside them.

Matrix Market files are parsed by NumPy: ``scipy.io.mmread`` (1.17) ends the process with a
segmentation fault on some damaged files.
"""

from __future__ import annotations

import re
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.text.errors import ReadError
from topicfocus.text.files import check_exists, open_bytes, read_lines, reading

_ENDINGS = (".npz", ".mtx", ".mtx.gz")
#: Empty rows that a Matrix Market file may claim, besides ten for each of its bytes.
_EMPTY_ROWS = 10**6
#: Exceptions of scipy.sparse.load_npz on damaged files.
_DAMAGED = (
    *(ValueError, KeyError, OSError, EOFError, TypeError, AttributeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)


@dataclass(frozen=True)
class CountTable:
    """A count matrix with its vocabulary, and the target if there is a file of it.

    Attributes
    ----------
    corpus : Corpus
        ``corpus.counts`` and ``corpus.vocabulary``.
    target : list of str, or None
        One value per document, as in the file.

    Examples
    --------
    >>> from topicfocus.corpus import make_corpus
    >>> from topicfocus.text import CountTable
    >>> CountTable("reviews.npz", make_corpus([[2, 0], [1, 1]]), ["5", "1"]).corpus.n_docs
    2
    """

    path: str
    corpus: Corpus
    target: list[str] | None

    def where(self, i: int) -> str:
        """The name of a document in messages; rows are counted from 1.

        Parameters
        ----------
        i : int
            Index of the document, from 0.

        Returns
        -------
        str

        Examples
        --------
        >>> from topicfocus.text import CountTable
        >>> CountTable("reviews.npz", None, None).where(16)
        'row 17'
        """
        return f"row {i + 1}"


def read_counts(
    path: str,
    vocabulary: str | None = None,
    target: str | None = None,
    encoding: str = "utf-8",
) -> CountTable:
    """Read a count matrix, documents x words.

    Parameters
    ----------
    path : str
        A scipy sparse matrix in .npz (never unpickled), or Matrix Market, .mtx or .mtx.gz.
    vocabulary : str, optional
        File of words, one per line, in the order of the columns. By default, for ``reviews.npz``,
        the first of reviews.vocab.txt, reviews.vocabulary.txt, reviews.vocab, vocab.txt and
        vocabulary.txt beside it.
    target : str, optional
        File of target values, one per line. By default reviews.target.txt, if it exists.
    encoding : str, default="utf-8"
        Of the two files beside the matrix.

    Returns
    -------
    CountTable

    Raises
    ------
    ReadError
        If a file is missing or damaged, or words or targets do not fit the matrix.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from scipy import sparse
    >>> from topicfocus.text import read_counts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sparse.save_npz(Path(folder, "reviews.npz"), sparse.csr_array([[2, 0], [1, 1]]))
    ...     _ = Path(folder, "vocab.txt").write_text("good\\nbad\\n")
    ...     table = read_counts(str(Path(folder, "reviews.npz")))
    >>> table.corpus.counts.shape
    (2, 2)
    """
    place = check_exists(path)
    with reading(path):
        matrix = _npz(path) if place.name.lower().endswith(".npz") else _mtx(path)
    stem = place.name
    for ending in _ENDINGS:
        if stem.lower().endswith(ending):
            stem = stem[: -len(ending)]
    endings = (".vocab.txt", ".vocabulary.txt", ".vocab")
    names = (*(stem + ending for ending in endings), "vocab.txt", "vocabulary.txt")
    words_at = vocabulary or _beside(place, names)
    if words_at is None:
        raise ReadError(
            f"{path} has no vocabulary beside it. Write its words, one per line, to {names[0]}, or "
            "pass their file: vocabulary= (--vocabulary)."
        )
    words = read_lines(words_at, encoding)
    if len(words) != matrix.shape[1]:
        transposed = " It seems to be words x documents." if len(words) == matrix.shape[0] else ""
        raise ReadError(
            f"{path} has {matrix.shape[1]} columns but {words_at} has {len(words)} "
            f"words.{transposed}"
        )
    target_at = target or _beside(place, (f"{stem}.target.txt",))
    values = None if target_at is None else read_lines(target_at, encoding)
    if values is not None and len(values) != matrix.shape[0]:
        raise ReadError(
            f"{path} has {matrix.shape[0]} documents but {target_at} has {len(values)} values."
        )
    try:
        corpus = make_corpus(matrix, words, name=path)
    except (TypeError, ValueError) as error:
        raise ReadError(" ".join(str(error).split())) from None
    return CountTable(path, corpus, values)


def _npz(path: str) -> Any:
    if not zipfile.is_zipfile(path):
        raise ReadError(f"{path} is not what its name says: .npz is a zip archive. Rename it.")
    try:
        return sparse.load_npz(path)  # refuses pickles
    except _DAMAGED as error:
        if "pickle" in str(error):
            raise ReadError(
                f"{path} contains pickled objects, which are never loaded: they can run any "
                "program. Save a sparse matrix with scipy.sparse.save_npz."
            ) from None
        raise ReadError(
            f"{path} is not a sparse matrix of scipy ({' '.join(str(error).split())}). Save "
            "it with scipy.sparse.save_npz."
        ) from None


def _beside(place: Path, names: tuple[str, ...]) -> str | None:
    found = (place.parent / name for name in names)
    return next((str(path) for path in found if path.is_file()), None)


def _mtx(path: str) -> Any:
    """The matrix of a Matrix Market file; sizes and indices are checked before they are used."""
    with open_bytes(path) as stream:
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
        body = re.sub(rb"(?m)^\s*%.*$", b"", stream.read())
    numbers = _numbers(body, path)
    n_sizes = 3 if layout == "coordinate" else 2
    sizes, numbers = numbers[:n_sizes], numbers[n_sizes:]
    if len(sizes) < n_sizes or not np.all((sizes >= 0) & (sizes < 1e15) & (sizes % 1 == 0)):
        raise ReadError(f"{path} is not Matrix Market: it has no line of {n_sizes} sizes.")
    n_rows, n_columns, *stored = (int(size) for size in sizes)
    if n_rows > _EMPTY_ROWS + 10 * len(body) or n_columns > 2**31 - 2:
        raise ReadError(
            f"{path} claims {n_rows} rows and {n_columns} columns, which it does not contain."
        )
    width = 1 if layout == "array" else (2 if field == "pattern" else 3)
    expected = width * (stored[0] if stored else n_rows * n_columns)
    if len(numbers) != expected:
        raise ReadError(
            f"{path} has {len(numbers)} numbers where its header says {expected}. It is truncated "
            "or was altered; write it again."
        )
    if layout == "array":
        return numbers.reshape(n_columns, n_rows).T
    entries = numbers.reshape(-1, width)
    rows, columns = (
        _indices(entries[:, j], limit, path) for j, limit in enumerate((n_rows, n_columns))
    )
    values = np.ones(len(entries)) if width == 2 else entries[:, 2]
    return sparse.coo_array((values, (rows, columns)), shape=(n_rows, n_columns))


def _numbers(body: bytes, path: str) -> NDArray[np.float64]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # text that is not a number
        try:
            return np.fromstring(body.decode("ascii"), sep=" ")
        except (ValueError, UnicodeError, DeprecationWarning):
            raise ReadError(f"{path} is not Matrix Market: not all of it is numbers.") from None


def _indices(numbers: NDArray[np.float64], limit: int, path: str) -> NDArray[np.int64]:
    """Rows or columns, which the file counts from 1."""
    good = (numbers >= 1) & (numbers <= limit) & (numbers == np.floor(numbers))
    if not good.all():
        i = int(np.argmin(good))
        raise ReadError(f"{path}, entry {i + 1}: {numbers[i]:g} is not an index from 1 to {limit}.")
    return numbers.astype(np.int64) - 1
