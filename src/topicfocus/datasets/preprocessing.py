"""From documents to counts, with the vocabulary of the training part only; random parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from topicfocus.datasets.synthetic import count_tokens, whole_number

# 3754/626/626 of 5,006 reviews and 7500/1250/1250 of 10,000: the paper's sizes are these shares.
PAPER_SHARES = (0.75, 0.125, 0.125)

Rows = NDArray[np.int64]


def paper_counts(
    train_texts: Sequence[str],
    *other_texts: Sequence[str],
    stop_words: str | list[str] | None = "english",
    max_df: float | int = 0.5,
    min_df: float | int = 10,
    max_features: int | None = None,
) -> tuple[list[sparse.csr_array], tuple[str, ...]]:
    """Count words as the paper does: no stop words, no very frequent and no rare ones.

    The vocabulary comes from ``train_texts`` alone: a word that only other documents use is not
    counted there. Texts are in lower case; words are runs of two or more letters or digits.

    Parameters
    ----------
    train_texts : sequence of str
    *other_texts : sequences of str
        For example the validation and the test part.
    stop_words : "english", list of str or None, default="english"
        Words that are left out; "english" is scikit-learn's list.
    max_df : float or int, default=0.5
        Words in more than this share (int: number) of the training documents are left out.
    min_df : int or float, default=10
        Words in fewer training documents than this (float: share) are left out.
    max_features : int, optional
        Keep this many words, the most frequent ones in the training part. The paper has 4,596
        on Pang & Lee, where its stated rule gives 7,819.

    Returns
    -------
    counts : list of scipy.sparse.csr_array of float64
        One for each sequence of texts, in their order.
    vocabulary : tuple of str
        The word of each column, in alphabetical order.

    Examples
    --------
    >>> from topicfocus.datasets import paper_counts
    >>> texts = ["a good film", "a bad film", "good music"]
    >>> (train, test), vocabulary = paper_counts(texts, ["good good fun"], min_df=1, max_df=1.0)
    >>> vocabulary
    ('bad', 'film', 'good', 'music')
    >>> test.toarray().astype(int).tolist()
    [[0, 0, 2, 0]]
    """
    # Here, not above: reading a data set's description should not cost the import of scikit-learn.
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(
        stop_words=stop_words,
        max_df=max_df,
        min_df=min_df,
        max_features=max_features,
        dtype=np.float64,
    )
    matrices = [vectorizer.fit_transform(train_texts)]
    matrices += [vectorizer.transform(texts) for texts in other_texts]
    vocabulary = tuple(vectorizer.get_feature_names_out().tolist())
    return [_canonical(matrix) for matrix in matrices], vocabulary


def code_counts(
    train_bags: Sequence[Collection[str]],
    *other_bags: Sequence[Collection[str]],
    min_df: int = 10,
) -> tuple[list[sparse.csr_array], tuple[str, ...]]:
    """Count codes that may contain any character, such as those of health records.

    Parameters
    ----------
    train_bags : sequence of collections of str
        The codes of each training document; a code counts as often as it occurs.
    *other_bags : sequences of collections of str
        For example the validation and the test part.
    min_df : int, default=10
        Codes in fewer training documents than this are left out.

    Returns
    -------
    counts : list of scipy.sparse.csr_array of float64
        One for each sequence of bags, in their order.
    vocabulary : tuple of str
        The code of each column, in alphabetical order.

    Raises
    ------
    ValueError
        If no code is in ``min_df`` documents.

    Examples
    --------
    >>> from topicfocus.datasets import code_counts
    >>> (train, test), vocabulary = code_counts([["dx:a", "rx:b"], ["dx:a"]], [["rx:b"]], min_df=1)
    >>> vocabulary
    ('dx:a', 'rx:b')
    >>> train.toarray().astype(int).tolist()
    [[1, 1], [1, 0]]
    """
    frequency = Counter(code for bag in train_bags for code in set(bag))
    vocabulary = tuple(sorted(code for code, n in frequency.items() if n >= min_df))
    if not vocabulary:
        raise ValueError(
            f"none of the {len(frequency)} codes is in at least min_df={min_df} of the "
            f"{len(train_bags)} training documents; set a lower min_df"
        )
    column = {code: j for j, code in enumerate(vocabulary)}
    return [_count_bags(bags, column) for bags in (train_bags, *other_bags)], vocabulary


def random_parts(n_docs: int, split: int, shares: tuple[float, ...] = PAPER_SHARES) -> list[Rows]:
    """Split rows at random into parts; ``split`` is the seed.

    Returns
    -------
    list of ndarrays of int
        The rows of each part, in random order.
    """
    split = whole_number("split", split, minimum=0)
    order = np.random.default_rng(split).permutation(n_docs)
    # Rounded first: 0.9 of 10 is 9, whatever the last bit of the product says.
    edges = np.floor(np.round(np.cumsum(shares[:-1]) * n_docs, 6)).astype(np.int64)
    return np.split(order, edges)


def group_parts(
    groups: ArrayLike, split: int, shares: tuple[float, ...] = PAPER_SHARES
) -> list[Rows]:
    """Split rows at random so that all rows of a group are in one part.

    The shares are of groups, not of rows.

    Returns
    -------
    list of ndarrays of int
        The rows of each part, in ascending order.
    """
    names, group_of = np.unique(np.asarray(groups), return_inverse=True)
    part_of = np.empty(len(names), dtype=np.int64)
    for i, members in enumerate(random_parts(len(names), split, shares)):
        part_of[members] = i
    return [np.flatnonzero(part_of[group_of] == i) for i in range(len(shares))]


def _canonical(matrix: sparse.csr_matrix) -> sparse.csr_array:
    counts = sparse.csr_array(matrix)
    counts.sum_duplicates()  # also sorts
    return counts


def _count_bags(bags: Sequence[Collection[str]], column: dict[str, int]) -> sparse.csr_array:
    docs, words = [], []
    for i, bag in enumerate(bags):
        for code in bag:
            if code in column:
                docs.append(i)
                words.append(column[code])
    shape = (len(bags), len(column))
    return count_tokens(np.array(docs, dtype=np.int64), np.array(words, dtype=np.int64), shape)
