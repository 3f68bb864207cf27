"""Where commands write: remarks to standard error, results to standard output."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from topicfocus.cli.encodings import is_utf
from topicfocus.workflow.printable import escaped, printable
from topicfocus.workflow.tables import plain

#: Columns of a pipe or a file, where 80 would fold every line.
PIPE_WIDTH = 110


class Remarks:
    """What a person wants to know while waiting; nothing with --quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def say(self, message: str) -> None:
        if not self.quiet:
            print(folded(printable(message)), file=sys.stderr, flush=True)

    def warn(self, message: str) -> None:
        """Said with --quiet, too: the result is not what was asked for."""
        text = folded(f"topicfocus: warning: {printable(message)}")
        print(text, file=sys.stderr, flush=True)


def folded(text: str) -> str:
    """A remark in lines that a terminal does not cut inside a word; one line elsewhere."""
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):  # no terminal
        return text
    if width < 20:  # 0 where a terminal does not know
        return text
    fold = textwrap.TextWrapper(
        width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    lines = text.split("\n")
    return "\n".join(line if len(line) <= width else fold.fill(line) for line in lines)


def result_console() -> Any:
    """A console of rich on standard output."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    # Numbers and quotes in words and labels are not to be coloured by what they look like.
    return Console(width=width, highlight=False)


@contextmanager
def one_line_warnings(remarks: Remarks) -> Iterator[None]:
    """Warnings of libraries as remarks of one line, without a place in the source."""

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        remarks.warn(" ".join(str(message).split()))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def print_json(value: Any, indent: int | None = 2) -> None:
    """To standard output."""
    print(json_text(value, indent))


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON that any terminal and any encoding of standard output takes as it is."""
    text = json.dumps(plain(value), indent=indent, ensure_ascii=not is_utf(), allow_nan=False)
    return escaped(text)
