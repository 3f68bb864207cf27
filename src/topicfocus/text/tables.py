"""`read_table`: one or more files, whatever their format, as a table of documents."""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topicfocus.text import files, formats
from topicfocus.text.blocks import BadRows, Block, Request, make_block
from topicfocus.text.errors import ReadError
from topicfocus.text.formats import Source

if TYPE_CHECKING:
    from topicfocus.text.matrices import CountTable

_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".npz": "counts",
    ".mtx": "counts",
}
FORMATS = ("csv", "tsv", "jsonl", "parquet", "xlsx", "folder", "counts")


class Table:
    """Documents of one or more files, read in blocks.

    Iterating reads the files from their beginning and yields `Block`s. Texts are not kept. Targets,
    groups, numbers and row numbers of the blocks read so far are.

    Attributes
    ----------
    path, format : str
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
    file_of_rows : array of str
        The file of each row.
    n_skipped : int
        Number of rows skipped as unreadable.
    skipped : list of str
        What was wrong with the first ten of them.
    names : list of str, or None
        For a folder of texts: the files in it.

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

    def __init__(self, path: str, sources: Sequence[Source], request: Request) -> None:
        self.path, self.sources, self.request = path, tuple(sources), request
        self.format = sources[0].format
        self.files = [source.path for source in sources]
        documents, folder = sources[0].documents, sources[0].place
        self.names = [os.path.relpath(name, folder) for name, _ in documents] or None
        self.forget()

    def forget(self) -> None:
        """Drop the targets, groups, numbers and row numbers read so far.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from topicfocus.text import read_table
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "reviews.csv")
        ...     _ = path.write_text("text,stars\\ngood film,5\\n")
        ...     table = read_table(path, text="text", target="stars")
        ...     _ = table.read()
        >>> table.forget()
        >>> table.target
        []
        """
        self.target: list[str | None] | None = None if self.request.target is None else []
        self.group: list[str | None] | None = None if self.request.group is None else []
        self._read: list[tuple[str, NDArray[np.int64], NDArray[np.float64]]] = []
        self._bad = BadRows(self.request.skip_bad)

    @property
    def rows(self) -> NDArray[np.int64]:
        return np.concatenate([np.empty(0, np.int64), *(rows for _, rows, _ in self._read)])

    @property
    def numbers(self) -> NDArray[np.float64]:
        none = np.empty((0, len(self.request.numbers)))
        return np.concatenate([none, *(numbers for *_, numbers in self._read)])

    @property
    def file_of_rows(self) -> NDArray[np.object_]:
        names = np.array([path for path, *_ in self._read], dtype=object)
        return np.repeat(names, [len(rows) for _, rows, _ in self._read])

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
        return f"{self.file_of_rows[i]}, {row}" if len(self.files) > 1 else row

    def __iter__(self) -> Iterator[Block]:
        self.forget()
        for source in self.sources:
            with files.reading(source.path):
                for found in formats.READERS[source.format](source, self.request, self._bad):
                    block = make_block(found, source.path, self.request, self._bad)
                    if len(block):
                        self._keep(block)
                        yield block
        self._check_any()

    def _keep(self, block: Block) -> None:
        self._read.append((block.path, block.rows, block.numbers))
        if self.target is not None:
            self.target += block.target or []
        if self.group is not None:
            self.group += block.group or []

    def _check_any(self) -> None:
        if self._bad.n and not self._read:
            raise ReadError(f"none of the {self._bad.n} rows is readable. {self.skipped[0]}")
        if not self._read:
            raise ReadError(f"{self.path} has a header but no rows.")

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
        texts = [text for block in self for text in block.strings]
        return Block(texts, self.target, self.rows, self.numbers, self.group, self.path)


def read_table(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
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
    separator: str | None = None,
    sheet: str | None = None,
) -> Any:
    """Open a table of documents. Columns are checked at once; rows are read by iterating.

    Parameters
    ----------
    path : path-like, or sequence of path-like
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
    given = [os.fspath(p) for p in ([path] if isinstance(path, (str, os.PathLike)) else path)]
    _check_settings(given, format, delimiter, separator)
    request = Request(
        text=text,
        target=target,
        numbers=tuple(numbers),
        allow_missing=tuple(allow_missing),
        group=group,
        delimiter=delimiter,
        encoding=encoding,
        block_rows=block_rows,
        separator=separator,
        sheet=sheet,
        skip_bad=skip_bad,
    )
    names = _expand(given, format)
    if len(names) == 1 and names[0] != "-" and (format or _format_of(names[0])) == "counts":
        return _count_table(names[0], request, vocabulary)
    folder = _store_standard_input() if names == ["-"] else None
    sources = [_open_source(name, format, request, folder) for name in names]
    called = given[0] if len(given) == 1 else f"{given[0]} and {len(names) - 1} more files"
    if sources[0].documents:
        has_classes = sources[0].documents[0][1] is not None
        request = replace(request, text="text", target="folder" if has_classes else None)
    table = Table(called, sources, request)
    if folder is not None:
        weakref.finalize(table, shutil.rmtree, folder, ignore_errors=True)
    return table


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
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\x1e'):
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
    inner = path.stem if files.compression(path.name) not in (None, ".zip") else path.name
    ending = Path(inner).suffix.lower()
    known = ending == ".zip" or _FORMATS.get(ending, "counts") != "counts"
    return known and path.is_file() and not path.name.startswith(".")


