"""New documents a second: predict, predict_proba and transform beside tomotopy and scikit-learn.

    pip install '.[benchmark]'
    TOPICFOCUS_DATA=... python benchmarks/prediction.py

Pang & Lee's training documents (or synthetic ones of that size) as new documents, 5 topics, two
cores for all. scikit-learn's transform and tomotopy's infer are given the same documents; the
passes of all are interleaved and the best of each is taken. tomotopy's documents are made
beforehand, so that only its inference is timed.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from data import review_counts

import topicfocus

N_TOPICS = 5


def ours(counts, target):
    """One pass each over the documents: {name: function}."""
    high = target > np.median(target)
    focused = topicfocus.FocusedTopicRegressor(N_TOPICS, n_jobs=2, random_state=0)
    focused.fit(counts, target)
    classifier = topicfocus.FocusedTopicClassifier(N_TOPICS, n_jobs=2, random_state=0)
    classifier.fit(counts, high)
    paper = topicfocus.PFSLDARegressor(N_TOPICS, n_jobs=2, random_state=0, max_epochs=20)
    paper.fit(counts, target)
    lda = topicfocus.LDA(N_TOPICS, n_jobs=2, random_state=0, max_epochs=20).fit(counts)
    return {
        "focused, predict": lambda: focused.predict(counts),
        "focused, predict with std": lambda: focused.predict(counts, return_std=True),
        "focused, predict_proba": lambda: classifier.predict_proba(counts),
        "focused, transform": lambda: focused.transform(counts),
        "pf-sLDA, predict": lambda: paper.predict(counts),
        "LDA, transform": lambda: lda.transform(counts),
    }


def scikit_learn(counts):
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(N_TOPICS, n_jobs=2, max_iter=5, random_state=0).fit(counts)
    return lambda: model.transform(counts)


def tomotopy(counts, target):
    import tomotopy as tp

    model = tp.SLDAModel(k=N_TOPICS, vars=["l"], seed=0)
    rows = [counts[d] for d in range(counts.shape[0])]
    texts = [
        [str(v) for v, n in zip(row.indices, row.data, strict=True) for _ in range(int(n))]
        for row in rows
    ]
    for words, y in zip(texts, target, strict=True):
        model.add_doc(words or ["0"], y=[float(y)])
    model.train(20, workers=2)
    docs = [model.make_doc(words or ["0"], y=[0.0]) for words in texts]
    return lambda: model.infer(docs, workers=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    counts, target, description = review_counts("pang_lee")
    passes = ours(counts, target)
    passes["scikit-learn LDA, transform"] = scikit_learn(counts)
    passes["tomotopy SLDA, infer"] = tomotopy(counts, target)
    best = dict.fromkeys(passes, np.inf)
    for _ in range(args.rounds):
        for name, one_pass in passes.items():
            for _ in range(1 if "tomotopy" in name else 3):
                began = time.perf_counter()
                one_pass()
                best[name] = min(best[name], time.perf_counter() - began)
    rates = {name: counts.shape[0] / seconds for name, seconds in best.items()}
    if args.json:
        print(json.dumps({"data": description, "documents_per_second": rates}, indent=2))
        return
    print(f"{description}; {counts.nnz / counts.shape[0]:.0f} words a document, 2 cores")
    for name, rate in rates.items():
        print(f"  {name:30s} {rate:12,.0f} documents a second")


if __name__ == "__main__":
    main()
