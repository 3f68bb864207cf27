"""From data to a fitted, evaluated, saved model, and on to predictions, explanations and a page.

    read -> split -> count -> fit -> evaluate -> write

One module per verb; `fit` does all of it in one call and returns what the command line prints.
Names are imported when they are first used, so that a mistake in the settings does not wait for
numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "ExplainConfig": "config",
    "FitConfig": "config",
    "PredictConfig": "config",
    "ReportConfig": "config",
    "Result": "result",
    "Saved": "workflow.saved",
    "SettingError": "config",
    "TuneConfig": "config",
    "explain_text": "workflow.explain",
    "fit_file": "workflow.fit",
    "load_model": "workflow.saved",
    "predict_blocks": "workflow.predict",
    "predict_file": "workflow.predict",
    "read_config": "workflow.config_file",
    "read_stop_words": "workflow.read",
    "report_file": "workflow.report",
    "tune_file": "workflow.fit",
}

__all__ = [
    "ExplainConfig",
    "FitConfig",
    "PredictConfig",
    "ReportConfig",
    "Result",
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
    from topicfocus.result import Result
    from topicfocus.workflow.config_file import read_config
    from topicfocus.workflow.explain import explain_text
    from topicfocus.workflow.fit import fit_file, tune_file
    from topicfocus.workflow.predict import predict_blocks, predict_file
    from topicfocus.workflow.read import read_stop_words
    from topicfocus.workflow.report import report_file
    from topicfocus.workflow.saved import Saved, load_model


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'topicfocus.workflow' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"topicfocus.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
