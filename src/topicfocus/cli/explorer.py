"""The explorer page, where this installation has it."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any


def available() -> bool:
    """Whether `topicfocus.report` is there."""
    return importlib.util.find_spec("topicfocus.report") is not None


def write(path: Path, model: Any, **shown: Any) -> None:
    """Write the page: `shown` are the documents and what is known of them."""
    # By name, because this module may be absent.
    report = importlib.import_module("topicfocus.report")
    report.Explorer(model, **shown).save(path)
