"""What a person wants to know while waiting."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Protocol, cast


class Remarks(Protocol):
    """Who is told."""

    def say(self, message: str) -> None:
        """What is being done, and what was decided on the way."""
        ...

    def warn(self, message: str) -> None:
        """The result is not what was asked for."""
        ...


#: None: nothing is said; a function such as ``print``: called with each remark.
Listener = Remarks | Callable[[str], object] | None


class _Told:
    """Remarks to a function, warnings as Python's."""

    def __init__(self, function: Callable[[str], object] | None) -> None:
        self._function = function

    def say(self, message: str) -> None:
        if self._function is not None:
            self._function(message)

    def warn(self, message: str) -> None:
        warnings.warn(message, UserWarning, stacklevel=2)


def as_remarks(listener: Listener) -> Remarks:
    """A listener with `say` and `warn`, whatever was given."""
    if listener is None or (callable(listener) and not hasattr(listener, "say")):
        return _Told(listener)
    return cast(Remarks, listener)
