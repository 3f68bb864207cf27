"""Choosing a model and trusting it: search over settings, stability, comparisons."""

from topicfocus.selection.indices import StabilityIndex, false_words_bound, nogueira_index
from topicfocus.selection.search import TopicSearchCV

__all__ = [
    "StabilityIndex",
    "TopicSearchCV",
    "false_words_bound",
    "nogueira_index",
]
