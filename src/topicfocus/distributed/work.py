"""What the workers of a cluster do: load parts, put them together, run chunks of a pass."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topicfocus.corpus import CountStore, StoreError
from topicfocus.corpus.parts import Rows, chosen_documents, chosen_words, joined_rows
from topicfocus.inference.passes import Task, work_on


@lru_cache(maxsize=4)
def _opened(folder: str, seal: int) -> CountStore:
    store = CountStore(folder)
    if store.seal != seal:
        raise StoreError(f"{folder} was counted again while it was in use. Run the command again.")
    return store


def load_part(folder: str, seal: int, first: int, last: int) -> Rows:
    """Documents of a store, read by a worker, if it is still the one that was meant."""
    return packed(_opened(folder, seal).read(first, last))


def packed(rows: Rows) -> Rows:
    """The same with integers no wider than they need to be, as workers keep them."""
    largest = rows.data.max(initial=0.0)
    if largest < 256 and np.array_equal(rows.data, small := rows.data.astype(np.uint8)):
        rows = rows._replace(data=small)  # type: ignore[arg-type]
    if rows.indices.max(initial=0) < 1 << 16:
        rows = rows._replace(indices=rows.indices.astype(np.uint16))
    return rows


def run_chunk(
    task: Task,
    root: bool,
    spans: list[tuple[int, int, int]],
    given: Any,
    changed: Any,
    *parts: Rows,
) -> tuple[Any, tuple]:
    """The statistics of a chunk, and the numbers of its documents that were worked on.

    `spans` says which documents of which part come one after the other.
    """
    # What arrives is read-only, for which kernels would be compiled a second time.
    given = tuple(np.array(a) for a in given)
    changed = tuple(np.array(a) for a in changed)
    task = replace(task, shared=_writeable(task.shared))
    total = task.make()
    starts = np.cumsum([0, *(b - a for _, a, b in spans)]).tolist()
    where = {start: (parts[i], a, b) for start, (i, a, b) in zip(starts, spans, strict=False)}

    def read(a: int, b: int) -> Rows:
        return some_rows(*where[a], root)

    work_on(task, read, list(pairwise(starts)), given, changed, total)
    return total, changed


def put_together(spans: list[tuple[int, int]], *parts: Rows) -> Rows:
    """Documents of several parts one after the other."""
    chosen = [
        part if (a, b) == (0, part.n_docs) else chosen_documents(part, np.arange(a, b))
        for part, (a, b) in zip(parts, spans, strict=True)
    ]
    return joined_rows(chosen) if len(chosen) != 1 else chosen[0]


def _writeable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    if isinstance(value, tuple):
        parts = [_writeable(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def some_rows(rows: Rows, first: int, last: int, root: bool) -> Rows:
    """Some documents of a part, as kernels take them."""
    lo, hi = int(rows.indptr[first]), int(rows.indptr[last])
    data = rows.data[lo:hi].astype(np.float64)
    if root:
        np.sqrt(data, out=data)
    indptr = np.asarray(rows.indptr[first : last + 1] - lo, dtype=np.int32)
    return Rows(indptr, np.array(rows.indices[lo:hi], dtype=np.int32), data)


def same(rows: Rows) -> Rows:
    return rows


def row_lengths(rows: Rows) -> NDArray[np.int64]:
    return np.diff(rows.indptr).astype(np.int64)


def on_words(rows: Rows, n_words: int, kept: Any, weight: Any, root: bool) -> Rows:
    seen = rows._replace(data=np.sqrt(rows.data, dtype=np.float64)) if root else rows
    found = chosen_words(seen, n_words, kept, weight)
    return found if root or weight is not None else packed(found)
