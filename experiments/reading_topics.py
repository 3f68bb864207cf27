"""Figures of docs/reading-topics.md: orders of words, effects, context words, compositions.

    TOPICFOCUS_DATA=... python experiments/reading_topics.py

Focused models with their defaults, fitted to the training part of split 0, seed 0. Prints the
page's tables; a minute or two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import topicfocus
from topicfocus import datasets
from topicfocus.metrics import coherence, topic_diversity

CASES = (
    ("yelp", 5),
    ("yelp", 10),
    ("pang_lee", 5),
    ("pang_lee", 10),
    ("eicu", 6),
    ("poliblog", 10),
)


def fitted(name: str, n_topics: int) -> tuple[Any, Any]:
    """The model of a data set, and the data."""
    data = getattr(datasets, f"load_{name}")(split=0)
    regression = data.task == "regression"
    cls = topicfocus.FocusedTopicRegressor if regression else topicfocus.FocusedTopicClassifier
    return cls(n_topics, random_state=0).fit(data.train.counts, data.train.target), data


def orders(model: Any, counts: Any) -> str:
    """Diversity and npmi of the first ten words in each order."""
    cells = []
    for order in ("telling", "probability", "relevance", "frex"):
        chosen = model.word_ranks(order)
        npmi = coherence(chosen, counts, "npmi", top_n=10)
        cells.append(f"{topic_diversity(chosen, top_n=10):.2f}, {npmi:.3f}")
    return " | ".join(cells)


def show_effects(model: Any, data: Any) -> None:
    """What topics and words do in the test part."""
    print("coefficients", model.coef_.round(1), "intercept", np.round(model.intercept_, 1))
    found = model.topic_effects(data.test.counts, vocabulary=data.vocabulary)
    for _, row in found.sort_values("change", ascending=False).iterrows():
        print(
            f"| {row['words']} | {row['share_low']:.2f}, {row['share_high']:.2f} | "
            f"{row['low']:.1f} → {row['high']:.1f} | {row['lower']:+.2f} to {row['upper']:+.2f} |"
        )
    words = model.word_effects(data.test.counts, vocabulary=data.vocabulary).sort_values("change")
    for part in (words.head(4), words.tail(4)):
        print(" ".join(f"{w} {c:+.2f}" for w, c in zip(part["word"], part["change"], strict=True)))


def show_context(model: Any, data: Any) -> None:
    """Dropped words that topics go with, the strongest topics at both ends."""
    order = np.argsort(-model.coef_.ravel())
    tops, beside = model.top_words(7, data.vocabulary), model.context_words(8, data.vocabulary)
    for k in (*order[:3], *order[-3:]):
        print(f"| {model.coef_.ravel()[k]:.1f} | {' '.join(tops[k])} | {' '.join(beside[k])} |")


def show_mixes(model: Any, n_topics: int, part: str, counts: Any) -> None:
    """How far documents differ, smoothed and by their words."""
    cells, largest = [], []
    for shares in (model.transform(counts), model.composition(counts)):
        for values in (shares.mean(axis=0), shares.std(axis=0)):
            cells.append(f"{values.min():.3f}-{values.max():.3f}")
        largest.append(f"{shares.max(axis=1).mean():.2f}")
    print(f"| {n_topics} topics | {part} | {' | '.join(cells)} | {', '.join(largest)} |")


def main() -> None:
    """All tables, one after the other."""
    for name, n_topics in CASES:
        model, data = fitted(name, n_topics)
        print(
            f"\n{name}, {n_topics}: {model.selected_words_.sum()} of {len(data.vocabulary)} words"
        )
        print(f"| {name}, {n_topics} | {orders(model, data.train.counts)} |", flush=True)
        if name != "yelp":
            continue
        show_effects(model, data)
        show_context(model, data)
        for part in ("train", "test"):
            show_mixes(model, n_topics, part, getattr(data, part).counts)
        tokens = model.topic_tokens(data.train.counts).sum(axis=1)
        print(
            f"relevant tokens {tokens.mean():.1f}, none in {np.mean(tokens == 0):.1%}", flush=True
        )


if __name__ == "__main__":
    main()
