"""What the reader of a page has before its blocks of Python begin: a model, counts, files."""

import csv

import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor
from topicfocus.datasets import make_reviews
from topicfocus.report import Explorer


def write_reviews(name, texts, stars):
    """A file with the columns text and stars."""
    with open(name, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("text", "stars"), *zip(texts, stars, strict=True)])


def names_of(block):
    """Names that a block ("page.md-number") goes on with, and files; fits are small."""
    page = block.rpartition("-")[0]
    reviews = make_reviews(120, random_state=0)
    X, y, texts, words = reviews.counts, reviews.target, reviews.texts, reviews.vocabulary
    small = {"inclusion_prior": 0.2, "max_epochs": 2, "random_state": 0}
    model = FocusedTopicRegressor(2, **small).fit(X, y)
    names = {"model": model, "X": X, "y": y, "counts": X, "target": y, "words": words}
    names |= {"vocabulary": words, "texts": texts, "stars": y, "token_lists": None}
    if page == "explorer.md":
        pipeline = make_pipeline(CountVectorizer(), FocusedTopicRegressor(2, **small))
        names["model"] = pipeline.fit(texts, y)
        names["explorer"] = Explorer(pipeline, texts=texts, target=y)
    if block == "explorer.md-1":
        names |= {"codes": words, "X_test": X, "y_test": y > 5, "Explorer": Explorer}
        names["model"] = FocusedTopicClassifier(2, **small).fit(X, y > 5)
    if page == "metrics.md":
        vectorizer = CountVectorizer(vocabulary=words).fit(texts)
        names |= {"vectorizer": vectorizer, "token_lists": [text.split() for text in texts]}
    if page == "scale.md":
        names["blocks"] = [X[:60], X[60:]]
    if page == "streaming.md":
        names |= {"batches": [(X, y > 5)], "FocusedTopicClassifier": FocusedTopicClassifier}
    if page in ("text.md", "workflow.md"):
        write_reviews("reviews.csv", texts, y)
        write_reviews("new.csv", texts[:20], y[:20])
    if page == "workflow.md":
        names["frame"] = pd.DataFrame({"review": texts, "stars": y})
        names["new_frame"] = names["frame"].head(5)
    return names
