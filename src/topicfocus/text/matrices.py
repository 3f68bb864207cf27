"""Count matrices that others have made: .npz and .mtx, with their words in a file beside them."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topicfocus.corpus import Corpus, make_corpus
from topicfocus.text.errors import ReadError
from topicfocus.text.files import check_exists, encoding_advice, open_bytes, readable
from topicfocus.text.matrix_market import read_matrix_market

_ENDINGS = (".npz", ".mtx", ".mtx.gz")
#: What reading a damaged .npz has been seen to raise.
_DAMAGED = (
    *(ValueError, KeyError, OSError, EOFError, TypeError, AttributeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)


@dataclass(frozen=True)
class CountTable:
    """A matrix of counts with its words, and the target if there is a file of it.

    Attributes
    ----------
    corpus : Corpus
        ``corpus.counts`` and ``corpus.vocabulary``.
    target : list of str, or None
        One value a document, as in the file.

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
        """What messages call a document.

        Parameters
        ----------
        i : int
            Its number, from 0 on.

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
    """Read a matrix of counts, documents x words.

    Parameters
    ----------
    path : str
        A scipy sparse matrix in .npz (never unpickled), or Matrix Market, .mtx or .mtx.gz.
    vocabulary : str, optional
        File of words, one a line, in the order of the columns. By default, for ``reviews.npz``,
        the first of reviews.vocab.txt, reviews.vocabulary.txt, reviews.vocab, vocab.txt and
        vocabulary.txt beside it.
    target : str, optional
        File of target values, one a line. By default reviews.target.txt, if it is there.
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
            f"{path} has no vocabulary beside it. Write its words, one a line, to {names[0]}, or "
            "name their file: vocabulary= (--vocabulary)."
        )
    words = _lines(words_at, encoding)
    if len(words) != matrix.shape[1]:
        transposed = " It seems to be words x documents." if len(words) == matrix.shape[0] else ""
        raise ReadError(
            f"{path} has {matrix.shape[1]} columns but {words_at} has {len(words)} "
            f"words.{transposed}"
        )
    target_at = target or _beside(place, (f"{stem}.target.txt",))
    values = None if target_at is None else _lines(target_at, encoding)
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
    from scipy import sparse

    if not zipfile.is_zipfile(path):
        raise ReadError(f"{path} is not what its name says: .npz is a zip archive. Rename it.")
    try:
        return sparse.load_npz(path)  # refuses pickles
    except _DAMAGED as error:
        if "pickle" in str(error):
            raise ReadError(
                f"{path} holds pickled objects, which are never loaded: they can run any program. "
                "Save a sparse matrix with scipy.sparse.save_npz."
            ) from None
        raise ReadError(
            f"{path} is not a sparse matrix of scipy ({' '.join(str(error).split())}). Save "
            "it with scipy.sparse.save_npz."
        ) from None


def _mtx(path: str) -> Any:
    with readable(path), open_bytes(path) as stream:
        return read_matrix_market(stream, path)


def _beside(place: Path, names: tuple[str, ...]) -> str | None:
    for name in names:
        if (place.parent / name).is_file():
            return str(place.parent / name)
    return None


def _lines(path: str, encoding: str) -> list[str]:
    with readable(path), open_bytes(path) as stream:
        raw = stream.read()
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode(encoding)
    except UnicodeError as error:
        raise ReadError(f"{path}: {error}. {encoding_advice(encoding)}") from None
    lines = text.split("\n")  # not splitlines: a word may hold other separators
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
