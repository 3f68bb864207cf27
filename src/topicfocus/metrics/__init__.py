"""Metrics of predictions, topics and selected words."""

from topicfocus.metrics.coherence import coherence
from topicfocus.metrics.prediction import (
    Calibration,
    accuracy,
    auc,
    calibration,
    calibration_error,
    coverage,
    log_loss,
    poisson_deviance,
    r2,
    rmse,
    roc_curve,
)
from topicfocus.metrics.topics import (
    LexiconAgreement,
    SelectionScores,
    channel_overlap,
    lexicon_agreement,
    matched_topics,
    selection_scores,
    target_agreement,
    topic_diversity,
)

__all__ = [
    "Calibration",
    "LexiconAgreement",
    "SelectionScores",
    "accuracy",
    "auc",
    "calibration",
    "calibration_error",
    "channel_overlap",
    "coherence",
    "coverage",
    "lexicon_agreement",
    "log_loss",
    "matched_topics",
    "poisson_deviance",
    "r2",
    "rmse",
    "roc_curve",
    "selection_scores",
    "target_agreement",
    "topic_diversity",
]
