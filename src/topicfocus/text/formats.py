"""Read CSV, JSON, Excel and Parquet files and folders of texts in pieces (`Rows`).

Row 1 is the first row below the header, and blank rows count: in a CSV file without line breaks
inside quotes, row N is line N + 1.
"""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from topicfocus.text import files
from topicfocus.text.blocks import (
    UNDECODED,
    BadRows,
    Request,
    Rows,
    as_label,
    list_message,
    undecoded,
)
from topicfocus.text.errors import ReadError, nearest
from topicfocus.text.numbers import parse_number

#: Characters of text after which a block is complete, however few rows it has.
BLOCK_CHARACTERS = 1 << 23
#: Rows of the first piece of a CSV file; the size of the next ones follows from its texts.
_FIRST_ROWS = 500
_LONG_ROW = re.compile(r"line (\d+): expected \d+ fields, saw (\d+)")
#: The last field of each row that is given to pandas.
_MARK = "\x1e"
_DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
_TEXT_FILES = (".txt", ".text")


@dataclass(frozen=True)
class Source:
    """One file or folder whose format and columns are known.

    `path` is the name in messages; `place` is where the content is, which differs for standard
    input. `documents` has the files of a folder, each with its class.
    """

    path: str
    place: str
    format: str
    columns: tuple[str, ...] = ()
    delimiter: str = ","
    documents: tuple[tuple[str, str | None], ...] = ()


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


# ---- CSV -----------------------------------------------------------------------------------------


def csv_header(place: str, path: str, default: str, request: Request) -> tuple[str, list[str]]:
    """The delimiter and the names of the columns.

    The delimiter is the one with which all requested columns are in the header; if there is none,
    the default one, or the most frequent one if the default does not occur.
    """
    files.extends_ascii(request.encoding)
    candidates = [default, *(d for d in _DELIMITERS if d != default)]
    if request.delimiter is not None:
        candidates = [request.delimiter]
    headers: dict[str, list[str]] = {}
    for delimiter in candidates:
        with files.open_text(place, request.encoding) as stream:
            try:
                announced, headers[delimiter] = _read_header(stream, delimiter, path)
            except ReadError:
                if delimiter == candidates[-1] and not headers:
                    raise
                continue
        if announced and request.delimiter is None:
            with files.open_text(place, request.encoding) as stream:
                return announced, _read_header(stream, announced, path)[1]
    fitting = [d for d in headers if set(request.names) <= set(headers[d])]
    several = [d for d in headers if len(headers[d]) > 1]
    if not fitting and several and several[0] != default:
        fitting = [max(several, key=lambda d: len(headers[d]))]
    delimiter = (fitting or list(headers))[0]
    bad = next((name for name in headers[delimiter] if UNDECODED.search(name)), None)
    if bad is not None:
        raise ReadError(f"{path}, header: {undecoded(bad, request.encoding)}")
    return delimiter, headers[delimiter]


def _read_header(stream: io.TextIOWrapper, delimiter: str, path: str) -> tuple[str, list[str]]:
    """The delimiter of a first line ``sep=;`` as Excel writes it, and the names of the columns."""
    announced = ""
    try:
        for fields in csv.reader(stream, delimiter=delimiter, strict=True):
            line = delimiter.join(fields)
            if not announced and re.fullmatch(r"sep=.", line):
                announced = line[-1]
            elif line:
                return announced, [name.strip() for name in fields]
    except csv.Error as error:
        if "unexpected end" in str(error):
            raise ReadError(
                f"{path}: a quote that is opened in the header is never closed."
            ) from None
        raise ReadError(f"{path}: the header cannot be read ({error}).") from None
    raise ReadError(f"{path} is empty: it contains only blank lines.")


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


