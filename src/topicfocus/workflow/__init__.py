"""From data to a fitted, evaluated, saved model, and on to predictions, explanations and a page.

    read -> split -> count -> fit -> evaluate -> write

One module per verb; `fit` does all of it in one call and returns what the command line prints.
"""

from topicfocus.config import (
    ExplainConfig,
    FitConfig,
    PredictConfig,
    ReportConfig,
    SettingError,
    TuneConfig,
    read_config,
)
from topicfocus.workflow.fit import fit_file, tune_file
from topicfocus.workflow.predict import explain_text, predict_blocks, predict_file
from topicfocus.workflow.report import report_file
from topicfocus.workflow.result import Result
from topicfocus.workflow.saved import Saved, load_model

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
    "report_file",
    "tune_file",
]
