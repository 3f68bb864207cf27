"""Measures of topics and of the words that a model keeps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from topicfocus.metrics.topics import read_topics, top_words


class SelectionScores(NamedTuple):
    """How well the selected words match the relevant ones."""

    precision: float
    recall: float


def selection_scores(
    inclusion: ArrayLike, relevant: ArrayLike, threshold: float = 0.99
) -> SelectionScores:
    """Precision and recall of the words selected by a model, where the truth is known.

    A word is selected when its inclusion probability is above the threshold, as in the paper:
    precision = |selected and relevant| / |selected|, recall = |selected and relevant| / |relevant|.
    Neither is ever NaN, so that runs can be averaged: if nothing is selected, precision is 0,
    or 1 if there was nothing to select; if nothing is relevant, recall is 1 as nothing was missed.

    Parameters
    ----------
    inclusion : array-like of shape (n_words,)
        Probability of each word of being relevant, ``inclusion_`` of a model.
    relevant : array-like of bool, shape (n_words,)
        The truth; 0 and 1 are accepted.
    threshold : float, default=0.99

    Returns
    -------
    SelectionScores
        (precision, recall).

    Raises
    ------
    ValueError
        If lengths differ, ``inclusion`` is not in [0, 1], or ``relevant`` is no mask.

    Examples
    --------
    >>> from topicfocus.metrics import selection_scores
    >>> selection_scores([1.0, 1.0, 0.2, 0.0], [True, False, True, False])
    SelectionScores(precision=0.5, recall=0.5)
    """
    probability = np.asarray(inclusion, dtype=np.float64)
    truth = np.asarray(relevant)
    if probability.ndim != 1 or truth.ndim != 1:
        raise ValueError(
            "inclusion and relevant must have one value for each word, got shapes "
            f"{probability.shape} and {truth.shape}"
        )
    if len(probability) != len(truth):
        raise ValueError(f"inclusion has {len(probability)} words but relevant has {len(truth)}")
    valid = (probability >= 0) & (probability <= 1)  # False for NaN
    if not valid.all():
        word = int(np.argmin(valid))
        raise ValueError(f"inclusion must be in [0, 1], but word {word} is {probability[word]}")
    if truth.dtype != np.bool_ and not np.isin(truth, (0, 1)).all():
        # Most likely a list of column numbers, which would be read as "all relevant".
        raise ValueError("relevant must be a mask: True or False for each word")

    selected, truth = probability > threshold, truth.astype(bool)
    hits, n_selected, n_relevant = (int(m.sum()) for m in (selected & truth, selected, truth))
    precision = hits / n_selected if n_selected else float(n_relevant == 0)
    recall = hits / n_relevant if n_relevant else 1.0
    return SelectionScores(precision, recall)


def channel_overlap(components: ArrayLike, background: ArrayLike) -> float:
    """How far topics and background share words: max over k of sum over v of β_kv π_v.

    Exactly 0.0 if and only if no topic has a word in common with the background, the condition of
    the paper's Theorem 2 (up to underflow of the products).

    Parameters
    ----------
    components : array-like of shape (n_topics, n_words)
        Topics, ``components_`` of a model.
    background : array-like of shape (n_words,)
        The irrelevant topic, ``background_`` of a model.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If shapes differ, or ``background`` is negative or not finite.

    Examples
    --------
    >>> from topicfocus.metrics import channel_overlap
    >>> channel_overlap([[0.5, 0.5, 0.0]], [0.0, 0.0, 1.0])
    0.0
    >>> channel_overlap([[0.5, 0.5, 0.0]], [0.0, 0.5, 0.5])
    0.25
    """
    topics = read_topics(components)
    irrelevant = np.asarray(background, dtype=np.float64)
    if irrelevant.shape != (topics.shape[1],):
        raise ValueError(
            f"components has {topics.shape[1]} words but background has shape {irrelevant.shape}"
        )
    valid = np.isfinite(irrelevant) & (irrelevant >= 0)
    if not valid.all():
        word = int(np.argmin(valid))
        raise ValueError(
            f"background must be finite and >= 0, but word {word} is {irrelevant[word]}"
        )
    return float((topics @ irrelevant).max())


def topic_diversity(components: ArrayLike, top_n: int = 25) -> float:
    """Share of distinct words among the top words of all topics.

    |union over k of top_k| / sum over k of |top_k|, with top_k the ``top_n`` most probable words of
    topic k. It is 1 when no two topics share a top word, and 1 / n_topics when all have the same.
    Words of probability zero are not words of a topic, so a topic may have fewer than ``top_n``;
    of equally probable words, those with lower column numbers are taken.

    Parameters
    ----------
    components : array-like of shape (n_topics, n_words)
        Topics, ``components_`` of a model.
    top_n : int, default=25

    Returns
    -------
    float

    Examples
    --------
    >>> from topicfocus.metrics import topic_diversity
    >>> topic_diversity([[0.6, 0.4, 0.0], [0.0, 0.4, 0.6]], top_n=2)
    0.75
    """
    tops = top_words(read_topics(components), top_n)
    every = np.concatenate(tops)
    return len(np.unique(every)) / len(every)


def matched_topics(components: ArrayLike, truth: ArrayLike) -> np.ndarray:
    """How well planted topics were found: the cosine of each with the topic matched to it.

    Topics and planted topics are matched one to one such that the cosines of their word
    distributions add up to the most (the Hungarian method).

    Parameters
    ----------
    components : array-like of shape (n_topics, n_words)
        Topics, ``components_`` of a model.
    truth : array-like of shape (n_planted, n_words)
        Planted topics, ``components`` of a synthetic corpus.

    Returns
    -------
    array (n_planted,)
        Cosines in [0, 1]; 0 for planted topics without a topic of their own.

    Examples
    --------
    >>> from topicfocus.metrics import matched_topics
    >>> matched_topics([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
    array([1. , 0.8])
    """
    return match_topics(components, truth)[1]


def match_topics(components: ArrayLike, truth: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """For each planted topic the one matched to it (-1 for none), and their cosine."""
    found, planted = read_topics(components), read_topics(truth)
    if found.shape[1] != planted.shape[1]:
        raise ValueError(f"components has {found.shape[1]} words but truth has {planted.shape[1]}")
    sizes = [np.linalg.norm(topics, axis=1, keepdims=True) for topics in (planted, found)]
    cosine = np.minimum((planted / sizes[0]) @ (found / sizes[1]).T, 1.0)
    rows, columns = linear_sum_assignment(cosine, maximize=True)
    match, out = np.full(len(planted), -1), np.zeros(len(planted))
    match[rows], out[rows] = columns, cosine[rows, columns]
    return match, out
