"""Examples that several docstrings begin with, each written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])


def shown_after(beginning: str) -> Callable[..., Callable[[T], T]]:
    """A decorator that ends a docstring with an example: this beginning, and lines of its own.

    Parameters
    ----------
    beginning : str
        What all of them begin with, as lines of a Python session.

    Returns
    -------
    function (*lines)
        Makes the decorator.

    Examples
    --------
    >>> from topicfocus.shown import shown_after
    >>> shown = shown_after(">>> x = 2")
    >>> @shown(">>> double(x)", "4")
    ... def double(x):
    ...     "Twice a number."
    ...     return 2 * x
    >>> "Examples" in double.__doc__
    True
    """

    def shown(*lines: str) -> Callable[[T], T]:
        def add(value: T) -> T:
            text = inspect.cleandoc(value.__doc__ or "")
            example = "\n".join([inspect.cleandoc(beginning), *lines])
            value.__doc__ = f"{text}\n\nExamples\n--------\n{example}\n"
            return value

        return add

    return shown
