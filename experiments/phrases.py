"""What documents are counted in: words without an English stop list, words, and phrases.

    TOPICFOCUS_DATA=... python experiments/phrases.py [SPLITS] [DATA ...]

Fits a focused model with 10 topics to each data set, counted by the former default
(CountVectorizer with scikit-learn's English stop list), by words alone
(`TokenCounter(phrases=False)`) and by the default. Each split holds out a fifth of the documents.
Writes experiments/PHRASES.md: paired differences, and topics side by side.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import log_loss, roc_auc_score

from topicfocus import FocusedTopicClassifier, FocusedTopicRegressor, TokenCounter
from topicfocus.metrics import coherence, target_agreement, topic_diversity

DATA = Path(os.environ.get("TOPICFOCUS_DATA", "."))
FILES = {
    "yelp": "yelp/yelp.csv.gz",
    "pang_lee": "pang_lee/pang_lee.csv.gz",
    "imdb": "imdb/imdb50k.csv.gz",
    "newsgroups": "newsgroups/20newsgroups.csv.gz",
}
SCORES = {"yelp": "RMSE", "pang_lee": "RMSE", "imdb": "AUC", "newsgroups": "log loss"}
TEST_SHARE = 0.2
#: Documents of the largest data sets that take part in each split, so that it runs in minutes.
MOST = 20_000


def read(name: str) -> tuple[list[str], np.ndarray]:
    csv.field_size_limit(10**9)
    with gzip.open(DATA / FILES[name]) as stream:
        rows = list(csv.DictReader(io.TextIOWrapper(stream, encoding="utf-8")))
    texts = [row["text"].replace("<br />", " ") for row in rows]
    if name == "yelp":
        return texts, np.array([float(row["stars"]) for row in rows])
    if name == "pang_lee":
        return texts, np.clip(np.round([10 * float(row["rating"]) for row in rows]), 1, 10)
    return texts, np.array([row["label" if name == "imdb" else "category"] for row in rows])


def counters() -> dict[str, Any]:
    former = CountVectorizer(stop_words="english", min_df=10, max_df=0.5)
    return {"former": former, "words": TokenCounter(phrases=False), "phrases": TokenCounter()}


def evaluate(
    counter: Any, train: tuple[list[str], np.ndarray], test: tuple[list[str], np.ndarray]
) -> tuple[dict[str, float], list[str]]:
    (texts, y), (others, target) = train, test
    began = time.perf_counter()
    X, Z = counter.fit_transform(texts, y), counter.transform(others)
    names = counter.get_feature_names_out()
    counted = time.perf_counter() - began
    classes = y.dtype.kind not in "fi"
    estimator = FocusedTopicClassifier if classes else FocusedTopicRegressor
    model: Any = estimator(10, random_state=0).fit(X, y)
    found = {
        "npmi": coherence(model.components_, Z, measure="npmi", top_n=10),
        "diversity": topic_diversity(model.components_, 10),
        "terms": X.shape[1],
        "phrases": sum(" " in name for name in names),
        "counting": counted,
        "fit": time.perf_counter() - began - counted,
    }
    order = np.arange(10)
    if classes and len(model.classes_) > 2:
        found["score"] = log_loss(target, model.predict_proba(Z), labels=model.classes_)
    else:
        coef = np.ravel(model.coef_)
        order = np.argsort(-coef)
        numbers = (target == model.classes_[1]).astype(float) if classes else target
        found["target agreement"] = target_agreement(model.components_, coef, Z, numbers)
        if classes:
            found["score"] = roc_auc_score(numbers, model.predict_proba(Z)[:, 1])
        else:
            found["score"] = float(np.sqrt(np.mean((model.predict(Z) - numbers) ** 2)))
    words = model.top_words(10, names)
    return found, [", ".join(words[k]) for k in order]


def table(name: str, results: dict[str, list[dict[str, float]]]) -> list[str]:
    """Means over splits, and the difference of phrases from the former default."""
    keys = ["score", "npmi", "target agreement", "diversity", "terms", "phrases", "counting", "fit"]
    keys = [key for key in keys if key in results["phrases"][0]]
    heads = [SCORES[name] if key == "score" else key for key in keys]
    lines = [f"| {name} | {' | '.join(heads)} |", "|---" * (len(keys) + 1) + "|"]
    for label, rows in results.items():
        means = [np.mean([row[key] for row in rows]) for key in keys]
        shown = " | ".join(f"{m:.0f}" if m >= 100 else f"{m:.4f}" for m in means)
        lines.append(f"| {label} | {shown} |")
    parts = []
    for key in keys:
        pairs = zip(results["phrases"], results["former"], strict=True)
        gap = np.array([a[key] - b[key] for a, b in pairs])
        error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
        parts.append(f"{gap.mean():+.4f} ± {error:.4f}")
    return [*lines, f"| phrases - former | {' | '.join(parts)} |", ""]


def main(n_splits: int, names: list[str]) -> None:
    warnings.simplefilter("ignore")
    out = [
        "# Counting phrases",
        "",
        f"Written by `python experiments/phrases.py {n_splits} {' '.join(names)}`: means over "
        f"{n_splits} splits, a fifth of the documents held out, 10 topics, and paired differences "
        f"with their standard errors. At most {MOST:,} documents of a data set. Seconds are those "
        "of a busy machine, in one run.",
        "",
    ]
    for name in names:
        texts, y = read(name)
        results: dict[str, list[dict[str, float]]] = {}
        topics: dict[str, list[str]] = {}
        for split in range(n_splits):
            order = np.random.default_rng(301 + split).permutation(len(y))[:MOST]
            train, test = np.split(order, [int((1 - TEST_SHARE) * len(order))])
            parts = [([texts[i] for i in part], y[part]) for part in (train, test)]
            for label, counter in counters().items():
                found, words = evaluate(counter, parts[0], parts[1])
                results.setdefault(label, []).append(found)
                topics.setdefault(label, words)
                print(name, split, label, {k: round(v, 4) for k, v in found.items()}, flush=True)
        out += [f"## {name}", "", *table(name, results)]
        for label in ("former", "phrases"):
            out += [f"Topics of the first split, {label}:", ""]
            out += [*(f"- {words}" for words in topics[label]), ""]
        place = Path(__file__).with_name("PHRASES.md")
        place.write_text("\n".join(out), encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, sys.argv[2:] or list(FILES))
