"""Reading tables and folders of text, and counting words. Names are imported when first used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "TokenCounter": "counter",
}

__all__ = sorted(_HOMES)

if TYPE_CHECKING:
    from topicfocus.text.counter import TokenCounter


def __getattr__(name: str) -> Any:
    # Reading a file, and saying what is wrong with it, should not wait for scikit-learn and numba.
    if name not in _HOMES:
        raise AttributeError(f"module 'topicfocus.text' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"topicfocus.text.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
