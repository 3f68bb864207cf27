"""A sample of bounded size of all documents ever seen: what a stream of batches is learned from.

Every document gets a key, a hash of its content and a seed, and the sample is the documents with
the smallest keys. So it is uniform over the distinct documents, does not depend on the order of
the documents or the size of the batches, and a copy of a document that is in it adds to its
weight instead of taking a place: a document of weight 2 is the same as two copies of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from topicfocus.counts import in_memory
from topicfocus.model import Problem, joined


def content_keys(problem: Problem, seed: int) -> np.ndarray:
    """64 bits of a keyed hash of each document: words, targets, exposure and covariates."""
    counts = in_memory(problem.corpus.counts)
    known = problem.target_weights > 0
    parts = [np.where(known, problem.targets, np.nan)]
    parts += [part for part in (problem.offset, problem.covariates) if part is not None]
    rest = np.ascontiguousarray(np.column_stack(parts))
    indices, data = counts.indices.astype(np.int64), counts.data.astype(float)
    secret = int(seed).to_bytes(8, "little")
    keys = np.empty(problem.n_docs, dtype=np.uint64)
    for d, (first, last) in enumerate(zip(counts.indptr[:-1], counts.indptr[1:], strict=True)):
        content = blake2b(digest_size=8, key=secret)
        content.update(indices[first:last].tobytes())
        content.update(data[first:last].tobytes())
        content.update(rest[d].tobytes())
        keys[d] = int.from_bytes(content.digest(), "little")
    return keys


def filled(problem: Problem, like: Problem) -> Problem:
    """`problem` with an offset of zero where only `like` has one."""
    if problem.offset is None and like.offset is not None:
        return replace(problem, offset=np.zeros((problem.n_docs, like.offset.shape[1])))
    return problem


@dataclass(frozen=True)
class Reservoir:
    """The documents kept, their keys, and how often each has come.

    `documents` have the weights they came with, added up over copies.
    """

    capacity: int
    seed: int
    documents: Problem
    keys: np.ndarray
    arrivals: np.ndarray
    full: bool = False

    @staticmethod
    def empty(like: Problem, capacity: int, seed: int) -> Reservoir:
        """No documents; `like` shows what they will be."""
        nobody = np.zeros(0, dtype=np.int64)
        return Reservoir(capacity, seed, like.rows(nobody), nobody.astype(np.uint64), nobody, False)

    @property
    def passes(self) -> int:
        """How often even the rarest document has come: 2 when all were passed twice."""
        return int(self.arrivals.min()) if len(self.arrivals) else 1

    @property
    def distinct(self) -> float:
        """Distinct documents seen so far; once the sample is full, from the density of its keys.

        The k-th smallest of n uniform keys is about k/n, with a relative error of 1/√k.
        """
        if not self.full:
            return float(len(self.keys))
        return (len(self.keys) - 1) / max(float(self.keys.max()) / 2.0**64, 1e-18)

    def problem(self) -> Problem:
        """The documents to learn from: passing all of them once more adds nothing."""
        weight = self.documents.doc_weights / self.passes
        return replace(self.documents, doc_weight=None if np.all(weight == 1) else weight)


@dataclass(frozen=True)
class Added:
    """What a batch did: the new reservoir, where its rows come from, and who is not in it.

    `rows` are rows of the old documents followed by the batch.
    """

    reservoir: Reservoir
    rows: np.ndarray
    departed: Problem
    departed_rows: np.ndarray


def add(reservoir: Reservoir, batch: Problem) -> Added:
    """Put a batch in; documents beyond the capacity depart, those with the largest keys first."""
    old = reservoir.documents
    everyone = joined(filled(old, batch), filled(batch, old)) if old.n_docs else batch
    keys = np.concatenate([reservoir.keys, content_keys(batch, reservoir.seed)])
    arrivals = np.concatenate([reservoir.arrivals, np.ones(batch.n_docs, dtype=np.int64)])
    distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
    weight = np.bincount(which, everyone.doc_weights, len(distinct))
    arrivals = np.bincount(which, arrivals, len(distinct)).astype(np.int64)
    # `distinct` is sorted: the first `capacity` of them stay, in the order in which they came.
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
