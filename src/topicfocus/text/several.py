"""Several files with the same columns as one table: names, globs, and folders of tables."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from topicfocus.text.errors import ReadError
from topicfocus.text.files import readable
from topicfocus.text.records import Block, Request


def spread(paths: Sequence[str]) -> list[str]:
    """Names of files, with patterns such as ``parts/*.csv`` replaced by what they match, in order.

    A file whose own name has such signs is meant itself.
    """
    out: list[str] = []
    for path in paths:
        if path == "-" or not glob.has_magic(path) or Path(path).exists():
            out.append(path)
            continue
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise ReadError(f"{path}: no file has such a name.")
        out += found
    seen: dict[Path, str] = {}
    for path in out:
        place = Path(path).absolute()
        if path != "-" and place in seen:
            raise ReadError(f"{path} is named twice. Its rows would count twice; name it once.")
        seen[place] = path
    if len(out) > 1 and "-" in out:
        raise ReadError("standard input (-) cannot be read together with files. Name it alone.")
    return out


class Several:
    """Files one behind the other. All have been opened once, so their columns are known to fit.

    Parameters
    ----------
    request : Request
        Its path is what messages call all of them.
    sources : sequence
        Readers of the single files.
    """

    def __init__(self, request: Request, sources: Sequence[Any]) -> None:
        self.request = request
        self._sources = sources
        self.files = [source.request.path for source in sources]

    def blocks(self) -> Iterator[Block]:
        """Blocks of rows; row numbers are those in their own file."""
        for source in self._sources:
            path = source.request.path
            with readable(path):
                for block in source.blocks():
                    yield replace(block, path=path)
