"""Standard streams of the command line: messages on standard error, results on standard output."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from topicfocus import config
from topicfocus.text.errors import PRINTABLE, printable

log = logging.getLogger(__name__)

#: Columns of a pipe or a file, where 80 would fold every line.
PIPE_WIDTH = 110
#: Settings whose option has another name.
_FLAGS = {
    one.name: one.metadata["flag"] or one.name.replace("_", "-")
    for kind in (
        config.FitConfig,
        config.TuneConfig,
        config.PredictConfig,
        config.ExplainConfig,
        config.ReportConfig,
    )
    for one in fields(kind)
}


def open_streams() -> None:
    """Replace closed streams by the null device; replace characters that an encoding lacks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def as_options(message: str) -> str:
    """A message that names settings as options: ```kind='count'``` becomes ``--kind count``."""

    def option(found: re.Match[str]) -> str:
        name, value = found[1], found[2]
        if name not in _FLAGS:
            return found[0]
        shown = "" if value in (None, "True") else f" {value.strip(chr(39))}"
        return f"--{_FLAGS[name]}{shown}"

    return re.sub(r"`(\w+)(?:=([^`]*))?`", option, message)


class _Messages(logging.Handler):
    """Writes log records to standard error, one line each, folded to the width of a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        text = printable(as_options(" ".join(record.getMessage().split())))
        if record.levelno >= logging.WARNING:
            text = f"topicfocus: warning: {text}"
        print(_folded(text), file=sys.stderr, flush=True)


@contextmanager
def messages(quiet: bool) -> Iterator[None]:
    """Show messages and warnings on standard error; only warnings if `quiet`."""
    log, handler = logging.getLogger("topicfocus"), _Messages()
    before = (log.level, log.propagate)
    log.addHandler(handler)
    log.setLevel(logging.WARNING if quiet else logging.INFO)
    log.propagate = False
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: log.warning("%s", message)
        try:
            yield
        finally:
            log.removeHandler(handler)
            log.setLevel(before[0])
            log.propagate = before[1]


def _folded(text: str) -> str:
    """Fold between words on a terminal; leave one line in a file."""
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):  # not a terminal
        return text
    if width < 20 or len(text) <= width:  # 0 if a terminal does not know its width
        return text
    return textwrap.fill(
        text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def result_console() -> Any:
    """A rich console on standard output."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    # Without highlighting, which colours numbers and quotes inside words and labels.
    return Console(width=width, highlight=False)


def print_json(value: Any) -> None:
    """Print JSON in which control characters are escaped."""
    from topicfocus.persistence import plain

    print(_json(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)))


def _json(text: str) -> str:
    """JSON with escape sequences for control characters, and for all that an encoding may lack."""
    text = text.translate({c: f"\\u{c:04x}" for c in PRINTABLE})
    if (sys.stdout.encoding or "").lower().startswith("utf"):
        return text
    return re.sub(r"[^\x00-\x7e]", lambda found: json.dumps(found[0])[1:-1], text)


class ResultStream:
    """Standard output for tables: printable on a terminal, as they are in a pipe."""

    def __init__(self, as_json: bool) -> None:
        self._as_json, self._clean = as_json, printable if sys.stdout.isatty() else str

    def write(self, text: str) -> int:
        return sys.stdout.write(_json(text) if self._as_json else self._clean(text))
