"""`read_table`: one or more files, whatever their format, as a table of documents."""

from __future__ import annotations

import glob
import logging
import os
import shutil
import sys
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.extensions import ExtensionArray

from topicfocus.text import files, formats
from topicfocus.text.errors import ReadError, shown
from topicfocus.text.formats import BadRows, Reader, Request, as_label
from topicfocus.text.numbers import LARGEST, advice, is_missing, why_no_number

if TYPE_CHECKING:
    from topicfocus.text.matrices import CountTable

log = logging.getLogger(__name__)

#: Seconds between messages about the documents read so far.
LOG_SECONDS = 10
_FORMATS = {
    **dict.fromkeys((".csv",), "csv"),
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".xlsx", ".xlsm"), "xlsx"),
    **dict.fromkeys((".npz", ".mtx"), "counts"),
}
FORMATS = ("csv", "tsv", "jsonl", "parquet", "xlsx", "folder", "counts")


@dataclass(frozen=True)
class Block:
    """Some rows of a table.

    Attributes
    ----------
    texts : sequence of str
        The documents: a list, or an array of strings of pandas.
    target : list of str or None, or None
        Values as in the file, None where missing; None if no target was requested.
    rows : array of int
        Row numbers in the file, from 1.
    numbers : array (rows, columns)
        Numeric columns; NaN only in those that may have missing values.
    group : list of str or None, or None
        Values of the group column, None where missing.
    path : str
        The file.
    labels : dict of lists
        Values of other columns as texts, None where missing.
    """

    texts: list[str]
    target: list[str | None] | None
    rows: NDArray[np.int64]
    numbers: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    group: list[str | None] | None = None
    path: str = ""
    labels: dict[str, list[str | None]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)


