"""Read CSV, JSON, Excel and Parquet files and folders of texts in pieces.

For each format one function checks the columns and returns a function that reads the rows in
pieces. Row 1 is the first row below the header,
and blank rows count: in a CSV file without line breaks inside quotes, row N is line N + 1.

CSV is parsed by pandas: Python's csv module takes 1.7 times as long. JSON is parsed by the standard
library: ``pandas.read_json`` turns 5 into 5.0 beside a missing value, and its errors have no row.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from topicfocus.text import files
from topicfocus.text.errors import ReadError, nearest
from topicfocus.text.numbers import parse_number

#: Characters of text after which a block is complete, however few rows it has.
BLOCK_CHARACTERS = 1 << 23
#: Messages about skipped rows that are kept; all rows are counted.
MOST_MESSAGES = 10
_DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
#: The last field of each row that is given to pandas.
_MARK = "\x1e"
#: Rows of the first piece of a CSV file; the size of the next ones follows from its texts.
_FIRST_ROWS = 500
#: Rows of Parquet that are converted at a time.
_BATCH_ROWS = 500
_TEXT_FILES = (".txt", ".text")


@dataclass(frozen=True)
class Request:
    """The columns to read, and how."""

    text: str | None = None
    target: str | None = None
    numbers: tuple[str, ...] = ()
    allow_missing: tuple[str, ...] = ()
    group: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    block_rows: int = 20_000
    separator: str | None = None
    sheet: str | None = None
    skip_bad: bool = False

    @property
    def names(self) -> list[str]:
        """The requested columns, each once; the text is the first."""
        named = [self.text, self.target, *self.numbers, self.group]
        return list(dict.fromkeys(name for name in named if name is not None))


class BadRows:
    """Rows that cannot be read: the first one raises, or all are skipped and counted."""

    def __init__(self, skip: bool) -> None:
        self.skip = skip
        self.n = 0
        self.messages: list[str] = []

    def report(self, message: str) -> None:
        """Count a row, or raise."""
        if not self.skip:
            raise ReadError(f"{message} Or leave such rows out: skip_bad=True (--skip-bad).")
        self.n += 1
        if len(self.messages) < MOST_MESSAGES:
            self.messages.append(message)


class Piece(NamedTuple):
    """Some rows of a file: their numbers, and the values of the requested columns as read."""

    rows: Any
    columns: dict[str, list[Any]]


#: Tuples of a row number and the values of the requested columns.
Rows = Iterator[tuple[Any, ...]]
Reader = Callable[[BadRows], Iterator[Piece]]


def _pieces(read: Callable[[BadRows], Rows], request: Request, bad: BadRows) -> Iterator[Piece]:
    """Rows in pieces of a limited size."""
    found: list[tuple[Any, ...]] = []
    size = 0
    for row in read(bad):
        found.append(row)
        size += len(row[1]) if isinstance(row[1], (str, list)) else 0
        if len(found) >= request.block_rows or size >= BLOCK_CHARACTERS:
            yield _piece(found, request)
            found, size = [], 0
    if found:
        yield _piece(found, request)


def _piece(found: list[tuple[Any, ...]], request: Request) -> Piece:
    rows, *columns = zip(*found, strict=True)
    return Piece(np.array(rows), dict(zip(request.names, map(list, columns), strict=True)))


def check_columns(request: Request, columns: Sequence[str], path: str) -> None:
    """Raise if a requested column is not there, or is there twice."""
    long = [name if len(name) <= 30 else f"{name[:30]}..." for name in columns]
    found = f"Columns: {', '.join(long[:20] + ['...'] * (len(long) > 20))}."
    if any(parse_number(n) is not None or len(n) > 80 or n.count(" ") > 7 for n in columns):
        found += (
            " These do not look like names: if the file has no header, write one above its first "
            "row."
        )
    if request.text is None:
        raise ReadError(f"{path}: say which column is the text, text= (--text). {found}")
    for name in request.names:
        n = list(columns).count(name)
        if n == 0:
            raise ReadError(f"{path} has no column {name!r}.{nearest(name, columns)} {found}")
        if n > 1:
            raise ReadError(f"{path} has {n} columns named {name!r}. Rename all but one.")


def undecoded(text: str, encoding: str) -> str | None:
    """A message about bytes that are not in the encoding, if the text has any."""
    try:
        text.encode()
        return None
    except UnicodeEncodeError as error:
        byte, before = ord(text[error.start]) & 0xFF, text[: error.start][-20:]
    return f"not {encoding}: byte 0x{byte:02x} after {before!r}. {files.encoding_advice(encoding)}"


# ---- CSV -----------------------------------------------------------------------------------------


def open_csv(place: str, path: str, request: Request, first: str = ",") -> Reader:
    """Find the delimiter: the one with which all requested columns are in the header.

    If there is none, it is the first candidate, or the most frequent one if that does not occur.
    """
    text = _decoded_head(place, path, request)
    announced = re.match(r"\s*sep=([,;|\t])\n", text)  # as Excel writes it
    known = [announced[1]] if announced else [first, *(d for d in _DELIMITERS if d != first)]
    headers: dict[str, list[str]] = {}
    problem = ""
    for delimiter in [request.delimiter] if request.delimiter else known:
        reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
        try:
            headers[delimiter] = _header(reader, delimiter)
        except csv.Error as error:
            problem = str(error)
    if not headers:
        if "unexpected end" in problem:
            raise ReadError(f"{path}: a quote that is opened in the header is never closed.")
        raise ReadError(f"{path}: the header cannot be read ({problem}).")
    if not any(headers.values()):
        raise ReadError(f"{path} is empty: it contains only blank lines.")
    fitting = [d for d in headers if set(request.names) <= set(headers[d])]
    if not fitting and len(headers.get(first, "")) < 2:
        fitting = [max(headers, key=lambda d: len(headers[d]))]
    delimiter = (fitting or list(headers))[0]
    message = undecoded(delimiter.join(headers[delimiter]), request.encoding)
    if message is not None:
        raise ReadError(f"{path}, header: {message}")
    check_columns(request, headers[delimiter], path)
    return partial(_csv_pieces, place, path, request, delimiter, headers[delimiter])


def _decoded_head(place: str, path: str, request: Request) -> str:
    """The beginning of a text file, with ``\\n`` as the only line end."""
    head = files.read_head(place)
    files.check_text(head, path, request.encoding)
    decoder = codecs.getincrementaldecoder(request.encoding)("surrogateescape")
    text = decoder.decode(head).removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _header(reader: Iterable[list[str]], delimiter: str) -> list[str]:
    """The first row that is neither blank nor ``sep=;``."""
    for fields in reader:
        line = delimiter.join(fields)
        if line and not re.fullmatch(r"sep=[,;|\t]", line):
            return [name.strip() for name in fields]
    return []


class _MarkedRows:
    """A stream with a last field added to each row: pandas fills rows that have too few fields.

    The mark is also inserted at line breaks inside quotes, where `unmark` removes it.
    """

    def __init__(self, stream: io.TextIOWrapper, delimiter: str) -> None:
        self._stream, self._end = stream, f"{delimiter}{_MARK}\n"
        self._in_line = False

    def read(self, size: int = -1) -> str:
        data = self._stream.read(size)
        if data:
            self._in_line = data[-1] != "\n"
            return data.replace("\n", self._end)
        last, self._in_line = self._end if self._in_line else "", False
        return last

    def __iter__(self) -> Iterator[str]:
        return iter(self.read, "")

    def unmark(self, values: list[str]) -> list[str]:
        return [v.replace(self._end, "\n") if _MARK in v else v for v in values]


def _csv_pieces(
    place: str, path: str, request: Request, delimiter: str, header: list[str], bad: BadRows
) -> Iterator[Piece]:
    n, names = len(header), request.names
    with files.open_text(place, request.encoding) as stream:
        _header(csv.reader(iter(stream.readline, ""), delimiter=delimiter), delimiter)
        marked = _MarkedRows(stream, delimiter)
        with _parser_errors(path):  # the first row is parsed at once
            reader = pd.read_csv(
                marked,
                sep=delimiter,
                header=None,
                names=range(n + 1),
                index_col=False,
                dtype=object,
                keep_default_na=False,
                on_bad_lines="warn",
                encoding_errors="surrogateescape",
                iterator=True,
            )
        size, row, long = min(_FIRST_ROWS, request.block_rows), 1, list[int]()
        while (frame := _next_frame(reader, size, path, n, bad, long)) is not None:
            rows = np.arange(row, row + len(frame) + len(long))
            rows = rows[~np.isin(rows, long)][: len(frame)]
            row = int(rows[-1]) + 1 if len(rows) else row
            good = (frame[n] == _MARK).to_numpy()
            for i in np.flatnonzero(~good).tolist():
                fields = int((frame.iloc[i] == _MARK).to_numpy().argmax())
                if fields > 1 or frame.iat[i, 0]:  # not a blank line
                    bad.report(f"{path}, row {rows[i]}: {_fields_message(fields, n)}")
            if n == 1:
                good = good & (frame[0] != "").to_numpy()  # a blank line, or an empty text
            columns = {k: marked.unmark(frame.loc[good, header.index(k)].tolist()) for k in names}
            yield Piece(rows[good], columns)
            characters = max(1, sum(map(len, columns[names[0]])))
            wanted = size * BLOCK_CHARACTERS // characters
            size = min(max(1, wanted), 20 * size, request.block_rows)


def _next_frame(
    reader: Any, size: int, path: str, n: int, bad: BadRows, long: list[int]
) -> pd.DataFrame | None:
    """The next rows; those with too many fields are reported, and their numbers added to `long`."""
    with warnings.catch_warnings(record=True) as noted, _parser_errors(path):
        warnings.simplefilter("always")
        try:
            frame = reader.get_chunk(size)
        except StopIteration:
            frame = None
    for warning in noted:
        message = str(warning.message)
        if message.startswith("Length of header"):
            raise ReadError(f"{path}, row 1: {_fields_message(n + 1, n)}")
        for line, found in re.findall(r"line (\d+): expected \d+ fields, saw (\d+)", message):
            long.append(int(line))
            bad.report(f"{path}, row {line}: {_fields_message(int(found) - 1, n)}")
    return frame


@contextmanager
def _parser_errors(path: str) -> Iterator[None]:
    try:
        yield
    except pd.errors.ParserError as error:
        quote = re.search(r"EOF inside string starting at row (\d+)", str(error))
        if quote:
            at = f"{path}, row {int(quote[1]) + 1}"
            raise ReadError(f"{at}: a quote is opened and never closed. Correct it.") from None
        raise ReadError(f"{path} cannot be parsed: {' '.join(str(error).split())}.") from None


def _fields_message(found: int, n: int) -> str:
    advice = "Quote texts that contain the delimiter." if found > n else "Correct it."
    return f"{found} {'field' if found == 1 else 'fields'} where the header has {n}. {advice}"


# ---- JSON ----------------------------------------------------------------------------------------


def open_json(place: str, path: str, request: Request) -> Reader:
    """Check the columns against the first objects of JSON lines, as far as they are known.

    Objects may lack optional keys: a column that is not in the head of a longer file is looked for
    while reading.
    """
    text = _decoded_head(place, path, request)
    keys: dict[str, None] = {}
    for line in [] if text.lstrip().startswith("[") else text.split("\n"):
        try:
            keys.update(dict.fromkeys(json.loads(line)))
        except (ValueError, TypeError, RecursionError):
            continue
    if keys and (request.text is None or len(text) < files.HEAD_BYTES // 4):
        check_columns(request, list(map(str, keys)), path)
    return partial(
        _pieces, partial(_json_rows, place, path, request, text.lstrip().startswith("[")), request
    )


def _json_rows(place: str, path: str, request: Request, is_array: bool, bad: BadRows) -> Rows:
    known: dict[str, None] = {}
    with files.open_text(place, request.encoding) as stream:
        for row, found in _json_objects(stream, is_array, path, bad):
            if isinstance(found, dict):
                known.update(dict.fromkeys(found))
                yield row, *map(found.get, request.names)
            else:
                kind = type(found).__name__
                bad.report(f"{path}, row {row}: a JSON {kind}, not an object. Correct it.")
    if known:
        check_columns(request, list(known), path)


def _json_objects(
    stream: io.TextIOWrapper, is_array: bool, path: str, bad: BadRows
) -> Iterator[tuple[int, Any]]:
    """Row numbers and values of JSON lines, or of an array, which is parsed as a whole."""
    if is_array:
        try:
            yield from enumerate(json.loads(stream.read()), start=1)
        except (ValueError, RecursionError) as error:
            line = f"line {error.lineno}, " if isinstance(error, json.JSONDecodeError) else ""
            raise ReadError(f"{path}: {_json_message(error, line)}") from None
        return
    for row, line in enumerate(stream, start=1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                bad.report(f"{path}, row {row}: {_json_message(error)}")
                continue
            yield row, value


def _json_message(error: Exception, line: str = "") -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at {line}column {error.colno}. Correct it."
    if isinstance(error, RecursionError):
        return "JSON nested too deeply. Correct it."
    return "a whole number of thousands of digits. Correct it."


# ---- Excel ---------------------------------------------------------------------------------------


def open_excel(place: str, path: str, request: Request) -> Reader:
    """Read a sheet; the names of the columns are in its first row that is not blank."""
    rows = _excel_sheet(path, request)
    first = next((i for i, row in enumerate(rows) if any(v != "" for v in row)), None)
    if first is None:
        raise ReadError(f"{path} is empty: its sheet has no cells.")
    header = [str(name).strip() for name in rows[first]]
    while header[-1] == "":
        header.pop()
    check_columns(request, header, path)
    return partial(_pieces, partial(_excel_rows, path, request, header, rows[first + 1 :]), request)


def _excel_sheet(path: str, request: Request) -> list[list[Any]]:
    """The cells of a sheet; empty ones are empty strings."""
    try:
        import openpyxl  # noqa: F401 - an extra
    except ImportError:
        raise ReadError(
            f"{path}: reading Excel needs openpyxl. Install it: pip install 'topicfocus[excel]'."
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles
            sheets = pd.read_excel(
                path, sheet_name=None, header=None, dtype=object, na_filter=False, engine="openpyxl"
            )
    except Exception as error:  # a damaged file can raise any exception in openpyxl
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ReadError(f"{path} is not a complete Excel file: {reason}.") from None
    wanted = next(iter(sheets)) if len(sheets) == 1 and request.sheet is None else request.sheet
    if wanted not in sheets:
        problem = f" has no sheet {wanted!r}" if wanted else ": say which sheet, sheet= (--sheet)"
        raise ReadError(f"{path}{problem}. Sheets: {', '.join(map(str, list(sheets)[:20]))}.")
    return sheets[wanted].to_numpy().tolist()


def _excel_rows(
    path: str, request: Request, header: list[str], rows: list[list[Any]], bad: BadRows
) -> Rows:
    places = [header.index(name) for name in request.names]
    for row, cells in enumerate(rows, start=1):
        if any(cell != "" for cell in cells[len(header) :]):
            bad.report(f"{path}, row {row}: more cells than the first row has. Correct it.")
        elif any(cell != "" for cell in cells):
            # A number in the column of texts is a text.
            yield row, *(as_label(cells[i]) for i in places)


def as_label(value: Any) -> str:
    """A value as a CSV file would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


