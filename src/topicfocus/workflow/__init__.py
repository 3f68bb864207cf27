"""From a file to a fitted, evaluated, saved model, and on to predictions, explanations and a page.

    read -> split -> count -> fit -> evaluate -> write

One module per verb; `fit_file` does all of it in one call and returns what the command line prints.
Names are imported when they are first used, so that a mistake in the settings does not wait for
numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "ExplainConfig": "config",
    "FitConfig": "config",
    "Outcome": "workflow.outcome",
    "PredictConfig": "config",
    "ReportConfig": "config",
    "Saved": "workflow.predict",
    "SettingError": "config",
    "TuneConfig": "config",
    "explain_text": "workflow.predict",
    "fit_file": "workflow.fit",
    "load_model": "workflow.predict",
    "predict_blocks": "workflow.predict",
    "predict_file": "workflow.predict",
    "read_config": "workflow.write",
    "read_stop_words": "workflow.read",
    "report_file": "workflow.report",
    "tune_file": "workflow.fit",
}

__all__ = [
    "ExplainConfig",
    "FitConfig",
    "Outcome",
    "PredictConfig",
    "ReportConfig",
    "Saved",
    "SettingError",
    "TuneConfig",
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
    from topicfocus.config import (
        ExplainConfig,
        FitConfig,
        PredictConfig,
        ReportConfig,
        SettingError,
        TuneConfig,
    )
    from topicfocus.workflow.fit import fit_file, tune_file
    from topicfocus.workflow.outcome import Outcome
    from topicfocus.workflow.predict import (
        Saved,
        explain_text,
        load_model,
        predict_blocks,
        predict_file,
    )
    from topicfocus.workflow.read import read_stop_words
    from topicfocus.workflow.report import report_file
    from topicfocus.workflow.write import read_config


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'topicfocus.workflow' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"topicfocus.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