def _read_csv(source: Source, request: Request, bad: BadRows) -> Iterator[Rows]:
    """Pieces of a delimited file, parsed by pandas."""
    n = len(source.columns)
    places = {name: source.columns.index(name) for name in request.names}
    with files.open_text(source.place, request.encoding) as stream:
        _read_header(stream, source.delimiter, source.path)
        marked = _MarkedRows(stream, source.delimiter)
        reader = pd.read_csv(
            marked,
            sep=source.delimiter,
            header=None,
            names=range(n + 1),
            index_col=False,
            dtype=object,
            keep_default_na=False,
            on_bad_lines="warn",
            encoding_errors="surrogateescape",
            iterator=True,
        )
        size, first, long = min(_FIRST_ROWS, request.block_rows), 1, list[int]()
        while (frame := _next_frame(reader, size, source, bad, long)) is not None:
            numbers = np.arange(first, first + len(frame) + len(long), dtype=np.int64)
            numbers = numbers[~np.isin(numbers, long)][: len(frame)]
            first = int(numbers[-1]) + 1 if len(numbers) else first
            good = (frame[n] == _MARK).to_numpy()
            for i in np.flatnonzero(~good).tolist():
                fields = (frame.iloc[i] == _MARK).to_numpy().argmax()
                if fields > 1 or frame.iat[i, 0]:  # not a blank line
                    noun = "field" if fields == 1 else "fields"
                    what = f"{fields} {noun} where the header has {n}. Correct it."
                    bad.report(f"{source.path}, row {numbers[i]}: {what}")
            if n == 1:
                good = good & (frame[0] != "").to_numpy()  # a blank line, or an empty text
            frame = frame[good]
            columns = {name: marked.unmark(frame[p].tolist()) for name, p in places.items()}
            yield Rows(numbers[good], columns)
            characters = max(1, sum(map(len, columns[request.text or ""])))
            wanted = size * BLOCK_CHARACTERS // characters
            size = min(max(1, wanted), 20 * size, request.block_rows)


