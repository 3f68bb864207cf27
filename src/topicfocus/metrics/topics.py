"""Metrics of topics: diversity, agreement with the target, planted topics, selected words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from topicfocus.corpus import make_corpus
from topicfocus.counts import pieces
from topicfocus.estimators.arguments import check_count

#: Number of documents at which the mean target of a word is shrunk halfway to the overall mean.
_SHRINKAGE = 5.0


def read_topics(components: ArrayLike) -> NDArray[np.float64]:
    """Validate a matrix of topics x words: finite, >= 0, no topic without words."""
    topics = check_array(
        components, dtype=np.float64, ensure_non_negative=True, input_name="components"
    )
    empty = topics.sum(axis=1) == 0
    if empty.any():
        raise ValueError(
            f"topic {int(np.argmax(empty))} of components has no words: its row is zero"
        )
    return topics


def top_words(topics: NDArray[np.float64], top_n: Any) -> list[NDArray[np.intp]]:
    """Columns of the ``top_n`` most probable words of each topic, best first.

    Words of probability zero are not words of a topic, so a topic may have fewer; of equally
    probable words those with lower column numbers are taken.
    """
    n = check_count("top_n", top_n)
    order = np.argsort(-topics, axis=1, kind="stable")[:, :n]
    return [words[topics[k, words] > 0] for k, words in enumerate(order)]


def channel_overlap(components: ArrayLike, background: ArrayLike) -> float:
    """Overlap of topics and background: max over k of sum over v of β_kv π_v.

    Exactly 0.0 if and only if no topic has a word in common with the background, the condition of
    Theorem 2 of Ren, Kunes and Doshi-Velez (2020), up to underflow of the products.

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
    irrelevant = check_array(
        background,
        ensure_2d=False,
        dtype=np.float64,
        ensure_non_negative=True,
        input_name="background",
    )
    if irrelevant.shape != (topics.shape[1],):
        raise ValueError(
            f"components has {topics.shape[1]} words but background has shape {irrelevant.shape}"
        )
    return float((topics @ irrelevant).max())


def topic_diversity(components: ArrayLike, top_n: int = 25) -> float:
    """Fraction of distinct words among the top words of all topics.

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
    """Cosine of each planted topic with the topic matched to it.

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
    """For each planted topic the matched one (-1 for none), and their cosine."""
    found, planted = read_topics(components), read_topics(truth)
    if found.shape[1] != planted.shape[1]:
        raise ValueError(f"components has {found.shape[1]} words but truth has {planted.shape[1]}")
    sizes = [np.linalg.norm(topics, axis=1, keepdims=True) for topics in (planted, found)]
    cosine = np.minimum((planted / sizes[0]) @ (found / sizes[1]).T, 1.0)
    rows, columns = linear_sum_assignment(cosine, maximize=True)
    match, out = np.full(len(planted), -1), np.zeros(len(planted))
    match[rows], out[rows] = columns, cosine[rows, columns]
    return match, out


# ---- topics and targets --------------------------------------------------------------------------


def target_agreement(
    components: ArrayLike, coef: ArrayLike, counts: Any, target: Any, top_n: int = 20
) -> float:
    """Target agreement: correlation of coefficients with the targets of documents with top words.

    Over the ``top_n`` words of all topics, the Pearson correlation of the topic's coefficient with
    m_v = c_v/(c_v + 5)·(mean target of the documents that contain v - overall mean), c_v their
    number. Use held-out documents. NaN when all coefficients are equal.

    Parameters
    ----------
    components : array-like of shape (n_topics, n_words)
        Topics, ``components_`` of a model.
    coef : array-like of shape (n_topics,)
        Their coefficients, ``coef_`` of a model.
    counts : documents x words
        Documents, best those that the model was not fitted to.
    target : array-like of shape (n_docs,)
    top_n : int, default=20

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If ``counts`` and ``components`` differ in the number of words, or the target does not fit.

    Examples
    --------
    >>> from topicfocus.metrics import target_agreement
    >>> counts = [[2, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 2], [0, 0, 1, 0]]
    >>> topics = [[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    >>> round(target_agreement(topics, [1.0, -1.0], counts, [5, 4, 1, 2]), 2)
    0.99
    """
    topics = read_topics(components)
    coefficients = _read_coef(coef, len(topics))
    corpus = make_corpus(counts, name="counts", allow_empty=True)
    if corpus.n_words != topics.shape[1]:
        raise ValueError(f"counts has {corpus.n_words} words but components has {topics.shape[1]}")
    y = column_or_1d(check_array(target, ensure_2d=False, dtype=float, input_name="target"))
    check_consistent_length(corpus.doc_lengths, y)
    documents, total = np.zeros(corpus.n_words), np.zeros(corpus.n_words)
    centred = y - y.mean()
    for first, last, part in pieces(corpus.counts):
        documents += np.bincount(part.indices, minlength=corpus.n_words)
        owner = np.repeat(centred[first:last], np.diff(part.indptr))
        total += np.bincount(part.indices, owner, corpus.n_words)
    mean = total / np.maximum(documents, 1)
    shrunken = documents / (documents + _SHRINKAGE) * mean
    tops = top_words(topics, top_n)
    by_word = np.concatenate([shrunken[words] for words in tops])
    by_topic = np.repeat(coefficients, [len(words) for words in tops])
    if np.ptp(by_topic) == 0 or np.ptp(by_word) == 0:
        return float("nan")
    return float(np.corrcoef(by_topic, by_word)[0, 1])


