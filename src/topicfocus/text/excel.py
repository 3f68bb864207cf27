"""Sheets of Excel (.xlsx), by openpyxl, row by row."""

from __future__ import annotations

import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from topicfocus.text.errors import ReadError
from topicfocus.text.files import check_exists
from topicfocus.text.records import (
    BadNumber,
    Block,
    Record,
    Request,
    find_columns,
    in_blocks,
    take_fields,
)

#: The texts of all cells stand in one part of the file, which is read as a whole.
_MOST_TEXT = 1 << 30
_TEXTS = "xl/sharedStrings.xml"


class Excel:
    """A sheet whose first row has been read and checked."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self._check_size()
        with self._rows() as rows:
            header = next((row for row in rows if any(row)), None)
            if header is None:
                raise ReadError(f"{request.path} is empty: its sheet has no cells.")
            while header and not header[-1]:
                header.pop()
            self.columns = [name.strip() for name in header]
        self._places = find_columns(request, self.columns)

    def blocks(self) -> Iterator[Block]:
        """Blocks of rows, from the first row on."""
        return in_blocks(self._records(), self.request)

    def _records(self) -> Iterator[Record]:
        request, n, row, named = self.request, len(self.columns), 0, False
        with self._rows() as rows:
            for line, cells in enumerate(rows, start=1):
                if not any(cells):
                    continue
                if not named:
                    named = True
                    continue
                row += 1
                where = f"{request.path}, row {row} (row {line} of the sheet)"
                cells += [""] * (n - len(cells))
                if any(cells[n:]):
                    request.bad.report(f"{where}: more cells than the first row has. Correct it.")
                    continue
                try:
                    yield take_fields(row, cells, self._places, request)
                except BadNumber as bad:
                    request.bad.report(f"{where}: {bad}")

    def _check_size(self) -> None:
        path = str(check_exists(self.request.path))
        if not zipfile.is_zipfile(path):
            raise ReadError(f"{path} is not what its name says: .xlsx is a zip archive. Rename it.")
        with zipfile.ZipFile(path) as archive:
            texts = sum(info.file_size for info in archive.infolist() if info.filename == _TEXTS)
        if texts > _MOST_TEXT:
            raise ReadError(
                f"{path} holds {texts >> 20:,} MiB of text, too much for a sheet. Export it as CSV."
            )

    @contextmanager
    def _rows(self) -> Iterator[Iterator[list[str]]]:
        """Rows of the sheet as texts."""
        try:
            import openpyxl
        except ImportError:
            raise ReadError(
                f"{self.request.path}: reading Excel needs openpyxl. Install it: "
                "pip install 'topicfocus[excel]'."
            ) from None
        path = self.request.path
        try:
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        except Exception as error:  # whatever a damaged file makes it trip over
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ReadError(f"{path} is not a whole file of Excel: {reason}.") from None
        try:
            rows = self._texts(self._sheet(book))
            try:
                yield rows
            finally:
                rows.close()  # the sheet is a file of its own, which keeps the book open
        finally:
            book.close()

    def _sheet(self, book: Any) -> Any:
        path, wanted = self.request.path, self.request.sheet
        names = [sheet.title for sheet in book.worksheets]
        listed = ", ".join(names[:20])
        if wanted is not None:
            if wanted not in names:
                raise ReadError(f"{path} has no sheet {wanted!r}. Sheets: {listed}.")
            return book[wanted]
        if len(names) != 1:
            raise ReadError(f"{path}: say which sheet, sheet= (--sheet). Sheets: {listed}.")
        return book.worksheets[0]

    def _texts(self, sheet: Any) -> Generator[list[str], None, None]:
        sheet.reset_dimensions()  # what a file says of its size may be wrong
        try:
            for row in sheet.iter_rows(values_only=True):
                yield [_text(value) for value in row]
        except ReadError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ReadError(f"{self.request.path} cannot be read to its end: {reason}.") from None


def _text(value: Any) -> str:
    """A cell as a CSV file would have it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