def _count_table(path: str, request: Request, vocabulary: str | None) -> CountTable:
    from topicfocus.text.matrices import read_counts

    for column in (*request.numbers, *filter(None, [request.group])):
        raise ReadError(
            f"{path} is a count matrix, which has no column {column!r}. Use a table of texts, or "
            "fit in Python."
        )
    return read_counts(path, vocabulary, request.target, request.encoding)


def _store_standard_input() -> str:
    """A temporary folder with the content of standard input, which can then be read as a file."""
    folder = tempfile.mkdtemp(prefix="topicfocus-")
    with open(os.path.join(folder, "stdin"), "wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    return folder


def _open_source(path: str, format: str | None, request: Request, stored: str | None) -> Source:
    """A file with its format and columns determined, and the requested columns checked."""
    place = path if stored is None else os.path.join(stored, "stdin")
    with files.reading(path):
        kind = format or (_format_of(path) if stored is None else _sniff_format(place))
        if stored is not None and kind in ("parquet", "xlsx", "folder", "counts"):
            raise ReadError(f"{kind} cannot be read from standard input. Name the file.")
        if kind == "counts":
            raise ReadError(f"{path} is a count matrix, which cannot be one of several files.")
        if kind == "folder":
            return formats.open_folder(path, request)
        if kind in ("parquet", "xlsx"):
            if files.compression(path):
                raise ReadError(f"{path}: {kind} cannot be read compressed. Extract it first.")
            columns = (formats.parquet_columns if kind == "parquet" else formats.excel_header)(
                path, request
            )
            formats.check_columns(request, columns, path)
            return Source(path, place, kind, tuple(columns))
        head = files.read_head(place)
        files.check_text(head, path, request.encoding)
        if kind == "jsonl":
            formats.check_json_head(head, path, request)
            return Source(path, place, kind)
        delimiter, header = formats.csv_header(place, path, "\t" if kind == "tsv" else ",", request)
        formats.check_columns(request, header, path)
        return Source(path, place, "csv", tuple(header), delimiter)


def _format_of(path: str) -> str:
    """The format that the name of a file stands for."""
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


def _sniff_format(place: str) -> str:
    """The format of standard input, by its first line."""
    head = files.read_head(place).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] in (b"{", b"["):
        return "jsonl"
    first = head.split(b"\n", 1)[0]
    return "tsv" if first.count(b"\t") > first.count(b",") else "csv"
