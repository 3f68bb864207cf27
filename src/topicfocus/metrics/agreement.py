"""Do the words of a topic mean what its coefficient says?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from topicfocus.corpus import make_corpus
from topicfocus.counts import pieces
from topicfocus.metrics.topics import read_topics, top_words

#: Documents' worth of shrinkage of a word's mean target towards the overall mean.
_SHRINKAGE = 5.0


def target_agreement(
    components: ArrayLike, coef: ArrayLike, counts: Any, target: Any, top_n: int = 20
) -> float:
    """Correlation of a topic's coefficient with the targets of documents that use its words.

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
    """Words of the two extreme topics with the right and with the wrong sign in a lexicon."""

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
    """Of the top words of the two extreme topics, how many an opinion lexicon agrees with.

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
    values = np.asarray(coef, dtype=float).reshape(-1)
    if len(values) != n_topics:
        raise ValueError(f"coef has {len(values)} values but components has {n_topics} topics")
    if not np.isfinite(values).all():
        raise ValueError("coef must be finite")
    return values
