"""Ctrl-C during a fit.

The models' own `fit` hands back what it has when it is interrupted, which suits Python. A command
must not go on with that as if it were finished, so the signal is noted, too.
"""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def noting_interrupts() -> Iterator[None]:
    """Raises KeyboardInterrupt at the end of the block if one was swallowed in it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted = False

    def note(number: int, frame: Any) -> None:
        nonlocal noted
        noted = True
        if not callable(before):
            raise KeyboardInterrupt
        before(number, frame)  # it knows what a second one means

    before = signal.signal(signal.SIGINT, note)
    try:
        with warnings.catch_warnings():
            # Advice on warm_start is for Python; the command has its own.
            warnings.filterwarnings("ignore", message="The fit was interrupted")
            yield
    finally:
        signal.signal(signal.SIGINT, before)
    if noted:
        raise KeyboardInterrupt


@contextmanager
def cleaning_up(*, ends: bool = False) -> Iterator[None]:
    """For a command: the first Ctrl-C ends it, the second does not disturb its cleaning up.

    A third one is for whoever cannot wait: the process ends as it stands. `ends`: the process ends
    with the block, and what comes after it does not disturb that, either: everything was said.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    times, over = 0, False

    def count(number: int, frame: Any) -> None:
        nonlocal times
        times += 1
        if times == 1 and not over:
            raise KeyboardInterrupt
        if times > 2:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # ignored, or somebody else's
        yield
        return
    signal.signal(signal.SIGINT, count)
    try:
        yield
    finally:
        over = ends
        if not ends:
            signal.signal(signal.SIGINT, before)