def _next_frame(
    reader: Any, size: int, source: Source, bad: BadRows, long: list[int]
) -> pd.DataFrame | None:
    """The next rows; those with too many fields are reported, and their numbers added to `long`."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        try:
            frame = reader.get_chunk(size)
        except StopIteration:
            frame = None
        except pd.errors.ParserError as error:
            raise ReadError(f"{source.path}{_parser_message(str(error))}") from None
    for warning in noted:
        message = str(warning.message)
        advice = f"Quote texts that contain a {_DELIMITERS.get(source.delimiter, 'delimiter')}."
        if message.startswith("Length of header"):
            raise ReadError(
                f"{source.path}, row 1: more than the {len(source.columns)} fields of the header. "
                f"{advice}"
            )
        for line, found in _LONG_ROW.findall(message):
            long.append(int(line))
            bad.report(
                f"{source.path}, row {line}: {int(found) - 1} fields where the header has "
                f"{len(source.columns)}. {advice}"
            )
    return frame


def _parser_message(error: str) -> str:
    """The rest of a message about a file that pandas cannot parse."""
    open_quote = re.search(r"EOF inside string starting at row (\d+)", error)
    if open_quote:
        row = int(open_quote[1]) + 1
        return f", row {row}: a quote is opened and never closed. Correct it."
    return f" cannot be parsed: {' '.join(error.split())}."


# ---- JSON ----------------------------------------------------------------------------------------


def check_json_head(head: bytes, path: str, request: Request) -> None:
    """Check the columns against the first objects of JSON lines, as far as they are known.

    Objects may lack optional keys: a column that is not in the head of a longer file is looked for
    while reading.
    """
    text = head.decode(request.encoding, "replace").removeprefix("\ufeff").lstrip()
    keys = [] if text.startswith("[") else _keys(text.splitlines())
    if keys and (request.text is None or len(head) < files.HEAD_BYTES):
        check_columns(request, keys, path)


def _keys(lines: list[str]) -> list[str]:
    """The keys of all objects among lines of JSON."""
    keys: dict[str, None] = {}
    for line in lines:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            keys.update(dict.fromkeys(found))
    return list(keys)


def _read_json(source: Source, request: Request, bad: BadRows) -> Iterator[Rows]:
    """Pieces of JSON lines, or of a JSON array, which is parsed as a whole.

    The standard library parses it: ``pandas.read_json`` turns 5 into 5.0 beside a missing value,
    and its errors have no row.
    """
    with files.open_text(source.place, request.encoding) as stream:
        objects = _json_objects(stream, source.path, bad)
        rows: list[int] = []
        columns: dict[str, list[Any]] = {name: [] for name in request.names}
        known: dict[str, None] = {}
        size = 0
        for row, found in objects:
            if not isinstance(found, dict):
                kind = type(found).__name__
                bad.report(f"{source.path}, row {row}: a JSON {kind}, not an object. Correct it.")
                continue
            rows.append(row)
            known.update(dict.fromkeys(found))
            for name, values in columns.items():
                values.append(found.get(name))
            text = found.get(request.text or "")
            size += len(text) if isinstance(text, (str, list)) else 0
            if len(rows) >= request.block_rows or size >= BLOCK_CHARACTERS:
                yield Rows(np.array(rows, np.int64), columns)
                rows, columns, size = [], {name: [] for name in request.names}, 0
        if known:
            check_columns(request, list(known), source.path)
        yield Rows(np.array(rows, np.int64), columns)


def _json_objects(stream: io.TextIOWrapper, path: str, bad: BadRows) -> Iterator[tuple[int, Any]]:
    """Row numbers and values of JSON lines or of an array."""
    start = stream.readline()
    row = 1
    while start and not start.strip():
        start, row = stream.readline(), row + 1
    if start.lstrip()[:1] == "[":
        try:
            values = json.loads(start + stream.read())
        except (ValueError, RecursionError) as error:
            raise ReadError(f"{path}: {_json_message(error, array=True)}") from None
        yield from enumerate(values, start=1)
        return
    for line in chain([start], stream):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                bad.report(f"{path}, row {row}: {_json_message(error)}")
            else:
                yield row, value
        row += 1


def _json_message(error: Exception, array: bool = False) -> str:
    if isinstance(error, json.JSONDecodeError):
        line = f"line {error.lineno}, " if array else ""
        return f"not JSON: {error.msg} at {line}column {error.colno}. Correct it."
    if isinstance(error, RecursionError):
        return "JSON nested too deeply. Correct it."
    return "a whole number of thousands of digits. Correct it."


# ---- Excel ---------------------------------------------------------------------------------------


def excel_header(path: str, request: Request) -> list[str]:
    """The names in the first row of the sheet that is not blank."""
    frame = _excel_frame(path, request, 100)
    filled = (frame != "").to_numpy()
    if not filled.any():
        raise ReadError(f"{path} is empty: its sheet has no cells.")
    row = int(np.argmax(filled.any(axis=1)))
    last = int(np.flatnonzero(filled[row])[-1])
    return [as_label(name).strip() for name in frame.iloc[row, : last + 1]]


def _excel_frame(path: str, request: Request, n_rows: int | None = None) -> pd.DataFrame:
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
            with pd.ExcelFile(path, engine="openpyxl") as book:
                sheet = _excel_sheet(path, [str(name) for name in book.sheet_names], request.sheet)
                return book.parse(sheet, header=None, dtype=object, na_filter=False, nrows=n_rows)
    except ReadError:
        raise
    except Exception as error:  # a damaged file can raise any exception in openpyxl
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ReadError(f"{path} is not a complete Excel file: {reason}.") from None


def _excel_sheet(path: str, names: list[str], wanted: str | None) -> str:
    listed = ", ".join(names[:20])
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None:
        raise ReadError(f"{path}: say which sheet, sheet= (--sheet). Sheets: {listed}.")
    if wanted not in names:
        raise ReadError(f"{path} has no sheet {wanted!r}. Sheets: {listed}.")
    return wanted


def _read_excel(source: Source, request: Request, bad: BadRows) -> Iterator[Rows]:
    """A sheet in one piece."""
    frame = _excel_frame(source.place, request)
    filled = (frame != "").to_numpy()
    header, n = int(np.argmax(filled.any(axis=1))), len(source.columns)
    good = filled.any(axis=1)
    good[: header + 1] = False
    for i in np.flatnonzero(good & filled[:, n:].any(axis=1)):
        bad.report(
            f"{source.path}, row {i - header}: more cells than the first row has. Correct it."
        )
        good[i] = False
    columns = {
        name: [as_label(value) for value in frame.loc[good, source.columns.index(name)]]
        for name in request.names
    }
    yield Rows(np.flatnonzero(good) - header, columns)


# ---- Parquet -------------------------------------------------------------------------------------


def _open_parquet(path: str) -> Any:
    with open(path, "rb") as stream:
        head = stream.read(64)
    if not head:
        raise ReadError(f"{path} is empty. Check how it was written.")
    if not head.startswith(b"PAR1"):
        found = files.identify(head) or "perhaps text"
        raise ReadError(
            f"{path} is not what its name says: it is not Parquet but {found}. Rename it, or "
            "specify its format."
        )
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ReadError(
            f"{path}: reading Parquet needs pyarrow. Install it: pip install 'topicfocus[tables]'."
        ) from None
    try:
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ReadError(f"{path} is not a complete Parquet file: {reason}") from None


def parquet_columns(path: str, request: Request) -> list[str]:
    """The names of the columns, after a check that the text column contains text."""
    with _open_parquet(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
    import pyarrow as pa

    if n_rows == 0:
        raise ReadError(f"{path} has columns but no rows.")
    if schema.names.count(request.text) == 1:
        kind = schema.field(request.text).type
        if _is_list(kind) and request.separator is None:
            raise ReadError(f"{path}: {list_message(request)}")
        inner = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not (_is_list(kind) or str(inner) in ("string", "large_string", "string_view")):
            raise ReadError(
                f"{path}: column {request.text!r} contains {kind}, not text. Name the column that "
                "contains text."
            )
    return schema.names


def _read_parquet(source: Source, request: Request, bad: BadRows) -> Iterator[Rows]:
    """Record batches; texts stay in Arrow's memory."""
    import pyarrow as pa

    row = 1
    try:
        with _open_parquet(source.place) as file:
            sizes = [file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]
            rows = BLOCK_CHARACTERS * file.metadata.num_rows // max(1, sum(sizes))
            size = min(max(1, rows), request.block_rows)
            for batch in file.iter_batches(size, columns=request.names):
                columns = {name: batch[name].to_pylist() for name in request.names[1:]}
                texts = batch[request.text]
                if _is_list(texts.type):
                    texts = texts.to_pylist()
                else:
                    texts = texts.cast(pa.large_string())
                    texts.validate(full=True)
                columns[request.text or ""] = texts
                yield Rows(np.arange(row, row + len(batch), dtype=np.int64), columns)
                row += len(batch)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ReadError(f"{source.path}, row {row} or later: {reason}.") from None


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_list(kind) for is_list in lists)


