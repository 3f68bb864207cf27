"""What a loader returns: three parts of documents with their targets, and where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from topicfocus.datasets.sources import SOURCES

Task = Literal["regression", "binary", "multiclass", "multi-target"]


@dataclass(frozen=True, eq=False)
class Part:
    """Documents of one part of a data set.

    Attributes
    ----------
    counts : scipy.sparse.csr_array of float64, shape (n_docs, n_words)
    target : ndarray
        Numbers of shape (n_docs,), or (n_docs, n_targets) with several targets; 0 and 1 for a
        binary target. The names of the classes where they have names and are more than two.
    texts : list of str or None
        The documents, where there are any.
    groups : ndarray of str or None
        The patient of each document, where a patient may have several.
    """

    counts: sparse.csr_array
    target: NDArray[Any]
    texts: list[str] | None = None
    groups: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        n_docs = self.counts.shape[0]
        for name in ("target", "texts", "groups"):
            values = getattr(self, name)
            if values is not None and len(values) != n_docs:
                raise ValueError(f"counts has {n_docs} documents, but {name} has {len(values)}")

    def __repr__(self) -> str:
        n_docs, n_words = self.counts.shape
        return f"Part({n_docs:,} documents x {n_words:,} words, {self.counts.sum():,.0f} tokens)"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set in three parts.

    Attributes
    ----------
    train, valid, test : Part
        To fit, to choose settings, and to report.
    vocabulary : tuple of str
        The word or code of each column of ``counts``.
    name : str
        As in ``find_data``.
    source, licence : str
        Where the data come from and what may be done with them.
    task : {"regression", "binary", "multiclass", "multi-target"}
    target_names : tuple of str
        The classes (of a binary target: of 0, then of 1), or else the name of each target.
    """

    train: Part
    valid: Part
    test: Part
    vocabulary: tuple[str, ...]
    name: str
    source: str
    licence: str
    task: Task
    target_names: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("train", "valid", "test"):
            n_words = getattr(self, name).counts.shape[1]
            if n_words != len(self.vocabulary):
                raise ValueError(
                    f"{name}.counts has {n_words} columns, but the vocabulary has "
                    f"{len(self.vocabulary)} words"
                )

    def __repr__(self) -> str:
        parts = [
            f"  {name}: {part.counts.shape[0]:,} documents, {part.counts.sum():,.0f} tokens, "
            f"{self._describe(part.target)}"
            for name, part in (("train", self.train), ("valid", self.valid), ("test", self.test))
        ]
        return "\n".join(
            [
                f"Dataset {self.name!r}: {self.task}, {len(self.vocabulary):,} words",
                *parts,
                f"  source: {self.source}",
                f"  licence: {self.licence}",
            ]
        )

    def _describe(self, target: NDArray[Any]) -> str:
        if len(target) == 0:
            return "no target"
        if self.task == "multiclass":
            return f"{len(np.unique(target))} classes"
        if self.task == "binary":
            return f"{target.mean():.1%} {self.target_names[1]}"
        means = np.atleast_1d(target.mean(axis=0))
        named = zip(self.target_names, means, strict=True)
        return "mean " + ", ".join(f"{name} {mean:.2f}" for name, mean in named)


def make_dataset(
    name: str,
    counts: Sequence[sparse.csr_array],
    targets: Sequence[NDArray[Any]],
    vocabulary: tuple[str, ...],
    *,
    task: Task,
    target_names: tuple[str, ...],
    texts: Sequence[list[str] | None] = (None, None, None),
    groups: Sequence[NDArray[Any] | None] = (None, None, None),
) -> Dataset:
    """Put the three parts of a known data set together with its source and licence."""
    train, valid, test = (Part(*part) for part in zip(counts, targets, texts, groups, strict=True))
    return Dataset(
        train=train,
        valid=valid,
        test=test,
        vocabulary=vocabulary,
        name=name,
        source=SOURCES[name].origin,
        licence=SOURCES[name].licence,
        task=task,
        target_names=target_names,
    )
