"""Measures of predictions, topics and chosen words."""

from topicfocus.metrics.agreement import LexiconAgreement, lexicon_agreement, target_agreement
from topicfocus.metrics.coherence import coherence
from topicfocus.metrics.prediction import rmse
from topicfocus.metrics.words import (
    SelectionScores,
    channel_overlap,
    selection_scores,
    topic_diversity,
)

__all__ = [
    "LexiconAgreement",
    "SelectionScores",
    "channel_overlap",
    "coherence",
    "lexicon_agreement",
    "rmse",
    "selection_scores",
    "target_agreement",
    "topic_diversity",
]