class Table:
    """Documents of one or more files, read in blocks.

    Iterating reads the files from their beginning and yields `Block`s. Targets, groups, numbers and
    row numbers of the blocks read so far are kept; texts only as far as `keep_characters` allows.

    Attributes
    ----------
    path : str
    files : list of str
        The files. Rows are numbered in each of them.
    target : list of str or None, or None
        Of the rows read so far; None if the table has no target.
    group : list of str or None, or None
        Values of the group column.
    rows : array of int
        Row numbers in the file, from 1.
    numbers : array (rows, columns)
        Values of the numeric columns.
    labels : dict of lists
        Values of other columns, by name.
    file_of_rows : array of str
        The file of each row.
    n_skipped : int
        Number of rows skipped as unreadable.
    skipped : list of str
        What was wrong with the first ten of them.
    names : list of str, or None
        For a folder of texts: the files in it.
    keep_characters : int
        Texts of the first rows are kept, of about as many characters; by default 0.
    texts : list of str
        These texts.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from topicfocus.text import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "reviews.csv")
    ...     _ = path.write_text("text,stars\\ngood film,5\\nbad film,1\\n")
    ...     table = read_table(path, text="text", target="stars")
    ...     documents = [len(block) for block in table]
    >>> documents, table.target
    ([2], ['5', '1'])
    """

    def __init__(
        self,
        path: str,
        sources: dict[str, Reader],
        request: Request,
        names: list[str] | None = None,
    ) -> None:
        self.path, self.request, self.names = path, request, names
        self.keep_characters = 0
        self.texts: list[str] = []
        self._sources = sources
        self._read: list[Block] = []
        self._bad = BadRows(request.skip_bad)

    @property
    def files(self) -> list[str]:
        return list(self._sources)

    @property
    def target(self) -> list[str | None] | None:
        if self.request.target is None:
            return None
        return [value for block in self._read for value in block.target or ()]

    @property
    def group(self) -> list[str | None] | None:
        if self.request.group is None:
            return None
        return [value for block in self._read for value in block.group or ()]

    @property
    def labels(self) -> dict[str, list[str | None]]:
        names = self.request.labels
        return {name: [v for block in self._read for v in block.labels[name]] for name in names}

    @property
    def rows(self) -> NDArray[np.int64]:
        return np.concatenate([np.empty(0, np.int64), *(block.rows for block in self._read)])

    @property
    def numbers(self) -> NDArray[np.float64]:
        none = np.empty((0, len(self.request.numbers)))
        return np.concatenate([none, *(block.numbers for block in self._read)])

    @property
    def file_of_rows(self) -> NDArray[np.object_]:
        names = np.array([block.path for block in self._read], dtype=object)
        return np.repeat(names, [len(block) for block in self._read])

    @property
    def n_skipped(self) -> int:
        return self._bad.n

    @property
    def skipped(self) -> list[str]:
        return self._bad.messages

    def where(self, i: int) -> str:
        """The name of a row in messages.

        Parameters
        ----------
        i : int
            Index of the row among those read so far, from 0.

        Returns
        -------
        str

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from topicfocus.text import read_table
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "reviews.csv")
        ...     _ = path.write_text("text\\ngood film\\nbad film\\n")
        ...     table = read_table(path, text="text")
        ...     _ = table.read()
        >>> table.where(1)
        'row 2'
        """
        row = f"row {self.rows[i]}"
        return f"{self.file_of_rows[i]}, {row}" if len(self._sources) > 1 else row

    def __iter__(self) -> Iterator[Block]:
        self._read, self._bad, self.texts = [], BadRows(self.request.skip_bad), []
        n, room, logged = 0, self.keep_characters, time.monotonic()
        for path, read in self._sources.items():
            with files.reading(path):
                for rows, columns in read(self._bad):
                    block = _make_block(rows, columns, path, self.request, self._bad)
                    if not len(block):
                        continue
                    self._read.append(replace(block, texts=[]))
                    n += len(block)
                    if room > 0:
                        self.texts.extend(block.texts)
                        room -= sum(map(len, block.texts))
                    if time.monotonic() - logged > LOG_SECONDS:
                        log.info(f"Read {n:,} documents ...")
                        logged = time.monotonic()
                    yield block
        if not n and self._bad.n:
            raise ReadError(f"none of the {self._bad.n} rows is readable. {self.skipped[0]}")
        if not n:
            raise ReadError(f"{self.path} has a header but no rows.")

    def load(self, columns: Sequence[Sequence[Any]], texts: list[str]) -> None:
        """Take columns from elsewhere, and the texts of the first rows.

        Parameters
        ----------
        columns : sequence of sequences
            Values of all columns but the text.
        texts : list of str

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from topicfocus.text import read_table
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "reviews.csv")
        ...     _ = path.write_text("text,stars\\ngood film,5\\n")
        ...     table = read_table(path, text="text", target="stars")
        >>> table.load([["5"]], ["good film"])
        >>> table.target
        ['5']
        """
        self._bad, self.texts = BadRows(self.request.skip_bad), texts
        n = len(columns[0])
        found = [[""] * n, *columns]
        self._read = [_make_block(range(1, n + 1), found, self.path, self.request, self._bad)]

    def read(self) -> Block:
        """All rows as one block, for tables that fit into memory.

        Returns
        -------
        Block

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from topicfocus.text import read_table
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "reviews.csv")
        ...     _ = path.write_text("text,stars\\ngood film,5\\nbad film,1\\n")
        ...     table = read_table(path, text="text", target="stars")
        ...     block = table.read()
        >>> block.texts
        ['good film', 'bad film']
        """
        texts = [text for block in self for text in block.texts]
        rows, numbers, group, labels = self.rows, self.numbers, self.group, self.labels
        return Block(texts, self.target, rows, numbers, group, self.path, labels)


def _make_block(
    rows: Sequence[int], values: Sequence[Sequence[Any]], path: str, request: Request, bad: BadRows
) -> Block:
    """Check and convert the values of some rows; rows with an unusable value are reported."""
    columns = dict(zip(request.names, values, strict=True))
    wrong: dict[int, str] = {}
    named = (request.text, request.target, request.group, *request.labels)
    texts: dict[Any, list[Any]] = {
        name: _texts(columns[name], name, request, wrong) for name in named if name is not None
    }
    numbers = [_numbers(columns[name], name, request, wrong) for name in request.numbers]
    matrix = np.array(numbers).T.reshape(len(rows), len(numbers))
    kept = np.array(rows)
    if wrong:
        for i in sorted(wrong):
            bad.report(f"{path}, row {rows[i]}: {wrong[i]}")
        good = [i for i in range(len(rows)) if i not in wrong]
        texts = {name: [column[i] for i in good] for name, column in texts.items()}
        kept, matrix = kept[good], matrix[good]
    group = texts.get(request.group)
    if group is not None:
        group = [None if v is None or is_missing(v) else v.strip() for v in group]
    labels = {name: texts[name] for name in request.labels}
    documents = texts.get(request.text, [])
    return Block(documents, texts.get(request.target), kept, matrix, group, path, labels)


