"""Ctrl-C, also where it does not look like one."""

from __future__ import annotations


def is_interrupt(error: BaseException) -> bool:
    """Whether an error is a KeyboardInterrupt, or began as one.

    A signal that arrives while compiled code calls back into Python (numba does, when a kernel runs
    for the first time) comes out as a SystemError with the interrupt as its cause.
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, KeyboardInterrupt):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
