"""From a file to a fitted, judged, saved model, and on to predictions, explanations and a page.

    read -> split -> count -> fit -> judge -> write

one file a verb. `fit_file` is all of it in one call and returns what the command line prints;
``topicfocus.cli`` only parses and prints. Names are imported when they are first used, so that a
mistake in the settings does not wait for numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "CountOptions": "options",
    "FolderInUse": "errors",
    "Interrupted": "errors",
    "ModelOptions": "options",
    "Outcome": "outcome",
    "ReadOptions": "options",
    "Saved": "models",
    "SettingError": "errors",
    "TuneOptions": "options",
    "explain_text": "explain",
    "fit_file": "run",
    "load_model": "models",
    "predict_blocks": "predict",
    "predict_file": "predict",
    "read_config": "config",
    "read_stop_words": "read",
    "report_file": "report",
    "tune_file": "tune",
}

__all__ = [
    "CountOptions",
    "FolderInUse",
    "Interrupted",
    "ModelOptions",
    "Outcome",
    "ReadOptions",
    "Saved",
    "SettingError",
    "TuneOptions",
    "explain_text",
    "fit_file",
    "load_model",
    "predict_blocks",
    "predict_file",
    "read_config",
    "read_stop_words",
    "report_file",
    "tune_file",
]

if TYPE_CHECKING:
    from topicfocus.workflow.config import read_config
    from topicfocus.workflow.errors import FolderInUse, Interrupted, SettingError
    from topicfocus.workflow.explain import explain_text
    from topicfocus.workflow.models import Saved, load_model
    from topicfocus.workflow.options import CountOptions, ModelOptions, ReadOptions, TuneOptions
    from topicfocus.workflow.outcome import Outcome
    from topicfocus.workflow.predict import predict_blocks, predict_file
    from topicfocus.workflow.read import read_stop_words
    from topicfocus.workflow.report import report_file
    from topicfocus.workflow.run import fit_file
    from topicfocus.workflow.tune import tune_file


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'topicfocus.workflow' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"topicfocus.workflow.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
