"""Read CSV, JSON, Excel and Parquet files and folders of texts, some rows at a time.

For each format one function checks the columns and returns a function that reads the rows. Row 1 is
the first row below the header, and blank rows count: in a CSV file without line breaks inside
quotes, row N is line N + 1.

Rows of CSV are read by pandas as long as they are complete, and from the first one that may not be
by the standard library, which is slower but knows the row of a mistake. JSON is read by the
standard library: ``pandas.read_json`` turns 5 into 5.0 beside a missing value, and its errors have
no row.
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
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_string_dtype
from pandas.errors import EmptyDataError, ParserError, ParserWarning

from topicfocus.text import files
from topicfocus.text.errors import MissingColumn, ReadError, nearest
from topicfocus.text.numbers import parse_number

#: Messages about skipped rows that are kept; all rows are counted.
MOST_MESSAGES = 10
_DELIMITERS = (",", "\t", ";", "|")
#: Follows the last line of a CSV file: a row that contains more has an open quote. No file that was
#: decoded contains this character.
_END = "\ud800"
#: Characters; Python's csv module accepts 131,072 by default.
_LONGEST_FIELD = 2**31 - 1
#: Characters of text after which a batch of rows is complete. Larger batches do not fit into a
#: core's cache and take longer.
BATCH_CHARACTERS = 1 << 18
#: Rows that are converted at a time, and at most by pandas.
_FEW_ROWS, _MOST_ROWS = 100, 5000
_TEXT_FILES = (".txt", ".text")


@dataclass(frozen=True)
class Request:
    """The columns to read, and how."""

    text: str | None = None
    target: str | None = None
    numbers: tuple[str, ...] = ()
    allow_missing: tuple[str, ...] = ()
    group: str | None = None
    labels: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str = "utf-8"
    block_rows: int = 20_000
    separator: str | None = None
    sheet: str | None = None
    skip_bad: bool = False

    @property
    def names(self) -> list[str]:
        """The requested columns, each once; the text is the first."""
        named = [self.text, self.target, *self.numbers, self.group, *self.labels]
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


#: Tuples of a row number and the values of the requested columns.
Rows = Iterator[tuple[Any, ...]]
#: The numbers of some rows, and a sequence of values for each of the requested columns.
Batch = tuple[Any, Sequence[Any]]
Reader = Callable[[BadRows], Iterator[Batch]]


def _by_columns(request: Request, read: Callable[[BadRows], Rows], bad: BadRows) -> Iterator[Batch]:
    """The batches of a format that is read row by row."""
    for found in _batches(read(bad), 1, request.block_rows):
        rows, *columns = zip(*found, strict=True)
        yield rows, columns


def _batches(rows: Iterator[Any], text: int, most: int) -> Iterator[list[Any]]:
    """Lists of rows, limited in their number and in the characters of column `text`."""
    found: list[Any] = []
    size = 0
    while some := list(islice(rows, min(_FEW_ROWS, most - len(found)))):
        found += some
        size += sum(len(row[text]) for row in some if len(row) > text and type(row[text]) is str)
        if len(found) >= most or size >= BATCH_CHARACTERS:
            yield found
            found, size = [], 0
    if found:
        yield found


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
            message = f"{path} has no column {name!r}.{nearest(name, columns)} {found}"
            raise MissingColumn(message, name)
        if n > 1:
            raise ReadError(f"{path} has {n} columns named {name!r}. Rename all but one.")


def check_decoded(text: str, encoding: str) -> None:
    """Raise a ReadError if the text has bytes that are not in the encoding."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        byte, before = ord(text[error.start]) & 0xFF, text[: error.start][-20:]
        raise ReadError(
            f"not {encoding}: byte 0x{byte:02x} after {before!r}. {files.encoding_advice(encoding)}"
        ) from None


# ---- CSV -----------------------------------------------------------------------------------------


