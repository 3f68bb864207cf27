"""Do words of topics occur together in documents they were not chosen by? For reading-topics.md.

    TOPICFOCUS_DATA=... python experiments/unseen_documents.py

npmi and log ratio of ten words on as many training documents as there are test documents, and on
the test documents: npmi of few documents punishes rare pairs, so that sizes must be the same. Two
splits; the focused model by probability and by telling words, and LDA with as many topics.
"""

from __future__ import annotations

import numpy as np
from themes import TOPICS, load

import topicfocus
from topicfocus import metrics


def figures(topics: np.ndarray, *documents: object) -> list[float]:
    """Both measures, on one set of documents after the other."""
    measures = ("npmi", "log_ratio")
    return [metrics.coherence(topics, d, measure, 10) for d in documents for measure in measures]


def main() -> None:
    """A table, a data set after the other."""
    print("| data | documents | model | npmi, log ratio: training | test |\n|---|---|---|---|---|")
    for name in ("yelp", "pang_lee", "poliblog", "eicu"):
        found = []
        for split in (0, 1):
            data = load(name, split)
            train, test = data.train[0], data.test[0]
            cls = topicfocus.FocusedTopicClassifier
            if data.task == "regression":
                cls = topicfocus.FocusedTopicRegressor
            model = cls(TOPICS[name], random_state=split)
            model.fit(*data.train, X_val=data.valid[0], y_val=data.valid[1])
            lda = topicfocus.LDA(TOPICS[name], random_state=split).fit(train)
            some = train[np.random.default_rng(0).permutation(train.shape[0])[: test.shape[0]]]
            shown = (model.components_, model.word_ranks(), lda.components_)
            found.append([figures(topics, some, test) for topics in shown])
        for title, row in zip(("probable", "telling", "LDA"), np.mean(found, axis=0), strict=True):
            cells = f"{row[0]:.3f}, {row[1]:.3f} | {row[2]:.3f}, {row[3]:.3f}"
            print(f"| {name} | {test.shape[0]} | {title} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
