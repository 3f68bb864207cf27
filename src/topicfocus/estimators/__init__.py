"""scikit-learn estimators."""

from topicfocus.estimators.focused import (
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PCSLDAClassifier,
    PCSLDARegressor,
)
from topicfocus.estimators.joint import (
    LDA,
    PFSLDAClassifier,
    PFSLDARegressor,
    SLDAClassifier,
    SLDARegressor,
)
from topicfocus.estimators.storage import register_all

__all__ = [
    "LDA",
    "FocusedTopicClassifier",
    "FocusedTopicRegressor",
    "PCSLDAClassifier",
    "PCSLDARegressor",
    "PFSLDAClassifier",
    "PFSLDARegressor",
    "SLDAClassifier",
    "SLDARegressor",
]

register_all(globals()[name] for name in __all__)
