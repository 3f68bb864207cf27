"""Names of a model's words, in whichever form a user has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def word_names(given: Any, n_words: int) -> np.ndarray:
    """One name a column, in the order of the columns.

    Parameters
    ----------
    given : list of str, dict of word to column, or a fitted vectoriser
        `CountVectorizer().fit(texts)`, its `vocabulary_`, or `get_feature_names_out()`.
    n_words : int
        Columns of the model.

    Returns
    -------
    array of str objects

    Raises
    ------
    TypeError
        If it is one string, which would name a column by each of its letters.
    ValueError
        If there are more names than columns, or fewer.
    """
    if hasattr(given, "get_feature_names_out"):
        given = given.get_feature_names_out()
    if isinstance(given, (str, bytes)):
        raise TypeError("vocabulary must have a name for each column, got one string.")
    if isinstance(given, Mapping):
        # A dict of words has them in the order they were met in, not in that of the columns.
        given = sorted(given, key=given.__getitem__)
    names = np.array([str(word) for word in given], dtype=object)
    if len(names) != n_words:
        raise ValueError(f"vocabulary has {len(names)} words, but the model has {n_words}.")
    return names
