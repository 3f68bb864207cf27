"""A sample of bounded size of the documents of a stream, for `partial_fit`.

The key of a document is a hash of its content and a seed, and the sample consists of the documents
with the smallest keys. So it is uniform over distinct documents and does not depend on the order of
documents or the size of batches. A copy of a sampled document increases its weight: a document of
weight 2 is equivalent to two copies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from topicfocus.counts import in_memory
from topicfocus.model import ModelState, Problem, joined
from topicfocus.passes import row_hashes


def content_keys(problem: Problem, seed: int) -> np.ndarray:
    """A keyed 64-bit hash of the words, targets, offset and covariates of each document."""
    known = problem.target_weights > 0
    parts = [np.where(known, problem.targets, np.nan)]
    parts += [part for part in (problem.offset, problem.covariates) if part is not None]
    rest = sparse.csr_array(np.column_stack(parts))
    return row_hashes(sparse.hstack([in_memory(problem.corpus.counts), rest], "csr"), seed)[0]


def filled(problem: Problem, like: Problem) -> Problem:
    """`problem` with an offset of zero if only `like` has an offset."""
    if problem.offset is None and like.offset is not None:
        return replace(problem, offset=np.zeros((problem.n_docs, like.offset.shape[1])))
    return problem


@dataclass(frozen=True)
class Inherited:
    """A fitted model, and the number of its documents, which are not available."""

    state: ModelState
    size: float


@dataclass(frozen=True)
class Reservoir:
    """The sampled documents, with weights added over copies, their keys and numbers of copies."""

    capacity: int
    seed: int
    documents: Problem
    keys: np.ndarray
    arrivals: np.ndarray
    full: bool = False

    @staticmethod
    def empty(like: Problem, capacity: int, seed: int) -> Reservoir:
        """A reservoir without documents, for documents like those of `like`."""
        none = np.zeros(0, dtype=np.int64)
        return Reservoir(capacity, seed, like.rows(none), none.astype(np.uint64), none, False)

    @property
    def passes(self) -> int:
        """The smallest number of copies of a document: 2 if all documents came twice."""
        return int(self.arrivals.min()) if len(self.arrivals) else 1

    @property
    def distinct(self) -> float:
        """Number of distinct documents of the stream, estimated from the keys of a full sample.

        The k-th smallest of n uniform keys is about k/n, with a relative error of 1/√k.
        """
        if not self.full:
            return float(len(self.keys))
        return (len(self.keys) - 1) / max(float(self.keys.max()) / 2.0**64, 1e-18)

    def problem(self) -> Problem:
        """The sampled documents, with weights divided by the number of passes."""
        weight = self.documents.doc_weights / self.passes
        return replace(self.documents, doc_weight=None if np.all(weight == 1) else weight)


@dataclass(frozen=True)
class Added:
    """The reservoir after a batch, and the documents that are not or no longer in it.

    `rows` and `departed_rows` are rows of the old documents followed by the batch.
    """

    reservoir: Reservoir
    rows: np.ndarray
    departed: Problem
    departed_rows: np.ndarray


def add(reservoir: Reservoir, batch: Problem) -> Added:
    """Add a batch; documents with the largest keys depart, down to the capacity."""
    old = reservoir.documents
    everyone = joined(filled(old, batch), filled(batch, old)) if old.n_docs else batch
    keys = np.concatenate([reservoir.keys, content_keys(batch, reservoir.seed)])
    arrivals = np.concatenate([reservoir.arrivals, np.ones(batch.n_docs, dtype=np.int64)])
    distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
    weight = np.bincount(which, everyone.doc_weights, len(distinct))
    arrivals = np.bincount(which, arrivals, len(distinct)).astype(np.int64)
    # `distinct` is sorted: the first `capacity` documents stay, in order of arrival.
    stay = np.arange(min(reservoir.capacity, len(distinct)))
    stay = stay[np.argsort(first[stay])]
    leave = np.arange(len(stay), len(distinct))
    kept = Reservoir(
        reservoir.capacity,
        reservoir.seed,
        replace(everyone.rows(first[stay]), doc_weight=_unless_ones(weight[stay])),
        distinct[stay],
        arrivals[stay],
        reservoir.full or len(leave) > 0,
    )
    departed = replace(everyone.rows(first[leave]), doc_weight=_unless_ones(weight[leave]))
    return Added(kept, first[stay], departed, first[leave])


def _unless_ones(weight: np.ndarray) -> np.ndarray | None:
    return None if np.all(weight == 1) else weight
