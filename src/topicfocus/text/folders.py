"""A folder of text files, with subfolders as classes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from topicfocus.text.errors import ReadError
from topicfocus.text.files import LONGEST, encoding_advice, open_bytes, readable, what_it_is
from topicfocus.text.packed import PACKED
from topicfocus.text.records import Block, Record, Request, in_blocks

_PLAIN = (".txt", ".text")
_ENDINGS = (*_PLAIN, *(plain + ending for plain in _PLAIN for ending in PACKED))


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
        for name in (*request.numbers, *filter(None, [request.group])):
            raise ReadError(
                f"{request.path} is a folder, which has no column {name!r}. Use a "
                "table: CSV, TSV, JSON lines or Parquet."
            )
        self.has_target = bool(below)
        self._files: list[tuple[Path, str | None]] = [(file, None) for file in top]
        self._files += [(file, name) for name, files in below.items() for file in files]
        self._span = (0, len(self._files))
        self.names = [str(file.relative_to(path)) for file, _ in self._files]
        self.request = Request(
            path=request.path,
            target="folder" if below else None,
            encoding=request.encoding,
            block_rows=request.block_rows,
            bad=request.bad,
        )

    def sizes(self) -> list[int]:
        """Bytes of each file."""
        return [file.stat().st_size for file, _ in self._files]

    def restrict(self, first: int, last: int) -> None:
        """Read these files only; they keep their numbers."""
        self._span = (first, last)

    def blocks(self) -> Iterator[Block]:
        """Blocks of files; a row is the number of a file."""
        return in_blocks(self._records(), self.request)

    def _records(self) -> Iterator[Record]:
        encoding = self.request.encoding
        first, last = self._span
        for row, (file, name) in enumerate(self._files[first:last], start=first + 1):
            with readable(str(file)), open_bytes(str(file)) as stream:
                raw = stream.read(LONGEST)
            found = what_it_is(raw[:64])
            try:
                if len(raw) == LONGEST:
                    raise ValueError(f"more than {LONGEST >> 20} MiB. Remove it.")
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
                yield Record(row, text, name, [])


def _texts(folder: Path) -> list[Path]:
    return sorted(
        child
        for child in folder.iterdir()
        if child.name.lower().endswith(_ENDINGS)
        and not child.name.startswith(".")
        and child.is_file()
    )


def holds_texts(path: str) -> bool:
    """Whether a folder, or a folder in it, has text files."""
    folder = Path(path)
    below = (child for child in folder.iterdir() if child.is_dir())
    return bool(_texts(folder)) or any(
        _texts(child) for child in below if not child.name.startswith(".")
    )
