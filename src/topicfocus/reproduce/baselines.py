"""Baselines: regression on words, topics first and regression after, a filter before sLDA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from topicfocus.datasets import Dataset
from topicfocus.metrics.baselines import linear
from topicfocus.reproduce.fits import N_TOPICS, Fit
from topicfocus.reproduce.ours import estimator

slda = estimator("SLDARegressor", "SLDAClassifier", watches=True, real={"standardize": False})


def _on_words(data: Dataset, penalty: float, root: bool) -> Fit:
    def prepare(counts: Any) -> Any:
        return counts.sqrt() if root else counts

    binary = data.task == "binary"
    model = linear(prepare(data.train.counts), data.train.target, binary, penalty)
    predict = model.decision_function if binary else model.predict
    return Fit(lambda counts: predict(prepare(counts)))


def linear_on_words(data: Dataset, settings: Mapping[str, Any], seed: int) -> Fit:
    """Ridge or logistic regression on counts."""
    return _on_words(data, settings["penalty"], root=False)


def linear_on_roots(data: Dataset, settings: Mapping[str, Any], seed: int) -> Fit:
    """Ridge or logistic regression on roots of counts."""
    return _on_words(data, settings["penalty"], root=True)


def lda_regression(data: Dataset, settings: Mapping[str, Any], seed: int) -> Fit:
    """LDA on the words alone, then a regression on the topic mixes."""
    from topicfocus import LDA

    topics = LDA(N_TOPICS, random_state=seed, n_jobs=1).fit(data.train.counts)
    binary = data.task == "binary"
    mixes = topics.transform(data.train.counts)
    model = linear(mixes, data.train.target, binary, settings["penalty"])
    predict = model.decision_function if binary else model.predict
    coef = np.ravel(model.coef_) + float(np.ravel(model.intercept_)[0])
    return Fit(lambda counts: predict(topics.transform(counts)), topics.components_, coef)


def target_correlation(counts: sparse.csr_array, target: np.ndarray) -> np.ndarray:
    """Pearson correlation of each word's counts with the target; 0 for a word that never varies.

    r_v = Σ_d (c_dv - c̄_v)(y_d - ȳ) / (M sd(c_v) sd(y)), without making the counts dense.
    """
    counts = sparse.csr_array(counts, dtype=np.float64)
    y = np.asarray(target, dtype=np.float64)
    n = len(y)
    mean = np.asarray(counts.mean(axis=0)).ravel()
    square = np.asarray(counts.multiply(counts).mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    scale = n * spread * y.std()
    together = counts.T @ (y - y.mean())
    return np.divide(together, scale, out=np.zeros(len(mean)), where=scale > 1e-12)


def most_correlated(data: Dataset, n_words: int, signed: bool = False) -> np.ndarray:
    """Columns of the words with the largest |correlation| with the target in training.

    `signed`: the largest correlation, so that words of low targets are left out.
    """
    strength = target_correlation(data.train.counts, data.train.target)
    if not signed:
        strength = np.abs(strength)
    return np.sort(np.argsort(-strength, kind="stable")[:n_words])


def on_columns(data: Dataset, columns: np.ndarray) -> Dataset:
    """The data set with some of its words only."""

    def part(old: Any) -> Any:
        return replace(old, counts=old.counts[:, columns])

    return replace(
        data,
        train=part(data.train),
        valid=part(data.valid),
        test=part(data.test),
        vocabulary=tuple(data.vocabulary[v] for v in columns),
    )


def widen(fit: Fit, columns: np.ndarray, n_words: int) -> Fit:
    """A fit on some columns as one on all: zero elsewhere, other words not looked at."""
    components = inclusion = None
    if fit.components is not None:
        components = np.zeros((len(fit.components), n_words))
        components[:, columns] = fit.components
    kept = np.ones(len(columns)) if fit.inclusion is None else fit.inclusion
    inclusion = np.zeros(n_words)
    inclusion[columns] = kept
    return Fit(
        lambda counts: fit.predict(counts[:, columns]),
        components,
        fit.coef,
        inclusion,
        fit.n_iter,
        figures=fit.figures,
    )


def correlation_slda(data: Dataset, settings: Mapping[str, Any], seed: int) -> Fit:
    """sLDA on the share of words that correlate most with the target."""
    n_words = data.train.counts.shape[1]
    columns = most_correlated(data, max(2, round(settings["share"] * n_words)))
    fit = slda(on_columns(data, columns), {}, seed)
    return widen(fit, columns, n_words)
