"""A folder of text files, with subfolders as classes."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from topicfocus.text.errors import ReadError
from topicfocus.text.files import encoding_advice, readable, what_it_is
from topicfocus.text.records import Block, Record, Request, in_blocks

_ENDINGS = (".txt", ".text", ".txt.gz", ".text.gz")


class Folder:
    """Text files, in alphabetical order; the names of subfolders are the target."""

    def __init__(self, request: Request) -> None:
        path = Path(request.path)
        top = _texts(path)
        below = {
            child.name: _texts(child)
            for child in sorted(path.iterdir())
            if child.is_dir() and not child.name.startswith(".")
        }
        below = {name: files for name, files in below.items() if files}
        if not top and not below:
            raise ReadError(
                f"{request.path} holds no text files ({', '.join(_ENDINGS[:2])}), nor does a "
                "folder in it. Name the folder whose files, or whose subfolders' files, are "
                "the documents."
            )
        if top and below:
            raise ReadError(
                f"{request.path} holds both text files and folders of them. Name one of the "
                f"folders ({', '.join(list(below)[:5])}), or move the files at the top into one."
            )
        if top and request.target is not None:
            raise ReadError(
                f"{request.path} has no subfolders to take the target from. Put the files of each "
                "class into a folder of its name, or use a table."
            )
        if request.numbers:
            raise ReadError(
                f"{request.path} is a folder, which has no column {request.numbers[0]!r}. Use a "
                "table: CSV, TSV, JSON lines or Parquet."
            )
        self.has_target = bool(below)
        self._files: list[tuple[Path, str | None]] = [(file, None) for file in top]
        self._files += [(file, name) for name, files in below.items() for file in files]
        self.names = [str(file.relative_to(path)) for file, _ in self._files]
        self.request = Request(
            path=request.path,
            target="folder" if below else None,
            encoding=request.encoding,
            block_rows=request.block_rows,
            bad=request.bad,
        )

    def blocks(self) -> Iterator[Block]:
        """Blocks of files; a row is the number of a file."""
        return in_blocks(self._records(), self.request)

    def _records(self) -> Iterator[Record]:
        encoding = self.request.encoding
        for row, (file, name) in enumerate(self._files, start=1):
            with readable(str(file)):
                raw = file.read_bytes()
                if file.name.endswith(".gz"):
                    raw = gzip.decompress(raw)
            found = what_it_is(raw[:64])
            try:
                if found:
                    raise ValueError(f"not text but {found}. Remove it.")
                text = raw.removeprefix(b"\xef\xbb\xbf").decode(encoding)
            except UnicodeError as error:
                byte = getattr(error, "start", 0)
                fault = f"not {encoding}: byte 0x{raw[byte]:02x} at position {byte}"
                self.request.bad.report(f"{file}: {fault}. {encoding_advice(encoding)}")
            except ValueError as error:
                self.request.bad.report(f"{file}: {error}")
            else:
                yield row, text, name, []


def _texts(folder: Path) -> list[Path]:
    return sorted(
        child
        for child in folder.iterdir()
        if child.name.lower().endswith(_ENDINGS)
        and not child.name.startswith(".")
        and child.is_file()
    )
