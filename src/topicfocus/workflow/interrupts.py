"""Ctrl-C during a command: when it is raised, when it waits, and how the process ends after it.

The models' own `fit` hands back what it has when it is interrupted, which suits Python. A command
must not go on with that as if it were finished, so the signal is noted, too.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from topicfocus.interrupts import is_interrupt

#: Seconds that the end of an interrupted process may take.
PATIENCE = 10.0

#: Seconds after which a Ctrl-C that Python dropped comes again.
AGAIN = 0.01


@contextmanager
def noting_interrupts() -> Iterator[None]:
    """Raises KeyboardInterrupt at the end of the block if one was swallowed in it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted, before = False, signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        nonlocal noted
        noted = True
        if not callable(before):
            raise KeyboardInterrupt
        before(number, frame)  # it knows what a second one means

    signal.signal(signal.SIGINT, note)
    try:
        with warnings.catch_warnings():
            # Advice on warm_start is for Python; the command has its own.
            warnings.filterwarnings("ignore", message="The fit was interrupted")
            yield
    finally:
        signal.signal(signal.SIGINT, before)
    if noted:
        raise KeyboardInterrupt


# ---- of a command --------------------------------------------------------------------------------


class _Command:
    """Where the command of this process is, as the handler of Ctrl-C has to know it."""

    def __init__(self) -> None:
        self.times = 0
        self.over = False  # everything was said: what comes now does not disturb the end
        self.waiting = 0  # blocks that must not be cut in two
        self.came = False  # in one of these
        self.asking = False  # a thread will ask once more
        self.undo: list[Callable[[], object]] = []

    def handle(self, number: int, frame: Any) -> None:
        """The first Ctrl-C ends the command, the second does not disturb its cleaning up.

        A third one is for whoever cannot wait: the process ends as it stands.
        """
        if _is_inside(frame, _Command.dropped):
            self.ask_later()
            return
        self.times += 1
        if self.times > 2:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        error = sys.exc_info()[1]
        if self.over or (self.times > 1 and error is not None and is_interrupt(error)):
            return
        if self.waiting:
            self.came = True
            return
        raise KeyboardInterrupt

    def dropped(self, unraisable: Any, otherwise: Callable[[Any], object]) -> None:
        """What Python does with an error that nobody can catch; a Ctrl-C comes again.

        Such are those of finalisers and of callbacks (numba's compiler has some): Python prints
        their traceback and goes on. Nothing may be raised here either, so a thread asks once more,
        and once more if this has not come to its end by then.
        """
        error = unraisable.exc_value
        if error is None or not is_interrupt(error):
            otherwise(unraisable)
        elif not self.over:
            self.times -= 1
            self.ask_later()

    def ask_later(self) -> None:
        """Ctrl-C once more, soon. Without locks, which the one who is interrupted may have."""
        if not self.asking:
            self.asking = True
            _thread.start_new_thread(self._ask, ())

    def _ask(self) -> None:
        time.sleep(AGAIN)
        self.asking = False
        if not self.over:
            _ask_again()


def _is_inside(frame: Any, function: Callable[..., object]) -> bool:
    """Whether this function, or what it has called, is at work in a frame."""
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


def _ask_again() -> None:
    """Ctrl-C once more, by a signal where there are any: it also ends a wait of the main thread."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


_COMMAND = _Command()


@contextmanager
def cleaning_up(*, ends: bool = False) -> Iterator[None]:
    """For a command: the first Ctrl-C ends it, the second does not disturb its cleaning up.

    What `undoing` was told of is undone at the end, if it was not. `ends`: the process ends with
    the block, and what comes after it does not disturb that, either.
    """
    global _COMMAND
    before = signal.getsignal(signal.SIGINT)
    own = threading.current_thread() is threading.main_thread()
    if not own or before is not signal.default_int_handler:  # ignored, or somebody else's
        yield
        return
    outer, _COMMAND = _COMMAND, _Command()
    mine, hook = _COMMAND, sys.unraisablehook
    sys.unraisablehook = partial(mine.dropped, otherwise=hook)  # no frame of its own
    signal.signal(signal.SIGINT, mine.handle)
    try:
        yield
    finally:
        mine.over = True
        while mine.undo:
            mine.undo.pop()()
        if not ends:
            signal.signal(signal.SIGINT, before)
            sys.unraisablehook = hook
            _COMMAND = outer


def all_is_said() -> None:
    """From now on Ctrl-C does not disturb the end of the command."""
    _COMMAND.over = True


@contextmanager
def undoing(undo: Callable[[], object]) -> Iterator[None]:
    """Calls `undo` at the end of the block, also if Ctrl-C comes before or while it is called.

    `try: ... finally:` alone does not do that: Ctrl-C may come between the making of a thing and
    the `try`, or in the `finally`. So `undo` is called where there is nothing to undo, and perhaps
    twice.
    """
    command = _COMMAND
    command.undo.append(undo)
    try:
        yield
    finally:
        with uninterrupted():
            undo()
        # Not after an error in it: then it is tried once more at the end of the command.
        command.undo.remove(undo)


@contextmanager
def uninterrupted(*, at_once: bool = True) -> Iterator[Callable[[], None]]:
    """Ctrl-C waits for the end of the block; else from the call of what is yielded on.

    In a command alone: in Python's own sessions Ctrl-C is Python's.
    """
    command, begun = _COMMAND, False

    def begin() -> None:
        nonlocal begun
        command.waiting += 1
        begun = True

    try:
        if at_once:
            begin()
        yield begin
    finally:
        if begun:
            command.waiting -= 1
        if command.came and not command.waiting:
            command.came = False
            raise KeyboardInterrupt


def end_in_time(code: int) -> None:
    """If Ctrl-C came, the process ends with this code within seconds, whatever waits for what.

    Ctrl-C may come while the main thread takes a lock that a thread of ours needs (after
    `threading.Condition.__enter__` took it, and before `with` knows), and nobody gives it back.
    Python's own end, which waits for that thread, would wait for ever.
    """
    if _COMMAND.times:
        threading.Thread(target=_end, args=(code,), daemon=True).start()


def _end(code: int) -> None:
    time.sleep(PATIENCE)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
