"""Ctrl-C, also where it does not look like one."""

from __future__ import annotations


def is_interrupt(error: BaseException) -> bool:
    """Whether an error is a KeyboardInterrupt, or began as one.

    A signal that arrives while compiled code calls back into Python (numba does, when a kernel runs
    for the first time) comes out as a SystemError with the interrupt as its cause.
    """
    current: BaseException | None = error
    visited: set[int] = set()  # an error that was raised from itself is its own cause
    while current is not None and id(current) not in visited:
        if isinstance(current, KeyboardInterrupt):
            return True
        visited.add(id(current))
        current = current.__cause__ or current.__context__
    return False
