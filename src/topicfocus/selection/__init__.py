"""Model selection: search over settings, selection stability, comparison of two models."""

from topicfocus.selection.compare import Comparison, compare_models
from topicfocus.selection.replication import Stability, stability
from topicfocus.selection.search import TopicSearchCV
from topicfocus.selection.stability_measures import Substitute, nogueira_index

__all__ = [
    "Comparison",
    "Stability",
    "Substitute",
    "TopicSearchCV",
    "compare_models",
    "nogueira_index",
    "stability",
]
