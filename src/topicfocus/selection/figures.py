"""Figures of a fitted topic model for the frontier: what its topics are like, what it has kept."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from topicfocus.estimators.word_order import reciprocal_ranks, topic_scores
from topicfocus.metrics import target_agreement, topic_diversity
from topicfocus.metrics.coherence import document_coherences
from topicfocus.selection.documents import Data

#: Top words of a topic that figures are of.
TOP = 10
FIGURES = ("npmi", "log_ratio", "agreement", "diversity", "words", "token_share")


def figures_of(model: Any, train: Data, test: Data) -> dict[str, float]:
    """Coherence and diversity on training documents, agreement on the others; NaN where undefined.

    Of the words that topics are shown by. Of models that are no topic models everything is NaN.
    """
    fitted = getattr(model, "fitted_", None)
    if fitted is None:
        return dict.fromkeys(FIGURES, math.nan)
    topics, counts = shown_topics(model), train.X
    kept = kept_words(model)
    tokens = fitted.corpus(counts).word_counts
    try:
        npmi, log_ratio = document_coherences(topics, counts, ("npmi", "log_ratio"), TOP)
    except ValueError:  # topics of one word have no pairs of words
        npmi = log_ratio = math.nan
    return {
        "npmi": npmi,
        "log_ratio": log_ratio,
        "agreement": _figure(lambda: agreement(fitted, topics, test)),
        "diversity": _figure(lambda: topic_diversity(topics, TOP)),
        "words": float(kept.sum()),
        "token_share": float(tokens[kept].sum() / max(tokens.sum(), 1.0)),
    }


def shown_topics(model: Any) -> np.ndarray:
    """Topics x words, larger for words that are shown first."""
    return reciprocal_ranks(topic_scores(model.fitted_))


def kept_words(model: Any) -> np.ndarray:
    """Mask of the words that topics contain: those selected, or all."""
    chosen = model.fitted_.selected_words
    return np.ones(model.fitted_.state.n_words, dtype=bool) if chosen is None else chosen


def agreement(fitted: Any, topics: np.ndarray, test: Data) -> float:
    """`target_agreement`, the mean over linear predictors (of classes and of several targets)."""
    if fitted.targets is None or test.y is None:
        return math.nan
    codes = fitted.targets.encode(test.y, n_docs=test.n_docs)
    coef = np.atleast_2d(fitted.coef)
    found = []
    for t, part in enumerate(fitted.parts):
        known = np.flatnonzero(np.isfinite(codes[:, t]))
        counts = test.rows(known).X
        rows = range(part.where.start, part.where.stop)
        for l, row in enumerate(rows):
            target = codes[known, t] if len(rows) == 1 else codes[known, t] == l
            target = np.asarray(target, dtype=float)
            found.append(target_agreement(topics, coef[row], counts, target))
    return float(np.mean(found))


def _figure(work: Any) -> float:
    """A figure that may have no meaning: topics of one word have no pairs of words."""
    try:
        return float(work())
    except ValueError:
        return math.nan
