"""How much of the paper's coherence is the rarity of words: its own check.

With s = 0.01 added to each probability, independent words of document frequencies f and g score
log((fg + s)/((f + s)(g + s))), which grows as they get rarer. So random rare words score above
every model of the paper, and two models can differ in nothing but how rare their top words are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from topicfocus import metrics

SMOOTHING = 0.01
#: Document frequencies of which words are drawn.
BANDS = ((0.003, 0.01), (0.01, 0.03), (0.03, 0.10), (0.10, 0.50))


def document_frequency(counts: Any) -> np.ndarray:
    """Share of documents with each word."""
    present = sparse.csc_array(counts)
    return np.diff(present.indptr) / present.shape[0]


def rarity_coherence(components: ArrayLike, counts: Any, top_n: int = 50) -> float:
    """The paper's coherence that the top words would have if they occurred independently."""
    topics = np.asarray(components)
    frequency = document_frequency(counts)
    values = []
    for row in topics:
        words = np.argsort(-row, kind="stable")[:top_n]
        f = frequency[words[row[words] > 0]]
        i, j = np.triu_indices(len(f), 1)
        s = SMOOTHING
        values.append(np.mean(np.log(f[i] * f[j] + s) - np.log(f[i] + s) - np.log(f[j] + s)))
    return float(np.mean(values))


def random_words(counts: Any, draws: int = 20, top_n: int = 50, seed: int = 0) -> list[dict]:
    """Coherence of words drawn at random from bands of document frequency."""
    rng = np.random.default_rng(seed)
    frequency = document_frequency(counts)
    rows = []
    for low, high in BANDS:
        words = np.flatnonzero((frequency >= low) & (frequency < high))
        if len(words) < top_n:
            continue
        topics = np.zeros((draws, len(frequency)))
        for topic in topics:
            topic[rng.choice(words, top_n, replace=False)] = 1 / top_n
        rows.append(
            {
                "low": low,
                "high": high,
                "words": len(words),
                "pmi50": metrics.coherence(topics, counts, "pmi", top_n),
                "npmi10": metrics.coherence(topics, counts, "npmi", 10),
                "log_ratio10": metrics.coherence(topics, counts, "log_ratio", 10),
            }
        )
    return rows