def open_csv(place: str, path: str, request: Request, usual: str = ",") -> Reader:
    """Find the delimiter: the one with which all requested columns are in the header.

    If there is none, it is the usual one, or the most frequent one if that does not occur.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    text = _decoded_head(place, path, request)
    announced = re.match(r"\s*sep=([,;|\t])\n", text)  # as Excel writes it
    known = [announced[1]] if announced else [usual, *(d for d in _DELIMITERS if d != usual)]
    known = [request.delimiter] if request.delimiter else known
    headers = {d: _header(_csv_reader(io.StringIO(text), d)) for d in known}
    if not any(headers.values()):
        raise ReadError(
            f"{path} is empty: it contains only blank lines."
            if not text.strip()
            else f"{path}: a quote in its header is never closed. Correct it."
        )
    fitting = [d for d in known if set(request.names) <= set(headers[d])]
    if not fitting and len(headers[known[0]]) < 2:
        fitting = [max(known, key=lambda d: len(headers[d]))]
    delimiter = (fitting or known)[0]
    header = headers[delimiter]
    try:
        check_decoded(delimiter.join(header), request.encoding)
    except ReadError as error:
        raise ReadError(f"{path}, header: {error}") from None
    check_columns(request, header, path)
    return partial(_csv_batches, place, path, request, delimiter, header)


def _decoded_head(place: str, path: str, request: Request) -> str:
    """The beginning of a text file, with ``\\n`` as the only line end."""
    head = files.read_head(place)
    files.check_text(head, path, request.encoding)
    decoder = codecs.getincrementaldecoder(request.encoding)("surrogateescape")
    text = decoder.decode(head).removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _csv_reader(stream: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """The fields of every row, and `_END` behind the last one, inside it if a quote is open."""
    return csv.reader(chain(stream, [_END]), delimiter=delimiter)


def _header(rows: Iterator[list[str]]) -> list[str]:
    """The names in the first row that is neither blank nor ``sep=;``; none if it has no end."""
    for fields in rows:
        if any(fields) and not fields[0].startswith("sep="):
            return [] if fields[-1].endswith(_END) else [name.strip() for name in fields]
    return []


def _csv_batches(
    place: str, path: str, request: Request, delimiter: str, header: list[str], bad: BadRows
) -> Iterator[Batch]:
    n, places = len(header), [header.index(name) for name in request.names]
    first = 1
    for columns in _complete_rows(place, request, delimiter, n, places):
        if columns is None:  # the reader of Python decides from here on
            break
        rows = np.arange(first, first + len(columns[0]))
        first += len(rows)
        yield rows, columns
    else:
        return
    with files.open_text(place, request.encoding, newline="") as stream:
        reader = _csv_reader(stream, delimiter)
        _header(reader)
        for found in _batches(islice(reader, first - 1, None), places[0], request.block_rows):
            good = [
                (row, fields)
                for row, fields in enumerate(found, start=first)
                if _is_usable(fields, row, n, path, bad)
            ]
            first += len(found)
            if good:
                columns = list(zip(*(fields for _, fields in good), strict=True))
                yield [row for row, _ in good], [columns[i] for i in places]


def _complete_rows(
    place: str, request: Request, delimiter: str, n: int, places: list[int]
) -> Iterator[list[Any] | None]:
    """The requested columns of some rows at a time, by pandas; None before a row that may be bad.

    pandas fills a short or blank row up with empty strings, so any in the last column is suspect.
    """
    text, *others = places
    with files.open_text(place, request.encoding, newline="") as stream:
        _header(_csv_reader(stream, delimiter))
        try:
            reader = pd.read_csv(
                stream,
                delimiter=delimiter,
                header=None,
                names=range(n),
                index_col=False,
                dtype=dict.fromkeys(others, object),
                na_filter=False,
                skip_blank_lines=False,
                low_memory=False,
                iterator=True,
            )
            size = _FEW_ROWS
            while True:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", ParserWarning)  # a long row
                    rows = reader.get_chunk(min(size, request.block_rows))
                if (rows[n - 1] == "").any() or not is_string_dtype(rows[text]):
                    break
                yield [rows[text].array, *(rows[i].tolist() for i in others)]
                size = _rows_of_batch(len(rows), rows[text].str.len().sum())
        except StopIteration:
            return
        except (ParserError, EmptyDataError, ParserWarning, UnicodeError):
            pass
    yield None


def _rows_of_batch(rows: int, characters: int) -> int:
    """How many rows have the characters of a batch, if they are like these."""
    return max(1, min(4 * BATCH_CHARACTERS * rows // max(characters, 1), _MOST_ROWS))


def _is_usable(fields: list[str], row: int, n: int, path: str, bad: BadRows) -> bool:
    """Whether a row has n fields; a blank one is left out, any other is reported."""
    if not fields or fields in ([""], [_END]):
        return False
    if fields[-1].endswith(_END):
        raise ReadError(f"{path}, row {row}: a quote is opened and never closed. Correct it.")
    if len(fields) != n:
        bad.report(f"{path}, row {row}: {_fields_message(len(fields), n)}")
    return len(fields) == n


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
    is_array = text.lstrip().startswith("[")
    return partial(_by_columns, request, partial(_json_rows, place, path, request, is_array))


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
    read = partial(_excel_rows, path, request, header, rows[first + 1 :])
    return partial(_by_columns, request, read)


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


# ---- DataFrames ----------------------------------------------------------------------------------


def open_frame(frame: pd.DataFrame, path: str, request: Request) -> Reader:
    check_columns(request, list(map(str, frame.columns)), path)
    return partial(_frame_columns, frame, request)


def _frame_columns(frame: pd.DataFrame, request: Request, bad: BadRows) -> Iterator[Batch]:
    places = {str(name): i for i, name in enumerate(frame.columns)}
    columns = [frame.iloc[:, places[name]].astype(object) for name in request.names]
    values = [column.where(column.notna(), None).tolist() for column in columns]
    yield np.arange(1, len(frame) + 1), values


# ---- Parquet -------------------------------------------------------------------------------------


def open_parquet(place: str, path: str, request: Request) -> Reader:
    with _parquet_errors(path), _parquet_file(path) as file:
        check_columns(request, file.schema_arrow.names, path)
    return partial(_by_columns, request, partial(_parquet_rows, path, request))


def _parquet_rows(path: str, request: Request, bad: BadRows) -> Rows:
    row = 1
    with _parquet_errors(path), _parquet_file(path) as file:
        for batch in file.iter_batches(_FEW_ROWS, columns=request.names):
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
    for name in (*request.numbers, *filter(None, [request.group]), *request.labels):
        raise ReadError(f"{path} is a folder, which has no column {name!r}. Use a table.")
    classes = None if documents[0][1] is None else "folder"
    request = replace(request, text="text", target=classes)
    read = partial(_folder_rows, request, documents)
    return partial(_by_columns, request, read), request


def _folder_rows(request: Request, documents: list[tuple[str, str | None]], bad: BadRows) -> Rows:
    """Texts and classes; row numbers are those of the files in alphabetical order."""
    for row, (path, label) in enumerate(documents, start=1):
        with files.reading(path), files.open_text(path, request.encoding) as stream:
            text = stream.read()
        try:
            check_decoded(text, request.encoding)
        except ReadError as error:
            bad.report(f"{path}: {error}")
        else:
            yield (row, text) if label is None else (row, text, label)
