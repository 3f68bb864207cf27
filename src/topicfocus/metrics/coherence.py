"""Do the top words of a topic occur together? Measures on documents.

Read this before using "pmi": with 0.01 added to each probability, two *independent* words of
document frequency f score log((f² + 0.01)/(f + 0.01)²), which is 3.9 at f = 0.004 and 0.2 at 0.15.
The paper's measure mostly says how rare the top words are; random rare words beat every model in
the paper. It is here to reproduce the paper. "npmi" and "log_ratio" are what we judge topics by.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from topicfocus.corpus import make_corpus
from topicfocus.metrics.topics import read_topics, top_words

MEASURES = ("pmi", "npmi", "umass", "log_ratio")


def coherence(
    components: ArrayLike,
    counts: Any,
    measure: str = "pmi",
    top_n: int = 50,
    smoothing: float = 0.01,
    per_topic: bool = False,
) -> float | NDArray[np.float64]:
    """Coherence of topics on the documents given: the mean over pairs of top words, then topics.

    With P(v) the share of documents that contain v, P(u, v) both, and M documents:

    - "pmi": log (P(u,v)+s) / ((P(u)+s)(P(v)+s)), s = ``smoothing``: the paper's, see above;
    - "npmi": log(P(u,v)/(P(u)P(v))) / -log P(u,v), and -1 for words that never occur together;
    - "umass": log (D(u,v)+1)/D(u), D counting documents, u the more probable word;
    - "log_ratio": log (D(u,v)+1)/(M P(u)P(v)+1), safe for rare words.

    Parameters
    ----------
    components : array-like (topics, words)
    counts : documents x words
        The reference documents, usually the training set.
    measure : {"pmi", "npmi", "umass", "log_ratio"}
    top_n : int, default=50
        The paper's choice; 10 is usual for "npmi".
    smoothing : float, default=0.01
        Of "pmi" alone.
    per_topic : bool, default=False
        One number a topic instead of their mean.
    """
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}; got {measure!r}")
    topics = read_topics(components)
    corpus = make_corpus(counts, name="counts", allow_empty=True)
    if corpus.n_words != topics.shape[1]:
        raise ValueError(
            f"counts has {corpus.n_words} words but components has {topics.shape[1]}; use the "
            "columns that the model was fitted with"
        )
    tops = top_words(topics, top_n)
    short = [k for k, words in enumerate(tops) if len(words) < 2]
    if short:
        raise ValueError(f"topic {short[0]} has fewer than two words: it has no pairs")
    # Only the columns that are somebody's top word, as presence: nothing dense of documents.
    chosen = np.unique(np.concatenate(tops))
    present = sparse.csc_array(corpus.counts[:, chosen])
    present.data = np.ones_like(present.data)
    values = np.empty(len(tops))
    for k, words in enumerate(tops):
        local = present[:, np.searchsorted(chosen, words)]
        together = np.asarray((local.T @ local).todense(), dtype=float)
        values[k] = _score(together, corpus.n_docs, measure, smoothing)
    return values if per_topic else float(values.mean())


def _score(together: NDArray, n_docs: int, measure: str, smoothing: float) -> float:
    """Mean over pairs; `together` counts documents with both words, the diagonal with one."""
    alone = np.diag(together)
    pairs = np.triu_indices(len(alone), 1)
    joint = together[pairs]
    first, second = alone[pairs[0]], alone[pairs[1]]
    if measure == "log_ratio":
        return float(np.mean(np.log((joint + 1) / (first * second / n_docs + 1))))
    if measure == "umass":
        if np.any(first == 0):
            raise ValueError("umass needs top words that occur in counts; one occurs in none")
        return float(np.mean(np.log((joint + 1) / first)))
    joint, first, second = joint / n_docs, first / n_docs, second / n_docs
    if measure == "pmi":
        s = smoothing
        return float(np.mean(np.log(joint + s) - np.log(first + s) - np.log(second + s)))
    value = np.full(len(joint), -1.0)
    seen = joint > 0
    always = joint >= 1  # in every document: log 1 / log 1, as coherent as can be
    apart = seen & ~always
    pmi = np.log(joint[apart] / (first[apart] * second[apart]))
    value[apart] = pmi / -np.log(joint[apart])
    value[always] = 1.0
    return float(value.mean())
