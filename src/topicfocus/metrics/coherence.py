"""Coherence: co-occurrence of the top words of a topic in documents or in windows of texts.

"pmi" is the measure of Ren, Kunes and Doshi-Velez (2020), for comparison with their results. With
0.01 added to each probability, two *independent* words of document frequency f score
log((f² + 0.01)/(f + 0.01)²), which is 3.9 at f = 0.004 and 0.2 at 0.15: it mostly measures how rare
the top words are. Use "npmi" or "smoothed_pmi" (smoothed PMI) to compare topics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from topicfocus.corpus import make_corpus
from topicfocus.counts import in_memory, take_columns
from topicfocus.estimators.arguments import check_count
from topicfocus.kernels.windows import window_counts
from topicfocus.metrics.topics import read_topics, top_words

#: Tokens of a window where texts are given (as in gensim), None for measures of documents alone.
_WINDOWS = {"pmi": None, "npmi": 10, "umass": None, "smoothed_pmi": None, "uci": 10, "c_v": 110}
MEASURES = tuple(_WINDOWS)
#: Added to the probability of a pair, as in gensim and Röder, Both and Hinneburg (2015).
_EPSILON = 1e-12
#: Windows are counted for groups of topics with about this many words: their pairs fit into the
#: cache, and memory does not grow with the number of topics.
_GROUP_WORDS = 512


def coherence(
    components: ArrayLike,
    counts: Any = None,
    measure: str = "pmi",
    top_n: int = 50,
    smoothing: float = 0.01,
    per_topic: bool = False,
    *,
    texts: Iterable[Sequence[str]] | None = None,
    vocabulary: Sequence[str] | None = None,
    window: int | None = None,
    epsilon: float | None = None,
    exact_windows: bool = False,
) -> float | NDArray[np.float64]:
    """Coherence of topics: the mean over pairs of top words, then over topics.

    With P(v) the share of documents that contain v, P(u, v) both, and M documents:

    - "pmi": log (P(u,v)+s) / ((P(u)+s)(P(v)+s)), s = ``smoothing``, as in Ren, Kunes and
      Doshi-Velez (2020), see above;
    - "npmi": log(P(u,v)/(P(u)P(v))) / -log P(u,v), and -1 for words that never occur together;
    - "umass": log (P(u,v)+ε)/P(u), u the more probable word of the topic;
    - "smoothed_pmi": log (M P(u,v)+1)/(M P(u)P(v)+1), safe for rare words.

    The following, and "npmi" if ``texts`` is given, take shares of windows instead, which slide
    over the texts token by token (a text that is no longer than a window is one):

    - "uci": log (P(u,v)+ε)/(P(u)P(v));
    - "c_v": the mean cosine of a word's vector of npmi (with ε) with the sum of these vectors.

    Parameters
    ----------
    components : array-like (topics, words)
    counts : documents x words
        The reference documents, usually the training set. Not needed where ``texts`` is.
    measure : {"pmi", "npmi", "umass", "smoothed_pmi", "uci", "c_v"}
    top_n : int, default=50
        10 is usual for "npmi", "uci" and "c_v".
    smoothing : float, default=0.01
        For "pmi".
    per_topic : bool, default=False
        One number per topic instead of their mean.
    texts : iterable of lists of str, optional
        The reference documents as tokens in their order, including words outside the
        vocabulary, which count as tokens of a window.
    vocabulary : sequence of str, optional
        The word of each column, to find it in ``texts``.
    window : int, optional
        Tokens in a window; by default 10, and 110 for "c_v".
    epsilon : float, optional
        ε, by default 1e-12. For "npmi" by default none, and -1 for words that are never together;
        with ε = 1e-12 they get -1 - log(P(u)P(v))/27.6, which is -0.58 if both shares are 0.003.
    exact_windows : bool, default=False
        Whether a word counts as being in a window as long as any copy of it is. By default it is
        forgotten when one copy leaves the window, until the next one enters: gensim counts like
        this, and with it most published figures.

    Returns
    -------
    float, or ndarray of shape (n_topics,) with ``per_topic``

    Raises
    ------
    ValueError
        If ``measure`` is unknown or needs what was not given, or a topic has fewer than two words.

    Notes
    -----
    "uci" and "c_v" are gensim's c_uci and c_v, "umass" is its u_mass (``epsilon=1/M``, for M
    documents, is the original add-one), and "npmi" with ``epsilon=1e-12`` its c_npmi, of documents
    or with ``texts`` of windows. Unlike there, top words that occur nowhere are an error for
    "umass", "uci" and "c_v".

    Examples
    --------
    >>> from topicfocus.metrics import coherence
    >>> topic = [[0.5, 0.3, 0.2]]
    >>> texts = [["good", "fun", "film"], ["good", "fun"], ["dull", "film"], ["good", "film"]]
    >>> round(coherence(topic, None, "uci", texts=texts, vocabulary=["good", "fun", "film"]), 3)
    -0.079
    """
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}; got {measure!r}")
    if epsilon is not None and not 0 < epsilon < np.inf:
        raise ValueError(f"epsilon must be a finite number > 0, got {epsilon!r}")
    topics = read_topics(components)
    tops = top_words(topics, top_n)
    short = [k for k, words in enumerate(tops) if len(words) < 2]
    if short:
        raise ValueError(f"topic {short[0]} has fewer than two words: it has no pairs")
    default = _WINDOWS[measure]
    if texts is not None and default is not None:
        size = default if window is None else check_count("window", window, minimum=2)
        if vocabulary is None or len(vocabulary) != topics.shape[1]:
            raise ValueError(
                f"texts needs vocabulary, the word of each of the {topics.shape[1]} columns of "
                "components: vectorizer.get_feature_names_out()"
            )
        counted = _topic_windows(tops, texts, vocabulary, size, exact_windows)
    elif texts is not None:
        raise ValueError(f'"{measure}" is a measure of documents: give counts instead of texts')
    elif measure in ("uci", "c_v"):
        raise ValueError(
            f'"{measure}" is a measure of windows, which counts do not have: give texts, lists of '
            "tokens, and vocabulary"
        )
    elif counts is None:
        raise ValueError(f'"{measure}" needs counts, a matrix of documents x words')
    else:
        counted = _topic_documents(tops, counts, topics.shape[1])
    values = np.array([_score(together, n, measure, smoothing, epsilon) for together, n in counted])
    return values if per_topic else float(values.mean())


def _topic_documents(
    tops: Sequence[NDArray[np.intp]], counts: Any, n_words: int
) -> Iterator[tuple[NDArray[np.float64], int]]:
    """For each topic the documents with each pair of its words, and the number of documents."""
    corpus = make_corpus(counts, name="counts", allow_empty=True)
    if corpus.n_words != n_words:
        raise ValueError(
            f"counts has {corpus.n_words} words but components has {n_words}; use the "
            "columns that the model was fitted with"
        )
    # Only the columns of top words, as presence: no dense matrix with rows of documents.
    chosen = np.unique(np.concatenate(tops))
    present = sparse.csc_array(in_memory(take_columns(corpus.counts, chosen)))
    present.data = np.ones_like(present.data)
    for words in tops:
        local = present[:, np.searchsorted(chosen, words)]
        yield np.asarray((local.T @ local).todense(), dtype=float), corpus.n_docs


def _topic_windows(
    tops: Sequence[NDArray[np.intp]],
    texts: Iterable[Sequence[str]],
    vocabulary: Sequence[str],
    window: int,
    exact: bool,
) -> Iterator[tuple[NDArray[np.float64], int]]:
    """For each topic the windows with each pair of its words, and the number of windows."""
    ids, ends = _read_tokens(texts, vocabulary)
    each = max(1, _GROUP_WORDS // max(map(len, tops)))
    for first in range(0, len(tops), each):
        group = tops[first : first + each]
        members = np.unique(np.concatenate(group))
        local = np.full(len(vocabulary) + 1, -1, dtype=np.int32)  # the last is for tokens with -1
        local[members] = np.arange(len(members))
        together, n_windows = window_counts(local[ids], ends, len(members), window, exact)
        for words in group:
            yield together[np.ix_(local[words], local[words])].astype(np.float64), n_windows


def _read_tokens(
    texts: Iterable[Sequence[str]], vocabulary: Sequence[str]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Column of each token, -1 for words outside the vocabulary, and the ends of the texts."""
    column = {str(word): v for v, word in enumerate(vocabulary)}
    if len(column) < len(vocabulary):
        raise ValueError("vocabulary has the same word more than once")
    parts = []
    for i, text in enumerate(texts):
        if isinstance(text, str):
            raise TypeError(f"texts must be lists of tokens, but document {i} is a string")
        parts.append(np.fromiter(map(column.get, text, repeat(-1)), dtype=np.int32))
    if not parts:
        raise ValueError("texts has no documents")
    return np.concatenate(parts), np.cumsum([len(part) for part in parts], dtype=np.int64)