# ---- folders of text files -----------------------------------------------------------------------


def documents_of(path: str) -> tuple[tuple[str, str | None], ...]:
    """The text files of a folder, or of its subfolders, whose names are the classes."""
    endings = tuple(a + b for a in _TEXT_FILES for b in ("", *files.COMPRESSED))

    def texts(folder: Path) -> list[Path]:
        found = (p for p in sorted(folder.iterdir()) if p.name.lower().endswith(endings))
        return [p for p in found if p.is_file() and not p.name.startswith(".")]

    top = texts(Path(path))
    folders = [p for p in sorted(Path(path).iterdir()) if p.is_dir() and p.name[0] != "."]
    below = {folder.name: texts(folder) for folder in folders}
    below = {name: found for name, found in below.items() if found}
    if top and below:
        raise ReadError(
            f"{path} contains both text files and folders of them. Name one of the folders "
            f"({', '.join(list(below)[:5])}), or move the files at the top into one."
        )
    classes = [(str(file), name) for name, found in below.items() for file in found]
    return (*((str(file), None) for file in top), *classes)


def open_folder(path: str, request: Request) -> Source:
    documents = documents_of(path)
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
        raise ReadError(
            f"{path} is a folder, which has no column {name!r}. Use a table: CSV, TSV, JSON lines "
            "or Parquet."
        )
    return Source(path, path, "folder", documents=documents)


def _read_folder(source: Source, request: Request, bad: BadRows) -> Iterator[Rows]:
    """Pieces of a folder; row numbers are those of the files in alphabetical order."""
    files.extends_ascii(request.encoding)
    rows: list[int] = []
    texts: list[str] = []
    size = 0
    for row, (path, _) in enumerate(source.documents, start=1):
        with files.reading(path), files.open_bytes(path) as stream:
            raw = stream.read()
        found = files.identify(raw[:64])
        if found:
            bad.report(f"{path}: not text but {found}. Remove it.")
            continue
        try:
            texts.append(raw.removeprefix(b"\xef\xbb\xbf").decode(request.encoding))
        except UnicodeError as error:
            byte = getattr(error, "start", 0)
            bad.report(
                f"{path}: not {request.encoding}: byte 0x{raw[byte]:02x} at position {byte}. "
                f"{files.encoding_advice(request.encoding)}"
            )
            continue
        rows.append(row)
        size += len(texts[-1])
        if len(rows) >= request.block_rows or size >= BLOCK_CHARACTERS:
            yield _folder_rows(source, rows, texts)
            rows, texts, size = [], [], 0
    yield _folder_rows(source, rows, texts)


def _folder_rows(source: Source, rows: list[int], texts: list[str]) -> Rows:
    classes = [source.documents[row - 1][1] for row in rows]
    return Rows(np.array(rows, np.int64), {"text": texts, "folder": classes})


READERS: dict[str, Callable[[Source, Request, BadRows], Iterator[Rows]]] = {
    "csv": _read_csv,
    "jsonl": _read_json,
    "xlsx": _read_excel,
    "parquet": _read_parquet,
    "folder": _read_folder,
}