# ---- Parquet -------------------------------------------------------------------------------------


def open_parquet(place: str, path: str, request: Request) -> Reader:
    with _parquet_errors(path), _parquet_file(path) as file:
        check_columns(request, file.schema_arrow.names, path)
    return partial(_pieces, partial(_parquet_rows, path, request), request)


def _parquet_rows(path: str, request: Request, bad: BadRows) -> Rows:
    row = 1
    with _parquet_errors(path), _parquet_file(path) as file:
        for batch in file.iter_batches(_BATCH_ROWS, columns=request.names):
            columns = [batch[name].to_pylist() for name in request.names]
            yield from zip(range(row, row + len(batch)), *columns, strict=True)
            row += len(batch)


def _parquet_file(path: str) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)


@contextmanager
def _parquet_errors(path: str) -> Iterator[None]:
    try:
        import pyarrow as pa
    except ImportError:
        raise ReadError(
            f"{path}: reading Parquet needs pyarrow. Install it: pip install 'topicfocus[tables]'."
        ) from None
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ReadError(f"{path} is not a complete Parquet file: {reason}.") from None


# ---- folders of text files -----------------------------------------------------------------------


def documents_of(path: str) -> list[tuple[str, str | None]]:
    """The text files of a folder, or of its subfolders, whose names are the classes."""
    endings = tuple(a + b for a in _TEXT_FILES for b in ("", *files.COMPRESSED))

    def texts(folder: Path) -> list[str]:
        found = (p for p in sorted(folder.iterdir()) if p.name.lower().endswith(endings))
        return [str(p) for p in found if p.is_file() and not p.name.startswith(".")]

    top = texts(Path(path))
    folders = [p for p in sorted(Path(path).iterdir()) if p.is_dir() and p.name[0] != "."]
    below = [(file, folder.name) for folder in folders for file in texts(folder)]
    if top and below:
        raise ReadError(
            f"{path} contains both text files and folders of them. Name one of the folders, such "
            f"as {below[0][1]}, or move the files at the top into one."
        )
    return [*((file, None) for file in top), *below]


