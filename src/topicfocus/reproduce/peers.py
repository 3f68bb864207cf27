"""Other packages' supervised LDA on the same counts, as optional dependencies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.datasets import Dataset
from topicfocus.reproduce.fits import N_TOPICS, Fit


def token_lists(counts: Any) -> list[list[str]]:
    """Documents as lists of column numbers, each as often as it occurs."""
    rows = sparse.csr_array(counts)
    names = np.array([str(v) for v in range(rows.shape[1])], dtype=object)
    out = []
    for d in range(rows.shape[0]):
        here = slice(rows.indptr[d], rows.indptr[d + 1])
        times = rows.data[here].astype(np.int64)
        out.append(np.repeat(names[rows.indices[here]], times).tolist())
    return out


def _to_columns(topic_word: np.ndarray, vocabulary: Any, n_words: int) -> np.ndarray:
    """Topics over a package's own order of words as topics over our columns."""
    components = np.zeros((len(topic_word), n_words))
    components[:, [int(v) for v in vocabulary]] = topic_word
    return components


def tomotopy_slda(data: Dataset, settings: Mapping[str, Any], seed: int) -> Fit:
    """tomotopy's SLDAModel, by Gibbs sampling; new documents by its own inference."""
    import tomotopy

    binary = data.task == "binary"
    model = tomotopy.SLDAModel(k=N_TOPICS, vars="b" if binary else "l", seed=seed + 1)
    for tokens, y in zip(token_lists(data.train.counts), data.train.target, strict=True):
        if tokens:
            model.add_doc(tokens, y=[float(y)])
    # One worker: more of them make the result depend on their number.
    model.train(settings["sweeps"], workers=1, show_progress=False)
    topic_word = np.array([model.get_topic_word_dist(k) for k in range(N_TOPICS)])
    n_words = data.train.counts.shape[1]
    components = _to_columns(topic_word, model.used_vocabs, n_words)
    known = set(model.used_vocabs)
    empty = float(np.mean(data.train.target))

    def predict(counts: Any) -> np.ndarray:
        lists = [[w for w in tokens if w in known] for tokens in token_lists(counts)]
        docs = [model.make_doc(tokens) for tokens in lists if tokens]
        model.infer(docs, workers=1)
        found = iter(np.ravel(model.estimate(docs)))
        return np.array([float(next(found)) if tokens else empty for tokens in lists])

    return Fit(predict, components, np.ravel(model.get_regression_coef(0)))


def topica_slda(data: Dataset, settings: Mapping[str, Any], seed: int) -> Fit:
    """topica's SupervisedLDA, by variational EM; classes are fitted as the numbers 0 and 1."""
    import topica

    lists = token_lists(data.train.counts)
    full = [d for d, tokens in enumerate(lists) if tokens]
    model = topica.SupervisedLDA(N_TOPICS, seed=seed)
    target = np.asarray(data.train.target, dtype=float)
    model.fit(
        [lists[d] for d in full],
        target[full].tolist(),
        iters=settings["iters"],
        keep_theta_draws=False,
        num_threads=1,
    )
    components = _to_columns(
        np.asarray(model.topic_word), model.vocabulary, data.train.counts.shape[1]
    )
    known = set(model.vocabulary)
    empty = float(target.mean())

    def predict(counts: Any) -> np.ndarray:
        new = [[w for w in tokens if w in known] for tokens in token_lists(counts)]
        found = iter(np.ravel(model.predict([tokens for tokens in new if tokens])))
        return np.array([float(next(found)) if tokens else empty for tokens in new])

    return Fit(predict, components, np.ravel(model.coefficients))
