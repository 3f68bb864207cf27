"""Small fitted models of every kind of target, with documents, for the tests of reports."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from topicfocus import (
    FocusedTopicClassifier,
    FocusedTopicRegressor,
    PFSLDARegressor,
    SLDAClassifier,
    TokenCounter,
)
from topicfocus.datasets import make_reviews


class Case(NamedTuple):
    """A text pipeline, documents and targets."""

    model: Any
    texts: list[str]
    target: np.ndarray


KINDS = (
    "regression",
    "binary",
    "multiclass",
    "poisson",
    "ordinal",
    "several",
    "pairs",
    "graded",
    "joint",
)


@cache
def reviews() -> tuple[list[str], np.ndarray]:
    made = make_reviews(320, random_state=3)
    return list(made.texts), np.asarray(made.target)


@cache
def case(kind: str) -> Case:
    texts, stars = reviews()
    levels = np.digitize(stars, np.quantile(stars, [0.33, 0.67]))
    labels = np.array(["bad", "fair", "good"])[levels]
    counts = np.random.default_rng(0).poisson(np.exp(stars / 4))
    focused = {"n_topics": 3, "max_epochs": 6, "random_state": 0}
    words: Any = CountVectorizer(min_df=2)
    if kind == "regression":
        model, y = FocusedTopicRegressor(**focused), stars
    elif kind == "binary":
        model, y = FocusedTopicClassifier(**focused), np.where(stars > 5.5, "yes", "no")
    elif kind == "multiclass":
        model, y = FocusedTopicClassifier(**focused), labels
    elif kind == "poisson":
        model, y = FocusedTopicRegressor(family="poisson", **focused), counts
    elif kind == "ordinal":
        model, y = FocusedTopicRegressor(family="ordinal", **focused), levels * 2.0
    elif kind == "several":
        family = ["gaussian", "poisson", "bernoulli"]
        model = FocusedTopicRegressor(family=family, **focused)
        y = np.column_stack([stars, counts, stars > 5.5])
    elif kind == "pairs":  # n-grams, stop words, and our own vectoriser
        words = TokenCounter(min_df=2, ngram_range=(1, 2), stop_words="english")
        model, y = FocusedTopicRegressor(**focused), stars
    elif kind == "graded":  # inclusion between 0 and 1, counts as they are
        model = PFSLDARegressor(3, inclusion_prior=0.3, max_epochs=15, random_state=0)
        y = stars
    else:  # every word kept
        model, y = SLDAClassifier(3, max_epochs=10, random_state=0), labels
    return Case(make_pipeline(words, model).fit(texts, y), texts, y)
