"""The tables of READING_TOPICS.md: word orders, effects, context words, topic proportions.

    python experiments/reading_topics.py [yelp ...]        # prints the tables

Focused models with their defaults, fitted to the training part of split 0, seed 0; then the
coherence of top words on documents that no word was selected by, of two splits, beside LDA: on the
test documents and on as many training documents (npmi is lower on few documents).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from data import Dataset
from runner import arguments, markdown
from themes import TOPICS, fit_focused, load_data

import topicfocus
from topicfocus.metrics import coherence, topic_diversity

DATA = ("yelp", "pang_lee", "eicu", "poliblog")
ORDERS = ("distinctive", "probability", "relevance", "frex")


def word_orders(name: str, n_topics: int) -> None:
    """Diversity and npmi of the first ten words in each order."""
    data = load_data(name, 0)
    kind = "Regressor" if data.task == "regression" else "Classifier"
    model = getattr(topicfocus, f"FocusedTopic{kind}")(n_topics, random_state=0)
    model.fit(data.train.counts, data.train.target)
    cells = []
    for order in ORDERS:
        ranks = model.word_ranks(order)
        npmi = coherence(ranks, data.train.counts, "npmi", top_n=10)
        cells.append(f"{topic_diversity(ranks, top_n=10):.2f}, {npmi:.3f}")
    print(f"\n{name}, {n_topics}: {model.selected_words_.sum()} of {len(data.vocabulary)} words")
    print(markdown(["data", *ORDERS], [[f"{name}, {n_topics}", *cells]]), flush=True)
    if name == "yelp":
        effects(model, data)
        context(model, data)
        proportions(model, data)


def effects(model: Any, data: Dataset) -> None:
    """Predicted differences by topics and by words in the test part."""
    print("coefficients", model.coef_.round(1), "intercept", np.round(model.intercept_, 1))
    found = model.topic_effects(data.test.counts, vocabulary=data.vocabulary)
    rows = [
        [
            row["words"],
            f"{row['proportion_low']:.2f}, {row['proportion_high']:.2f}",
            f"{row['low']:.1f} → {row['high']:.1f}",
            f"{row['lower']:+.2f} to {row['upper']:+.2f}",
        ]
        for _, row in found.sort_values("change", ascending=False).iterrows()
    ]
    print(markdown(["words", "proportions", "prediction", "interval"], rows))
    words = model.word_effects(data.test.counts, vocabulary=data.vocabulary).sort_values("change")
    for part in (words.head(4), words.tail(4)):
        print(" ".join(f"{w} {c:+.2f}" for w, c in zip(part["word"], part["change"], strict=True)))


def context(model: Any, data: Dataset) -> None:
    """Dropped words that occur with the topics of the most extreme coefficients."""
    coef = model.coef_.ravel()
    order = np.argsort(-coef)
    tops, beside = model.top_words(7, data.vocabulary), model.context_words(8, data.vocabulary)
    chosen = (*order[:3], *order[-3:])
    rows = [[f"{coef[k]:.1f}", " ".join(tops[k]), " ".join(beside[k])] for k in chosen]
    print(markdown(["coefficient", "words", "context words"], rows))


def proportions(model: Any, data: Dataset) -> None:
    """How much documents differ, in topic proportions and in token proportions."""
    rows = []
    for part in ("train", "test"):
        counts = getattr(data, part).counts
        cells, largest = [], []
        for values in (model.transform(counts), model.token_proportions(counts)):
            for moment in (values.mean(axis=0), values.std(axis=0)):
                cells.append(f"{moment.min():.3f}-{moment.max():.3f}")
            largest.append(f"{values.max(axis=1).mean():.2f}")
        rows.append([part, *cells, ", ".join(largest)])
    print(markdown(["part", "θ: mean", "sd", "tokens: mean", "sd", "largest"], rows))
    tokens = model.topic_tokens(data.train.counts).sum(axis=1)
    print(f"relevant tokens {tokens.mean():.1f}, none in {np.mean(tokens == 0):.1%}", flush=True)


def unseen_documents(name: str) -> list[list[Any]]:
    """npmi and smoothed PMI of ten words on as many training as test documents."""
    found = []
    for split in (0, 1):
        data = load_data(name, split)
        train, test = data.train.counts, data.test.counts
        model = fit_focused(data, TOPICS[name], split)
        lda = topicfocus.LDA(TOPICS[name], random_state=split).fit(train)
        some = train[np.random.default_rng(0).permutation(train.shape[0])[: test.shape[0]]]
        found.append(
            [
                [coherence(t, d, m, 10) for d in (some, test) for m in ("npmi", "smoothed_pmi")]
                for t in (model.components_, model.word_ranks(), lda.components_)
            ]
        )
    titles = ("probable", "distinctive", "LDA")
    return [
        [name, title, f"{row[0]:.3f}, {row[1]:.3f}", f"{row[2]:.3f}, {row[3]:.3f}"]
        for title, row in zip(titles, np.mean(found, axis=0), strict=True)
    ]


def main() -> None:
    args = arguments(__doc__, DATA, 1)
    for name in args.data:
        for n_topics in sorted({5 if name in ("yelp", "pang_lee") else TOPICS[name], TOPICS[name]}):
            word_orders(name, n_topics)
    rows = [row for name in args.data for row in unseen_documents(name)]
    print(markdown(["data", "model", "npmi, smoothed PMI: training", "test"], rows))


if __name__ == "__main__":
    main()
