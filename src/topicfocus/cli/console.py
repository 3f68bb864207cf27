"""Standard streams of the command line: messages on standard error, results on standard output."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
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


def printable_values(value: Any) -> Any:
    """A result in which all strings are printable, keys included."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable_values(k): printable_values(v) for k, v in value.items()}
    if isinstance(value, list):
        return [printable_values(v) for v in value]
    return value


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
    from topicfocus.workflow.write import plain

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


# ---- labels of codes -----------------------------------------------------------------------------


#: Entries of a result that hold words, in lists, in records, or as the keys of a dict.
_HOLD_WORDS = frozenset(
    ("words", "word", "context", "kept_examples", "dropped_examples", "raises", "lowers")
)
#: Parts of a result that have such entries.
_PARTS = ("topics", "words", "stability")
#: What a code with levels looks like ("dx:renal|failure"); `report.labels` says what it is.
_LEVELS = re.compile(r"\||\S/\S.*\S/\S")


def with_labels(result: dict[str, Any]) -> dict[str, Any]:
    """A result with the words of its topics as labels; itself where no word is such a code."""
    names: dict[str, str] = {}
    _map_words(result, lambda word: names.setdefault(word, word))
    if not any(_LEVELS.search(name) for name in names):
        return result
    from topicfocus.report.labels import readable

    labels = dict(zip(names, readable(list(names)), strict=True))
    return _map_words(result, labels.__getitem__)


def _map_words(result: dict[str, Any], label: Callable[[str], str]) -> dict[str, Any]:
    """A result with a function of every word in the parts that hold words."""
    out = {**result, **{n: _mapped(result[n], label, False) for n in _PARTS if n in result}}
    words = out.get("words")
    if words is not None and "kept" not in words:  # of an explanation: amounts by words
        out["words"] = {label(word): amount for word, amount in words.items()}
    return out


def _mapped(value: Any, label: Callable[[str], str], inside: bool) -> Any:
    """`inside`: the value stands where words do. Other texts ("class") are no words."""
    if isinstance(value, dict):
        return {name: _mapped(v, label, name in _HOLD_WORDS) for name, v in value.items()}
    if isinstance(value, list):
        return [_mapped(one, label, inside) for one in value]
    return label(value) if inside and isinstance(value, str) else value