def _texts(
    values: Sequence[Any], name: str, request: Request, wrong: dict[int, str]
) -> list[str | None]:
    """A column as texts, None where a value is missing; what is wrong goes to `wrong`."""
    if isinstance(values, ExtensionArray):  # strings of pandas
        return values
    found = list(values)
    with suppress(TypeError, UnicodeEncodeError):  # nearly always, they are texts without errors
        if all(map(str.isascii, found)) or "".join(found).encode():
            return found
    for i, value in enumerate(found):
        try:
            if type(value) is not str:
                value = _as_text(value, request) if name == request.text else _label(value, name)
            if value is not None and not value.isascii():
                formats.check_decoded(value, request.encoding)
        except ValueError as error:
            value = ""
            wrong.setdefault(i, str(error))
        found[i] = value
    return found


def _as_text(value: Any, request: Request) -> str:
    """A list of codes as one text with the separator between them; ValueError for other values."""
    name, separator = request.text, request.separator
    if value is None:
        raise ValueError(f"no {name!r}. Give it a text, or an empty one.")
    if not isinstance(value, list):
        raise ValueError(
            f"{name!r} is {shown(value)}, not a text. Name the column that contains text."
        )
    if separator is None:
        raise ValueError(
            f"{name!r} is a list, not a text. To count its items as codes, pass a separator that "
            "occurs in none of them: separator=';' (--separator ';')."
        )
    for item in value:
        if isinstance(item, bool) or not isinstance(item, (str, int, float)):
            raise ValueError(f"{name!r} has the item {shown(item)}, not a text. Correct it.")
        if separator in str(item):
            raise ValueError(
                f"{name!r} has the item {shown(item)}, which contains the separator "
                f"{separator!r}. Use another: separator= (--separator)."
            )
    return separator.join(map(str, value))


def _label(value: Any, name: str) -> str | None:
    """A value of a target or a group as a text, None where missing."""
    if isinstance(value, (dict, list)):
        raise ValueError(f"{name!r} is {shown(value)}, not one value. Name another column.")
    return None if value is None or value != value else as_label(value)


def _numbers(
    values: Sequence[Any], name: str, request: Request, wrong: dict[int, str]
) -> NDArray[np.float64]:
    """A numeric column; NaN where it may be missing and is."""
    plain = [v if isinstance(v, (str, float)) or v is None else str(v) for v in values]
    numbers = pd.to_numeric(pd.Series(plain, dtype=object), errors="coerce").to_numpy(np.float64)
    for i in np.flatnonzero(~(np.abs(numbers) <= LARGEST)).tolist():
        text = "" if plain[i] is None else str(plain[i]).strip()
        if not is_missing(text):
            reason = why_no_number(text)
            wrong.setdefault(i, f"{name!r} is {shown(values[i])}, {reason}. {advice(reason)}.")
        elif name not in request.allow_missing:
            wrong.setdefault(i, f"{name!r} is missing. Fill it in.")
    return numbers