# ---- from pair counts to coherence ---------------------------------------------------------------


def _score(
    together: NDArray[np.float64], n: int, measure: str, smoothing: float, epsilon: float | None
) -> float:
    """Coherence of a topic from pair counts.

    ``together`` counts the documents or windows (out of ``n``) with both words, its diagonal those
    with one; the most probable word comes first.
    """
    alone = np.diag(together)
    if measure in ("umass", "uci", "c_v") and not alone.all():
        absent = int(np.argmin(alone))
        raise ValueError(
            f"{measure} needs top words that occur; the one of rank {absent + 1} occurs in none"
        )
    if measure == "c_v":
        return _c_v(together / n, _EPSILON if epsilon is None else epsilon)
    pairs = np.triu_indices(len(alone), 1)
    joint = together[pairs]
    first, second = alone[pairs[0]], alone[pairs[1]]
    if measure == "smoothed_pmi":
        return float(np.mean(np.log((joint + 1) / (first * second / n + 1))))
    joint, first, second = joint / n, first / n, second / n
    if measure == "pmi":
        s = smoothing
        return float(np.mean(np.log(joint + s) - np.log(first + s) - np.log(second + s)))
    if measure == "npmi" and epsilon is None:
        return float(np.mean(_npmi(joint, first, second)))
    e = _EPSILON if epsilon is None else epsilon
    if measure == "umass":
        return float(np.mean(np.log((joint + e) / first)))
    if measure == "uci":
        return float(np.mean(np.log((joint + e) / (first * second))))
    return float(np.mean(_smoothed_npmi(joint, first, second, e)))


