"""Checks of constructor parameters: before any long work, with the value and what to do."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np


def check_count(name: str, value: Any, *, minimum: int = 1) -> int:
    """A whole number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}.")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}.")
    return int(value)


def check_positive(name: str, value: Any, *, zero: bool = False) -> float:
    """A finite number above (or from) zero."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    if not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        wanted = "at least 0" if zero else "greater than 0"
        raise ValueError(f"{name} must be {wanted} and finite, got {value!r}.")
    return float(value)


def check_share(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    value = check_positive(name, value)
    if value >= 1:
        raise ValueError(
            f"{name} must lie between 0 and 1, both excluded, got {value!r}. A percentage such as "
            "10 is written 0.1."
        )
    return value


def check_flag(name: str, value: Any) -> bool:
    """True or False, not a number or a word that would count as one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")
    return value


def check_prior(value: Any, n_topics: int) -> tuple[np.ndarray, bool]:
    """α as a vector, and whether it is to be learned (then it starts from ones)."""
    if isinstance(value, str):
        check_choice("doc_topic_prior", value, ("learn",))
        return np.ones(n_topics), True
    prior = np.asarray(value, dtype=float)
    if prior.ndim == 0:
        return np.full(n_topics, check_positive("doc_topic_prior", float(prior))), False
    if prior.shape != (n_topics,):
        raise ValueError(
            f"doc_topic_prior must be a number, 'learn', or one number for each of the {n_topics} "
            f"topics; got an array of shape {prior.shape}."
        )
    if not np.all(np.isfinite(prior) & (prior > 0)):
        raise ValueError("doc_topic_prior must be greater than 0 everywhere and finite.")
    return prior.copy(), False


def is_auto(name: str, value: Any) -> bool:
    """Whether a parameter is left to the data; a word other than "auto" is an error."""
    if (
        isinstance(value, str)
        and value != "auto"
        and not (name == "doc_topic_prior" and value == "learn")
    ):
        raise ValueError(f"{name} must be 'auto' or a number, got {value!r}.")
    return isinstance(value, str) and value == "auto"


def read_columns(name: str, words: Any, names: Any, n_words: int) -> np.ndarray | None:
    """Columns of words given by name (where the columns have names) or by number."""
    if words is None:
        return None
    if isinstance(words, str):
        raise TypeError(f"{name} must be a list of words or column numbers, got one string.")
    lookup = {} if names is None else {str(w): i for i, w in enumerate(names)}
    columns = []
    for word in words:
        if isinstance(word, str):
            if names is None:
                raise ValueError(
                    f"{name} has the word {word!r}, but X has no column names. Pass a dataframe, "
                    "or column numbers: vectorizer.vocabulary_[word]."
                )
            if word not in lookup:
                raise ValueError(f"{name} has {word!r}, which is not a column of X.")
            columns.append(lookup[word])
        elif isinstance(word, (int, np.integer)) and not isinstance(word, bool):
            if not 0 <= word < n_words:
                raise ValueError(f"{name} has column {word}, but X has columns 0 to {n_words - 1}.")
            columns.append(int(word))
        else:
            raise TypeError(f"{name} must hold words or column numbers, got {word!r}.")
    return np.unique(np.array(columns, dtype=np.int64))
