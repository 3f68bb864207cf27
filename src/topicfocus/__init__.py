"""topicfocus: topic models that explain an outcome.

Names are imported when they are first used, so that `import topicfocus` and the command line's
`--help` cost nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

_MODULES = (
    "corpus",
    "datasets",
    "distributed",
    "estimators",
    "families",
    "metrics",
    "persistence",
    "report",
    "selection",
    "text",
    "workflow",
)

#: Public names of modules that are not estimators.
_HOMES = {
    "Result": "workflow",
    "TokenCounter": "text",
    "TopicSearchCV": "selection",
    "compare_models": "selection",
    "fit": "workflow.fit",
    "load": "persistence",
    "open_counts": "counts",
    "save": "persistence",
    "stability": "selection",
    "write_counts": "counts",
}

__all__ = [
    "LDA",
    "FocusedTopicClassifier",
    "FocusedTopicRegressor",
    "PCSLDAClassifier",
    "PCSLDARegressor",
    "PFSLDAClassifier",
    "PFSLDARegressor",
    "Result",
    "SLDAClassifier",
    "SLDARegressor",
    "TokenCounter",
    "TopicSearchCV",
    "compare_models",
    "fit",
    "load",
    "open_counts",
    "save",
    "stability",
    "write_counts",
]

if TYPE_CHECKING:
    from topicfocus.counts import open_counts, write_counts
    from topicfocus.estimators import (
        LDA,
        FocusedTopicClassifier,
        FocusedTopicRegressor,
        PCSLDAClassifier,
        PCSLDARegressor,
        PFSLDAClassifier,
        PFSLDARegressor,
        SLDAClassifier,
        SLDARegressor,
    )
    from topicfocus.persistence import load, save
    from topicfocus.selection import TopicSearchCV, compare_models, stability
    from topicfocus.text import TokenCounter
    from topicfocus.workflow.fit import fit
    from topicfocus.workflow.result import Result


def __getattr__(name: str) -> Any:
    if name in ("load", "save"):
        importlib.import_module("topicfocus.estimators")  # registers the classes of model files
    if name in __all__:
        home = importlib.import_module(f"topicfocus.{_HOMES.get(name, 'estimators')}")
        value = getattr(home, name)
    elif name in _MODULES:
        value = importlib.import_module(f"topicfocus.{name}")
    else:
        raise AttributeError(f"module 'topicfocus' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, "__version__"})
