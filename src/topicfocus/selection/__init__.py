"""Model selection: search over settings, selection stability, comparison of two models."""

from topicfocus.selection.compare import Comparison, compare_models
from topicfocus.selection.replication import Stability, stability
from topicfocus.selection.search import TopicSearchCV
from topicfocus.selection.stability_measures import (
    Intervals,
    StabilityIndex,
    Substitutes,
    false_words_bound,
    nogueira_index,
)

__all__ = [
    "Comparison",
    "Intervals",
    "Stability",
    "StabilityIndex",
    "Substitutes",
    "TopicSearchCV",
    "compare_models",
    "false_words_bound",
    "nogueira_index",
    "stability",
]
