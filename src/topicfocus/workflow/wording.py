"""How messages call a setting: as the caller wrote it, an argument of Python or an option.

The command line enters `command_line()` and reads ``--min-df 2`` where Python reads ``min_df=2``.
What users wrote (names of files, columns, classes) never goes through a translation.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_COMMAND_LINE: ContextVar[bool] = ContextVar("topicfocus_command_line", default=False)
#: Options that are called otherwise than the argument; `class` is a word of Python.
_OPTIONS = {"label": "--class"}


@contextmanager
def command_line() -> Iterator[None]:
    """Messages made in this block speak of options of a command."""
    token = _COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _COMMAND_LINE.reset(token)


def setting(name: str, value: object = None) -> str:
    """A setting by its name, or with a value: ``kind="count"`` or ``--kind count``."""
    if _COMMAND_LINE.get():
        option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
        return option if value is None or value is True else f"{option} {value}"
    if value is None:
        return f"{name}="
    return f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"


def spoken(command: str, python: str) -> str:
    """The words for a command, or those for a call."""
    return command if _COMMAND_LINE.get() else python
