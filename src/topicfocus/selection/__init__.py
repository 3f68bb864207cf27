"""Choosing a model and trusting it: search over settings, stability, comparisons."""

from topicfocus.selection.compare import Comparison, compare_models
from topicfocus.selection.halving import stability
from topicfocus.selection.indices import StabilityIndex, false_words_bound, nogueira_index
from topicfocus.selection.intervals import Intervals
from topicfocus.selection.search import TopicSearchCV
from topicfocus.selection.stable import Stability
from topicfocus.selection.substitutes import Substitutes

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
