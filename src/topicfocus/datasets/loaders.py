"""Loaders of text data sets: reviews, blogs and newsgroups."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topicfocus.datasets.dataset import Dataset, Task, make_dataset
from topicfocus.datasets.preprocessing import Rows, paper_counts, random_parts
from topicfocus.datasets.sources import find_data, read_columns

PathLike = str | os.PathLike[str]

# Where a data set has a test part of its own, a tenth of the rest is the validation part.
_OWN_TEST_SHARES = (0.9, 0.1)


def load_pang_lee(
    split: int = 0,
    *,
    max_features: int | None = None,
    target: Literal["rating", "label3", "label4"] = "rating",
    path: PathLike | None = None,
    download: bool = False,
) -> Dataset:
    """Load the movie reviews of Pang & Lee: 5,006 reviews of four critics, ratings 1 to 10.

    The paper's first data set: 3,754 / 626 / 626 reviews. Its stated preprocessing gives some
    7,800 words here, depending on the split; the paper reports 4,596, which ``max_features=4596``
    takes as the most frequent ones. 47 reviews are in the data more than once.

    Parameters
    ----------
    split : int, default=0
        Seed of the random split.
    max_features : int, optional
        Keep only this many words, the most frequent ones.
    target : {"rating", "label3", "label4"}, default="rating"
        The rating as the paper has it, round(10·rating) and at least 1 (halves to the even
        number); or the authors' classes 0 to 2 or 0 to 3, from bad to good.
    path : path-like, optional
        Where the data are; see ``find_data``.
    download : bool, default=False
        Whether to download the data if they are nowhere.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If the data are not there; the message says how to get them.

    Examples
    --------
    >>> from topicfocus.datasets import load_pang_lee
    >>> data = load_pang_lee(split=0)
    >>> data.task, data.target_names
    ('regression', ('rating',))
    """
    _check_choice("target", target, ("rating", "label3", "label4"))
    file = find_data("pang_lee", path, download=download) / "pang_lee.csv.gz"
    texts, values = _read_texts(file, "text", target)
    numbers = np.array(values, dtype=np.float64)
    task: Task = "regression"
    names: tuple[str, ...] = ("rating",)
    if target == "rating":
        numbers = np.clip(np.round(10 * numbers), 1, 10)
    else:
        task = "multiclass"
        names = tuple(f"{label:g}" for label in np.unique(numbers))
    return _from_texts(
        "pang_lee", texts, numbers, random_parts(len(texts), split), task, names, max_features
    )


def load_yelp(
    split: int = 0,
    *,
    max_features: int | None = None,
    path: PathLike | None = None,
    download: bool = False,
) -> Dataset:
    """Load 10,000 Yelp reviews with 1 to 5 stars, in parts of 7,500 / 1,250 / 1,250.

    A well-known sample of the same kind and size as the paper's, not the same reviews.

    Parameters
    ----------
    split : int, default=0
        Seed of the random split.
    max_features, path, download
        As for `load_pang_lee`.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If the data are not there; the message says how to get them.

    Examples
    --------
    >>> from topicfocus.datasets import load_yelp
    >>> data = load_yelp(split=0)
    >>> data.task, data.target_names
    ('regression', ('stars',))
    """
    texts, stars = _read_texts(
        find_data("yelp", path, download=download) / "yelp.csv.gz", "text", "stars"
    )
    numbers = np.array(stars, dtype=np.float64)
    parts = random_parts(len(texts), split)
    return _from_texts("yelp", texts, numbers, parts, "regression", ("stars",), max_features)


def load_imdb(
    split: int = 0,
    *,
    target: Literal["label", "rating"] = "label",
    own_test: bool = True,
    max_features: int | None = None,
    path: PathLike | None = None,
    download: bool = False,
) -> Dataset:
    """Load the Large Movie Review Dataset: 50,000 reviews, half of them positive.

    The test part is the authors' own (25,000), whatever ``split`` is: no film is in it and in the
    training part. The authors' training part is split into 22,500 / 2,500. With ``own_test=False``
    all reviews are split at random instead, 37,500 / 6,250 / 6,250.

    Parameters
    ----------
    split : int, default=0
        Seed of the random split into training and validation part.
    target : {"label", "rating"}, default="label"
        1 for a positive review and 0 for a negative one; or the rating, 1 to 4 and 7 to 10.
    own_test : bool, default=True
        Whether to test on the authors' test part.
    max_features, path, download
        As for `load_pang_lee`.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If the data are not there; the message says how to get them.

    Examples
    --------
    >>> from topicfocus.datasets import load_imdb
    >>> data = load_imdb(split=0)
    >>> data.task, data.target_names
    ('binary', ('negative', 'positive'))
    """
    _check_choice("target", target, ("label", "rating"))
    file = find_data("imdb", path, download=download) / "imdb50k.csv.gz"
    texts, values, own = _read_texts(file, "text", target, "split")
    # Line breaks of the web page: "br" is not a word.
    texts = [text.replace("<br />", " ") for text in texts]
    is_label = target == "label"
    return _from_texts(
        "imdb",
        texts,
        np.array(values, dtype=np.float64),
        _parts_with_own_test(own, split) if own_test else random_parts(len(texts), split),
        "binary" if is_label else "regression",
        ("negative", "positive") if is_label else ("rating",),
        max_features,
    )


def load_poliblog(
    split: int = 0,
    *,
    max_features: int | None = None,
    path: PathLike | None = None,
    download: bool = False,
) -> Dataset:
    """Load 5,000 posts of six political blogs in 2008, conservative (1) or liberal (0).

    The posts come as bags of stems in alphabetical order, which is what ``texts`` has. Posts are
    split at random, so that every blog is in every part. Parts of 3,750 / 625 / 625.

    Parameters
    ----------
    split : int, default=0
        Seed of the random split.
    max_features, path, download
        As for `load_pang_lee`.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If the data are not there; the message says how to get them.
    ValueError
        If the file has ratings other than those of the original.

    Examples
    --------
    >>> from topicfocus.datasets import load_poliblog
    >>> data = load_poliblog(split=0)
    >>> data.task, data.target_names
    ('binary', ('Liberal', 'Conservative'))
    """
    file = find_data("poliblog", path, download=download) / "poliblog5k.csv.gz"
    bags, sides = _read_texts(file, "bag", "rating")
    names = ("Liberal", "Conservative")
    unknown = sorted(set(sides) - set(names))
    if unknown:
        raise ValueError(f"{file}: the column rating has {unknown}, expected {list(names)}")
    numbers = np.array([names.index(side) for side in sides], dtype=np.float64)
    parts = random_parts(len(bags), split)
    return _from_texts("poliblog", bags, numbers, parts, "binary", names, max_features)


def load_newsgroups(
    split: int = 0,
    *,
    max_features: int | None = None,
    path: PathLike | None = None,
    download: bool = False,
) -> Dataset:
    """Load the 20 newsgroups: 18,821 posts; the target is the name of the group.

    The test part (7,528) is the data's own, later posts, whatever ``split`` is; the others are
    split into 10,163 / 1,130.

    Parameters
    ----------
    split : int, default=0
        Seed of the random split into training and validation part.
    max_features, path, download
        As for `load_pang_lee`.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If the data are not there; the message says how to get them.

    Examples
    --------
    >>> from topicfocus.datasets import load_newsgroups
    >>> data = load_newsgroups(split=0)
    >>> data.task, data.target_names[0]
    ('multiclass', 'alt.atheism')
    """
    file = find_data("newsgroups", path, download=download) / "20newsgroups.csv.gz"
    texts, categories, own = _read_texts(file, "text", "category", "split")
    labels = np.array(categories)
    names = tuple(np.unique(labels).tolist())
    parts = _parts_with_own_test(own, split)
    return _from_texts("newsgroups", texts, labels, parts, "multiclass", names, max_features)


def load_we8there(
    split: int = 0, *, path: PathLike | None = None, download: bool = False
) -> Dataset:
    """Load 6,166 restaurant reviews as counts of 2,640 bigrams, with five ratings 1 to 5 each.

    The bigrams are the ones that the authors of the data counted in all reviews: there are no
    texts, so the vocabulary is not of the training part only. 49 reviews have a 0 for service,
    value or atmosphere, outside the scale: presumably not rated. They are kept as they are.

    Parameters
    ----------
    split : int, default=0
        Seed of the random split, 75 / 12.5 / 12.5 %.
    path, download
        As for `load_pang_lee`.

    Returns
    -------
    Dataset
        ``target`` has a column for each of ``target_names``: food, service, value, atmosphere,
        overall.

    Raises
    ------
    FileNotFoundError
        If the data are not there; the message says how to get them.

    Examples
    --------
    >>> from topicfocus.datasets import load_we8there
    >>> data = load_we8there(split=0)
    >>> data.target_names
    ('food', 'service', 'value', 'atmosphere', 'overall')
    """
    folder = find_data("we8there", path, download=download) / "raw"
    counts = _read_csc(folder)
    ratings = np.loadtxt(folder / "y_dense.txt.gz", ndmin=2)
    parts = random_parts(counts.shape[0], split)
    return make_dataset(
        "we8there",
        [counts[rows] for rows in parts],
        [ratings[rows] for rows in parts],
        _read_names(folder / "x_csc_colnames.txt.gz"),
        task="multi-target",
        target_names=tuple(
            name.lower() for name in _read_names(folder / "y_dense_colnames.txt.gz")
        ),
    )


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        listed = ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}")


def _read_texts(file: Path, *columns: str) -> list[list[str]]:
    rows = list(read_columns(file, *columns))
    if not rows:
        raise ValueError(f"{file} has no rows")
    return [list(column) for column in zip(*rows, strict=True)]


def _parts_with_own_test(own: list[str], split: int) -> list[Rows]:
    is_test = np.array(own) == "test"
    others = np.flatnonzero(~is_test)
    parts = random_parts(len(others), split, _OWN_TEST_SHARES)
    return [others[rows] for rows in parts] + [np.flatnonzero(is_test)]


def _from_texts(
    name: str,
    texts: list[str],
    target: NDArray[Any],
    parts: list[Rows],
    task: Task,
    target_names: tuple[str, ...],
    max_features: int | None,
) -> Dataset:
    part_texts = [[texts[i] for i in rows] for rows in parts]
    counts, vocabulary = paper_counts(*part_texts, max_features=max_features)
    return make_dataset(
        name,
        counts,
        [target[rows] for rows in parts],
        vocabulary,
        task=task,
        target_names=target_names,
        texts=part_texts,
    )


def _read_csc(folder: Path) -> sparse.csr_array:
    data, indices, indptr, shape = (
        np.loadtxt(folder / f"x_csc_{name}.txt.gz", dtype=np.int64, ndmin=1)
        for name in ("data", "indices", "indptr", "shape")
    )
    columns = sparse.csc_array(
        (data.astype(np.float64), indices.astype(np.int32), indptr.astype(np.int32)),
        shape=tuple(shape),
    )
    return columns.tocsr()


def _read_names(file: Path) -> tuple[str, ...]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return tuple(line.strip() for line in lines if line.strip())