class LexiconAgreement(NamedTuple):
    """Number of top words of the two extreme topics with the right and the wrong sign."""

    right: int
    wrong: int
    total: int


def lexicon_agreement(
    components: ArrayLike,
    coef: ArrayLike,
    vocabulary: Sequence[str],
    lexicon: Mapping[str, float],
    top_n: int = 10,
) -> LexiconAgreement:
    """Count top words of the two extreme topics whose sign in an opinion lexicon is right.

    ``lexicon`` maps words to numbers of which only the sign counts. A word of the topic with the
    highest coefficient is right when its sign is positive, of the lowest when negative.

    Parameters
    ----------
    components : array-like of shape (n_topics, n_words)
        Topics, ``components_`` of a model.
    coef : array-like of shape (n_topics,)
        Their coefficients, ``coef_`` of a model.
    vocabulary : sequence of str
        The word of each column.
    lexicon : mapping of str to float
        Words with an opinion; others are neither right nor wrong.
    top_n : int, default=10

    Returns
    -------
    LexiconAgreement
        (right, wrong, total).

    Raises
    ------
    ValueError
        If ``vocabulary`` and ``components`` differ in the number of words.

    Examples
    --------
    >>> from topicfocus.metrics import lexicon_agreement
    >>> topics = [[0.6, 0.4, 0.0], [0.0, 0.3, 0.7]]
    >>> lexicon = {"good": 2.0, "bad": -1.5}
    >>> lexicon_agreement(topics, [1.0, -1.0], ["good", "film", "bad"], lexicon)
    LexiconAgreement(right=2, wrong=0, total=4)
    """
    topics = read_topics(components)
    coefficients = _read_coef(coef, len(topics))
    if len(vocabulary) != topics.shape[1]:
        raise ValueError(
            f"vocabulary has {len(vocabulary)} words but components has {topics.shape[1]}"
        )
    right = wrong = total = 0
    for k, sign in ((int(np.argmax(coefficients)), 1), (int(np.argmin(coefficients)), -1)):
        words = top_words(topics[[k]], top_n)[0]
        total += len(words)
        for v in words:
            opinion = sign * np.sign(lexicon.get(str(vocabulary[v]), 0.0))
            right += opinion > 0
            wrong += opinion < 0
    return LexiconAgreement(int(right), int(wrong), total)


def _read_coef(coef: ArrayLike, n_topics: int) -> np.ndarray:
    values = check_array(np.ravel(coef), ensure_2d=False, dtype=float, input_name="coef")
    if len(values) != n_topics:
        raise ValueError(f"coef has {len(values)} values but components has {n_topics} topics")
    return values


# ---- selected words ------------------------------------------------------------------------------


class SelectionScores(NamedTuple):
    """Precision and recall of selected words."""

    precision: float
    recall: float


def selection_scores(
    inclusion: ArrayLike, relevant: ArrayLike, threshold: float = 0.99
) -> SelectionScores:
    """Precision and recall of the words selected by a model, where the truth is known.

    A word is selected when its inclusion probability is above the threshold:
    precision = |selected and relevant| / |selected|, recall = |selected and relevant| / |relevant|.
    Neither is ever NaN, so that runs can be averaged: if nothing is selected, precision is 0,
    or 1 if there was nothing to select; if nothing is relevant, recall is 1 as nothing was missed.

    Parameters
    ----------
    inclusion : array-like of shape (n_words,)
        Probability that each word is relevant, ``inclusion_`` of a model.
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
    probability, truth = column_or_1d(inclusion, dtype=np.float64), column_or_1d(relevant)
    check_consistent_length(probability, truth)
    if not ((probability >= 0) & (probability <= 1)).all():
        raise ValueError("inclusion must be in [0, 1]")
    if truth.dtype != np.bool_ and not np.isin(truth, (0, 1)).all():
        # Most likely a list of column numbers, which would be read as "all relevant".
        raise ValueError("relevant must be a mask: True or False for each word")
    selected, truth = probability > threshold, truth.astype(bool)
    hits, n_selected, n_relevant = (int(m.sum()) for m in (selected & truth, selected, truth))
    precision = hits / n_selected if n_selected else float(n_relevant == 0)
    recall = hits / n_relevant if n_relevant else 1.0
    return SelectionScores(precision, recall)