def _npmi(joint: NDArray, first: NDArray, second: NDArray) -> NDArray[np.float64]:
    """log(P(u,v)/(P(u)P(v))) / -log P(u,v); its limits -1 for never and 1 for always together."""
    value = np.full(len(joint), -1.0)
    seen = joint > 0
    always = joint >= 1  # log 1 / log 1, as coherent as can be
    apart = seen & ~always
    pmi = np.log(joint[apart] / (first[apart] * second[apart]))
    value[apart] = pmi / -np.log(joint[apart])
    value[always] = 1.0
    return value


def _smoothed_npmi(joint: NDArray, first: NDArray, second: NDArray, e: float) -> NDArray:
    """log((P(u,v)+e)/(P(u)P(v))) / -log(P(u,v)+e); words that never occur may give 0/0.

    Far from -1 for rare words that are never together: -0.58 for P(u) = P(v) = 0.003, e = 1e-12.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log((joint + e) / (first * second)) / -np.log(joint + e)
    return np.where(np.minimum(first, second) > 0, value, -1.0)


def _c_v(joint: NDArray[np.float64], e: float) -> float:
    """Mean over words of cos(c_u, Σ_v c_v), c_u the smoothed npmi of u with every top word."""
    alone = np.diag(joint)
    context = _smoothed_npmi(joint, alone[:, None], alone[None, :], e)
    whole = context.sum(axis=0)
    return float(
        np.mean(context @ whole / (np.linalg.norm(context, axis=1) * np.linalg.norm(whole)))
    )