def open_folder(
    path: str, request: Request, documents: list[tuple[str, str | None]]
) -> tuple[Reader, Request]:
    """The reader of a folder, and the names of what it reads: texts, and classes if there are."""
    if not documents:
        raise ReadError(
            f"{path} contains no text files ({', '.join(_TEXT_FILES)}), nor does a folder in it. "
            "Name the folder whose files, or whose subfolders' files, are the documents."
        )
    if request.target is not None and documents[0][1] is None:
        raise ReadError(
            f"{path} has no subfolders to take the target from. Put the files of each class into "
            "a folder of its name, or use a table."
        )
    for name in (*request.numbers, *filter(None, [request.group])):
        raise ReadError(f"{path} is a folder, which has no column {name!r}. Use a table.")
    classes = None if documents[0][1] is None else "folder"
    request = replace(request, text="text", target=classes)
    return partial(_pieces, partial(_folder_rows, request, documents), request), request


def _folder_rows(request: Request, documents: list[tuple[str, str | None]], bad: BadRows) -> Rows:
    """Texts and classes; row numbers are those of the files in alphabetical order."""
    for row, (path, label) in enumerate(documents, start=1):
        with files.reading(path), files.open_text(path, request.encoding) as stream:
            text = stream.read()
        message = undecoded(text, request.encoding)
        if message is not None:
            bad.report(f"{path}: {message}")
        else:
            yield (row, text) if label is None else (row, text, label)
