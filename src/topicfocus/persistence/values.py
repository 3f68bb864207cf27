"""What writing and reading of values agree on."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Values inside values, at most.
MAX_DEPTH = 40
#: Where scikit-learn keeps the metadata that methods of an object ask for (`set_fit_request`).
REQUESTS = "_metadata_request"
METHODS = (
    "fit",
    "partial_fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score",
    "transform",
    "inverse_transform",
)
PYTHON_TYPES = {"bool": bool, "int": int, "float": float}
#: bool, float16 to float64, int8 to int64, uint8 to uint64: the same on every machine.
NUMPY_NAMES = frozenset(np.dtype(code).name for code in "?efdbhiqBHIQ")


def function_name(function: Any) -> str:
    """Where a function comes from, for people: a file that has it imports nothing by it."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    module = getattr(function, "__module__", None) or type(function).__module__
    return f"{module}:{name}"
