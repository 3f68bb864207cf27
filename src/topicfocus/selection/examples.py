"""An example that several docstrings begin with, written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])

_STABILITY = """
Examples
--------
>>> from topicfocus import FocusedTopicRegressor, stability
>>> from topicfocus.datasets import make_reviews
>>> reviews = make_reviews(300, random_state=0)
>>> model = FocusedTopicRegressor(2, max_epochs=5, random_state=0)
>>> found = stability(model, reviews.counts, reviews.target, n_resamples=3, n_jobs=1)
"""


def shown_by(*lines: str) -> Callable[[T], T]:
    """Adds the example of `stability` to a docstring, with these lines at its end."""

    def add(value: T) -> T:
        text = inspect.cleandoc(value.__doc__ or "")
        value.__doc__ = text + "\n" + _STABILITY + "\n".join(lines) + "\n"
        return value

    return add
