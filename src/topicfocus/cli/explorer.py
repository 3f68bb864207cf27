"""The explorer page, where this installation has it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

#: Documents on the page; more make it large and nobody looks at them.
MOST_DOCUMENTS = 2000


def available() -> bool:
    """Whether `topicfocus.report` is there."""
    return importlib.util.find_spec("topicfocus.report") is not None


def write(model: Any, texts: list[str], target: Any, path: Path) -> None:
    """Write the page."""
    import importlib

    # By name, because this module may be absent.
    report = importlib.import_module("topicfocus.report")
    report.Explorer(model, texts=texts, target=target).save(path)
