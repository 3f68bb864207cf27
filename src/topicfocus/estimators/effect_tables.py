"""Effects as tables: dicts of columns, which become dataframes where pandas is installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfocus.estimators.effects import TopicEffects, WordEffects
from topicfocus.estimators.fitted import Fitted

#: Columns of one length, by name.
Table = dict[str, np.ndarray]


def check_quantiles(quantiles: Any, confidence: Any) -> None:
    """Two shares that rise, and a share."""
    try:
        low, high = (float(q) for q in quantiles)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not 0 <= low < high <= 1:
        raise ValueError(f"quantiles must be two numbers that rise from 0 to 1, got {quantiles!r}.")
    if not (isinstance(confidence, (int, float)) and 0 < confidence < 1):
        raise ValueError(f"confidence must be between 0 and 1, such as 0.95, got {confidence!r}.")


def topic_table(fitted: Fitted, effects: TopicEffects, words: list[str]) -> Table:
    """One row a topic and predictor, topic by topic."""
    n_topics, n_predictors = effects.low.shape
    every = np.repeat(np.arange(n_topics), n_predictors)

    def each(column: np.ndarray) -> np.ndarray:
        return np.tile(column, n_topics)

    return {
        "topic": every,
        **_about(fitted, n_topics),
        "share_low": effects.share_low[every],
        "share_high": effects.share_high[every],
        "low": effects.low.ravel(),
        "high": effects.high.ravel(),
        "change": effects.change.ravel(),
        "lower": effects.lower.ravel(),
        "upper": effects.upper.ravel(),
        "limit_low": each(effects.limits[:, 0]),
        "limit_high": each(effects.limits[:, 1]),
        "coef": effects.coef.ravel(),
        "words": np.array(words, dtype=object)[every],
    }


def word_table(fitted: Fitted, effects: WordEffects, names: Any) -> Table:
    """One row a word and predictor, word by word."""
    n_words, n_predictors = effects.change.shape
    every = np.repeat(np.arange(n_words), n_predictors)
    column = effects.words[every]
    return {
        "word": np.array([str(w) for w in names], dtype=object)[column],
        "column": column,
        **_about(fitted, n_words),
        "documents": effects.documents[every],
        "change": effects.change.ravel(),
    }


def _about(fitted: Fitted, times: int) -> Table:
    """Which target of several, and which class, each predictor is about."""
    targets: list[int] = []
    classes: list[Any] = []
    for t, part in enumerate(fitted.parts):
        coding, width = part.coding, part.where.stop - part.where.start
        targets += [t] * width
        if not coding.is_class:
            classes.append(None)
        elif width > 1:
            classes += np.asarray(coding.labels).tolist()
        else:
            classes.append(1 if coding.labels is None else np.asarray(coding.labels).tolist()[1])
    out: Table = {}
    if len(fitted.parts) > 1:
        out["target"] = np.tile(np.array(targets), times)
    if any(c is not None for c in classes):
        column = np.empty(len(classes), dtype=object)
        column[:] = classes
        out["class"] = np.tile(column, times)
    return out


def as_table(table: Table, as_frame: bool) -> Any:
    """A dataframe of pandas, or the columns as they are."""
    if not as_frame:
        return table
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "effects are a dataframe of pandas, which is not installed: pip install pandas, or "
            "pass as_frame=False for a dict of arrays."
        ) from error
    return pandas.DataFrame(table)
