"""Corpora for benchmarks: real ones where TOPICFOCUS_DATA has them, else synthetic."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import os
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import scipy.sparse as sp


def real_data() -> ModuleType:
    """The loaders of experiments/data.py, whose name this file has as well."""
    path = Path(__file__).parents[1] / "experiments" / "data.py"
    spec = importlib.util.spec_from_file_location("experiments_data", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def _rows(path: Path) -> list[dict[str, str]]:
    csv.field_size_limit(10**9)
    with gzip.open(path) as raw:
        return list(csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8")))


def zipf_counts(n_docs: int, n_words: int, length: int, seed: int = 0) -> sp.csr_matrix:
    """Documents with word frequencies like those of text; built row by row, never dense."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(10, n_words + 10)
    share /= share.sum()
    words = rng.choice(n_words, size=(n_docs, length), p=share)
    rows = np.repeat(np.arange(n_docs), length)
    counts = sp.csr_matrix(
        (np.ones(words.size), (rows, words.ravel())), shape=(n_docs, n_words), dtype=float
    )
    counts.sum_duplicates()
    return counts


def review_counts(name: str) -> tuple[sp.csr_matrix, np.ndarray, str]:
    """(counts, target, description) of Pang & Lee's training split or of all of IMDB."""
    sizes = {"pang_lee": (3754, 7819, 160), "imdb": (50_000, 22_000, 120)}
    files = {"pang_lee": "pang_lee.csv.gz", "imdb": "imdb50k.csv.gz"}
    folder = os.environ.get("TOPICFOCUS_DATA")
    path = Path(folder or ".") / name / files[name]
    if not folder or not path.exists():
        n_docs, n_words, length = sizes[name]
        counts = zipf_counts(n_docs, n_words, length)
        target = np.random.default_rng(1).standard_normal(n_docs)
        return counts, target, f"synthetic, the size of {name}"
    from sklearn.feature_extraction.text import CountVectorizer

    rows = _rows(path)
    texts = np.array([row["text"] for row in rows], dtype=object)
    column = "rating"
    target = np.array([float(row[column]) for row in rows])
    if name == "pang_lee":
        train = np.random.default_rng(0).permutation(len(rows))[: sizes[name][0]]
        texts, target = texts[train], target[train]
        vectorizer = CountVectorizer(stop_words="english", max_df=0.5, min_df=10)
    else:
        vectorizer = CountVectorizer(stop_words="english", max_df=0.5, max_features=22_000)
    counts = vectorizer.fit_transform(texts).astype(float)
    return counts, target, f"{name}: {counts.shape[0]} documents, {counts.shape[1]} words"