def read_table(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | pd.DataFrame,
    text: str | None = None,
    target: str | None = None,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    skip_bad: bool = False,
    block_rows: int = 20_000,
    vocabulary: str | None = None,
    numbers: Sequence[str] = (),
    allow_missing: Sequence[str] = (),
    group: str | None = None,
    labels: Sequence[str] = (),
    separator: str | None = None,
    sheet: str | None = None,
) -> Any:
    """Open a table of documents. Columns are checked at once; rows are read by iterating.

    Parameters
    ----------
    path : path-like, sequence of path-like, or pandas.DataFrame
        CSV, TSV, JSON lines or a JSON array, also compressed (.gz, .bz2, .xz, .zip, .zst); Parquet;
        Excel; a folder of text files; a count matrix (.npz, .mtx; see `read_counts`); or "-" for
        standard input. Several files with the same columns: a list, a pattern such as
        "parts/*.csv", or a folder of such files.
    text, target : str, optional
        Names of the columns. A folder of text files needs neither: the files are the texts, and the
        names of its subfolders, if any, the target. For a count matrix, `target` is a file.
    format : {"csv", "tsv", "jsonl", "parquet", "xlsx", "folder", "counts"}, optional
        By default determined by the name of the file; for standard input, by its content.
    delimiter : str, optional
        By default the one of comma, tab, semicolon and bar that yields the requested columns.
    encoding : str, default="utf-8"
        Of text files; a byte order mark is allowed.
    skip_bad : bool, default=False
        Skip and count unreadable rows instead of raising an error.
    block_rows : int, default=20000
        Maximum number of rows of a block.
    vocabulary : str, optional
        File with the words of a count matrix.
    numbers : sequence of str, optional
        Names of numeric columns, such as covariates. A row without a number is unreadable.
    allow_missing : sequence of str, optional
        Those of `numbers` that may be missing: NaN.
    group : str, optional
        Name of a column that says which rows belong together.
    labels : sequence of str, optional
        Names of other columns, which are read as texts.
    separator : str, optional
        Text between codes: a column of lists is joined to texts with it.
    sheet : str, optional
        Sheet of an Excel file that has several.

    Returns
    -------
    Table, or CountTable for a count matrix

    Raises
    ------
    ReadError
        If a file cannot be read or lacks a column: one line with the file, the row and the remedy.

    Notes
    -----
    Row 1 is the first row below the header, and blank rows count: in a CSV file without line breaks
    inside quotes, row N is line N + 1. Blank rows are not documents; in a file with one column, an
    empty text is a blank row.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from topicfocus.text import TokenCounter, detect_target, read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "reviews.csv")
    ...     _ = path.write_text("text,stars\\ngood film,5\\nbad film,1\\n")
    ...     table = read_table(path, text="text", target="stars")
    ...     counts = TokenCounter(min_df=1).fit_transform(table)
    >>> counts.shape, detect_target(table.target).classes
    ((2, 3), ('1', '5'))
    """
    files.extends_ascii(encoding)  # raises if it is unknown
    request = Request(
        text=text,
        target=target,
        numbers=tuple(numbers),
        allow_missing=tuple(allow_missing),
        group=group,
        labels=tuple(labels),
        delimiter=delimiter,
        encoding=encoding,
        block_rows=block_rows,
        separator=separator,
        sheet=sheet,
        skip_bad=skip_bad,
    )
    if isinstance(path, pd.DataFrame):
        called = "the DataFrame"
        return Table(called, {called: formats.open_frame(path, called, request)}, request)
    given = [os.fspath(p) for p in ([path] if isinstance(path, (str, os.PathLike)) else path)]
    _check_settings(given, format, delimiter, separator)
    names = _expand(given, format)
    kinds = {name: format_of(name, format) for name in names}
    if "counts" in kinds.values():
        return _count_table(names, request, vocabulary)
    called = given[0] if len(given) == 1 else f"{given[0]} and {len(names) - 1} more files"
    if kinds == {names[0]: "folder"}:
        documents = formats.documents_of(names[0])
        reader, request = formats.open_folder(names[0], request, documents)
        inside = [os.path.relpath(file, names[0]) for file, _ in documents]
        return Table(called, {names[0]: reader}, request, inside)
    if names == ["-"]:
        folder = tempfile.mkdtemp(prefix="topicfocus-")
        place = os.path.join(folder, "stdin")
        with open(place, "wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        table = Table("-", {"-": _open(place, "-", format, request)}, request)
        weakref.finalize(table, shutil.rmtree, folder, ignore_errors=True)
        return table
    sources = {name: _open(name, name, kind, request) for name, kind in kinds.items()}
    return Table(called, sources, request)


def is_matrix(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a count matrix by its name."""
    name = Path(path).name.lower().removesuffix(".gz")
    return _FORMATS.get(Path(name).suffix) == "counts"


def _check_settings(
    paths: list[str], format: str | None, delimiter: str | None, separator: str | None
) -> None:
    if not paths:
        raise ReadError("no file was named.")
    if format is not None and format not in FORMATS:
        raise ReadError(f"format must be one of {', '.join(FORMATS)}; got {format!r}.")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ReadError(f"delimiter must be one character other than a quote, got {delimiter!r}.")
    if separator == "":
        raise ReadError("separator must be one character or more.")


def _expand(paths: list[str], format: str | None) -> list[str]:
    """Names of files: patterns and folders of tables are replaced by the files in them."""
    names: list[str] = []
    for path in paths:
        if path == "-" or not glob.has_magic(path) or Path(path).exists():
            names.append(path)
            continue
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise ReadError(f"{path}: no file has such a name.")
        names += found
    if len(names) > 1 and "-" in names:
        raise ReadError("standard input (-) cannot be read together with files. Name it alone.")
    seen: set[str] = set()
    for name in names:
        if os.path.abspath(name) in seen:
            raise ReadError(f"{name} is named twice. Its rows would count twice; name it once.")
        seen.add(os.path.abspath(name))
    if len(names) > 1:
        for name in names:
            if Path(name).is_dir():
                raise ReadError(f"{name} is a folder. Read it alone, not with other files.")
    elif names[0] != "-" and format != "folder" and files.check_exists(names[0]).is_dir():
        tables = [str(p) for p in sorted(Path(names[0]).iterdir()) if _is_table(p)]
        if tables and not formats.documents_of(names[0]):
            return tables
    return names


def _is_table(path: Path) -> bool:
    inner = path.stem if path.suffix.lower() in files.COMPRESSED else path.name
    known = path.suffix.lower() == ".zip" or _FORMATS.get(Path(inner).suffix.lower(), "counts")
    return known != "counts" and path.is_file() and not path.name.startswith(".")


def format_of(path: str, format: str | None = None) -> str | None:
    """The format of a file by its name, unless it is given; None for standard input."""
    if format is not None or path == "-":
        return format
    if files.check_exists(path).is_dir():
        return "folder"
    with files.reading(path):
        ending = Path(files.uncompressed_name(path)).suffix.lower()
    if ending not in _FORMATS:
        raise ReadError(
            f"{path}: its name does not say what kind of file it is. Specify it: format= "
            f"(--format), one of {', '.join(FORMATS)}."
        )
    return _FORMATS[ending]


def _count_table(names: list[str], request: Request, vocabulary: str | None) -> CountTable:
    from topicfocus.text.matrices import read_counts

    if len(names) > 1 or names == ["-"]:
        raise ReadError("a count matrix cannot be one of several files or standard input.")
    for column in (*request.numbers, *filter(None, [request.group]), *request.labels):
        raise ReadError(
            f"{names[0]} is a count matrix, which has no column {column!r}. Use a table of texts, "
            "or fit in Python."
        )
    return read_counts(names[0], vocabulary, request.target, request.encoding)


def _open(place: str, path: str, format: str | None, request: Request) -> Reader:
    """Check the columns of a file; the result reads its rows. Messages name `path`."""
    with files.reading(path):
        if format in ("parquet", "xlsx"):
            if path == "-" or Path(path).suffix.lower() in files.COMPRESSED:
                raise ReadError(f"{path}: {format} is read from a file, not compressed or piped.")
            open_it = formats.open_parquet if format == "parquet" else formats.open_excel
            return open_it(place, path, request)
        if format is None:  # standard input
            head = files.read_head(place).removeprefix(b"\xef\xbb\xbf").lstrip()
            format = "jsonl" if head[:1] in (b"{", b"[") else "csv"
        if format == "jsonl":
            return formats.open_json(place, path, request)
        if format == "folder":
            raise ReadError(f"{path} is not a folder of texts. Name the folder alone.")
        return formats.open_csv(place, path, request, "\t" if format == "tsv" else ",")
