"""Reading tables and folders of text, and counting words. Names are imported when first used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Block": "records",
    "CountTable": "matrices",
    "ReadError": "errors",
    "Table": "tables",
    "Target": "targets",
    "TokenCounter": "counter",
    "detect_target": "targets",
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
    from topicfocus.text.records import Block
    from topicfocus.text.tables import Table, read_table
    from topicfocus.text.targets import Target, detect_target


def __getattr__(name: str) -> Any:
    # Reading a file, and saying what is wrong with it, should not wait for scikit-learn and numba.
    if name not in _HOMES:
        raise AttributeError(f"module 'topicfocus.text' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"topicfocus.text.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
