"""Measures of predictions, topics and chosen words."""

from topicfocus.metrics.prediction import rmse
from topicfocus.metrics.words import (
    SelectionScores,
    channel_overlap,
    selection_scores,
    topic_diversity,
)

__all__ = ["SelectionScores", "channel_overlap", "rmse", "selection_scores", "topic_diversity"]
