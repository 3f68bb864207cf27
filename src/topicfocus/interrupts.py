"""Ctrl-C that arrives while compiled code calls Python, which numba raises as a SystemError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

#: A kernel that returns a tuple of its own class calls Python twice.
_DEEPEST = 5


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is a KeyboardInterrupt, or a SystemError that one has caused."""
    for _ in range(_DEEPEST):
        if not isinstance(error, SystemError):
            break
        error = error.__cause__ or error.__context__
    return isinstance(error, KeyboardInterrupt)


@contextmanager
def keyboard_interrupts() -> Iterator[None]:
    """Raise such a SystemError as KeyboardInterrupt; also a decorator.

    Otherwise `cross_val_score` would take the interrupt for a fit that failed, and go on.
    """
    try:
        yield
    except SystemError as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        raise
