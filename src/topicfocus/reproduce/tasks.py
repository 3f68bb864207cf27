"""What there is to run: one fit of one model with one setting to one split of a data set.

A task is a value. Its key names the file that its result is kept in, so that two experiments that
need the same fit share it, and a run that was interrupted finds what is finished.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from topicfocus import datasets
from topicfocus.datasets import Dataset, Part

#: Part of every key: raise it when results of older code must not be used again.
FORMAT = 1

#: The paper's number of words, where it has one and the stated rule gives more (docs/models.md).
PAPER_WORDS = {"pang_lee": 4596, "yelp": 4142}

_LOADERS = {
    "pang_lee": lambda key: datasets.load_pang_lee(key.split, max_features=key.words),
    "yelp": lambda key: datasets.load_yelp(key.split, max_features=key.words),
    "imdb": lambda key: datasets.load_imdb(key.split, own_test=False, max_features=key.words),
    "eicu": lambda key: datasets.load_eicu(key.split),
    "diabetes": lambda key: datasets.load_diabetes(key.split),
    "poliblog": lambda key: datasets.load_poliblog(key.split),
    "newsgroups": lambda key: datasets.load_newsgroups(key.split, max_features=key.words),
}
NAMES = tuple(_LOADERS)


@dataclass(frozen=True)
class DataKey:
    """A split of a data set, with so many words and at most so many training documents."""

    name: str
    split: int
    words: int | None = None
    docs: int | None = None


@dataclass(frozen=True)
class Words:
    """Words to fit on: those that another run kept, or as many by correlation with the target.

    `by` is "inclusion", "correlation" (its size) or "signed correlation" (the largest).
    """

    by: str
    of: Task | None = None
    share: float | None = None


@dataclass(frozen=True)
class Task:
    """One fit.

    Attributes
    ----------
    data : DataKey
    model : str
        A name of `models.MODELS`.
    settings : tuple of (name, value)
    seed : int
    words : Words, optional
        Fit on these alone.
    """

    data: DataKey
    model: str
    settings: tuple[tuple[str, Any], ...] = ()
    seed: int = 0
    words: Words | None = None

    def describe(self) -> dict[str, Any]:
        """Everything the result depends on, as plain data."""
        out: dict[str, Any] = {
            "format": FORMAT,
            "data": self.data.name,
            "split": self.data.split,
            "vocabulary": self.data.words,
            "docs": self.data.docs,
            "model": self.model,
            "settings": dict(self.settings),
            "seed": self.seed,
        }
        if self.words is not None:
            out["words_by"] = self.words.by
            out["words_share"] = self.words.share
            out["words_of"] = None if self.words.of is None else self.words.of.describe()
        return out

    @property
    def key(self) -> str:
        """A file name: readable at its beginning, unique by its end."""
        text = json.dumps(self.describe(), sort_keys=True)
        unique = hashlib.sha256(text.encode()).hexdigest()[:10]
        words = "".join(c if c.isalnum() else "-" for c in self.model)
        return f"{self.data.name}-{self.data.split}-{words}-{unique}"

    @property
    def title(self) -> str:
        settings = ", ".join(f"{k}={v}" for k, v in self.settings)
        by = "" if self.words is None else f" on words by {self.words.by}"
        return f"{self.data.name} {self.data.split}: {self.model}({settings}){by}"


# Two at a time: tasks come data set by data set, and the largest takes some hundred megabytes.
@lru_cache(maxsize=2)
def load(key: DataKey) -> Dataset:
    """The data of a key."""
    if key.name not in _LOADERS:
        raise ValueError(f"no data set is called {key.name!r}; there are {', '.join(NAMES)}")
    data = _LOADERS[key.name](key)
    if key.docs is None:
        return data
    # A part of the documents, for a quick look: the parts are in random order already.
    rows = np.arange(min(key.docs, data.train.counts.shape[0]))
    return Dataset(
        **{**vars(data), "train": _rows(data.train, rows)}  # the vocabulary stays
    )


def _rows(part: Part, rows: np.ndarray) -> Part:
    texts = None if part.texts is None else [part.texts[i] for i in rows]
    groups = None if part.groups is None else part.groups[rows]
    return Part(part.counts[rows], part.target[rows], texts, groups)
