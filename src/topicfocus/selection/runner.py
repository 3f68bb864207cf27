"""Run independent fits on all cores, and keep the records of finished fits in a folder.

A record is a dictionary of numbers, strings and arrays. `joblib.Memory` stores it in the folder, so
that an interrupted search continues from the fits that were finished.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from topicfocus import __version__
from topicfocus.counts import ChunkedCounts
from topicfocus.kernels.threads import n_threads
from topicfocus.passes import row_hashes
from topicfocus.progress import show_progress
from topicfocus.selection.resamples import Data

Record = dict[str, Any]
Fit = Callable[[Any, dict[Any, Any]], Record]

#: Processes are started for more fits times nonzero counts than this. A fit takes about a
#: microsecond per nonzero, and a new process some 3 seconds to import and to load compiled code.
WORTH_PROCESSES = 5_000_000

#: Parameters that results do not depend on.
_FREE = ("n_jobs", "verbose")


def n_processes(data: Data, n_fits: int, n_jobs: int | None) -> int:
    """How many processes to use: one if counts cannot be sent to others, or fits are small.

    With one process, each fit runs on as many threads as the model asks for.
    """
    most = min(n_threads(n_jobs), n_fits)
    small = isinstance(data.X, ChunkedCounts) or n_fits * _size(data.X) < WORTH_PROCESSES
    return 1 if small else most


def _size(X: Any) -> float:
    """Nonzero counts, or about as many words of texts."""
    if sparse.issparse(X):
        return X.nnz
    shape = getattr(X, "shape", (len(X),))
    return float(np.prod(shape)) if len(shape) > 1 else sum(len(str(text)) for text in X) / 6


def run_fits(
    fit: Fit,
    groups: Sequence[Sequence[tuple[str, Any]]],
    *,
    identity: Iterable[Any],
    checkpoint: str | os.PathLike[str] | None,
    n_jobs: int,
    title: str,
    verbose: bool,
    raise_errors: bool = False,
) -> dict[str, Record]:
    """The records of all fits by name; those that `checkpoint` has are not computed again.

    A group is a list of (name, item). Its fits run one after the other in one process, as
    ``fit(item, shared)``, where `shared` is a dictionary that the fits of a group share.
    `identity` is everything that the records depend on. A fit that fails has an "error" in its
    record, unless errors are to be raised.
    """
    call: Callable[..., Record] = _fit_one
    mark = ""
    if checkpoint is not None:
        memory = joblib.Memory(checkpoint, verbose=0)
        call = memory.cache(_fit_one, ignore=["fit", "item", "shared"])
        mark = fingerprint(identity)
    # Copy on write: compiled code distinguishes arrays that are read-only.
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", mmap_mode="c")
    run = delayed(_run_group)
    found: dict[str, Record] = {}
    total, failed = sum(map(len, groups)), 0
    with show_progress(title, verbose) as progress:
        tasks = (run(call, fit, mark, group, raise_errors) for group in groups if group)
        for records in parallel(tasks):
            found |= records
            failed += sum(record["error"] is not None for record in records.values())
            if progress is not None:
                progress(f"fits, {failed} failed" if failed else "fits", len(found), total)
    return found


def _run_group(
    call: Callable[..., Record],
    fit: Fit,
    mark: str,
    group: Sequence[tuple[str, Any]],
    raise_errors: bool,
) -> dict[str, Record]:
    records: dict[str, Record] = {}
    shared: dict[Any, Any] = {}
    for name, item in group:
        try:
            records[name] = {"error": None, **call(fit, mark, name, item, shared)}
        except Exception as error:
            # A full disk or a lost cluster: other fits would fail as well.
            if raise_errors or isinstance(error, OSError):
                raise
            message = " ".join(str(error).split())
            records[name] = {"error": f"{type(error).__name__}: {message}"}
    return records


def _fit_one(fit: Fit, mark: str, name: str, item: Any, shared: dict[Any, Any]) -> Record:
    """One fit; `mark` and `name` identify its record in a folder."""
    return fit(item, shared)


def fingerprint(identity: Iterable[Any]) -> str:
    """A hash of data and settings, and of the version of topicfocus."""
    return str(joblib.hash([__version__, *map(_hashable, identity)]))


def _hashable(value: Any) -> Any:
    """Counts by their rows, estimators by their parameters, functions by their names."""
    if isinstance(value, Data):
        return [_hashable(part) for part in (value.X, value.y, value.groups, dict(value.arrays))]
    if isinstance(value, ChunkedCounts):
        return [tuple(value.shape), value.indptr.astype(np.int64), *row_hashes(value)]
    if isinstance(value, (list, tuple)):
        return [_hashable(item) for item in value]
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = value.get_params(deep=False)
        used = {name: _hashable(v) for name, v in params.items() if name not in _FREE}
        return [type(value).__name__, used]
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return value
