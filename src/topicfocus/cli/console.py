"""Where commands write: remarks to standard error, results to standard output."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Columns of a pipe or a file, where 80 would fold every line.
PIPE_WIDTH = 110


class Remarks:
    """What a person wants to know while waiting; nothing with --quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def say(self, message: str) -> None:
        if not self.quiet:
            print(message, file=sys.stderr, flush=True)

    def warn(self, message: str) -> None:
        """Said with --quiet, too: the result is not what was asked for."""
        print(f"topicfocus: warning: {message}", file=sys.stderr, flush=True)


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


def plain(value: Any) -> Any:
    """A result as JSON has it: Python's own numbers, null for what is not a number."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_json(value: Any, indent: int | None = 2) -> None:
    """To standard output."""
    print(json.dumps(plain(value), indent=indent, ensure_ascii=False, allow_nan=False))
