"""Read tables and folders of text, and count words. Names are imported when first used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Block": "tables",
    "CountTable": "matrices",
    "ReadError": "errors",
    "Table": "tables",
    "Target": "target",
    "TokenCounter": "counter",
    "detect_target": "target",
    "read_counts": "matrices",
    "read_table": "tables",
}

__all__ = [
    "Block",
    "CountTable",
    "ReadError",
    "Table",
    "Target",
    "TokenCounter",
    "detect_target",
    "read_counts",
    "read_table",
]

if TYPE_CHECKING:
    from topicfocus.text.counter import TokenCounter
    from topicfocus.text.errors import ReadError
    from topicfocus.text.matrices import CountTable, read_counts
    from topicfocus.text.tables import Block, Table, read_table
    from topicfocus.text.target import Target, detect_target


def __getattr__(name: str) -> Any:
    # pandas, scikit-learn and numba take long to import.
    if name not in _HOMES:
        raise AttributeError(f"module 'topicfocus.text' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"topicfocus.text.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
