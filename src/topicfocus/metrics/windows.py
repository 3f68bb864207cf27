"""Co-occurrence of words in windows of texts, for measures of coherence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicfocus.kernels.windows import window_counts

#: Topics are counted in groups of about this many distinct words: their pairs fit into the cache,
#: and memory does not grow with the number of topics.
_GROUP_WORDS = 512


def read_tokens(
    texts: Iterable[Sequence[str]], vocabulary: Sequence[str], chosen: NDArray[np.intp]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Index of each token among the ``chosen`` columns (else -1), and the ends of the texts."""
    if isinstance(texts, str):
        raise TypeError("texts must be lists of tokens, one for each document, not one string")
    number = {vocabulary[column]: i for i, column in enumerate(chosen.tolist())}
    lengths: list[int] = []
    tokens = chain.from_iterable(_measured(texts, lengths))
    ids = np.fromiter(map(number.get, tokens, repeat(-1)), dtype=np.int32)
    if not lengths:
        raise ValueError("texts has no documents")
    return ids, np.cumsum(lengths, dtype=np.int64)


def _measured(texts: Iterable[Sequence[str]], lengths: list[int]) -> Iterator[Sequence[str]]:
    for i, text in enumerate(texts):
        if isinstance(text, str):
            raise TypeError(
                f"texts must be lists of tokens, but document {i} is a string; split it into the "
                "tokens that were counted, in their order"
            )
        tokens = text if hasattr(text, "__len__") else list(text)
        lengths.append(len(tokens))
        yield tokens


def read_vocabulary(vocabulary: Any, n_words: int) -> list[str]:
    """The word of each column; raises if two are the same."""
    if vocabulary is None:
        raise ValueError(
            "texts needs vocabulary: the word of each column of components, as in "
            "vectorizer.get_feature_names_out()"
        )
    words = [str(word) for word in vocabulary]
    if len(words) != n_words:
        raise ValueError(f"vocabulary has {len(words)} words but components has {n_words}")
    if len(set(words)) < len(words):
        seen: set[str] = set()
        twice = next(word for word in words if word in seen or seen.add(word))  # type: ignore[func-returns-value]
        raise ValueError(f"vocabulary has the word {twice!r} more than once")
    return words


def topic_windows(
    tops: Sequence[NDArray[np.intp]],
    texts: Iterable[Sequence[str]],
    vocabulary: Sequence[str],
    window: int,
    exact: bool,
) -> Iterator[tuple[NDArray[np.float64], int]]:
    """For each topic the number of windows with each pair of its words, and of all windows."""
    chosen = np.unique(np.concatenate(tops))
    ids, ends = read_tokens(texts, vocabulary, chosen)
    for group in _groups(tops):
        members = np.unique(np.concatenate(group))
        local = np.full(len(chosen) + 1, -1, dtype=np.int32)  # the last entry is for tokens with -1
        local[np.searchsorted(chosen, members)] = np.arange(len(members), dtype=np.int32)
        together, n_windows = window_counts(local[ids], ends, len(members), window, exact)
        for words in group:
            rows = np.searchsorted(members, words)
            yield together[np.ix_(rows, rows)].astype(np.float64), n_windows


def _groups(tops: Sequence[NDArray[np.intp]]) -> Iterator[list[NDArray[np.intp]]]:
    group: list[NDArray[np.intp]] = []
    words: set[int] = set()
    for top in tops:
        union = words | set(top.tolist())
        if group and len(union) > _GROUP_WORDS:
            yield group
            group, union = [], set(top.tolist())
        group.append(top)
        words = union
    yield group
