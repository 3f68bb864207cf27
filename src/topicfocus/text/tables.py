"""`read_table`: one door to all formats."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topicfocus.text.delimited import Delimited
from topicfocus.text.errors import BadRows, ReadError
from topicfocus.text.files import check_exists, open_bytes, peek, readable
from topicfocus.text.folders import Folder, holds_texts
from topicfocus.text.jsonarray import JsonArray, is_array
from topicfocus.text.jsonlines import JsonLines
from topicfocus.text.packed import packing, unpacked_name
from topicfocus.text.parquet import Parquet
from topicfocus.text.records import Block, Request
from topicfocus.text.several import Several, spread
from topicfocus.text.values import Values

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
    """Texts and targets of a file, read in blocks.

    Iterating reads the file once from its beginning and yields `Block`s; a file may be iterated
    again, standard input may not. Texts are not kept. Targets and row numbers of the blocks handed
    out so far are, because they are small and wanted after the texts have been counted.

    Attributes
    ----------
    path, format : str
    target : sequence of str or None, or None
        Of the rows read so far; None if the table has no target.
    rows : array of int
        Their numbers in the file.
    numbers : array (rows, columns)
        Of the columns asked for as numbers.
    n_skipped : int
        Rows left out as unreadable so far, and in `skipped` what was wrong with the first ten.
    group : sequence of str or None, or None
        Values of the column asked for as groups.
    names : list of str, or None
        Of a folder of texts: the files.
    files : list of str
        Of a table of several files: their names. Rows are then numbered in each of them.

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

    def __init__(self, source: Any, format: str, some_rows: bool = True) -> None:
        self._source = source
        self._used, self._some_rows = False, some_rows
        self.path: str = source.request.path
        self.format = format
        self.names: list[str] | None = getattr(source, "names", None)
        self.files: list[str] = getattr(source, "files", [self.path])
        self._forget()

    def _forget(self) -> None:
        self._rows: list[range | NDArray[np.int64]] = []
        self._numbers: list[NDArray[np.float64]] = []
        self._paths: list[tuple[str, int]] = []
        request = self._source.request
        self.target: Values | None = None if request.target is None else Values()
        self.group: Values | None = None if request.group is None else Values()

    @property
    def rows(self) -> NDArray[np.int64]:
        return np.concatenate([np.empty(0, dtype=np.int64), *map(np.asarray, self._rows)])

    def _add_rows(self, rows: NDArray[np.int64]) -> None:
        """Numbers of rows; those in a row, as most are, by the first and the last."""
        if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and np.all(np.diff(rows) == 1):
            self._rows.append(range(int(rows[0]), int(rows[-1]) + 1))
        else:
            self._rows.append(rows)

    def forget(self) -> None:
        """Targets, rows and numbers that were read are needed no more.

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
        self._forget()

    @property
    def numbers(self) -> NDArray[np.float64]:
        none = np.empty((0, len(self._source.request.numbers)))
        return np.concatenate([none, *self._numbers])

    def where(self, i: int) -> str:
        """What messages call a row.

        Parameters
        ----------
        i : int
            Its number among the rows read so far, from 0 on.

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
        ...     _ = path.write_text("text\\ngood film\\n\\nbad film\\n")
        ...     table = read_table(path, text="text")
        ...     _ = table.read()
        >>> table.where(1)
        'row 2'
        """
        row = f"row {self.rows[i]}"
        return f"{self.file_of_rows[i]}, {row}" if len(self.files) > 1 else row

    @property
    def file_of_rows(self) -> NDArray[np.object_]:
        """The file of each row read so far."""
        names = np.array([path or self.path for path, _ in self._paths], dtype=object)
        return np.repeat(names, [n for _, n in self._paths])

    @property
    def n_skipped(self) -> int:
        return self._source.request.bad.n

    @property
    def skipped(self) -> list[str]:
        return self._source.request.bad.messages

    def __iter__(self) -> Iterator[Block]:
        if self._used and self.path == "-":
            raise ReadError("standard input can be read only once. Write it to a file first.")
        self._used = True
        bad = self._source.request.bad
        bad.n, bad.messages = 0, []
        self._forget()
        with readable(self.path):
            for block in self._source.blocks():
                self._add_rows(block.rows)
                self._numbers.append(block.numbers.reshape(len(block), -1))
                self._paths.append((block.path, len(block)))
                if self.target is not None:
                    self.target += block.target
                if self.group is not None:
                    self.group += block.group
                yield block
        if self._some_rows:
            self._check_rows()

    def _check_rows(self) -> None:
        bad = self._source.request.bad
        if not any(map(len, self._rows)):
            if bad.n:
                raise ReadError(f"none of the {bad.n} rows is readable. {bad.messages[0]}")
            raise ReadError(f"{self.path} has a header but no rows.")

    def read(self) -> Block:
        """All rows as one block, with texts as strings: for what fits into memory.

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
        target, group = (None if v is None else list(v) for v in (self.target, self.group))
        return Block(texts, target, self.rows, self.numbers, group=group)


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
    gaps: Sequence[str] = (),
    group: str | None = None,
    separator: str | None = None,
    sheet: str | None = None,
) -> Any:
    """Open a table of documents; names of columns are checked now, rows are read when iterated.

    Parameters
    ----------
    path : path-like
        A file of comma- or tab-separated values or JSON lines (also compressed, ``.gz``),
        Parquet, a folder of text files, a matrix of counts (.npz, .mtx; see `read_counts`), or "-"
        for standard input.
    text, target : str, optional
        Names of the columns. A folder needs neither: files are the texts, and the names of its
        subfolders, if it has any, the target. For a matrix of counts, `target` is a file.
    format : {"csv", "tsv", "jsonl", "parquet", "folder", "counts"}, optional
        By default what the name says; standard input is looked at.
    delimiter : str, optional
        By default the comma (tab), or another one if only that is in the header.
    encoding : str, default="utf-8"
        Of text files; a byte order mark is allowed.
    skip_bad : bool, default=False
        Leave unreadable rows out, and count them, instead of an error.
    block_rows : int, default=20000
        Rows of a block at most.
    vocabulary : str, optional
        File of the words of a matrix of counts.
    numbers : sequence of str, optional
        Names of further columns, of numbers: covariates, say. A row without one is unreadable.
    gaps : sequence of str, optional
        Those of `numbers` that a row may lack: NaN.
    group : str, optional
        Name of a column that says which rows belong together.
    separator : str, optional
        Between codes: a column of lists becomes texts with it between their items.
    sheet : str, optional
        Of an Excel file with several sheets.

    Returns
    -------
    Table, or CountTable for a matrix of counts

    Raises
    ------
    ReadError
        One line that says what is wrong, where, and what to do.

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
    given = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not given:
        raise ReadError("no file was named.")
    names = spread([os.fspath(one) for one in given])
    _check_settings(format, delimiter, separator)
    request = Request(
        names[0],
        text,
        target,
        delimiter,
        encoding,
        block_rows,
        BadRows(skip_bad),
        tuple(numbers),
        tuple(gaps),
        group,
        separator,
        sheet,
    )
    if len(names) == 1:
        names = _tables_in(names[0], format)
    if len(names) == 1:
        return _read_one(replace(request, path=names[0]), format, vocabulary)
    for name in names:
        if Path(name).is_dir():
            raise ReadError(f"{name} is a folder, which cannot be one of several. Name it alone.")
    first, *more = given
    # What the user wrote, for messages about all of them.
    called = os.fspath(first) if not more else f"{os.fspath(first)} and {len(names) - 1} more files"
    tables = [_source_of(replace(request, path=name), format) for name in names]
    return Table(Several(replace(request, path=called), [s for s, _ in tables]), tables[0][1])


def _check_settings(format: str | None, delimiter: str | None, separator: str | None) -> None:
    if format is not None and format not in FORMATS:
        raise ReadError(f"format must be one of {', '.join(FORMATS)}; got {format!r}.")
    if delimiter is not None and len(delimiter) != 1:
        raise ReadError(f"delimiter must be one character, got {delimiter!r}.")
    if separator == "":
        raise ReadError("separator must be one character or more.")


def _tables_in(name: str, format: str | None) -> list[str]:
    """The files of a folder of tables; else the name itself."""
    if name == "-" or format in ("folder", "counts") or not check_exists(name).is_dir():
        return [name]
    files = sorted(
        str(child)
        for child in Path(name).iterdir()
        if child.is_file() and not child.name.startswith(".") and _is_table(child.name)
    )
    # Tables beside texts are none of the documents, as ever.
    return files if files and not holds_texts(name) else [name]


def _is_table(name: str) -> bool:
    inner = Path(name).stem if packing(name) in (".gz", ".bz2", ".xz") else name
    ending = Path(inner).suffix.lower()
    return ending == ".zip" or _FORMATS.get(ending, "counts") != "counts"


def _read_one(request: Request, format: str | None, vocabulary: str | None) -> Table | CountTable:
    name = request.path
    if (format or (_format_of(name) if name != "-" else "")) == "counts":
        for column in (*request.numbers, *filter(None, [request.group])):
            raise ReadError(
                f"{name} is a count matrix, which has no column {column!r}. Use a table of "
                "texts, or fit in Python."
            )
        from topicfocus.text.matrices import read_counts

        return read_counts(name, vocabulary, request.target, request.encoding)
    return Table(*_source_of(request, format))


def _source_of(request: Request, format: str | None) -> tuple[Any, str]:
    """The reader of one file, with its columns checked, and the format."""
    name = request.path
    with readable(name):
        stream = open_bytes("-") if name == "-" else None
        kind = format or (_look(stream) if stream else _format_of(name))
        whole = kind in ("parquet", "xlsx")
        if stream and (whole or kind == "folder"):
            raise ReadError(f"{kind} cannot be read from standard input. Name the file.")
        if whole and packing(name):
            raise ReadError(f"{name}: {kind} cannot be read compressed. Unpack it first.")
        if kind == "counts":
            raise ReadError(f"{name} is a count matrix, which cannot be one of several files.")
        if kind == "parquet":
            return Parquet(request), kind
        if kind == "xlsx":
            from topicfocus.text.excel import Excel

            return Excel(request), kind
        if kind == "folder":
            return Folder(request), kind
        if stream:
            return _text_source(request, stream, kind), kind
        with open_bytes(name) as stream:  # to look at its beginning; iterating opens it again
            return _text_source(request, stream, kind), kind


def _text_source(
    request: Request, stream: io.BufferedReader, kind: str
) -> JsonLines | JsonArray | Delimited:
    if kind == "jsonl":
        array = is_array(peek(stream, request.path), request.encoding)
        return JsonArray(request, stream) if array else JsonLines(request, stream)
    return Delimited(request, stream, "\t" if kind == "tsv" else ",")


def _format_of(name: str) -> str:
    """What the name of a file says."""
    place = check_exists(name)
    if place.is_dir():
        return "folder"
    with readable(name):
        ending = Path(unpacked_name(name)).suffix.lower()
    if ending not in _FORMATS:
        raise ReadError(
            f"{name}: its name does not say what kind of file it is. Say it: format= (--format), "
            f"one of {', '.join(FORMATS)}."
        )
    return _FORMATS[ending]


def _look(stream: io.BufferedReader) -> str:
    """What standard input seems to be."""
    head = peek(stream, "-").removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] in (b"{", b"["):
        return "jsonl"
    first = head.split(b"\n", 1)[0]
    return "tsv" if first.count(b"\t") > first.count(b",") else "csv"


def is_matrix(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a matrix of counts by its name, and needs no counting."""
    name = Path(path).name.lower().removesuffix(".gz")
    return _FORMATS.get(Path(name).suffix) == "counts"
